package swf

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"bourse/workloadgen"
)

// small is a log of ten records that contains an unknown value of each kind.
const small = `; UnixStartTime: 956700003
; MaxProcs: 8
1 0 0 10 2 -1 -1 2 20 -1 1 3 1 -1 1 1 -1 -1
2 10 0 -1 2 -1 -1 2 20 -1 5 3 1 -1 1 1 -1 -1
3 20 0 10 -1 -1 -1 4 20 -1 1 4 1 -1 1 1 -1 -1
4 30 0 10 8 -1 -1 8 -1 -1 0 4 1 -1 1 1 -1 -1
5 90000 0 10 1 -1 -1 1 20 -1 1 -1 1 -1 1 1 -1 -1
5 90000 0 4 1 -1 -1 1 20 -1 2 5 1 -1 1 1 -1 -1
5 90005 0 6 1 -1 -1 1 20 -1 3 5 1 -1 1 1 -1 -1
8 80000 0 10 1 -1 -1 1 20 -1 1 5 1 -1 1 1 -1 -1
9 180000 0 0 1 -1 -1 1 20 -1 5 5 1 -1 1 1 -1 -1
12 180000 0 99.5 16 -1 -1 16 200 -1 1 5 1 -1 1 1 -1 -1
`

// TestFilters checks the records that each filter keeps, separately and combined, and its
// description.
func TestFilters(t *testing.T) {
	t.Parallel()
	trace, err := Read(strings.NewReader(small))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		filters string
		want    []int64
		steps   string
	}{
		{"", []int64{1, 2, 3, 4, 5, 5, 5, 8, 9, 12}, ""},
		{"ran", []int64{1, 3, 4, 5, 5, 5, 8, 12}, "ran: 8 of 10 records kept"},
		{"completed", []int64{1, 3, 5, 8, 12}, "completed: 5 of 10 records kept"},
		{"cancelled", []int64{2, 9}, "cancelled: 2 of 10 records kept"},
		{"failed", []int64{4}, "failed: 1 of 10 records kept"},
		{"has-estimate", []int64{1, 2, 3, 5, 5, 5, 8, 9, 12}, "has-estimate: 9 of 10 records kept"},
		{"whole", []int64{1, 2, 3, 4, 5, 8, 9, 12}, "whole: 8 of 10 records kept"},
		{"id:3-5", []int64{3, 4, 5, 5, 5}, "id:3-5: 5 of 10 records kept"},
		{"id:9-", []int64{9, 12}, "id:9-: 2 of 10 records kept"},
		{"procs:-1", []int64{5, 5, 5, 8, 9}, "procs:-1: 5 of 10 records kept"},
		{"submit:20-80000", []int64{3, 4, 8}, "submit:20-80000: 3 of 10 records kept"},
		{"user:3+4", []int64{1, 2, 3, 4}, "user:3+4: 4 of 10 records kept"},
		{"not-user:3+4", []int64{5, 5, 5, 8, 9, 12}, "not-user:3+4: 6 of 10 records kept"},
		// 956700003 is 2000-04-25 22:00:03 UTC.
		{"date:2000-04-26..2000-04-27", []int64{5, 5, 5, 8}, "date:2000-04-26..2000-04-27: 4 of 10 records kept"},
		{"date:2000-04-27..", []int64{9, 12}, "date:2000-04-27..: 2 of 10 records kept"},
		{"last:5", []int64{8, 9, 12}, "last:5: 3 of 10 records kept (job numbers 8 to 12; 2 of them are not in the log)"},
		{"first:2", []int64{1, 2}, "first:2: 2 of 10 records kept (job numbers 1 to 2)"},
		{"last:5, ran", []int64{8, 12}, "last:5: 3 of 10 records kept (job numbers 8 to 12; 2 of them are not in the log); ran: 2 of 3 records kept"},
	} {
		filters, err := ParseFilters(c.filters)
		if err != nil {
			t.Fatal(err)
		}
		kept, steps, err := trace.Apply(filters...)
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		for _, r := range kept.Records {
			got = append(got, r.Job)
		}
		var said []string
		for _, s := range steps {
			said = append(said, s.String())
		}
		if !slices.Equal(got, c.want) || strings.Join(said, "; ") != c.steps {
			t.Errorf("%s: kept %v, said %q, want %v, %q", c.filters, got, said, c.want, c.steps)
		}
	}
	if len(trace.Records) != 10 {
		t.Error("the log itself was filtered")
	}
}

// TestFilterErrors checks that the error for an invalid filter lists the valid ones.
func TestFilterErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"rain":           `filter "rain": want one of application:A+B, cancelled, completed, date:A..B,`,
		"ran:3":          `filter "ran:3": want ran`,
		"id":             `filter "id": want id:A-B`,
		"id:5":           `filter "id:5": want id:A-B: "5" is not an interval`,
		"id:9-3":         `"9-3" is not an interval`,
		"id:a-b":         `"a-b" is not an interval`,
		"user:root":      `"root" is not a whole number`,
		"last:0":         `"0" is not a number of records`,
		"date:today..":   `"today" is not a day like 2000-04-25`,
		"date:":          `want date:A..B`,
		"ran,last:-5":    `filter "last:-5": want last:N`,
		"submit:1e99-":   "", // beyond every log, but an interval up to the largest number is empty
		"date:2000-1-1.": "is not an interval of days",
	} {
		_, err := ParseFilters(text)
		if want == "" {
			want = "is not an interval"
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", text, err, want)
		}
	}
	f, _ := ParseFilters("date:2000-01-01..")
	if _, _, err := (&Trace{}).Apply(f...); err == nil || !strings.Contains(err.Error(), "no UnixStartTime") {
		t.Errorf("error %v, want that there is no UnixStartTime", err)
	}
}

// TestWindows checks the windows of the Libra papers on the SDSC SP2's log:
// 2722 of the last 3000 records and 898 of the last 1000 are in the cleaned
// log, and the mean inter-arrival time over all of their numbers is the papers'
// 2131 and 2276 s.
func TestWindows(t *testing.T) {
	t.Parallel()
	trace, err := ReadFile(traceFile(t, "SDSC-SP2-1998-4.1-cln.valid.swf.gz"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		filter  string
		numbers int
		present int
		first   int64
		mean    float64
	}{
		{"last:3000", 3000, 2722, 70497, 2131.1},
		{"last:1000", 1000, 898, 72497, 2276.3},
	} {
		filters, err := ParseFilters(c.filter)
		if err != nil {
			t.Fatal(err)
		}
		w, steps, err := trace.Apply(filters...)
		if err != nil {
			t.Fatal(err)
		}
		if len(w.Records) != c.present || w.Records[0].Job < c.first {
			t.Errorf("%s: %d records from job %d, want %d from %d", c.filter, len(w.Records), w.Records[0].Job, c.present, c.first)
		}
		mean := (w.Records[len(w.Records)-1].Submit - w.Records[0].Submit) / float64(c.numbers-1)
		if mean < c.mean-0.05 || mean > c.mean+0.05 {
			t.Errorf("%s: mean inter-arrival time %.2f s, want %.1f", c.filter, mean, c.mean)
		}
		t.Logf("%v; mean inter-arrival time %.1f s", steps[0], mean)
	}
}

// TestPlan checks each rule by which records become jobs, on the small log.
func TestPlan(t *testing.T) {
	t.Parallel()
	trace, err := Read(strings.NewReader(small))
	if err != nil {
		t.Fatal(err)
	}
	got, acc := trace.Plan(NoMemory)
	job := func(id, user int64, at, run, est float64, nodes int) workloadgen.Job {
		return workloadgen.Job{ID: id, User: user, Arrival: at, Runtime: run, Estimate: est, Deadline: run, Nodes: nodes, Worth: 1}
	}
	want := workloadgen.Plan{
		job(1, 3, 0, 10, 20, 2),
		job(3, 4, 20, 10, 20, 4),
		job(4, 4, 30, 10, 10, 8),
		job(8, 5, 80000, 10, 20, 1),
		job(5, 0, 90000, 10, 20, 1),
		job(12, 5, 180000, 99.5, 200, 16),
	}
	if !slices.Equal(got, want) {
		t.Errorf("plan %+v, want %+v", got, want)
	}
	if err := got.Validate(); err != nil {
		t.Error(err)
	}
	const said = `10 records: 3 used, 3 repaired, 4 skipped
  allocated processors unknown, requested used: 1 repaired, first at record 3
  requested time unknown, run time used: 1 repaired, first at record 4
  user unknown, 0 used: 1 repaired, first at record 5
  never ran: 2 skipped, first at record 2
  part of a job: 2 skipped, first at record 6
`
	if acc.String() != said {
		t.Errorf("said %s, want %s", &acc, said)
	}
}

// TestPlanRoundTrip checks that a plan is unchanged after it is written as a log and read,
// except for data that the format cannot represent.
func TestPlanRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var plan workloadgen.Plan
		now := 0.0
		for i := range rapid.IntRange(0, 10).Draw(t, "jobs") {
			now += rapid.Float64Range(0, 1e4).Draw(t, "gap")
			run := rapid.Float64Range(1e-3, 1e6).Draw(t, "run")
			plan = append(plan, workloadgen.Job{
				ID: int64(i), User: rapid.Int64Range(0, 1e9).Draw(t, "user"), Arrival: now, Runtime: run,
				Estimate: rapid.Float64Range(1e-3, 1e6).Draw(t, "estimate"), Deadline: run,
				Nodes: rapid.IntRange(1, 1000).Draw(t, "nodes"), Worth: 1,
			})
		}
		var file bytes.Buffer
		if err := FromPlan(plan, 0).Write(&file); err != nil {
			t.Fatal(err)
		}
		trace, err := Read(&file)
		if err != nil {
			t.Fatal(err)
		}
		got, acc := trace.Plan(NoMemory)
		if len(plan) > 0 && !reflect.DeepEqual(got, plan) || !acc.Clean() || !trace.Accounting.Clean() {
			t.Fatalf("read %+v (%v), want %+v", got, &acc, plan)
		}
	})
}
