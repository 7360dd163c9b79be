package results

import "testing"

// TestFirst checks that a block, as CSV and as Parquet, returns the first jobs and prices of
// each policy in the first replication, with their total number.
func TestFirst(t *testing.T) {
	t.Parallel()
	for _, form := range []Tables{Both, CSV, Parquet} {
		var axes Axes
		axes.Axis("load", []string{"1", "2"})
		e := NewEncoder(form, axes)
		var jobs []Job
		var prices []Price
		for rep := 3; rep < 5; rep++ {
			for _, a := range []string{"be", "cac"} {
				for i := range 300 {
					jobs = append(jobs, Job{Configuration: "c@2", Admission: a, Replication: rep, Job: "j", User: "u", Decision: "accept", Nodes: i + 1, Start: new(float64(i))})
				}
				prices = append(prices, Price{Configuration: "c@2", Admission: a, Replication: rep, MeanPrice: 1})
			}
		}
		if err := e.Jobs(jobs); err != nil {
			t.Fatal(err)
		}
		if err := e.Prices(prices); err != nil {
			t.Fatal(err)
		}
		b, err := e.Block()
		if err != nil {
			t.Fatal(err)
		}
		got, of, err := b.FirstJobs(axes, 2)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 4 || of["be"] != 300 || of["cac"] != 300 {
			t.Fatalf("%v: %d jobs of %v", form, len(got), of)
		}
		for i, j := range got {
			if j.Replication != 3 || j.Nodes != i%2+1 || *j.Start != float64(i%2) || (j.Admission == "be") != (i < 2) {
				t.Errorf("%v: job %d is %+v", form, i, j)
			}
		}
		some, _, err := b.FirstPrices(axes, 9)
		if err != nil || len(some) != 2 && len(b["prices.parquet"]) > 0 || len(some) > 0 && some[0].MeanPrice != 1 {
			t.Errorf("%v: %v, %v", form, some, err)
		}
	}
	if jobs, of, err := (Block{}).FirstJobs(nil, 1); len(jobs)+len(of) > 0 || err != nil {
		t.Errorf("of nothing: %v, %v, %v", jobs, of, err)
	}
}
