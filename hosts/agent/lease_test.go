//go:build linux

package agent

import (
	"errors"
	"os"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// TestLeaseFile checks that a lease is read as written; that one torn or damaged slot does not
// affect the other; and that the lease of an earlier version, a line of three fields, can be
// read and keeps its values when its file is allocated.
func TestLeaseFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(leasePath(dir), []byte("1234.500000 7 1200.250000\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	was := lease{until: 1234.5, deal: 7, booked: 1200.25}
	if got := readLease(dir); got != was {
		t.Errorf("of a version before: %+v, want %+v", got, was)
	}
	if err := allocateLease(dir); err != nil {
		t.Fatal(err)
	}
	if got := readLease(dir); got != was {
		t.Errorf("allocated: %+v, want %+v", got, was)
	}
	want := lease{until: 1244.5, deal: 8, booked: 1201}
	if err := writeLease(dir, want); err != nil {
		t.Fatal(err)
	}
	want.number = 1
	text, err := os.ReadFile(leasePath(dir))
	if err != nil || len(text) != leaseSize {
		t.Fatalf("%d bytes, %v, want %d", len(text), err, leaseSize)
	}
	for at := range leaseSize {
		if at%leaseSlot > len("\n")+4*20+3+9 { // only spaces follow
			continue
		}
		torn := append([]byte{}, text...)
		torn[at] ^= 1
		if err := os.WriteFile(leasePath(dir), torn, 0o644); err != nil {
			t.Fatal(err)
		}
		if got := readLease(dir); got != want {
			t.Fatalf("with byte %d damaged: %+v, want %+v", at, got, want)
		}
	}
	if err := os.WriteFile(leasePath(dir), make([]byte, leaseSize), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := readLease(dir); got != (lease{}) {
		t.Errorf("without a whole slot: %+v, want none", got)
	}
}

// TestLeaseOnFullDisk checks that a lease can be renewed on a completely full disk.
func TestLeaseOnFullDisk(t *testing.T) {
	t.Parallel()
	dir := smallDisk(t, 1<<20)
	if err := allocateLease(dir); err != nil {
		t.Fatal(err)
	}
	fill(t, dir)
	for n := range 100 {
		if err := writeLease(dir, lease{until: float64(n)}); err != nil {
			t.Fatal(err)
		}
		if got := readLease(dir).until; got != float64(n) {
			t.Fatalf("renewal %d: %v", n, got)
		}
	}
}

// smallDisk mounts a disk of the given size in memory and returns its folder.
func smallDisk(t testing.TB, size int64) string {
	if os.Geteuid() != 0 {
		t.Skip("only root mounts disks")
	}
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=0711,size="+strconv.FormatInt(size, 10)); errors.Is(err, unix.EPERM) {
		t.Skip("this machine mounts no disk in memory:", err)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}

// fill uses all free bytes of a disk.
func fill(t *testing.T, dir string) {
	f, err := os.Create(dir + "/filler")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	block := make([]byte, 4096)
	for {
		if _, err := f.Write(block); errors.Is(err, unix.ENOSPC) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
