package whatif

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"bourse/contracts/broker"
	"bourse/contracts/policies"
	"bourse/experiments"
	"bourse/experiments/scenario"
	"bourse/workloadgen"
)

// random returns the nth random scenario, which has one configuration under one policy.
// Consecutive numbers use all policies in turn, half of them under their own sharing rule.
// It returns nil if the scenario is rejected.
func random(t *testing.T, n uint64) *experiments.Prepared {
	t.Helper()
	rng := rand.New(rand.NewPCG(n, 11))
	odds := func(p float64) bool { return rng.Float64() < p }
	pick := func(from ...string) string { return from[rng.IntN(len(from))] }
	names := policies.Table(nil, nil).Names()
	policy := names[n%uint64(len(names))]
	cpus, books := pick("1", "1", "2", "4", "1.5"), policies.Of(policy).Books
	rated := policies.Of(policy).Rated // the policy sets the rates, so the rules of its market are fixed
	if books {
		cpus = pick("4", "8")
	} else if rated {
		cpus = "1"
	}
	size := 1 + rng.IntN(8)
	if policies.Of(policy).Single {
		size = 1
	}
	fleet := fmt.Sprintf("hosts: %d, cpus: %s", size, cpus)
	if odds(0.3) {
		fleet += ", speeds: [" + pick("1, 2", "0.5, 1, 3") + "]"
	}
	if odds(0.2) {
		fleet += ", cap: " + pick("1", "0.5")
	}
	if odds(0.25) && !books && !rated {
		fleet += fmt.Sprintf(", availability: {model: %s, span: 5000, leaving: %s, lost_work: %s}", pick("diurnal", "markov"), pick("resubmit", "lost", "suspend"), pick("free", "charged"))
	}
	market := "sharing: " + policies.Of(policy).Sharing
	if odds(0.3) && !books && !rated {
		market = "sharing: " + pick("auction", "exclusive", "deadline", "turns")
	}
	payment := pick(broker.Payments().Names()...)
	if rated {
		payment = "bid"
	}
	if policies.Of(policy).Free {
		payment = "free"
	}
	market += ", payment: " + payment
	if odds(0.3) && !books {
		market += ", instant: " + pick("submissions-first", "one-by-one")
	}
	if odds(0.2) {
		market += ", renew: 20"
	}
	sla := "enforcement: " + pick("total", "per-host") + ", slack: " + pick("1", "1.5", "3", "20") + ", of: " + pick("plan", "estimate", "runtime") + ", deadline: " + pick("hard", "soft", "plan")
	if odds(0.4) {
		sla += ", penalty: {rate: " + pick("0.01", "3") + "}"
	}
	job := "plan: plan.csv"
	if odds(0.2) {
		job += ", funds: " + pick("5", "20")
	}
	more := ""
	if odds(0.2) {
		more = ", negotiate: " + pick(scenario.Rational, scenario.Impatient)
	}
	if odds(0.2) {
		more += "}]\n    horizon: " + pick("60", "250") + "\n    needs: {min: {cpu: 0.1}}\n#"
	}
	plan := make(workloadgen.Plan, 4+rng.IntN(12))
	at := 0.0
	for i := range plan {
		if odds(0.7) {
			at += 20 * rng.ExpFloat64()
		}
		j := &plan[i]
		*j = workloadgen.Job{ID: int64(i), User: int64(rng.IntN(4)), Arrival: at, Runtime: 1 + 60*rng.ExpFloat64(), Worth: 1, Nodes: 1 + rng.IntN(4), Value: 0.1 + 20*rng.Float64()}
		j.Estimate = j.Runtime * (0.5 + rng.Float64())
		j.Deadline = max(j.Runtime, j.Estimate) * (0.8 + 2*rng.ExpFloat64())
		j.Hard = odds(0.4)
		if odds(0.3) {
			j.PenaltyRate = 0.1 * rng.Float64()
		}
		if odds(0.1) {
			j.Cancel = j.Deadline * rng.Float64()
		}
		if policy == "queue" {
			j.Nodes = 1
		}
		if books && odds(0.4) {
			j.OnDemand, j.Lead = odds(0.5), 10*rng.Float64()
			if j.OnDemand {
				j.Lead = 0
			}
		}
	}
	if own := rand.New(rand.NewPCG(n, 12)); n%3 == 0 { // in every third scenario, jobs may follow other jobs
		for i := range plan {
			if i > 0 && own.IntN(2) == 0 {
				plan[i].After, plan[i].Think = plan[own.IntN(i)].ID, 10*own.Float64()
			}
		}
	}
	dir := t.TempDir()
	var table bytes.Buffer
	if err := workloadgen.WriteCSV(&table, plan); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "plan.csv"), table.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("name: x\nseed: %d\nreplications: 2\nconfigurations:\n  - name: c\n    fleet: {%s}\n    market: {%s}\n    sla: {%s}\n    workload: {%s}\n    admission: [{name: %s%s}]\n",
		n%7, fleet, market, sla, job, policy, more)
	e, err := scenario.Parse(filepath.Join(dir, "x.yaml"), []byte(text), experiments.Known())
	if err != nil {
		t.Logf("scenario %d: %v", n, err)
		return nil
	}
	p, err := experiments.Prepare(&e)
	if err != nil {
		t.Logf("scenario %d: %v", n, err)
		return nil
	}
	return p
}
