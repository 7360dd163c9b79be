//go:build linux

package linux

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

// inVirtual is the script that runs as process 1 of the virtual machine. It starts this program
// there.
const inVirtual = `#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin HOME=/tmp
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev; mount -t tmpfs tmp /tmp
mount -t cgroup2 none /sys/fs/cgroup
cd /tmp && BOURSE_CI=1 /test -test.v -test.run '^Test(Shares|Kill|Orphans|Adopt|Bounds)$/cgroup2'
echo "left: $(find /sys/fs/cgroup -mindepth 1 -type d)."
poweroff -f
`

// TestVirtual runs the tests that need version 2 of control groups in a virtual machine, whose
// kernel the variable BOURSE_TEST_KERNEL names. If the kernel or a program is missing, or the
// machine is too slow, the test is skipped and notes this in the file that BOURSE_PROGRAMS
// names. With BOURSE_CI=1 it fails instead. Time in the virtual machine is counted in
// instructions, so other programs on this machine do not affect it.
func TestVirtual(t *testing.T) {
	missing := func(why any) {
		t.Helper()
		if os.Getenv("BOURSE_CI") != "" {
			t.Fatal(why)
		}
		if f, err := os.OpenFile(os.Getenv("BOURSE_PROGRAMS"), os.O_APPEND|os.O_WRONLY, 0); err == nil {
			fmt.Fprintf(f, "%s is skipped: %v\n", t.Name(), why)
			f.Close()
		}
		t.Skip(why)
	}
	kernel := os.Getenv("BOURSE_TEST_KERNEL")
	if kernel == "" {
		missing("BOURSE_TEST_KERNEL names no kernel")
	}
	qemu, err := exec.LookPath("qemu-system-x86_64")
	if err != nil {
		missing(err)
	}
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		missing(err)
	}
	t.Parallel()
	dir := t.TempDir()
	for _, d := range []string{"bin", "proc", "sys", "dev", "tmp"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{busybox: "bin/busybox", self: "test"} {
		text, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, to), text, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "init"), []byte(inVirtual), 0o755); err != nil {
		t.Fatal(err)
	}
	image := filepath.Join(t.TempDir(), "image")
	if out, err := exec.Command("sh", "-c", `cd "$1" && find . | busybox cpio -o -H newc > "$2"`, "sh", dir, image).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, qemu, "-accel", "tcg", "-icount", "shift=1,sleep=off", "-m", "1024", "-nographic", "-no-reboot",
		"-nic", "none", "-kernel", kernel, "-initrd", image, "-append", "console=ttyS0 quiet panic=-1").CombinedOutput()
	out = bytes.ReplaceAll(out, []byte("\r"), nil)
	t.Logf("%s", out)
	if ctx.Err() != nil {
		missing("a virtual machine takes longer than two minutes here")
	}
	passed := len(regexp.MustCompile(`(?m)^    --- PASS: Test\w+/cgroup2`).FindAll(out, -1))
	if err != nil || passed != 5 || !bytes.Contains(out, []byte("\nPASS\n")) || !bytes.Contains(out, []byte("left: .")) {
		t.Errorf("%d of 5 tests passed: %v", passed, err)
	}
}
