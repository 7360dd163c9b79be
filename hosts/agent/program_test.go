//go:build linux

package agent

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"bourse/hosts"
	"bourse/hosts/linux"
	"bourse/hosts/remote"
)

// TestUsers checks that agents on one machine with numbered folders have disjoint users for
// their tasks.
func TestUsers(t *testing.T) {
	for i := range 1000 {
		seen := make(map[int]bool)
		for host := range 32 {
			seen[users(number(fmt.Sprintf("/srv/%d/hosts/h%02d", i, host)))] = true
		}
		if len(seen) != 32 {
			t.Fatalf("%d: %d ranges for 32 agents", i, len(seen))
		}
	}
}

// TestOffer checks that a host's offer of disk stays the same after its tasks have written files, that
// hosts on one machine divide it, and that a task's limits are at most what it holds.
func TestOffer(t *testing.T) {
	const gb = 1 << 30
	dir := smallDisk(t, 64<<20)
	offer := func(name string, s Settings) float64 {
		s.Kind = "signals"
		p, err := Load(filepath.Join(dir, name), s)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		return p.Offer.Disk
	}
	all, part := offer("a", Settings{}), offer("b", Settings{Parts: 4})
	if all < 30<<20 || all > 46<<20 || part < all/5 || part > all/4 {
		t.Errorf("offers of %.0f, and %.0f of 4 hosts, want 64 MiB minus the quarter that an agent maintains and minus its reserve", all, part)
	}
	if err := os.WriteFile(filepath.Join(dir, "full"), make([]byte, 20<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if again := offer("a", Settings{}); again != all {
		t.Errorf("an offer of %.0f after files were written, want %.0f", again, all)
	}
	if now := offer("a", Settings{Disk: 5e6, Bandwidth: 1e6}); now != 5e6 {
		t.Errorf("an offer of %.0f, want the owner's 5e6", now)
	}
	usual := remote.Limits{Memory: gb, Disk: gb}
	for _, c := range []struct{ job, held, want int64 }{{0, 0, gb}, {3, 0, 3}, {0, 2, 2}, {3, 2, 2}, {1, 2, 1}} {
		w := &wanted{Wanted: remote.Wanted{Memory: c.held, Disk: c.held}}
		if got := limits(remote.Limits{Memory: c.job, Disk: c.job}, w, usual); got.Memory != c.want || got.Disk != c.want {
			t.Errorf("a job of %d that holds %d has the limits %+v, want %d", c.job, c.held, got, c.want)
		}
	}
}

// TestProgram checks that a machine with its own kernel works as a host. Programs that the
// market wants run with their files and get their shares, and the agent reports their ends and
// output. Programs continue when the agent is stopped and started again.
func TestProgram(t *testing.T) {
	each(t, true, func(t *testing.T, b *bench) {
		dir, err := os.MkdirTemp("", "bourse-program")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, 0o711); err != nil {
			t.Fatal(err)
		}
		var p *Program
		stop := func() {}
		run := func(o *office) {
			t.Helper()
			if p, err = Load(dir, Settings{Kind: b.kind, CPUs: 1}); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			over := make(chan error)
			go func() { over <- p.Serve(ctx, o, "h00", func(s string) { t.Log(s) }) }()
			stop = func() {
				cancel()
				if err := <-over; err != nil {
					t.Error(err)
				}
				p.Close()
			}
		}
		o := newOffice()
		t.Cleanup(func() {
			stop()
			k, err := linux.Open(b.kind, p.agent.At)
			if err != nil {
				t.Fatal(err)
			}
			names, _ := k.List()
			for _, name := range names {
				k.Kill(name)
				k.Remove(name)
			}
			k.Close()
			os.RemoveAll(dir)
		})
		run(o)
		file := o.keep("#!/bin/sh\necho it says $BOURSE_CONTRACT; exit 7\n")
		o.job = o.keep(`{"command":["./run"],"files":{"run":"` + file + `"}}`)
		one := o.start(0)
		eventually(t, "it has ended", func() bool { o.mu.Lock(); defer o.mu.Unlock(); return o.ended[one].Key == one })
		if r := o.ended[one]; r.Why != hosts.Failed || r.Code != 7 {
			t.Errorf("it ended as %+v", r)
		}
		o.mu.Lock()
		o.asks = []remote.Log{{Name: one}}
		o.job = o.keep(`{"command":["sh","-c","echo x >> count; while :; do :; done"]}`)
		o.mu.Unlock()
		eventually(t, "its log is put", func() bool { o.mu.Lock(); defer o.mu.Unlock(); return len(o.put) > 0 })
		if l := o.put[0]; string(l.Text) != "it says 1\n" {
			t.Errorf("it printed %+v", l)
		}
		heavy, light := o.start(0), o.start(0)
		o.mu.Lock()
		for slot, key := range o.slots {
			o.machine.SetShare(o.now(), slot, hosts.Share{Weight: map[int64]float64{heavy: 3, light: 1}[key]})
		}
		o.deals()
		o.mu.Unlock()
		read := func(key int64) float64 { o.mu.Lock(); defer o.mu.Unlock(); return o.done[key] }
		eventually(t, "both run", func() bool { return read(heavy) > 0.2 && read(light) > 0.1 })
		stop()
		run(o)
		x, y := read(heavy), read(light)
		time.Sleep(5 * time.Second)
		x, y = read(heavy)-x, read(light)-y
		tolerance := 0.05
		if b.kind == "signals" {
			tolerance = 0.15 // no group gets a time slice while other programs use the processors
		}
		if part := x / (x + y); x+y < 1 || math.Abs(part-0.75) > tolerance {
			t.Errorf("for weights of 3 to 1 they got %.2f and %.2f, %.3f of both", x, y, part)
		}
		for _, name := range []string{"2.0.2", "3.0.3"} {
			if text, _ := os.ReadFile(filepath.Join(dir, "tasks", name, "dir", "count")); string(text) != "x\n" {
				t.Errorf("%s was started %q", name, text)
			}
		}
		for o.stopOne() {
		}
		eventually(t, "nothing runs", func() bool { left, _ := Show(dir); return running(left) == 0 })
		if o.machine.Cut() > 0 {
			t.Errorf("%d cut", o.machine.Cut())
		}
	})
}

func running(s Status) (n int) {
	for _, t := range s.Tasks {
		if t.End == "" {
			n++
		}
	}
	return n
}
