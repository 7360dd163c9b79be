package reservations

import (
	"bytes"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"bourse/hosts/timetable"
	"bourse/workloadgen/csvtest"
)

const header = "id,kind,arrival,earliest_start,deadline,runtime,estimate,nodes\n"

// TestJobsCSV checks that what is written is what is read, and how it looks.
func TestJobsCSV(t *testing.T) {
	t.Parallel()
	text := header + "0,AR,1,2,30,10,12,4\n7,OD,3,3,,5,5,1\n"
	jobs, err := ReadJobs(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []Job{
		{timetable.Job{ID: 0, Arrival: 1, Earliest: 2, Deadline: 30, Estimate: 12, Nodes: 4}, 10},
		{timetable.Job{ID: 7, Kind: timetable.OnDemand, Arrival: 3, Earliest: 3, Deadline: timetable.Forever, Estimate: 5, Nodes: 1}, 5},
	}
	if !reflect.DeepEqual(jobs, want) {
		t.Errorf("%+v, want %+v", jobs, want)
	}
	var out bytes.Buffer
	if err := WriteJobs(&out, jobs); err != nil || out.String() != text {
		t.Errorf("%q (%v), want %q", out.String(), err, text)
	}
}

// TestJobsCSVRefuses checks that an error names the line and the field.
func TestJobsCSVRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                 "no header",
		"id,kind\n":                        "columns",
		header + "0,XR,1,2,30,10,12,4":     "line 2: kind",
		header + "0,AR,1,2,30,10,12":       "wrong number of fields",
		header + "0,AR,1,2,,10,12,4":       "line 2: job 0: a reservation without",
		header + "0,AR,1,x,30,10,12,4":     "line 2: earliest_start \"x\"",
		header + "0,AR,1,2,30,0,12,4":      "line 2: job 0: runtime",
		header + "0,AR,1,2,30,1.5,12,4":    "line 2: runtime \"1.5\"",
		header + "0,AR,1,2,30,10,12,1e3":   "line 2: nodes",
		header + "0,AR,-1,2,30,10,12,4":    "line 2: job 0: arrival",
		header + "0,AR,1,2,30,10,12,-4":    "line 2: job 0: 0 nodes",
		header + "0,AR,1,2,30,10,12,99999": "line 2: job 0: 65537 nodes",
	} {
		if _, err := ReadJobs(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestOutcomesCSV checks how outcomes look, a rejected one with empty fields.
func TestOutcomesCSV(t *testing.T) {
	t.Parallel()
	job := Job{timetable.Job{ID: 3, Nodes: 2}, 10}
	var out bytes.Buffer
	err := WriteOutcomes(&out, []Outcome{
		{Job: job, Status: Late, Cluster: 1, Zeta: -4, InitialStart: 5, InitialCompletion: 9, Start: 6, End: 12},
		{Job: job, Status: Rejected, Cluster: -1},
	})
	want := "id,kind,nodes,cluster,zeta,initial_start,initial_completion,start,end,status\n3,AR,2,1,-4,5,9,6,12,late\n3,AR,2,,,,,,,rejected\n"
	if err != nil || out.String() != want {
		t.Errorf("%q (%v), want %q", out.String(), err, want)
	}
}

// FuzzJobsCSV checks that reading never panics, that another reader finds the same,
// and that what was read can be written and read again.
func FuzzJobsCSV(f *testing.F) {
	f.Add(header + "0,AR,1,2,30,10,12,4\n7,OD,3,3,,5,5,1\n")
	f.Add(header + "0,OD,1,2,9223372036854775807,10,12,4\n")
	f.Add(header + "\"0\",AR,1,2,30,10,12,4\r\n")
	f.Add(header + "+0,AR,01,2,30,10,1_2,0x4\r1,OD,3,3,\"\n\",5,5,1\r")
	f.Fuzz(func(t *testing.T, text string) {
		jobs, err := ReadJobs(strings.NewReader(text))
		if err != nil {
			return
		}
		rows, err := csvtest.Rows(text, 0)
		if err != nil || len(rows) != len(jobs)+1 {
			t.Fatalf("%q is %+v, want %q, %v", text, jobs, rows, err)
		}
		for i, row := range rows[1:] {
			j := jobs[i]
			whole := func(cell string) int64 {
				n, err := strconv.ParseInt(cell, 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				return n
			}
			deadline := int64(timetable.Forever)
			if row[4] != "" {
				deadline = whole(row[4])
			}
			if j.ID != whole(row[0]) || j.Kind.String() != row[1] || j.Arrival != whole(row[2]) || j.Earliest != whole(row[3]) || j.Deadline != deadline ||
				j.Runtime != whole(row[5]) || j.Estimate != whole(row[6]) || int64(j.Nodes) != whole(row[7]) {
				t.Fatalf("%q is %+v, want %q", text, j, row)
			}
		}
		var out bytes.Buffer
		if err := WriteJobs(&out, jobs); err != nil {
			t.Fatal(err)
		}
		again, err := ReadJobs(&out)
		if err != nil || !reflect.DeepEqual(again, jobs) {
			t.Fatalf("%+v, then %+v (%v)", jobs, again, err)
		}
	})
}
