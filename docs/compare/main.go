//go:build unix

package main

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	starling := flag.String("starling", "./starling", "the binary to measure")
	yardstick := flag.String("yardstick", "", "folder with the sources of mockmodel and floor")
	rounds := flag.Int("rounds", 21, "runs of each command; those of 20 000 deltas are a third")
	onScreen := flag.Bool("screen", false, "measure sessions in a terminal instead")
	flag.Parse()
	if *onScreen {
		if err := screen(*starling, *yardstick, max(*rounds, 3)); err != nil {
			fmt.Fprintln(os.Stderr, "compare:", err)
			os.Exit(1)
		}
		return
	}
	if err := compare(*starling, *yardstick, max(*rounds, 3)); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func compare(starling, yardstick string, rounds int) error {
	work, err := os.MkdirTemp("", "compare")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	b := bench{work: work, starling: filepath.Join(work, "starling")}
	if err := place(starling, b.starling); err != nil {
		return fmt.Errorf("%w; make build makes it", err)
	}
	for _, dir := range []string{"home", "cwd"} {
		if err := os.MkdirAll(filepath.Join(work, dir), 0o700); err != nil {
			return err
		}
	}
	var groups []group
	if yardstick == "" {
		fmt.Println("There is no yardstick (-yardstick DIR): starling is measured against itself only.")
		groups, err = b.alone(rounds)
	} else {
		var stop func()
		groups, stop, err = b.against(yardstick, rounds)
		if stop != nil {
			defer stop()
		}
	}
	if err != nil {
		return err
	}
	fmt.Printf("Load before: %s\n\n", load())
	for _, g := range groups {
		if err := b.measure(g); err != nil {
			return err
		}
	}
	more, err := b.tools(rounds) // making them raises the peak of this process, with which that of a child begins
	if err != nil {
		return err
	}
	for _, g := range more {
		if err := b.measure(g); err != nil {
			return err
		}
	}
	groups = append(groups, more...)
	fmt.Print(table(groups))
	if none, many := named(groups, hello), named(groups, turns); none != nil && many != nil {
		fmt.Print("\n", apart("One tool turn", turnsAtOnce, *many, *none))
	}
	fmt.Printf("\n%s Load after: %s\n", size(b.starling), load())
	return nil
}

// place copies the program beside the yardstick: the file system of a program is
// part of its start. It must not hold the file in memory, since the peak of a child
// begins with the size of its parent.
func place(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o700)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// Names of what is measured, behind the name of the program.
const (
	hello       = "hello"
	turns       = "20 tool turns"
	turnsAtOnce = 20
)

// named is the group of a name; nil where it was not measured.
func named(groups []group, name string) *group {
	for i, g := range groups {
		if strings.HasSuffix(g.commands[0].name, ", "+name) {
			return &groups[i]
		}
	}
	return nil
}

// group is commands that are compared: the first is 1.
type group struct {
	commands []*command
	rounds   int
}

type command struct {
	name string
	dir  string // where it runs; "" is an empty folder
	path string // where it finds programs; "" is that of this process
	args []string
	want string // part of what it prints
	runs []run
}

type run struct {
	wall, cpu time.Duration
	peak      int64 // bytes
}

type bench struct{ work, starling string }

func (b bench) alone(rounds int) ([]group, error) {
	idle, err := exec.LookPath("true")
	if err != nil {
		return nil, err
	}
	scenario, err := b.scenario("hello.star", "say(\"Hello.\")\n")
	if err != nil {
		return nil, err
	}
	return []group{{rounds: rounds, commands: []*command{
		{name: "`starling --version`", args: []string{b.starling, "--version"}, want: "starling version"},
		{name: "`true`", args: []string{idle}},
		{name: "starling, hello from a scenario", args: []string{b.starling, "--quiet", "--model", "script:" + scenario, "hello"}, want: "Hello."},
	}}}, nil
}

// against builds the yardstick and starts its server.
func (b bench) against(yardstick string, rounds int) ([]group, func(), error) {
	url, stop, err := b.server(yardstick)
	if err != nil {
		return nil, stop, err
	}
	if err := b.yardstick(yardstick, "floor"); err != nil {
		return nil, stop, err
	}
	floor := filepath.Join(b.work, "floor")
	pair := func(what, prompt, want string, rounds int) group {
		return group{rounds: rounds, commands: []*command{
			{name: "floor, " + what, args: []string{floor, url, prompt}, want: want},
			{name: "starling, " + what, args: []string{b.starling, "--quiet", "--mode", "yolo", "--model", yardstickModel, prompt}, want: want},
		}}
	}
	return []group{
		{rounds: rounds, commands: []*command{
			{name: "`floor --version`", args: []string{floor, "--version"}, want: "floor"},
			{name: "`starling --version`", args: []string{b.starling, "--version"}, want: "starling version"},
		}},
		pair(hello, "hello", "Hello from the mock model.", rounds),
		pair("20 000 deltas", "scenario:stream 20000", "end of stream", max(rounds/3, 3)),
		pair("1 tool turn", "scenario:tools 1", "end of tools: 1", rounds),
		pair(turns, "scenario:tools 20", "end of tools: 20", rounds),
		pair("20 calls in one turn", "scenario:parallel 20", "end of tools: 20", rounds),
	}, stop, nil
}

// yardstick builds one of its programs.
func (b bench) yardstick(dir, name string) error {
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(b.work, name), ".")
	build.Dir = filepath.Join(dir, name)
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as make build does for starling
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build of %s in the yardstick: %w\n%s", name, err, out)
	}
	return nil
}

// yardstickModel is the model of the yardstick's server, for --model.
const yardstickModel = "yardstick/mock"

// server starts the yardstick's model server and tells starling of it. stop is nil
// where none runs.
func (b bench) server(yardstick string) (url string, stop func(), err error) {
	if err := b.yardstick(yardstick, "mockmodel"); err != nil {
		return "", nil, err
	}
	address := filepath.Join(b.work, "address")
	server := exec.Command(filepath.Join(b.work, "mockmodel"), "-addr", "127.0.0.1:0", "-addr-file", address, "-batch", "16", "-log", "")
	if err := server.Start(); err != nil {
		return "", nil, err
	}
	stop = func() { _, _ = server.Process.Kill(), server.Wait() }
	for range 500 {
		if text, err := os.ReadFile(address); err == nil {
			url = strings.TrimSpace(string(text))
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if url == "" {
		return "", stop, errors.New("mockmodel did not say its address")
	}
	url = strings.TrimSuffix(url, "/v1") + "/v1"
	models := fmt.Sprintf(`{"version": 1, "models": [{"id": "mock", "provider": "yardstick", "base_url": %q}]}`, url)
	return url, stop, os.WriteFile(filepath.Join(b.work, "home", "models.json"), []byte(models), 0o600)
}

// measure runs the commands in turn; the first round warms caches and counts not.
func (b bench) measure(g group) error {
	for round := range g.rounds + 1 {
		for _, c := range g.commands {
			r, err := b.once(c)
			if err != nil {
				return err
			}
			if round > 0 {
				c.runs = append(c.runs, r)
			}
		}
	}
	return nil
}

func (b bench) once(c *command) (run, error) {
	p := exec.Command(c.args[0], c.args[1:]...)
	p.Dir = cmp.Or(c.dir, filepath.Join(b.work, "cwd"))
	p.Env = []string{"PATH=" + cmp.Or(c.path, os.Getenv("PATH")), "HOME=" + filepath.Join(b.work, "home"), "STARLING_HOME=" + filepath.Join(b.work, "home")}
	var out, said bytes.Buffer
	p.Stdout, p.Stderr = &out, &said
	start := time.Now()
	err := p.Run()
	wall := time.Since(start)
	if err != nil || !strings.Contains(out.String(), c.want) {
		return run{}, fmt.Errorf("%s: %w, printed %.200q and %.500q", c.name, err, out.String(), said.String())
	}
	return run{wall, p.ProcessState.UserTime() + p.ProcessState.SystemTime(), peak(p.ProcessState)}, nil
}
