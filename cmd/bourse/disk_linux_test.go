package main

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMarketDiskFull checks a market whose disk is full. It must end with status 1, so that
// its unit restarts it, and give the reason in one sentence. When there is space again, it
// must be intact.
func TestMarketDiskFull(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root mounts disks")
	}
	dir := t.TempDir()
	small := filepath.Join(dir, "lab", "log")
	if err := os.MkdirAll(small, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", small, "tmpfs", 0, "size=8m"); errors.Is(err, syscall.EPERM) {
		t.Skip("this machine mounts no disk in memory:", err)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Unmount(small, syscall.MNT_DETACH) })
	bourse := func(args ...string) *exec.Cmd {
		cmd := exec.Command("bourse", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "BOURSE_HOME="+filepath.Join(dir, "home"))
		return cmd
	}
	long := make([]byte, 50_000) // the log stores this text with the order and cannot compress it
	rand.Read(long)
	submit := func() *exec.Cmd {
		return bourse("submit", "--work", "1", "--deadline", "60", "--budget", "0.01", "--env", "X="+hex.EncodeToString(long), "--", "true")
	}
	serve := func() (*exec.Cmd, *bytes.Buffer, chan error) {
		cmd, errs, ended := bourse("market", "serve", "lab", "--listen", "127.0.0.1:0"), new(bytes.Buffer), make(chan error, 1)
		cmd.Stderr = errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill() })
		go func() { ended <- cmd.Wait() }()
		for begun := time.Now(); ; time.Sleep(50 * time.Millisecond) {
			if _, err := bourse("top").Output(); err == nil {
				return cmd, errs, ended
			}
			if time.Since(begun) > time.Minute {
				t.Fatalf("the market does not respond: %s", errs)
			}
		}
	}
	_, errs, ended := serve()
	f, err := os.Create(filepath.Join(small, "filler"))
	if err != nil {
		t.Fatal(err)
	}
	for block := make([]byte, 4096); err == nil; {
		_, err = f.Write(block)
	}
	f.Close()
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	for orders := 0; ; orders++ {
		if orders == 200 {
			t.Fatal("its disk is full, and it runs on")
		}
		one := submit()
		if err := one.Start(); err != nil {
			t.Fatal(err)
		}
		answered := make(chan error, 1)
		go func() { answered <- one.Wait() }()
		select {
		case <-answered:
			continue
		case err = <-ended:
			one.Process.Kill() // without this, the client would keep sending the order
		}
		break
	}
	var exit *exec.ExitError
	last := strings.Split(strings.TrimSpace(errs.String()), "\n")
	if said := last[len(last)-1]; !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.HasPrefix(said, "bourse: ") ||
		!strings.Contains(said, "no space left on device: free space on the disk, then start again") {
		t.Errorf("it ended with %v, and said %q", err, said)
	}
	if strings.Contains(errs.String(), "goroutine ") || len(last) > 5 {
		t.Errorf("it printed %d lines:\n%s", len(last), errs)
	}
	os.Remove(filepath.Join(small, "filler"))
	cmd, _, ended := serve()
	if out, _ := submit().CombinedOutput(); !strings.Contains(string(out), "refused    too few hosts") {
		t.Errorf("with room again: %s", out)
	}
	cmd.Process.Signal(os.Interrupt)
	<-ended
	if out, err := bourse("live", "check", "lab").CombinedOutput(); err != nil {
		t.Errorf("live check: %v: %s", err, out)
	}
}

// TestRunDiskFull checks a run whose disk becomes full at some point. It must fail with
// status 1, must not state that no files remain if some do, and continue when there is
// space.
func TestRunDiskFull(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root mounts disks")
	}
	for _, kilobytes := range []int{60, 100, 200, 400} {
		small := t.TempDir()
		if err := syscall.Mount("tmpfs", small, "tmpfs", 0, fmt.Sprintf("size=%dk", kilobytes)); errors.Is(err, syscall.EPERM) {
			t.Skip("this machine mounts no disk in memory:", err)
		} else if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { syscall.Unmount(small, syscall.MNT_DETACH) })
		run := func() (string, error) {
			cmd := exec.Command("bourse", "run", "--hosts", "4", "--policy", "be,cac", "--replications", "6", "--ledger", "--quiet", "--out", filepath.Join(small, "o"))
			out, err := cmd.CombinedOutput()
			return string(out), err
		}
		said, err := run()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(said, "no space left on device") {
			t.Errorf("%d kB: it ended with %v, and said %q", kilobytes, err, said)
		}
		if remain, _ := filepath.Glob(filepath.Join(small, ".o.*")); len(remain) > 0 && strings.Contains(said, "no incomplete files remain") {
			t.Errorf("%d kB: it said %q, but %q remain", kilobytes, said, remain)
		}
		if err := syscall.Mount("", small, "", syscall.MS_REMOUNT, "size=60m"); err != nil {
			t.Fatal(err)
		}
		if said, err := run(); err != nil {
			t.Errorf("%d kB: with room again: %v: %s", kilobytes, err, said)
		}
		if found, err := os.ReadDir(small); err != nil || len(found) != 1 || found[0].Name() != "o" {
			t.Errorf("%d kB: found %v, %v, want only o", kilobytes, found, err)
		}
	}
}
