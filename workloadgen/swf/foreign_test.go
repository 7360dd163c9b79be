package swf

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReadAs converts a sample of each format: the log, and what became of each line.
func TestReadAs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, format, log, accounting string }{
		{"jobs.sacct", "sacct", `
; Version: 2.2
; Note: converted from sacct
; MaxJobs: 4
; MaxRecords: 4
; UnixStartTime: 1772438400
; Queue: 1 normal
; Queue: 2 high
; Partition: 1 batch
; Partition: 2 gpu
1001 0 10 3600 16 -1 -1 16 7200 2097152 1 1 1 -1 1 1 -1 -1
1002 300 0 600 4 -1 -1 4 -1 2097152 0 2 1 -1 2 2 -1 -1
1004 600 600 0 -1 -1 -1 8 3600 4194304 5 1 1 -1 1 1 -1 -1
1007 3000 60 86400 2 -1 -1 2 129600 51200 1 3 2 -1 1 1 -1 -1
`, `10 lines: 1 comments, 0 blank, 4 used, 0 repaired, 5 skipped
  fewer than 5 fields: 1 skipped, first at line 10, 3 columns of 16, found "1008|1008|cy"
  not a time: 1 skipped, first at line 8, Submit, found "yesterday"
  step of a job: 1 skipped, first at line 3, found "1001.batch"
  has not ended: 2 skipped, first at line 5, State, found "PENDING"
  not used: columns JobID, AllocTRES
`},
		{"jobs.sacct.json", "sacct", `
; Version: 2.2
; Note: converted from sacct
; MaxJobs: 2
; MaxRecords: 2
; UnixStartTime: 1772438400
; Queue: 1 normal
; Queue: 2 high
; Partition: 1 batch
; Partition: 2 gpu
1001 0 10 3600 16 3125 -1 16 7200 2097152 1 1 1 1 1 1 -1 -1
1002 300 0 600 4 -1 -1 4 -1 2097152 0 2 1 2 2 2 -1 -1
`, `3 records: 2 used, 0 repaired, 1 skipped
  has not ended: 1 skipped, first at record 23, State, found "PENDING"
  not used: 1 steps of jobs
`},
		{"jobs.gwf", "gwf", `
; Version: 2.2
; Note: converted from gwf
; MaxJobs: 3
; MaxRecords: 3
; UnixStartTime: 1100000000
; Queue: 1 Q1
; Partition: 1 P1
; Partition: 2 P2
; Note: GWF sample
; Note: JobID SubmitTime WaitTime RunTime NProcs
1 0 5 600 2 -1 -1 2 900 -1 1 1 1 1 1 1 -1 -1
2 60 0 100.5 1 -1 -1 1 900 -1 1 2 1 1 1 1 -1 -1
3 70 0 100 1 -1 -1 1 900 -1 0 1 1 2 1 2 -1 -1
`, `7 lines: 2 comments, 1 blank, 1 used, 2 repaired, 1 skipped
  fraction in a whole-number field, truncated: 1 repaired, first at line 5, NProcs, found "1.5"
  job identifier is not a number, a new number used: 1 repaired, first at line 6, found "job3"
  not a number: 1 skipped, first at line 7, WaitTime, found "soon"
  not used: values in fields 17 to 29 (sites, structure of the job, network, disk, project) of 2 records
`},
		{"jobs.batsim.json", "batsim", `
; Version: 2.2
; Note: converted from batsim
; MaxJobs: 3
; MaxRecords: 3
; MaxProcs: 8
0 0 -1 10 4 -1 -1 4 100 -1 1 -1 -1 -1 -1 -1 -1 -1
1 1.5 -1 40 8 -1 -1 8 -1 -1 1 -1 -1 -1 -1 -1 -1 -1
2 2 -1 10 1 -1 -1 1 -1 -1 1 -1 -1 -1 -1 -1 -1 -1
`, `6 records: 2 used, 1 repaired, 3 skipped
  job identifier is not a number, a new number used: 1 repaired, first at record 7, found "two"
  not a number: 1 skipped, first at record 9, subtime, found "x"
  run time depends on the machine: 2 skipped, first at record 8, profile, found "compute"
`},
	} {
		trace, err := ReadAs(filepath.Join("testdata/formats", c.file), c.format)
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		var b bytes.Buffer
		if err := trace.Write(&b); err != nil {
			t.Fatal(err)
		}
		if got, want := b.String(), c.log[1:]; got != want {
			t.Errorf("%s is\n%swant\n%s", c.file, got, want)
		}
		if got := trace.Accounting.String(); got != c.accounting {
			t.Errorf("%s: accounting\n%swant\n%s", c.file, got, c.accounting)
		}
		if _, err := ReadFile(filepath.Join("testdata/formats", c.file)); err == nil || !strings.Contains(err.Error(), "--from "+c.format) {
			t.Errorf("%s as a log: found %v, want its format", c.file, err)
		}
	}
}

// TestReadAsErrors checks that a file which is not in the format gives an error with its line.
func TestReadAsErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ format, text, want string }{
		{"sacct", "", "file:1: found nothing"},
		{"sacct", "JobID|User\n1|ann\n", "file:1: the header has no column Submit, ElapsedRaw, AllocCPUS; "},
		{"sacct", "{\"jobs\": [\n{\"job_id\": 1,\n \"time\": {\"submission\": \"x\"}}]}", "file:3: job 1 of the list: "},
		{"sacct", "{\"jobs\": [\n{\"job_id\": 1},\n", "file:2: the file ends early"},
		{"sacct", "{\"meta\": 1}", "file:1: found no list of jobs"},
		{"gwf", "a,b,c\n1,2,3\n", "file:2: not in the Grid Workload Format: "},
		{"batsim", "{\"jobs\": []}", "file:1: want a JSON object with jobs and profiles"},
		{"batsim", "{\"jobs\": [\n{\"id\": ]", "file:2: jobs: "},
		{"swf", "", "found format \"swf\", want one of sacct, gwf, batsim"},
	} {
		name := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(name, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadAs(name, c.format); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: found %v, want %q", c.format, c.text, err, c.want)
		}
	}
}

func TestDuration(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{"00:00:01": 1, "1-02:03:04": 93784, "10:00": 600, "45": 45, "00:01.500": 1.5, "1-00": -1, "x": -1, "1:2:3:4": -1, "": -1} {
		got, ok := duration(text)
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// fuzzed reads a text in a format, and checks what holds of every file: the accounting adds up
// and the log, written and read again, is the same and clean.
func fuzzed(t *testing.T, format, text string) *Trace {
	if len(text) > 1 && text[0] == 0x1f && text[1] == 0x8b {
		return nil
	}
	name := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	trace, err := ReadAs(name, format)
	if err != nil {
		return nil
	}
	a := &trace.Accounting
	if a.Lines != a.Comments+a.Blank+a.Used+a.Repaired+a.Skipped || len(trace.Records) != a.Used+a.Repaired {
		t.Fatalf("%d records: %v", len(trace.Records), a)
	}
	var b bytes.Buffer
	if err := trace.Write(&b); err != nil {
		t.Fatal(err)
	}
	again, err := Read(&b)
	if err != nil || !again.Accounting.Clean() || len(again.Records) != len(trace.Records) {
		t.Fatalf("read again: %v, %v", &again.Accounting, err)
	}
	for i, r := range again.Records {
		if r != trace.Records[i] {
			t.Fatalf("record %d: %v, want %v", i, r, trace.Records[i])
		}
	}
	return trace
}

// sample returns the text of a sample.
func sample(f *testing.F, name string) string {
	text, err := os.ReadFile(filepath.Join("testdata/formats", name))
	if err != nil {
		f.Fatal(err)
	}
	return string(text)
}

// FuzzSacct compares the table's reader with a second one on the number of records.
func FuzzSacct(f *testing.F) {
	f.Add(sample(f, "jobs.sacct"))
	f.Add("JobID|Submit|ElapsedRaw|NCPUS\n1|5|6|7\n1_2|5|6|7\n\n2.0|5|6|7")
	f.Fuzz(func(t *testing.T, text string) {
		trace := fuzzed(t, "sacct", text)
		if trace == nil || strings.HasPrefix(strings.TrimSpace(strings.TrimPrefix(text, "\ufeff")), "{") {
			return
		}
		var head []string
		rows := 0
		for line := range strings.SplitSeq(strings.TrimPrefix(text, "\ufeff"), "\n") {
			line = strings.TrimRight(line, "\r")
			cells := strings.Split(line, "|")
			if head == nil && strings.TrimSpace(line) != "" {
				head = cells
			} else if len(cells) == len(head) && strings.TrimSpace(line) != "" {
				rows++
			}
		}
		if a := trace.Accounting; a.Used+a.Repaired+a.Skipped-a.Count(TooFewFields) != rows {
			t.Fatalf("%q: %v, want %d rows", text, &a, rows)
		}
	})
}

// FuzzSacctJSON compares the reader with one that reads the whole file at once.
func FuzzSacctJSON(f *testing.F) {
	f.Add(sample(f, "jobs.sacct.json"))
	f.Fuzz(func(t *testing.T, text string) {
		trace := fuzzed(t, "sacct", text)
		if trace == nil || !strings.HasPrefix(strings.TrimSpace(strings.TrimPrefix(text, "\ufeff")), "{") {
			return
		}
		var all struct{ Jobs []json.RawMessage }
		d := json.NewDecoder(strings.NewReader(strings.TrimPrefix(text, "\ufeff")))
		if err := d.Decode(&all); err != nil {
			t.Fatalf("%q: read, though %v", text, err)
		}
		if strings.Count(text, `jobs"`) == 1 && trace.Accounting.Lines != len(all.Jobs) {
			t.Fatalf("%q: %v, want %d jobs", text, &trace.Accounting, len(all.Jobs))
		}
	})
}

// FuzzGWF compares the reader with the reader of SWF, which has the same first fields.
func FuzzGWF(f *testing.F) {
	f.Add(sample(f, "jobs.gwf"))
	f.Fuzz(func(t *testing.T, text string) {
		trace := fuzzed(t, "gwf", text)
		if trace == nil {
			return
		}
		lines := 0
		for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				lines++
			}
		}
		if a := trace.Accounting; a.Used+a.Repaired+a.Skipped != lines {
			t.Fatalf("%q: %v, want %d lines", text, &a, lines)
		}
	})
}

// FuzzBatsim compares the reader with one that reads the whole file at once.
func FuzzBatsim(f *testing.F) {
	f.Add(sample(f, "jobs.batsim.json"))
	f.Fuzz(func(t *testing.T, text string) {
		trace := fuzzed(t, "batsim", text)
		if trace == nil {
			return
		}
		var all struct{ Jobs []json.RawMessage }
		if err := json.NewDecoder(strings.NewReader(strings.TrimPrefix(text, "\ufeff"))).Decode(&all); err != nil {
			t.Fatalf("%q: read, though %v", text, err)
		}
		if strings.Count(text, `jobs"`) == 1 && trace.Accounting.Lines != len(all.Jobs) {
			t.Fatalf("%q: %v, want %d jobs", text, &trace.Accounting, len(all.Jobs))
		}
	})
}
