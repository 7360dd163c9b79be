package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// programsRun skips a test in which a market runs programs on this machine, unless such tests
// are requested. Nightly parts request all tests with BOURSE_CI=1. .ci/run requests a small
// part if this machine can run it, and names a file with BOURSE_PROGRAMS. If the machine cannot
// run it, the reason is added to the file.
func programsRun(t *testing.T) (whole bool) {
	t.Helper()
	file := os.Getenv("BOURSE_PROGRAMS")
	switch {
	case os.Getenv("BOURSE_CI") != "":
		return true
	case file == "":
		t.Skip("programs run on the machine in the nightly parts machines and chaos, and in .ci/run: BOURSE_CI=1 runs them")
	}
	err := ableToRun()
	if err == nil {
		return false
	}
	f, wrong := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if wrong == nil {
		_, wrong = fmt.Fprintf(f, "%s is skipped: %v\n", t.Name(), err)
		wrong = errors.Join(wrong, f.Close())
	}
	if wrong != nil {
		t.Error(wrong)
	}
	t.Skip(err)
	return false
}

// ableToRun returns the reason why this machine cannot run a market's programs in control
// groups. It starts a program to find out.
var ableToRun = sync.OnceValue(func() error {
	if os.Getuid() != 0 {
		return errors.New("only root makes control groups")
	}
	for _, program := range []string{"xz", "gcc"} {
		if _, err := exec.LookPath(program); err != nil {
			return err
		}
	}
	dir, err := os.MkdirTemp("", "bourse-able") // other users need access to folders in it
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o711); err != nil {
		return err
	}
	bourse := func(args ...string) *exec.Cmd {
		c := exec.Command("bourse", args...)
		c.Dir, c.Env = dir, append(os.Environ(), "BOURSE_HOME="+filepath.Join(dir, "home"))
		return c
	}
	market := bourse("live", "--listen", "127.0.0.1:0")
	if err := market.Start(); err != nil {
		return err
	}
	defer func() {
		market.Process.Signal(syscall.SIGINT)
		market.Wait()
	}()
	list := ""
	for range 100 {
		out, _ := bourse("host", "list").Output()
		if list = string(out); strings.Contains(list, " here ") {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if !strings.Contains(list, " cgroup") {
		return fmt.Errorf("a market has no control groups here: %.300q", list)
	}
	out, err := bourse("submit", "--work", "1", "--deadline", "60", "--budget", "0.5", "--class", "be", "--wait", "--", "true").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "fulfilled") {
		return fmt.Errorf("a market cannot run a program here within a minute: %v: %.300q", err, out)
	}
	return nil
})
