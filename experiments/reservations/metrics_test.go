package reservations

import (
	"testing"

	"bourse/hosts/timetable"
)

// TestMeasureAfter checks a warm-up of one job by hand: the first job is not
// counted, but its nodes are in use from the first measured arrival on.
func TestMeasureAfter(t *testing.T) {
	t.Parallel()
	od := func(id, arrival, start, end int64, nodes int) Outcome {
		return Outcome{
			Job:    Job{timetable.Job{ID: id, Kind: timetable.OnDemand, Arrival: arrival, Earliest: arrival, Deadline: timetable.Forever, Nodes: nodes}, end - start},
			Status: Done, Start: start, End: end,
		}
	}
	rejected := Outcome{Job: Job{timetable.Job{ID: 3, Arrival: 14, Nodes: 1}, 10}, Status: Rejected, Cluster: -1}
	// In the order of the list 1 comes last; by arrival it is the first.
	outcomes := []Outcome{od(2, 4, 6, 12, 2), rejected, od(1, 0, 0, 6, 4)}
	m := MeasureAfter([]int{4}, outcomes, 1)
	// [4, 14): 4 nodes for 2 s and 2 nodes for 6 s, of 40 node-seconds.
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
