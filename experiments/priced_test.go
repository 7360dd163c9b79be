package experiments

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/bank/audit"
	"bourse/contracts/broker"
	"bourse/experiments/verify"
	"bourse/workloadgen"
)

// pricedRun runs jobs that hold memory and GPUs, audits the ledger and returns the report. Both
// resources have prices and floor prices on the hosts. The function hold may change the note of
// an admission.
func pricedRun(t *testing.T, policy, payment, options string, hold func(string) string) *audit.Report {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 1))
	var plan workloadgen.Plan
	at := 0.0
	for i := range 60 {
		at += 8 * rng.ExpFloat64()
		j := workloadgen.Job{ID: int64(i + 1), User: int64(i % 5), Arrival: at, Runtime: 5 + 60*rng.Float64(), Nodes: 1 + rng.IntN(2), Value: 0.01 + rng.Float64(), CPUs: float64(rng.IntN(3))}
		j.Deadline, j.Estimate, j.Hard = j.Runtime*(1+3*rng.Float64()), j.Runtime, true
		if rng.IntN(4) > 0 {
			j.Needs = &workloadgen.Needs{Memory: float64(rng.IntN(4)) * 2e9, Counts: map[string]int{"gpu": rng.IntN(3)}}
		}
		if i%3 > 0 {
			needs := workloadgen.Needs{}
			if j.Needs != nil {
				needs = *j.Needs
			}
			needs.Counts = map[string]int{"gpu": needs.Counts["gpu"], "seat": 1 + i%2}
			j.Needs = &needs
		}
		plan = append(plan, j)
	}
	path := filepath.Join(t.TempDir(), "plan.csv")
	var b strings.Builder
	workloadgen.WriteCSV(&b, plan) // a Builder returns no errors
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	e := parsed(t, fmt.Sprintf(`
name: priced
replications: 1
base:
  fleet: {hosts: 3, cpus: 4, memory: 16e9, count: {gpu: 4}, floor_per_hour: {cpu: 0.04, memory: 0.5, gpu: 3, seat: 2}}
  workload: {plan: %s}
  market: {payment: %s, licences: {seat: 6}, resources: [gpu, memory]%s}
  admission: [%s]
configurations: [{name: one}]
`, path, payment, options, policy))
	r := &told{experiment: e, study: NewStudy(e)}
	var err error
	if r.sets, err = settings(e, nil); err != nil {
		t.Fatal(err)
	}
	opts, stored := r.watch(true)
	a := newWorkspace()
	a.observe = func(conf, label string, rep int, parts *broker.Config) {
		opts.Observe(conf, label, rep, parts)
		if hold != nil {
			parts.Teller = forger{parts.Teller, hold}
		}
	}
	var report *audit.Report
	err = a.each(t.Context(), e, r.sets, &Replication{}, opts, func(_ int, run *Run) error {
		out := stored[policy+"/0"]
		c := r.sets[0].conf
		rows, err := verify.ReadJobs(strings.NewReader(jobsCSV(jobRows(c, policy, 0, run.Jobs, false))), func(string) bool { return true })
		if err != nil {
			return err
		}
		report, err = audit.Audit("ledger", audit.Options{
			FS: out.journal.fs, Head: out.journal.head, Whole: true,
			Follow: verify.Follow(&verify.Run{Table: "jobs.csv", Rules: verify.RulesOf(c, &r.sets[0].offers[0].Choice), Jobs: rows["one/"+policy+"/0"], Prices: run.Prices}),
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// A forger changes the notes of admissions.
type forger struct {
	broker.Teller
	hold func(string) string
}

// Hold implements [broker.Teller].
func (f forger) Hold(now float64, contract int64, owner bank.Account, a bank.Amount, note []byte) error {
	return f.Teller.Hold(now, contract, owner, a, []byte(f.hold(string(note))))
}

// TestPricedAudit checks that an audit accepts correct claims, bids, prices, charges and floors of
// several resources under every payment rule. It also checks that the audit finds a single wrong bid,
// price, gigabyte or unit.
func TestPricedAudit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ policy, payment, options string }{
		{"be", "spot", ""}, {"be", "usage", ""}, {"be", "resource", ""}, {"be", "bid", ""}, {"be", "admission", ""}, {"be", "scarce", ", reserve: 0.00001"}, {"be", "free", ""},
		{"be", "spot", ", renew: 7, bidding: best-response"}, {"sac", "spot", ""}, {"cac", "spot", ", bidding: random"}, {"cac", "percentile", ""}, {"fcfs", "spot", ", sharing: exclusive"},
	} {
		r := pricedRun(t, c.policy, c.payment, c.options, nil)
		if !r.Clean() {
			t.Errorf("%v: %v", c, r.Findings[0])
		}
		if len(r.Beyond) > 0 || r.Settled < 20 {
			t.Errorf("%v: %d contracts, not checked: %v", c, r.Settled, r.Beyond)
		}
	}
	once := func(old, with string) func(string) string {
		of, done := regexp.MustCompile(old), false
		return func(note string) string {
			if done || !of.MatchString(note) || !strings.Contains(note, `"met"`) {
				return note
			}
			done = true
			return of.ReplaceAllString(note, with)
		}
	}
	for _, c := range []struct{ name, old, new, want string }{
		{"bid", `"on":\[`, `"on":[9`, "add up to"},
		{"price", `("met":{"[a-z]*":)([1-9])`, `${1}1$2`, " nano-dollars per second, the sum of the bids for this resource"},
		{"gigabyte", `("holds":{"memory":)([1-9])`, `${1}1$2`, "of memory held on"},
		{"unit", `"gpu":2}`, `"gpu":5}`, "of gpu held on"},
		{"a gigabyte less", `"holds":{"memory":6e\+09`, `"holds":{"memory":5e+09`, "charges of"},
		{"a unit less", `"gpu":2}`, `"gpu":1}`, "charges of"},
		{"a floor", `"floors":{"memory":1`, `"floors":{"memory":2`, "floor prices"},
		{"a licence", `"licences":{"seat":1}`, `"licences":{"seat":7}`, " units of licence seat held"},
		{"the floor of a licence", `"licence_floor":0.000`, `"licence_floor":0.001`, "$/s for licences"},
		{"an unknown licence", `"licences":{"seat"`, `"licences":{"sheet"`, "units of licence sheet held"},
		{"a resource that hosts do not have", `"holds":{`, `"holds":{"tape":1,`, "of tape held"},
	} {
		r := pricedRun(t, "be", "spot", "", once(c.old, c.new))
		if r.Clean() || !strings.Contains(r.Findings[0].String(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, r.Findings, c.want)
		}
	}
}
