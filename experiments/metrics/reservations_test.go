package metrics_test

import (
	"math"
	"slices"
	"testing"

	"bourse/contracts"
	"bourse/experiments/metrics"
)

// TestReservationMetrics checks the metrics of the reservation paper on jobs computed by
// hand. There are a completed and a rejected reservation, an on-demand job, a late
// reservation, and a killed and a cancelled one. It tests with and without an earlier job
// as a warm-up.
func TestReservationMetrics(t *testing.T) {
	t.Parallel()
	undefined := math.NaN()
	never := math.Inf(1)
	jobs := []metrics.Job{
		job(plan{Arrival: 10, Runtime: 20, Nodes: 2}, settled{Outcome: contracts.Fulfilled, Ended: 30}, contract{Gang: true, Host: 0, Began: 10}),
		job(plan{Arrival: 20, Runtime: 10, Nodes: 1, Lead: 5}, settled{Outcome: contracts.Refused}, contract{}),
		job(plan{Arrival: 30, Runtime: 5, Nodes: 1, OnDemand: true}, settled{Outcome: contracts.Fulfilled, Ended: 45}, contract{Gang: true, Host: 1, Began: 40}),
		job(plan{Arrival: 40, Runtime: 15, Nodes: 4, Lead: 2}, settled{Outcome: contracts.Late, Ended: 60}, contract{Gang: true, Host: 1, Began: 45}),
		job(plan{Arrival: 50, Runtime: 5, Nodes: 1}, settled{Outcome: contracts.Killed, Ended: 55}, contract{Gang: true, Host: 0, Began: 50}),
		job(plan{Arrival: 50, Runtime: 8, Nodes: 1, Lead: 20}, settled{Outcome: contracts.Cancelled, Ended: 60}, contract{Gang: true, Host: 0, Began: never}),
	}
	// The hosts with 4 processors have 40 and 5+20 node-seconds in use until 50. From 10
	// on, the earlier job adds 3 times 10.
	earlier := []metrics.Job{job(plan{Arrival: 0, Runtime: 20, Nodes: 3}, settled{Outcome: contracts.Fulfilled, Ended: 20}, contract{Gang: true, Host: 1})}
	cold := &metrics.Outcome{Jobs: jobs, Hosts: 2, Processors: 4, Booked: true}
	warm := &metrics.Outcome{Jobs: jobs, Earlier: earlier, Hosts: 2, Processors: 4, Booked: true}
	noneRefused := &metrics.Outcome{Jobs: jobs[2:3], Hosts: 2, Processors: 4, Booked: true}
	// Suspended nodes are idle: 2 for 5 s within the window, and 4 after it.
	paused := &metrics.Outcome{Jobs: slices.Clone(jobs), Hosts: 2, Processors: 4, Booked: true}
	paused.Jobs[0].Contract.Booked = &contracts.Booked{Paused: []contracts.Pause{{From: 15, To: 20}}}
	paused.Jobs[3].Contract.Booked = &contracts.Booked{Paused: []contracts.Pause{{From: 50, To: never}}}
	if got, ok := metrics.ClusterUtilization.Of(paused); !ok || math.Abs(got-(30+25.0)/2/200) > 1e-12 {
		t.Errorf("utilization with pauses: %v, want %v", got, (30+25.0)/2/200)
	}
	noBooks := &metrics.Outcome{Jobs: jobs, Hosts: 2, Processors: 4}
	for _, c := range []struct {
		m                                metrics.Metric
		cold, warm, noneRefused, noBooks float64
	}{
		{metrics.RejectedWork, 100 * 10.0 / 128, 100 * 10.0 / 128, 0, 100 * 10.0 / 128},
		{metrics.Rejections, 1.0 / 6, 1.0 / 6, 0, 1.0 / 6},
		{metrics.RejectedSize, 60.0 / 128, 60.0 / 128, undefined, 60.0 / 128},
		{metrics.RejectedWorkAR, 100 * 10.0 / 123, 100 * 10.0 / 123, undefined, undefined},
		{metrics.RejectionsAR, 1.0 / 5, 1.0 / 5, undefined, undefined},
		{metrics.ClusterUtilization, (40 + 25.0) / 2 / 200, (40 + 55.0) / 2 / 160, 0, undefined},
		{metrics.ClusterLeast, 25.0 / 200, 40.0 / 160, 0, undefined},
		{metrics.ClusterMost, 40.0 / 200, 55.0 / 160, 0, undefined},
		{metrics.ResponseOD, 15, 15, 15, undefined},
		{metrics.ResponseAR, (20 + 18.0) / 2, (20 + 18.0) / 2, undefined, undefined},
		{metrics.Late, 1, 1, 0, undefined},
		{metrics.Killed, 1, 1, 0, undefined},
		{metrics.Cancelled, 1, 1, 0, undefined},
	} {
		for _, x := range []struct {
			name string
			o    *metrics.Outcome
			want float64
		}{{"cold", cold, c.cold}, {"warm", warm, c.warm}, {"none refused", noneRefused, c.noneRefused}, {"no books", noBooks, c.noBooks}} {
			got, ok := c.m.Of(x.o)
			if ok == math.IsNaN(x.want) || ok && math.Abs(got-x.want) > 1e-12 {
				t.Errorf("%s, %s: %v, defined %v, want %v", c.m.Name, x.name, got, ok, x.want)
			}
		}
	}
	for _, o := range []*metrics.Outcome{cold, warm, noneRefused} {
		if err := metrics.Check(o); err != nil {
			t.Error(err)
		}
	}
}
