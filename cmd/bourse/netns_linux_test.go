package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"bourse/bank/whole"
	"bourse/hosts/link"
)

// network creates a network namespace like 'ip netns add' until the end of the test and
// returns its name. It needs root.
func network(t *testing.T) string {
	t.Helper()
	if os.Getenv("BOURSE_CI") == "" || os.Getuid() != 0 {
		t.Skip("only root makes network namespaces, in the nightly part machines: BOURSE_CI=1 runs it")
	}
	in := exec.Command("sleep", "600")
	in.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET}
	if err := in.Start(); err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("bourse-%d", in.Process.Pid)
	file := filepath.Join("/run/netns", name)
	if err := os.MkdirAll("/run/netns", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := whole.Write(file, nil); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount(fmt.Sprintf("/proc/%d/ns/net", in.Process.Pid), file, "", unix.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	in.Process.Kill()
	in.Wait()
	t.Cleanup(func() {
		unix.Unmount(file, 0)
		os.Remove(file)
	})
	return name
}

// TestNetns checks that an agent runs in the requested namespace, from which it cannot
// reach anything outside.
func TestNetns(t *testing.T) {
	t.Parallel()
	name := network(t)
	dir := t.TempDir()
	said, err := os.Create(filepath.Join(dir, "said"))
	if err != nil {
		t.Fatal(err)
	}
	token := link.NewToken("127.0.0.1:1", strings.Repeat("A", 43))
	a := exec.Command("bourse", "agent", filepath.Join(dir, "host"), "--netns", name, "--kind", "signals", "--trust", "user:ann", "--join", token.String())
	a.Stderr = said
	if err := a.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		a.Process.Kill()
		a.Wait()
	}()
	var want, got unix.Stat_t
	if err := unix.Stat(filepath.Join("/run/netns", name), &want); err != nil {
		t.Fatal(err)
	}
	var text []byte
	for range 100 {
		if err := unix.Stat(fmt.Sprintf("/proc/%d/ns/net", a.Process.Pid), &got); err != nil {
			t.Fatal(err)
		}
		text, _ = os.ReadFile(said.Name())
		if got.Ino == want.Ino && strings.Contains(string(text), "network is unreachable") {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("it runs in %d, want %d, and says %q", got.Ino, want.Ino, text)
}
