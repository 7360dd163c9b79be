package reservations

import (
	"testing"

	"bourse/hosts/timetable"
)

// Metrics contains the metrics of §4.1 over the measured jobs. Sizes are actual work, n × r. A
// pointer is nil if the number is undefined.
type Metrics struct {
	Jobs     int
	Rejected int
	Late     int
	Killed   int

	WR   float64  // W_R: rejected work in percent of the submitted work
	PB   float64  // P_b: fraction of submitted jobs that are rejected (eq. 4.1)
	Q    *float64 // mean work of rejected jobs divided by the mean work of submitted jobs: W_R / (100 P_b)
	U    *float64 // utilization of all clusters together (eq. 4.2)
	UMin *float64 // utilization of the least utilized cluster
	UMax *float64 // utilization of the most utilized cluster
	ROD  *float64 // mean response time of on-demand jobs in seconds from arrival
	RAR  *float64 // mean response time of reservations in seconds from the earliest start

	PBAdvance *float64 // P_b for reservations only
	WRAdvance *float64 // W_R for reservations only
}

// A Window is the period in which utilization is measured, [From, To).
type Window struct{ From, To int64 }

// Measured returns the window without a warm-up. It lasts from the origin to the last
// arrival, while the system is open.
func Measured(outcomes []Outcome) Window {
	var w Window
	for i := range outcomes {
		w.To = max(w.To, outcomes[i].Arrival)
	}
	return w
}

// Measure returns the metrics of outcomes, all of which are measured, on clusters with
// nodes[i] nodes each. Killed jobs count as work while they ran but have no response time.
//
// On a preemptive cluster, a job counts as using its nodes from its first start to its end,
// even while suspended, so U can exceed 1.
func Measure(nodes []int, outcomes []Outcome, w Window) Metrics {
	return measure(nodes, outcomes, outcomes, w)
}

// MeasureAfter is like [Measure], but with a warm-up. The first skip jobs, by arrival and
// then id, are not measured, but the nodes that they use are. Time starts at the first
// measured arrival.
func MeasureAfter(nodes []int, outcomes []Outcome, skip int) Metrics {
	order := byArrival(outcomes)
	if skip <= 0 || skip >= len(order) {
		return Measure(nodes, outcomes, Measured(outcomes))
	}
	measured := make([]Outcome, 0, len(order)-skip)
	for _, i := range order[skip:] {
		measured = append(measured, outcomes[i])
	}
	w := Measured(outcomes)
	w.From = measured[0].Arrival
	return measure(nodes, outcomes, measured, w)
}

// measure returns the metrics of the jobs in measured. Utilization includes the nodes that the
// jobs in all use.
func measure(nodes []int, all, measured []Outcome, w Window) Metrics {
	m := Metrics{Jobs: len(measured)}
	var sum, advance tally
	var rod, rar mean
	for i := range measured {
		o := &measured[i]
		sum.add(o)
		if o.Kind == timetable.Advance {
			advance.add(o)
		}
		switch {
		case o.Status == Killed:
			m.Killed++
		case o.Status == Rejected:
		case o.Kind == timetable.Advance:
			rar.add(o.End - o.Earliest)
		default:
			rod.add(o.End - o.Arrival)
		}
		if o.Status == Late {
			m.Late++
		}
	}
	m.Rejected = sum.rejected
	if m.Jobs > 0 {
		m.WR, m.PB = sum.wr(), sum.pb()
	}
	if sum.rejected > 0 {
		q := (float64(sum.workRejected) / float64(sum.rejected)) / (float64(sum.work) / float64(sum.jobs))
		m.Q = &q
	}
	if advance.jobs > 0 {
		wr, pb := advance.wr(), advance.pb()
		m.WRAdvance, m.PBAdvance = &wr, &pb
	}
	m.ROD, m.RAR = rod.value(), rar.value()
	m.utilization(nodes, all, w)
	return m
}

// utilization sets U, UMin and UMax.
func (m *Metrics) utilization(nodes []int, outcomes []Outcome, w Window) {
	if w.To <= w.From || len(nodes) == 0 {
		return
	}
	busy := make([]int64, len(nodes))
	for i := range outcomes {
		o := &outcomes[i]
		if o.Status == Rejected {
			continue
		}
		if from, to := max(o.Start, w.From), min(o.End, w.To); from < to {
			busy[o.Cluster] += int64(o.Nodes) * (to - from)
		}
	}
	var used, total, low, high float64
	for i, n := range nodes {
		room := float64(n) * float64(w.To-w.From)
		u := float64(busy[i]) / room
		if i == 0 || u < low {
			low = u
		}
		high = max(high, u)
		used += float64(busy[i])
		total += room
	}
	u := used / total
	m.U, m.UMin, m.UMax = &u, &low, &high
}

// A tally counts jobs and their work.
type tally struct {
	jobs, rejected     int
	work, workRejected int64
}

func (t *tally) add(o *Outcome) {
	t.jobs++
	t.work += o.Work()
	if o.Status == Rejected {
		t.rejected++
		t.workRejected += o.Work()
	}
}

func (t *tally) wr() float64 { return 100 * float64(t.workRejected) / float64(t.work) }
func (t *tally) pb() float64 { return float64(t.rejected) / float64(t.jobs) }

// A mean is a mean of whole seconds.
type mean struct{ sum, n int64 }

func (m *mean) add(x int64) { m.sum += x; m.n++ }

func (m *mean) value() *float64 {
	if m.n == 0 {
		return nil
	}
	v := float64(m.sum) / float64(m.n)
	return &v
}

// TestMeasureAfter checks a warm-up of one job by hand. The first job is not counted, but
// its nodes are in use from the first measured arrival on.
func TestMeasureAfter(t *testing.T) {
	t.Parallel()
	od := func(id, arrival, start, end int64, nodes int) Outcome {
		return Outcome{
			Job:    Job{timetable.Job{ID: id, Kind: timetable.OnDemand, Arrival: arrival, Earliest: arrival, Deadline: timetable.Forever, Nodes: nodes}, end - start},
			Status: Done, Start: start, End: end,
		}
	}
	rejected := Outcome{Job: Job{timetable.Job{ID: 3, Arrival: 14, Nodes: 1}, 10}, Status: Rejected, Cluster: -1}
	// Job 1 is last in the list but first by arrival.
	outcomes := []Outcome{od(2, 4, 6, 12, 2), rejected, od(1, 0, 0, 6, 4)}
	m := MeasureAfter([]int{4}, outcomes, 1)
	// In [4, 14), 4 nodes are in use for 2 s and 2 nodes for 6 s, of 40 node-seconds.
	if m.Jobs != 2 || m.Rejected != 1 || *m.U != 0.5 || *m.ROD != 8 || m.RAR != nil || m.PB != 0.5 {
		t.Errorf("%+v, U %v, R_OD %v", m, *m.U, *m.ROD)
	}
	if m := MeasureAfter([]int{4}, outcomes, 0); m.Jobs != 3 || *m.U != 36./56 {
		t.Errorf("without warm-up: %+v, U %v", m, *m.U)
	}
	if m := Measure([]int{4}, nil, Window{}); m.U != nil || m.Q != nil || m.WR != 0 || m.PBAdvance != nil {
		t.Errorf("of nothing: %+v", m)
	}
}
