package shell

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// processTable reads /proc. What ends while it reads is left out; without
// /proc the table is empty and only the group of a command can be reached.
func processTable() []entry {
	pids := procPIDs()
	table := make([]entry, 0, len(pids))
	buf := make([]byte, 1024) // a line is at most some 400 bytes
	for _, pid := range pids {
		if e, ok := parseStat(pid, readStat(pid, buf)); ok {
			table = append(table, e)
		}
	}
	return table
}

// mostRecent is how many numbers processesFrom looks at; beyond that the whole table
// is as cheap.
const mostRecent = 128

// processesFrom reads the part of the table from number first on. It is not ok when
// the kernel does not tell the newest number, the numbers came round, or there are
// too many: then the whole table has to be read. A thread counts as a process, with
// the session and the parent of its own.
func processesFrom(first int) (table []entry, ok bool) {
	buf := make([]byte, 1024)
	newest, ok := newestPID(buf)
	for next := first; ok; {
		if newest < max(first, next-1) || newest-first > mostRecent {
			return nil, false
		}
		for ; next <= newest; next++ {
			if e, ok := parseStat(next, readStat(next, buf)); ok {
				table = append(table, e)
			}
		}
		// What was started meanwhile may be a child of what ended meanwhile.
		if newest, ok = newestPID(buf); ok && newest == next-1 {
			break
		}
	}
	if len(table) == 0 { // not the same as a table that cannot be read
		table = []entry{{}}
	}
	return table, ok
}

// newestPID is the number the kernel gave away last, as this process sees them.
func newestPID(buf []byte) (int, bool) {
	fd, err := syscall.Open("/proc/sys/kernel/ns_last_pid", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return 0, false
	}
	defer syscall.Close(fd)
	n, err := syscall.Read(fd, buf)
	if err != nil {
		return 0, false
	}
	pid, err := strconv.Atoi(string(bytes.TrimSpace(buf[:n])))
	return pid, err == nil
}

// readStat reads by plain system calls: this happens once per process of the
// machine at the end of each command, and os.ReadFile makes twice as many.
func readStat(pid int, buf []byte) []byte {
	fd, err := syscall.Open("/proc/"+strconv.Itoa(pid)+"/stat", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer syscall.Close(fd)
	n, err := syscall.Read(fd, buf)
	if err != nil {
		return nil
	}
	return buf[:n]
}

func procPIDs() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // a partial list is the best there is
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// parseStat reads a line of proc(5): pid (name) state parent group session …
// The name may hold anything, also ") ".
func parseStat(pid int, stat []byte) (entry, bool) {
	end := bytes.LastIndexByte(stat, ')')
	if end < 0 {
		return entry{}, false
	}
	f := strings.Fields(string(stat[end+1:]))
	if len(f) < 20 {
		return entry{}, false
	}
	e := entry{pid: pid, zombie: f[0] == "Z" || f[0] == "X"}
	var errs [4]error
	e.parent, errs[0] = strconv.Atoi(f[1])
	e.group, errs[1] = strconv.Atoi(f[2])
	e.session, errs[2] = strconv.Atoi(f[3])
	e.start, errs[3] = strconv.ParseUint(f[19], 10, 64)
	return e, errs == [4]error{}
}

// pipeWriters lists the other processes that hold the writing end of a pipe, by
// its inode. Those of other users cannot be looked into.
func pipeWriters() map[uint64][]int {
	writers := map[uint64][]int{}
	for _, pid := range procPIDs() {
		dir := filepath.Join("/proc", strconv.Itoa(pid), "fd")
		fds, err := os.ReadDir(dir)
		if err != nil || pid == os.Getpid() {
			continue
		}
		for _, fd := range fds {
			link := filepath.Join(dir, fd.Name())
			target, err := os.Readlink(link)
			if err != nil {
				continue
			}
			inode, ok := pipeInode(target)
			if !ok || slices.Contains(writers[inode], pid) {
				continue
			}
			// The link's mode tells reading from writing: a sibling between
			// fork and exec holds our reading end for a moment.
			if info, err := os.Lstat(link); err == nil && info.Mode()&0o200 != 0 {
				writers[inode] = append(writers[inode], pid)
			}
		}
	}
	return writers
}

// pipeInode reads the name that a link to a pipe shows, pipe:[INODE].
func pipeInode(name string) (uint64, bool) {
	digits, ok := strings.CutPrefix(name, "pipe:[")
	if !ok {
		return 0, false
	}
	inode, err := strconv.ParseUint(strings.TrimSuffix(digits, "]"), 10, 64)
	return inode, err == nil
}

// nameOf reads the command line of a process.
func nameOf(pid int) string {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(strings.ReplaceAll(string(b), "\x00", " "))
}

// environOf reads the environment a process was started with; nil of those of
// other users.
func environOf(pid int) []byte {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	if err != nil {
		return nil
	}
	return b
}

// markFile makes the file of a mark; nil where the kernel has none.
func markFile(mark string) *os.File {
	if mark == "" {
		return nil
	}
	fd, err := unix.MemfdCreate(markFileName+mark, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil
	}
	_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SEAL|unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_WRITE)
	if err != nil { // a command could fill it
		_ = unix.Close(fd)
		return nil
	}
	return os.NewFile(uintptr(fd), markFileName)
}

// markFileOf reads the mark off the name of the file a process was given.
func markFileOf(pid int) string {
	name, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/fd/" + strconv.Itoa(markFD))
	if err != nil {
		return ""
	}
	mark, ok := strings.CutPrefix(name, "/memfd:"+markFileName)
	if !ok {
		return ""
	}
	mark, _, _ = strings.Cut(mark, " ")
	return mark
}

// startOf is when a process started, as entry.start.
func startOf(pid int) uint64 {
	e, _ := parseStat(pid, readStat(pid, make([]byte, 1024)))
	return e.start
}
