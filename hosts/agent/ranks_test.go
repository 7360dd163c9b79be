//go:build linux

package agent

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bourse/hosts/remote"
)

// TestVariables checks the variables that describe the nodes of a contract, and that a job
// cannot set these variables.
func TestVariables(t *testing.T) {
	t.Parallel()
	one := &task{folder: t.TempDir()}
	dir := filepath.Join(one.folder, "dir")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	one.wanted = &wanted{Wanted: remote.Wanted{Contract: 7, Node: 1, Nodes: 2, Peers: []string{"10.0.0.1", "10.0.0.2"}, Port: 24004}}
	if err := layHosts(one); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "hosts")); string(text) != "10.0.0.1\n10.0.0.2\n" {
		t.Errorf("hosts: %q, %v", text, err)
	}
	job := []string{"BOURSE_NODE=9", "BOURSE_OTHER=1", "BOURSE_ARRAY_INDEX=3", "MASTER_ADDR=evil", "A=b"}
	env := once(append(slices.DeleteFunc(slices.Clone(job), isReserved), variables(one, 0)...))
	for _, want := range []string{"BOURSE_NODE=1", "BOURSE_NODES=2", "BOURSE_HOSTS=" + dir + "/hosts", "BOURSE_PORT=24004", "MASTER_ADDR=10.0.0.1", "MASTER_PORT=24004", "BOURSE_ARRAY_INDEX=3", "A=b"} {
		if !slices.Contains(env, want) {
			t.Errorf("%q has no %s", env, want)
		}
	}
	if slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, "BOURSE_OTHER=") }) {
		t.Errorf("%q: the job has set a variable of the agent", env)
	}
	one.wanted.Peers = nil
	if env := variables(one, 0); slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, "MASTER_") }) {
		t.Errorf("one node: %q", env)
	}
}

// TestBusy checks that an agent finds the ports of its range that other programs use, without those
// of its own tasks.
func TestBusy(t *testing.T) {
	t.Parallel()
	listen := func() int32 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return int32(l.Addr().(*net.TCPAddr).Port)
	}
	other, own := listen(), listen()
	now := 10.0
	a := &Agent{Config: Config{clock: func() float64 { return now }}, tasks: map[string]*task{"a": {record: record{Port: own}}}}
	if all := a.busy(); all != nil {
		t.Errorf("without a range: %v", all)
	}
	a.Offer.Ports = [2]int32{1024, 65535}
	all := a.busy()
	if !slices.Contains(all, other) || slices.Contains(all, own) || !slices.IsSorted(all) {
		t.Errorf("%v, want %d, without %d", all, other, own)
	}
	a.tasks["a"].forgotten = 1
	if all := a.busy(); slices.Contains(all, own) {
		t.Errorf("%v, %v s later", all, 0)
	}
	now += busyEach
	if all := a.busy(); !slices.Contains(all, own) {
		t.Errorf("%v, want %d, whose task has ended", all, own)
	}
}
