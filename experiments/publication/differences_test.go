package publication

import (
	"math"
	"testing"

	"bourse/experiments"
	"bourse/experiments/papers"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
)

// TestReservationPresets checks that every experiment of the grid runs, and that its paired
// differences are drawn for all policies except the one that is subtracted.
func TestReservationPresets(t *testing.T) {
	t.Parallel()
	for _, name := range papers.Figures("reservations") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, err := scenario.Parse(name, papers.Presets()[name], experiments.Known(), "replications=2", "base.workload.model.jobs=60")
			if err != nil {
				t.Fatal(err)
			}
			s := kept(t, &e)
			figures := Differences(Labels(), s.Experiment, s.MetricRows())
			if len(figures) != 1 || figures[0].Name != name+"-less-mli" {
				t.Fatalf("drawn: %v", figures)
			}
		})
	}
}

// TestDifferences compares paired differences with values computed by hand. In the two
// replications that both policies have, the differences are 1-4 and 5-6, so the mean is -2 and
// the standard deviation is 2^0.5.
func TestDifferences(t *testing.T) {
	t.Parallel()
	var rows []results.Metric
	for _, c := range []struct {
		admission string
		values    []float64
	}{{"ff", []float64{1, 5, 9}}, {"mli", []float64{4, 6}}} {
		for rep, x := range c.values {
			rows = append(rows, results.Metric{Configuration: "c", Admission: c.admission, Metric: "m", Replication: rep, Value: &x})
		}
	}
	got := differences(rows, "mli")
	if len(got) != 1 || got[0].Admission != "ff" || got[0].N != 2 || *got[0].Mean != -2 || math.Abs(*got[0].SD-math.Sqrt2) > 1e-12 {
		t.Errorf("%+v", got)
	}
}
