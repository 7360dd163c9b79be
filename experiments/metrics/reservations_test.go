package metrics_test

import (
	"math"
	"testing"

	"bourse/experiments/metrics"
)

// TestReservationMetrics checks the metrics of the reservation paper on jobs worked out
// by hand: a reservation done, one rejected, an on-demand job, a late reservation, one
// killed, one taken back; with and without an earlier one that warms the clusters up.
func TestReservationMetrics(t *testing.T) {
	t.Parallel()
	undefined := math.NaN()
	jobs := []metrics.Job{
		{Arrival: 10, Work: 40, Nodes: 2, Opens: 10, Admitted: true, Fulfilled: true, Gang: true, Host: 0, Begun: true, Began: 10, End: 30},
		{Arrival: 20, Work: 10, Nodes: 1, Opens: 25},
		{Arrival: 30, Work: 5, Nodes: 1, OnDemand: true, Opens: 30, Admitted: true, Fulfilled: true, Gang: true, Host: 1, Begun: true, Began: 40, End: 45},
		{Arrival: 40, Work: 60, Nodes: 4, Opens: 42, Admitted: true, Gang: true, Host: 1, Begun: true, Began: 45, End: 60},
		{Arrival: 50, Work: 5, Nodes: 1, Opens: 50, Admitted: true, Killed: true, Gang: true, Host: 0, Begun: true, Began: 50, End: 55},
		{Arrival: 50, Work: 8, Nodes: 1, Opens: 70, Admitted: true, Cancelled: true, Gang: true, Host: 0, End: 60},
	}
	// The hosts, of 4 processors, have 40 and 5+20 node-seconds in use until 50; from
	// 10 on, 3 times 10 more of the earlier job.
	earlier := []metrics.Job{{Arrival: 0, Work: 60, Nodes: 3, Admitted: true, Fulfilled: true, Gang: true, Host: 1, Begun: true, End: 20}}
	cold := &metrics.Outcome{Jobs: jobs, Hosts: 2, Processors: 4, Booked: true}
	warm := &metrics.Outcome{Jobs: jobs, Earlier: earlier, Hosts: 2, Processors: 4, Booked: true}
	noneRefused := &metrics.Outcome{Jobs: jobs[2:3], Hosts: 2, Processors: 4, Booked: true}
	// Nodes that are taken away for a time stand idle: 2 for 5 s within the window, and 4 after it.
	paused := &metrics.Outcome{Jobs: jobs, Hosts: 2, Processors: 4, Booked: true, Pauses: []metrics.Pause{{Host: 0, Nodes: 2, From: 15, To: 20}, {Host: 1, Nodes: 4, From: 50, To: 60}}}
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
