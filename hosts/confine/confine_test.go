//go:build linux

package confine

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	Main()
	os.Exit(m.Run())
}

// TestConfined checks that a confined program can read its files and write only to /tmp. The
// program sees no other file, process or network, has no capabilities, and cannot lock a file.
func TestConfined(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"mine": "mine", "secret": "secret"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("sh", "-c", `cat mine; echo; cat secret; ls /proc /home /root /etc/passwd /sys
		echo x > mine; echo x > here; echo x > /usr/here; echo x > /dev/here
		echo x > /tmp/here && cat /tmp/here
		python3 -c 'import socket; socket.create_connection(("127.0.0.1", 1))' 2>&1 | grep -c 'not permitted'
		python3 -c 'import fcntl; f = open("mine"); fcntl.fcntl(f, fcntl.F_GETFD); fcntl.flock(f, 6)' 2>&1 | grep -c 'not permitted'
		python3 -c 'import fcntl; fcntl.lockf(open("mine"), fcntl.LOCK_SH)' 2>&1 | grep -c 'not permitted'
		python3 -c 'import ctypes; c = ctypes.CDLL(None); c.unshare(0x10020000); print(c.mount(b"x", b"/tmp", b"tmpfs", 0, b""))'
		python3 -c 'bytearray(2 << 30)' 2>&1 | tail -1
		dd if=/dev/zero of=/tmp/large bs=1M count=64 2> /dev/null || echo large
		i=0; while [ $i -lt 100 ]; do sleep 1 & i=$((i+1)); done 2>&1 | grep -o 'Cannot fork' | tail -1
		kill -9 `+"$PPID"+`; ls -A . | tr '\n' ' '`)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "SECRET="}
	if err := Prepare(cmd, []string{"mine"}); err != nil {
		t.Fatal(err)
	}
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if strings.Contains(errs.String(), "cannot confine") && os.Getenv("BOURSE_CI") == "" {
		t.Skip(errs.String())
	}
	t.Log(errs.String())
	if want := "mine\nx\n1\n1\n1\n-1\nMemoryError\nlarge\nCannot fork\nmine "; string(out) != want {
		t.Errorf("%v: it printed\n%s, want\n%s", err, out, want)
	}
}
