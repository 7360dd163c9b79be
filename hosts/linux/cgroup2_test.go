//go:build linux

package linux

import (
	"os"
	"path/filepath"
	"testing"

	"bourse/hosts"
)

// TestCgroup2Files checks, in a folder that replaces the kernel's, the texts written to and
// read from the files of version 2. Tests on a machine with that version check the kernel's
// behaviour (TestShares and others).
func TestCgroup2Files(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := map[string]string{
		"cpu.weight": "", "cpu.max": "", "cgroup.freeze": "", "cgroup.kill": "", "cgroup.procs": "",
		"cpu.stat":      "usage_usec 1250000\nuser_usec 1000000\n",
		"cgroup.events": "populated 1\nfrozen 1\n",
		"memory.events": "low 0\nhigh 0\nmax 7\noom 1\noom_kill 0\n",
	}
	folder := filepath.Join(dir, "7.0.1")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	has := func(name, want string) {
		t.Helper()
		if got, err := os.ReadFile(filepath.Join(folder, name)); err != nil || string(got) != want {
			t.Errorf("%s is %q, want %q: %v", name, got, want, err)
		}
	}
	for name, text := range files {
		put(name, text)
	}
	k := &cgroups{layout: cgroup2{dir}, processors: 1.5, held: make(map[string]*group)}
	defer k.Close()
	if err := k.Supervise("8.0.1"); err == nil {
		t.Error("a group that is not there is supervised")
	}
	if err := k.Share([]Share{{"7.0.1", hosts.Share{Weight: 2, Limit: 0.5}}, {"8.0.1", hosts.Share{Weight: 4}}}); err != nil {
		t.Error(err) // a group that has ended in the meantime is not an error
	}
	has("cpu.weight", "5000")
	has("cpu.max", "50000 100000")
	read := func(want Usage) {
		t.Helper()
		if got, err := k.Read(nil); err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("read %v, want %v: %v", got, want, err)
		}
	}
	read(Usage{Name: "7.0.1", Used: 1.25})
	put("cpu.stat", "usage_usec 1000000\n")
	put("memory.events", files["memory.events"][:len(files["memory.events"])-2]+"3\n")
	read(Usage{Name: "7.0.1", Used: 1.25, OutOfMemory: true}) // usage never decreases
	if err := k.Freeze("7.0.1"); err != nil {
		t.Error(err)
	}
	has("cgroup.freeze", "1")
	if err := k.Thaw("7.0.1"); err == nil {
		t.Error("a group that stays frozen is thawed")
	}
	has("cgroup.freeze", "0")
	if err := k.Kill("7.0.1"); err != nil {
		t.Error(err)
	}
	has("cgroup.kill", "1")
	if names, err := k.List(); err != nil || len(names) != 1 {
		t.Errorf("listed %v: %v", names, err)
	}
}
