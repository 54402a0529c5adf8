package fs

import "golang.org/x/sys/unix"

// readlink returns where a link in an open folder points, "" when it cannot tell.
func readlink(dir int, name string) string {
	buf := make([]byte, 4096)
	n, err := unix.Readlinkat(dir, name, buf)
	if err != nil {
		return ""
	}
	return string(buf[:n])
}

// sizeOf returns the size in bytes of a file in an open folder. No link is
// followed.
func sizeOf(dir int, name string) (int64, bool) {
	var st unix.Stat_t
	if err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return 0, false
	}
	return st.Size, true
}
