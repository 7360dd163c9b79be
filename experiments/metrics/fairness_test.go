package metrics

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"bourse/bank"
	"bourse/contracts"
	"bourse/workloadgen"
)

// TestGoldenMetrics compares the metrics of fairness with results of an independent model. The
// cases are in the folder named by BOURSE_GOLDEN_MECHANISMS, or in testdata. In a case, a job
// that did no work and paid nothing stands for a rejected job, whose contract has only an
// outcome.
func TestGoldenMetrics(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("BOURSE_GOLDEN_MECHANISMS")
	if folder == "" {
		folder = filepath.Join("testdata", "golden")
	}
	text, err := os.ReadFile(filepath.Join(folder, "metrics.json"))
	if err != nil {
		t.Fatal(err)
	}
	type job struct {
		User                       string
		Work, Value, Paid, Penalty float64
		ByDue                      float64 `json:"by_due"`
		Fulfilled, Urgent          bool
		Submit, Runtime            float64
		End                        *float64
	}
	var file struct {
		Cases []struct {
			ID     string
			Input  struct{ Jobs []job }
			Expect map[string]*float64
		}
	}
	if err := json.Unmarshal(text, &file); err != nil || len(file.Cases) == 0 {
		t.Fatal(len(file.Cases), err)
	}
	for _, c := range file.Cases {
		for name, want := range c.Expect {
			users, o := map[string]int64{}, new(Outcome)
			for _, in := range c.Input.Jobs {
				if _, ok := users[in.User]; !ok {
					users[in.User] = int64(len(users))
				}
				j := Job{Job: &workloadgen.Job{User: users[in.User], Arrival: in.Submit, Runtime: in.Work, Nodes: 1, Value: in.Value, Urgent: in.Urgent}}
				j.Contract = contracts.Result{
					Budget: bank.Micros(int64(in.Value * 1e6)), Paid: bank.Micros(int64(in.Paid * 1e6)), Penalty: bank.Micros(int64(in.Penalty * 1e6)),
					ByDue: in.ByDue, Outcome: contracts.Late,
				}
				if in.Fulfilled {
					j.Contract.Outcome = contracts.Fulfilled
				}
				if !in.Fulfilled && in.ByDue == 0 && in.Paid == 0 && in.Penalty == 0 {
					j.Contract = contracts.Result{Outcome: contracts.Refused}
				}
				// In a case, the runtime is separate from the work, and only this metric uses
				// the runtime.
				if name == "disparity" {
					j.Runtime, j.Contract.Outcome = in.Runtime, contracts.Refused
					if in.End != nil {
						j.Contract.Outcome, j.Contract.Ended, j.Contract.Done = contracts.Late, *in.End, in.Runtime
					}
				}
				o.Jobs = append(o.Jobs, j)
			}
			var m Metric
			for _, of := range With(name) {
				if of.Name == name {
					m = of
				}
			}
			if m.Of == nil {
				t.Fatalf("no metric %s", name)
			}
			got, ok := m.Of(o)
			if ok != (want != nil) || ok && math.Abs(got-*want) > 1e-9*max(1, math.Abs(got)) {
				t.Errorf("%s: %s = %v, %v, want %v", c.ID, name, got, ok, want)
			}
		}
	}
}

// TestInterruptions checks that interruptions are counted per admitted job.
func TestInterruptions(t *testing.T) {
	t.Parallel()
	job := func(outcome contracts.Outcome, suspensions int) Job {
		return Job{Job: new(workloadgen.Job), Contract: contracts.Result{Outcome: outcome, Suspensions: suspensions}}
	}
	o := &Outcome{Jobs: []Job{job(contracts.Fulfilled, 3), job(contracts.Late, 0), job(contracts.Refused, 0), job(contracts.Cancelled, 1), job(contracts.Open, 0)}}
	if got, ok := Interruptions.Of(o); !ok || got != 4./3 {
		t.Errorf("interruptions = %v, %v, want 4 of 3 contracts", got, ok)
	}
	if _, ok := Interruptions.Of(&Outcome{Jobs: []Job{job(contracts.Refused, 0)}}); ok {
		t.Error("interruptions without contracts: want undefined")
	}
}
