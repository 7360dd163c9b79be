package publication

import (
	"path/filepath"
	"strings"
	"testing"

	"bourse/experiments"
	"bourse/experiments/results"
)

// TestNegotiated checks that results report the value of negotiation if and only if the same
// policy was run with and without it, and that the mean of the differences is the difference of
// the means.
func TestNegotiated(t *testing.T) {
	t.Parallel()
	study := func(admission string) (*Report, *results.Dir) {
		e := parsed(t, "name: a\nreplications: 3\nbase: {workload: {model: {name: paper, jobs: 20}}}\nconfigurations:\n  - {name: b, admission: ["+admission+"]}\n")
		ready, err := experiments.Prepare(e)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(t.TempDir(), "r")
		s, err := Publish(t.Context(), ready, experiments.Options{}, to(t, ready, dir))
		if err != nil {
			t.Fatal(err)
		}
		d, err := results.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		return s, d
	}
	s, dir := study("{name: sac, guarantee: 0.5}, {name: sac, label: bargain, guarantee: 0.5, negotiate: rational}")
	d := s.Document("")
	said := d.Notes[len(d.Notes)-1]
	for _, want := range append([]string{"in 3 paired replications", "for all 3 comparisons simultaneously, Bonferroni). Under SAC: efficiency_1 "}, worthOf...) {
		if !strings.Contains(said, want) {
			t.Errorf("%q does not say %q", said, want)
		}
	}
	taken := map[string]int{}
	for row, err := range dir.Jobs(nil, nil) {
		if err != nil {
			t.Fatal(err)
		}
		if row.Reason == results.OfferTaken {
			taken[row.Admission]++
		}
		if (row.Decision == "accept") != (row.Reason == "" || row.Reason == results.OfferTaken) {
			t.Errorf("job %s under %s: %s, for %q", row.Job, row.Admission, row.Decision, row.Reason)
		}
	}
	total := map[string]float64{}
	for _, row := range s.MetricRows("offers", "offers_taken") {
		total[row.Admission+" "+row.Metric] += *row.Value
	}
	if total["sac offers"] != 0 || total["bargain offers"] == 0 || total["bargain offers_taken"] > total["bargain offers"] {
		t.Errorf("offers: %v", total)
	}
	if taken["sac"] > 0 || taken["bargain"] == 0 || float64(taken["bargain"]) != total["bargain offers_taken"] {
		t.Errorf("rows of offers taken: %v, want as many as the metric counts: %v", taken, total)
	}
	s, _ = study("{name: sac, guarantee: 0.5}, {name: sac, label: bargain, guarantee: 0.6, negotiate: rational}")
	if pairs := negotiated(s.Experiment); pairs != nil {
		t.Errorf("policies that are not alike are compared: %q", pairs)
	}
	s, _ = study("sac, cac")
	if rows := s.MetricRows("offers"); len(rows) > 0 {
		t.Errorf("nobody negotiates, and offers are counted: %v", rows)
	}
}
