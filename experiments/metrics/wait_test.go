package metrics

import (
	"math"
	"slices"
	"testing"

	"bourse/bank"
	"bourse/contracts"
	"bourse/workloadgen"
)

// TestWaits checks the metrics of logs by hand: three jobs that started after 0, 30 and 10
// s, the last of them in a gang, and one rejected job.
func TestWaits(t *testing.T) {
	t.Parallel()
	dollars := func(x float64) bank.Amount {
		a, err := bank.Dollars(x)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	done := func(arrival, runtime, start, end, paid float64) Job {
		j := Job{Job: &workloadgen.Job{Arrival: arrival, Runtime: runtime, Nodes: 1}}
		j.Contract.Admitted, j.Contract.Began, j.Contract.Ended, j.Contract.Done = start, start, end, runtime
		j.Contract.Outcome, j.Contract.Paid = contracts.Fulfilled, dollars(paid)
		return j
	}
	jobs := []Job{done(5, 100, 5, 105, 2), done(10, 2, 40, 42, 0.5), done(20, 50, 20, 80, 1)}
	jobs[2].Contract.Gang, jobs[2].Contract.Began = true, 30
	jobs[1].Contract.Penalty = dollars(0.25)
	jobs = append(jobs, Job{Job: &workloadgen.Job{Arrival: 50}, Contract: contracts.Result{Outcome: contracts.Refused}})
	jobs[0].Offers, jobs[0].Bargained, jobs[3].Offers = 2, true, 3
	o := &Outcome{Jobs: jobs}
	if got, ok := WaitMedian.Of(&Outcome{Jobs: jobs[:2]}); !ok || got != 15 {
		t.Errorf("median of waits of 0 and 30 s: %v, %v, want 15", got, ok)
	}
	for _, c := range []struct {
		metric Metric
		want   float64
	}{
		{Wait, 40.0 / 3}, {WaitMedian, 10}, {WaitP95, 30},
		{BoundedSlowdown, (1 + 3.2 + 1.2) / 3}, {Span, 100}, {Revenue, 3.25},
		{Offers, 5}, {OffersTaken, 1},
	} {
		if got, ok := c.metric.Of(o); !ok || math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %v, %v, want %v", c.metric.Name, got, ok, c.want)
		}
		if got, ok := c.metric.Of(&Outcome{Jobs: jobs[3:]}); ok && c.metric.Unit != "$" && !slices.Contains(Negotiated(), c.metric.Name) {
			t.Errorf("%s where all are refused: %v", c.metric.Name, got)
		}
	}
}

// TestUtilizationOfOpenJobs checks that with a warm-up and a horizon, the time starts at
// the first measured arrival, even if that job is open at the horizon. A job that arrives
// at 4 and works until 14 uses the whole fleet.
func TestUtilizationOfOpenJobs(t *testing.T) {
	t.Parallel()
	job := func(arrival, done float64) Job {
		j := Job{Job: &workloadgen.Job{Arrival: arrival, Runtime: done, Nodes: 1}}
		j.Contract.Done = done
		return j
	}
	o := &Outcome{Earlier: []Job{job(0, 3)}, Open: []Job{job(4, 10)}, Jobs: []Job{job(6, 0)}, Capacity: 1, Horizon: 14}
	if x, ok := Utilization.Of(o); !ok || x != 1 {
		t.Errorf("utilization is %v, %v, want 1", x, ok)
	}
}
