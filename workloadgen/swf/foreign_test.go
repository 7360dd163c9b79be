package swf

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestReadAs converts a sample of each format and checks the log and the treatment of each
// line.
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
  not used: the zone of 14 times, which are read as UTC; SLURM_TIME_FORMAT=%s prints Unix times
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
; TimeZoneString: Europe/Amsterdam
; Note: JobID SubmitTime WaitTime RunTime NProcs
1 0 5 600 2 -1 -1 2 900 -1 1 1 1 1 1 1 -1 -1
2 60 0 100.5 1 -1 -1 1 900 -1 1 2 1 1 1 1 -1 -1
3 70 0 100 1 -1 -1 1 900 -1 0 1 1 2 1 2 -1 -1
`, `8 lines: 3 comments, 1 blank, 1 used, 2 repaired, 1 skipped
  fraction in a whole-number field, truncated: 1 repaired, first at line 6, NProcs, found "1.5"
  job identifier is not a number, a new number used: 1 repaired, first at line 7, found "job3"
  not a number: 1 skipped, first at line 8, WaitTime, found "soon"
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

// TestReadAsErrors checks that a file that is not in the format gives an error with its line.
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
		{"gwf", gwfLine("1", "1100000000000") + gwfLine("2", "1100000060000"), "file: submit times from 1100000000000 look like milliseconds, want seconds"},
		{"sacct", "JobID|Submit|ElapsedRaw|AllocCPUS|State\n1|1772438400000|6|7|COMPLETED\n", "file: submit times from 1772438400000 look like milliseconds"},
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

// gwfLine returns a job of 10 s.
func gwfLine(id, submit string) string {
	return id + " " + submit + " 0 10 1 -1 -1 1 900 -1 1 U1 G1 X1 Q1 P1" + strings.Repeat(" -1", 13) + "\n"
}

// TestClocks checks the headers of logs whose times have a zone or a known start.
func TestClocks(t *testing.T) {
	t.Parallel()
	const row = "JobID|Submit|ElapsedRaw|AllocCPUS|State\n1|%s|6|7|COMPLETED\n"
	for _, c := range []struct{ format, text, start, unused string }{
		{"sacct", strings.Replace(row, "%s", "2026-03-02T08:00:00", 1), "1772438400", "the zone of 1 times"},
		{"sacct", strings.Replace(row, "%s", "2026-03-02T08:00:00+01:00", 1), "1772434800", ""},
		{"sacct", strings.Replace(row, "%s", "2026-03-02T08:00:00-0800", 1), "1772467200", ""},
		{"sacct", strings.Replace(row, "%s", "1772438400", 1), "1772438400", ""},
		{"gwf", "# UnixStartTime: 5\n" + gwfLine("1", "1100000000"), "1100000000", ""}, // absolute times
		{"gwf", "# UnixStartTime: 1100000000\n" + gwfLine("1", "60"), "1100000000", ""},
	} {
		name := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(name, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		log, err := ReadAs(name, c.format)
		if err != nil {
			t.Fatal(err)
		}
		if start, _ := log.Header.Get("UnixStartTime"); start != c.start || strings.Contains(log.Accounting.String(), "not used") != (c.unused != "") || !strings.Contains(log.Accounting.String(), c.unused) {
			t.Errorf("%q: start %s, want %s; %v", c.text, start, c.start, &log.Accounting)
		}
	}
	log, err := ReadAs("testdata/formats/jobs.gwf", "gwf")
	if err != nil || log.Header.Zone().String() != "Europe/Amsterdam" {
		t.Errorf("zone %v, %v", log.Header.Zone(), err)
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

// fuzzed reads a text in a format and checks the properties of every file: the accounting adds
// up, and the log is the same and clean after it is written and read again.
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
	skipped := 0
	for _, tally := range a.Reasons() {
		if tally.First.Reason.Skips() {
			skipped += tally.Count
		} else if tally.Count > Fields*a.Repaired {
			t.Fatalf("%q: more repairs than fields: %v", text, a)
		}
	}
	if skipped != a.Skipped {
		t.Fatalf("%q: %d reasons for skipping: %v", text, skipped, a)
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

// A brief contains the fields of a record that a second reader reads. The submit time is as in
// the file.
type brief struct {
	submit, run float64
	procs       int64
}

// same fails the test unless the records equal those in want, which a second reader found. It
// sorts want by submit time. If the header has UnixStartTime, submit times count from the first
// record.
func same(t *testing.T, text string, trace *Trace, want []brief) {
	t.Helper()
	if len(want) != len(trace.Records) {
		t.Fatalf("%q: %d records, want %d", text, len(trace.Records), len(want))
	}
	slices.SortStableFunc(want, func(a, b brief) int { return cmp.Compare(a.submit, b.submit) })
	for i, w := range want {
		if _, unix := trace.Header.Get("UnixStartTime"); unix {
			w.submit -= want[0].submit
		}
		if r := &trace.Records[i]; r.Submit != w.submit || r.Run != w.run || r.Procs != w.procs {
			t.Fatalf("%q: record %d is %v, want %v", text, i, r, w)
		}
	}
}

// digits returns the number in a text, and whether the text consists of 1 to 9 digits.
func digits(text string) (float64, bool) {
	x, err := strconv.ParseUint(text, 10, 64)
	return float64(x), err == nil && len(text) <= 9
}

// FuzzSacct compares the reader of tables with a second one. The number of rows must be equal
// and, if all numbers are plain, so must the records.
func FuzzSacct(f *testing.F) {
	f.Add(sample(f, "jobs.sacct"))
	f.Add("JobID|Submit|ElapsedRaw|NCPUS\n1|5|6|7\n1_2|5|6|7\n\n2.0|5|6|7")
	f.Add("JobIDRaw|State|Submit|ElapsedRaw|AllocCPUS\n1|COMPLETED|2026-03-02T08:00:00|6|7\n2|FAILED by 3|1772438401|60|8\n3|PENDING|5|0|0\n")
	f.Fuzz(func(t *testing.T, text string) {
		trace := fuzzed(t, "sacct", text)
		if trace == nil || strings.HasPrefix(strings.TrimSpace(strings.TrimPrefix(text, "\ufeff")), "{") {
			return
		}
		var head []string
		var want []brief
		rows, plain := 0, true
		for line := range strings.SplitSeq(strings.TrimPrefix(text, "\ufeff"), "\n") {
			line = strings.TrimRight(line, "\r")
			cells := strings.Split(line, "|")
			if head == nil && strings.TrimSpace(line) != "" {
				head = cells
				plain = slices.Equal(slices.Sorted(slices.Values(head)), []string{"AllocCPUS", "ElapsedRaw", "JobIDRaw", "State", "Submit"})
			} else if len(cells) == len(head) && strings.TrimSpace(line) != "" {
				rows++
				row := make(map[string]string)
				for i, name := range head {
					row[name] = cells[i]
				}
				submit, ok := digits(row["Submit"])
				if at, err := time.Parse("2006-01-02T15:04:05", row["Submit"]); err == nil && at.Year() > 1970 && len(row["Submit"]) == 19 {
					submit, ok = float64(at.Unix()), true
				}
				run, ran := digits(row["ElapsedRaw"])
				procs, had := digits(row["AllocCPUS"])
				_, known := digits(row["JobIDRaw"])
				state := strings.Split(strings.TrimSpace(row["State"])+" ", " ")[0]
				if plain = plain && ok && ran && had && known && submit > 0 && procs > 0 && state != ""; !plain {
					continue
				}
				if strings.Contains(" COMPLETED CANCELLED FAILED TIMEOUT NODE_FAIL OUT_OF_MEMORY BOOT_FAIL DEADLINE PREEMPTED REVOKED LAUNCH_FAILED RECONFIG_FAIL ", " "+state+" ") {
					want = append(want, brief{submit, run, int64(procs)})
				}
			}
		}
		if a := trace.Accounting; a.Used+a.Repaired+a.Skipped-a.Count(TooFewFields) != rows {
			t.Fatalf("%q: %v, want %d rows", text, &a, rows)
		}
		if plain {
			same(t, text, trace, want)
		}
	})
}

// wholeJobs reads a JSON file as a whole into the value into. It reports whether the result can
// be compared. This is not the case if the file repeats the name of a field, because decoders
// may then use different ones.
func wholeJobs(t *testing.T, text string, into any, names ...string) bool {
	t.Helper()
	var whole json.RawMessage
	if err := json.NewDecoder(strings.NewReader(strings.TrimPrefix(text, "\ufeff"))).Decode(&whole); err != nil {
		t.Fatalf("%q: read, though %v", text, err)
	}
	if json.Unmarshal(whole, into) != nil { // a number that is not read, beyond those of float64
		return false
	}
	return !strings.Contains(text, `\`) && !slices.ContainsFunc(names, func(name string) bool { return strings.Count(strings.ToLower(text), name) > 1 })
}

// FuzzSacctJSON compares the reader with one that reads the whole file at once. The number of
// jobs must be equal and, if all numbers are plain, so must the records.
func FuzzSacctJSON(f *testing.F) {
	f.Add(sample(f, "jobs.sacct.json"))
	f.Add(`{"jobs": [{"job_id": 1, "state": {"current": ["COMPLETED"]}, "time": {"submission": 100, "elapsed": 60}, "tres": {"allocated": [{"type": "cpu", "count": 4}]}},
{"job_id": 2, "state": {"current": "FAILED"}, "time": {"submission": 50, "elapsed": 6}, "tres": {"allocated": [{"type": "cpu", "count": 5}]}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		trace := fuzzed(t, "sacct", text)
		if trace == nil || !strings.HasPrefix(strings.TrimSpace(strings.TrimPrefix(text, "\ufeff")), "{") {
			return
		}
		var all struct{ Jobs []any }
		if !wholeJobs(t, text, &all, `jobs"`) {
			return
		}
		if trace.Accounting.Lines != len(all.Jobs) {
			t.Fatalf("%q: %v, want %d jobs", text, &trace.Accounting, len(all.Jobs))
		}
		var want []brief
		for _, job := range all.Jobs { // compare records only if the file contains nothing else
			j, _ := job.(map[string]any)
			clock, _ := j["time"].(map[string]any)
			state, _ := j["state"].(map[string]any)
			tres, _ := j["tres"].(map[string]any)
			list, _ := tres["allocated"].([]any)
			if len(j) != 4 || len(clock) != 2 || len(state) != 1 || len(tres) != 1 || len(list) != 1 {
				return
			}
			current := state["current"]
			if words, ok := current.([]any); ok && len(words) == 1 {
				current = words[0]
			}
			cpu, _ := list[0].(map[string]any)
			id, known := j["job_id"].(float64)
			submit, ok := clock["submission"].(float64)
			run, ran := clock["elapsed"].(float64)
			procs, had := cpu["count"].(float64)
			if !known || !ok || !ran || !had || id < 0 || submit < 1 || run < 0 || procs < 1 || len(cpu) != 2 || cpu["type"] != "cpu" || current != "COMPLETED" && current != "FAILED" {
				return
			}
			for _, x := range []float64{id, submit, run, procs} {
				if x != math.Trunc(x) || x > 1e9 {
					return
				}
			}
			want = append(want, brief{submit, run, int64(procs)})
		}
		for _, name := range []string{`"job_id"`, `"submission"`, `"elapsed"`, `"count"`, `"current"`, `"type"`} {
			if strings.Count(text, name) != len(all.Jobs) { // the file contains a field twice
				return
			}
		}
		same(t, text, trace, want)
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
		var swf strings.Builder
		for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
			if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
				continue
			}
			lines++
			cells := strings.Fields(line)
			if _, known := digits(cells[0]); !known || strings.ContainsFunc(line, func(r rune) bool { return r > '~' }) || len(line) > 1000 {
				return
			}
			swf.WriteString(strings.Join(cells[:min(11, len(cells))], " ") + "\n")
		}
		if a := trace.Accounting; a.Used+a.Repaired+a.Skipped != lines {
			t.Fatalf("%q: %v, want %d lines", text, &a, lines)
		}
		second, err := Read(strings.NewReader(swf.String()))
		if err != nil {
			t.Fatalf("%q: read, though %v", text, err)
		}
		var want []brief
		for _, r := range second.Records {
			want = append(want, brief{r.Submit, r.Run, r.Procs})
		}
		same(t, text, trace, want)
	})
}

// FuzzBatsim compares the reader with one that reads the whole file at once. The number of jobs
// must be equal and, if all numbers are plain, so must the records.
func FuzzBatsim(f *testing.F) {
	f.Add(sample(f, "jobs.batsim.json"))
	f.Add(`{"jobs": [{"id": 1, "subtime": 5, "res": 4, "profile": "a"}, {"id": 2, "subtime": 2.5, "res": 1, "profile": "b"}], "profiles": {"a": {"type": "delay", "delay": 7}, "b": {"type": "delay", "delay": 8.5}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		trace := fuzzed(t, "batsim", text)
		if trace == nil {
			return
		}
		var all struct {
			Jobs     []any
			Profiles map[string]any
		}
		if !wholeJobs(t, text, &all, `jobs"`, `profiles"`) {
			return
		}
		if trace.Accounting.Lines != len(all.Jobs) {
			t.Fatalf("%q: %v, want %d jobs", text, &trace.Accounting, len(all.Jobs))
		}
		for name, of := range map[string]int{`"id"`: len(all.Jobs), `"subtime"`: len(all.Jobs), `"res"`: len(all.Jobs), `"profile"`: len(all.Jobs), `"delay":`: len(all.Profiles), `"type"`: len(all.Profiles)} {
			if strings.Count(text, name) != of {
				return
			}
		}
		var want []brief
		for _, job := range all.Jobs {
			j, _ := job.(map[string]any)
			name, _ := j["profile"].(string)
			profile, _ := all.Profiles[name].(map[string]any)
			id, known := j["id"].(float64)
			submit, ok := j["subtime"].(float64)
			procs, had := j["res"].(float64)
			run, ran := profile["delay"].(float64)
			if len(j) != 4 || len(profile) != 2 || profile["type"] != "delay" || !known || !ok || !had || !ran || strings.Count(text, `"`+name+`":`) != 1 {
				return
			}
			for _, x := range []float64{id, submit, run, procs} {
				if x < 0 || x > 1e9 {
					return
				}
			}
			if id != math.Trunc(id) {
				return
			}
			want = append(want, brief{submit, run, int64(procs)})
		}
		same(t, text, trace, want)
	})
}
