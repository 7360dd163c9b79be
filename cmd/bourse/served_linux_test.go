package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"bourse/experiments/live"
)

// TestServed runs programs on this machine's own kernel. The processor time that a contract
// received must agree with /proc within 2 %. Contracts must be distinguished by their
// causes: a program that sleeps, fails, runs out of memory or does not exist, and a host
// that gives other processes a hundred times the weight. The test requires root and runs in
// nightly parts.
func TestServed(t *testing.T) {
	if !programsRun(t) {
		t.Skip("a minute of the processors: the nightly part machines runs it")
	}
	dir, err := os.MkdirTemp("", "bourse-served") // other users need access to folders in it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	bourse := func(args ...string) *exec.Cmd {
		c := exec.Command("bourse", args...)
		c.Dir, c.Env = dir, append(os.Environ(), "BOURSE_HOME="+filepath.Join(dir, "home"))
		return c
	}
	market := bourse("live", "--listen", "127.0.0.1:0")
	market.Stderr = os.Stderr
	if err := market.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		market.Process.Signal(syscall.SIGINT)
		market.Wait()
	})
	for begun := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		if out, _ := bourse("host", "list").Output(); strings.Contains(string(out), " here ") {
			break
		}
		if time.Since(begun) > time.Minute {
			t.Fatal("the market does not answer")
		}
	}
	run := func(args ...string) live.Contract {
		t.Helper()
		var errs bytes.Buffer
		c := bourse(append([]string{"submit", "--json", "--wait", "--budget", "0.05"}, args...)...)
		c.Stderr = &errs
		out, _ := c.Output() // the exit status states whether the contract was fulfilled
		var shown struct{ Contracts []live.Contract }
		if err := json.Unmarshal(out, &shown); err != nil || len(shown.Contracts) != 1 {
			t.Fatalf("%v: %s %s", err, out, &errs)
		}
		return shown.Contracts[0]
	}
	is := func(what string, c live.Contract, state string, cause string) {
		t.Helper()
		if c.State != state || c.Served == nil || c.Served.Cause != cause {
			t.Errorf("%s: %s, %+v, want %s by %q", what, c.State, c.Served, state, cause)
		}
	}

	// Run two programs at a time, so that the kernel has to share the processors.
	done := make(chan live.Contract)
	const burn = "i=0; while [ $i -lt 2000000 ]; do i=$((i+1)); done; cat /proc/$$/schedstat"
	go func() { done <- run("--work", "1", "--deadline", "60", "--", "sh", "-c", burn) }()
	for _, c := range []live.Contract{run("--work", "1", "--deadline", "60", "--", "sh", "-c", burn), <-done} {
		out, err := bourse("logs", fmt.Sprint(c.ID)).Output()
		f := strings.Fields(string(out))
		if err != nil || len(f) != 3 {
			t.Fatalf("%v: %q", err, out)
		}
		ns, _ := strconv.ParseFloat(f[0], 64)
		if used, got := ns/1e9, c.Served.Received; math.Abs(got-used) > 0.02*used {
			t.Errorf("received %v s, and /proc has %v s", got, used)
		}
		if s := c.Served; s.Asked < s.Received {
			t.Errorf("asked for %v s, and received %v s", s.Asked, s.Received)
		}
		is("burns", c, "fulfilled", "")
	}
	sleeps := run("--work", "6", "--deadline", "8", "--class", "cac", "--", "sleep", "7.9")
	if is("sleeps", sleeps, "fulfilled", ""); sleeps.Served.Received > 0.2 { // the program has ended successfully
		t.Errorf("a program that sleeps received %+v", sleeps.Served)
	}
	is("sleeps on", run("--work", "6", "--deadline", "8", "--class", "cac", "--", "sleep", "60"), "violated", "asked")
	is("exit 3", run("--work", "6", "--deadline", "8", "--class", "cac", "--", "sh", "-c", "exit 3"), "violated", "program")
	is("out of memory", run("--work", "6", "--deadline", "20", "--class", "cac", "--memory", "32MB", "--", "sh", "-c", "x=0123456789; while :; do x=$x$x; done"), "violated", "program")
	is("not there", run("--work", "6", "--deadline", "8", "--class", "cac", "--", "./none"), "violated", "program")

	stop := busy(t)
	starved := run("--work", "6", "--deadline", "8", "--class", "cac", "--", "sh", "-c", "while :; do :; done")
	stop()
	if is("starved", starved, "violated", "host"); starved.Served.Owner != keeper {
		t.Errorf("%+v, want owner %s", starved.Served, keeper)
	}
	t.Logf("starved: %v", starved.Served)
}

// busy gives all processors to a group with a hundred times the weight of others.
func busy(t *testing.T) (stop func()) {
	t.Helper()
	group, weight := "/sys/fs/cgroup/cpu/bourse-busy", "cpu.shares"
	value := "102400"
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err == nil {
		group, weight, value = "/sys/fs/cgroup/bourse-busy", "cpu.weight", "10000"
	}
	if err := os.Mkdir(group, 0o755); err != nil && !os.IsExist(err) {
		t.Skip("this machine makes no group:", err)
	}
	if err := os.WriteFile(filepath.Join(group, weight), []byte(value), 0o600); err != nil {
		t.Fatal(err)
	}
	var all []*exec.Cmd
	for range 8 {
		c := exec.Command("sh", "-c", "echo $$ > "+group+"/cgroup.procs; while :; do :; done")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	stop = func() {
		for _, c := range all {
			c.Process.Kill()
			c.Wait()
		}
		all = nil
		syscall.Rmdir(group)
	}
	t.Cleanup(stop)
	return stop
}
