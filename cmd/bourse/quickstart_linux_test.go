package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestQuickStart runs the commands in docs/live.md: the first command in the background
// until the last block. It runs them as root, if possible, and as a normal user. Numbers
// and the kind of machine may differ. It runs programs on the machine's own kernel, so it
// runs only in the nightly part machines.
func TestQuickStart(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Run("root", func(t *testing.T) { quickStart(t, nil) })
		t.Run("user", func(t *testing.T) { quickStart(t, &syscall.Credential{Uid: 65534, Gid: 65534}) })
		return
	}
	quickStart(t, nil)
}

func quickStart(t *testing.T, as *syscall.Credential) {
	if os.Getenv("BOURSE_CI") == "" {
		t.Skip("programs run on the machine in the nightly part machines: BOURSE_CI=1 runs them")
	}
	text, err := os.ReadFile(filepath.Join("docs", "live.md"))
	if err != nil {
		t.Fatal(err)
	}
	commands := consoles(string(text), "console", "live")
	if len(commands) < 6 {
		t.Fatalf("found %d commands", len(commands))
	}
	dir, err := os.MkdirTemp("/tmp", "bourse-quick") // other users pass through
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "BOURSE_HOME="+filepath.Join(dir, "home"), "LC_ALL=C.UTF-8", "PATH="+dir+":"+os.Getenv("PATH"))
	if program, err := os.Executable(); err != nil {
		t.Fatal(err)
	} else if err := exec.Command("cp", program, filepath.Join(dir, "bourse")).Run(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "render"), []byte("#!/bin/sh\ni=0; while [ $i -lt 300000 ]; do i=$((i+1)); done\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	sh := func(command string) *exec.Cmd {
		c := exec.Command("sh", "-c", "exec "+command)
		c.Dir, c.Env = dir, env
		c.SysProcAttr = &syscall.SysProcAttr{Credential: as}
		return c
	}
	var said bytes.Buffer
	market := sh(strings.TrimSuffix(commands[0].command, " &") + " --listen 127.0.0.1:0")
	market.Stdout, market.Stderr = &said, os.Stderr
	if err := market.Start(); err != nil {
		t.Fatal(err)
	}
	stop := func() {
		market.Process.Signal(syscall.SIGINT)
		market.Wait()
	}
	t.Cleanup(stop)
	for range 120 {
		if out, _ := sh("bourse live host list").Output(); strings.Contains(string(out), " here ") {
			break
		}
		time.Sleep(500 * time.Millisecond)
	}
	for i, c := range commands[1:] {
		if i+2 == len(commands) {
			stop()
		}
		cmd := sh(c.command)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("docs/live.md:%d: %s: %v", c.line, c.command, err)
		}
		if got, want := shape(string(out)), shape(strings.Join(c.output, "\n")); got != want {
			t.Errorf("docs/live.md:%d: %s prints\n%s\nof the shape\n%s, want\n%s", c.line, c.command, out, got, want)
		}
	}
	if got, want := shape(said.String()), shape(strings.Join(commands[0].output, "\n")); got != want {
		t.Errorf("%s prints\n%s\nof the shape %s, want %s", commands[0].command, &said, got, want)
	}
}

// varies matches text that differs between machines or times.
var varies = regexp.MustCompile(`\(users are not isolated[^)]*\)|\b(signals|cgroup1|cgroup2)\b *|\S*[0-9/…=:]\S*`)

// shape returns a text without the varying parts and with single spaces.
func shape(text string) string {
	return strings.Join(strings.Fields(varies.ReplaceAllString(text, " ")), " ")
}
