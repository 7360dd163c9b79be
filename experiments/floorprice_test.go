package experiments

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/broker"
	"bourse/hosts"
)

// TestFloorPrice checks that a job alone on a host pays the floor price of its processor, and
// that a job that bids less is refused for that reason. The audit must accept the ledger. It
// must report a ledger with another floor price and a charge below the floor price.
func TestFloorPrice(t *testing.T) {
	t.Parallel()
	plan := filepath.Join(t.TempDir(), "plan.csv")
	// The second job bids 0.0001 $/s for two processors, which is the floor price of one.
	// The third job bids less.
	text := "id,arrival,runtime,deadline,nodes,value\n1,0,30,60,1,0.1\n2,100,30,60,1,0.006\n3,200,30,60,1,0.0059\n"
	if err := os.WriteFile(plan, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(payment string, change func(*broker.Config)) *toldRun {
		t.Helper()
		e := parsed(t, fmt.Sprintf(`
name: floor
replications: 1
base:
  fleet: {hosts: 1, cpus: 2, cap: 1, floor_per_hour: {cpu: 0.36}}
  workload: {plan: %s}
  market: {payment: %s}
  admission: [be]
configurations: [{name: one}]
`, plan, payment))
		r := &told{experiment: e, study: NewStudy(e)}
		var err error
		if r.sets, err = settings(e, nil); err != nil {
			t.Fatal(err)
		}
		opts, at := r.watch(true)
		a := newWorkspace()
		a.observe = func(conf, label string, rep int, parts *broker.Config) {
			opts.Observe(conf, label, rep, parts)
			if change != nil {
				change(parts)
			}
		}
		var out *toldRun
		rep := &Replication{}
		err = a.each(t.Context(), e, r.sets, rep, opts, func(_ int, run *Run) error {
			out = at["be/0"]
			out.Run, out.set, out.offer = run, r.sets[0], &r.sets[0].offers[0]
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for _, payment := range []string{"spot", "scarce", "admission"} {
		r := run(payment, nil)
		for i, want := range []string{"0.003000", "0.003000", "0.000000"} {
			if paid := r.Jobs[i].Contract.Paid; paid.String() != want {
				t.Errorf("%s: job %d paid %v, want %s", payment, i+1, paid, want)
			}
		}
		if d := r.Jobs[2]; d.Contract.Outcome != contracts.Refused || d.Reason != contracts.BelowFloor {
			t.Errorf("%s: job 3: %+v, want it refused", payment, d)
		}
		if err := r.audit(nil); err != nil {
			t.Errorf("%s: %v", payment, err)
		}
	}
	for name, c := range map[string]struct {
		change func(*broker.Config)
		want   string
	}{
		"another floor price": {func(b *broker.Config) { b.Least[hosts.CPU] /= 2 }, "a floor price of 4.99"},
		"a charge below it":   {func(b *broker.Config) { b.Teller = cheap{b.Teller} }, "charges of 0.002999"},
	} {
		if err := run("spot", c.change).audit(nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// A cheap is a teller that pays one micro-dollar less than the charge.
type cheap struct{ broker.Teller }

// Settle implements [broker.Teller].
func (c cheap) Settle(now float64, contract int64, pay []bank.Payment, note []byte) (bank.Amount, error) {
	less := append([]bank.Payment(nil), pay...)
	for i := range less {
		less[i].Amount, _ = less[i].Amount.Sub(bank.Micros(1))
	}
	return c.Teller.Settle(now, contract, less, note)
}
