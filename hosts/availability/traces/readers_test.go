package traces

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"bourse/hosts/availability"
)

// TestReadCSV checks each reason for which a line of CSV is repaired or skipped, and the
// resulting record.
func TestReadCSV(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		reason     reason
		want       string // host:start-end state load, for host a
	}{
		{"clean", "a,0,10,A,0.5,2\n", reasons, "0-10 A 0.5"},
		{"short", "a,0,10,A\n", reasons, "0-10 A 0"},
		{"no newline", "a,0,10,U", reasons, "0-10 U 0"},
		{"quoted", `"a",0,10,U,"0.5"`, reasons, "0-10 U 0.5"},
		{"order", "a,10,20,A\na,0,10,P\n", outOfOrder, "0-10 P 0;10-20 A 0"},
		{"load above 1", "a,0,10,A,7\n", loadClamped, "0-10 A 1"},
		{"load below 0", "a,0,10,A,-7\n", loadClamped, "0-10 A 0"},
		{"no load", "a,0,10,A,x\n", loadMissing, "0-10 A 0"},
		{"mips", "a,0,10,A,0,2\na,10,20,A,0,3\n", mipsChanged, "0-10 A 0;10-20 A 0"},
		{"bad mips", "a,0,10,A,0,-2\n", mipsMissing, "0-10 A 0"},
		{"no mips", "a,0,10,A,0,0\n", mipsMissing, "0-10 A 0"},
		{"mark", "\ufeffa,0,10,A\n", reasons, "0-10 A 0"},
		{"more fields", "a,0,10,A,0,2,9\n", fieldsBeyond, "0-10 A 0"},
		{"overlap", "a,0,10,A\na,9,20,P\n", startCut, "0-10 A 0;10-20 P 0"},
		{"covered", "a,0,10,A\na,5,8,P\n", covered, "0-10 A 0"},
		{"same start", "a,0,10,A\na,0,20,P\n", startCut, "0-10 A 0;10-20 P 0"},
		{"covered to its end", "a,0,10,A\na,5,10,P\n", covered, "0-10 A 0"},
		{"blank", "\n  \na,0,10,A\n", blank, "0-10 A 0"},
		{"comment", "# hello\na,0,10,A\n", comment, "0-10 A 0"},
		{"header", columns + "\na,0,10,A\n", header, "0-10 A 0"},
		{"too few", "a,0,10\n", tooFewFields, ""},
		{"quotes", "a,\"0,10,A\n", badQuotes, ""},
		{"no number", "a,x,10,A\n", notNumber, ""},
		{"not a number", "a,nan,10,A\n", notNumber, ""},
		{"infinite", "a,0,inf,A\n", outOfRange, ""},
		{"huge", "a,0,1e13,A\n", outOfRange, ""},
		{"state", "a,0,10,X\n", badState, ""},
		{"no state", "a,0,10,\n", badState, ""},
		{"the letter of none", "a,0,10,?\n", badState, ""},
		{"empty", "a,10,10,A\n", emptySpan, ""},
		{"no host", ",0,10,A\n", nameMissing, ""},
		{"long", "a,0,10,A" + strings.Repeat(" ", maxLine) + "\n", lineTooLong, ""},
	} {
		trace, acc, err := ReadCSV(strings.NewReader(c.text), availability.Gap)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		checkAccounting(t, c.name, acc, strings.Count(strings.TrimSuffix(c.text, "\n"), "\n")+1)
		for r := range reasons {
			if got := acc.tallies[r].Count > 0; got != (r == c.reason) {
				t.Errorf("%s: %s met: %v", c.name, r, got)
			}
		}
		var got []string
		if len(trace.Hosts) > 0 {
			if name := trace.Hosts[0].Name; name != "a" {
				t.Errorf("%s: host %q, want a", c.name, name)
			}
			for _, r := range trace.Hosts[0].Records() {
				got = append(got, strings.Join([]string{num(r.Start) + "-" + num(r.End), r.State.String(), num(r.Load)}, " "))
			}
		}
		if s := strings.Join(got, ";"); s != c.want {
			t.Errorf("%s: read %q, want %q", c.name, s, c.want)
		}
	}
}

// TestReasons checks that every reason has its own description, and that an unknown reason is
// printed as a number.
func TestReasons(t *testing.T) {
	t.Parallel()
	said := map[string]bool{}
	for r := range reasons {
		s := r.String()
		if marker := r == firstSkip || r == firstFault; said[s] || strings.HasPrefix(s, "reason ") != marker {
			t.Errorf("reason %d is %q", uint8(r), s)
		}
		said[s] = true
	}
	if got, want := reasons.String(), fmt.Sprintf("reason %d", uint8(reasons)); got != want {
		t.Errorf("beyond the last: %q, want %q", got, want)
	}
}

// TestFirst checks that the accounting shows the first line of each kind, whatever the order in
// which lines are processed, and the text found there.
func TestFirst(t *testing.T) {
	t.Parallel()
	_, acc, err := ReadCSV(strings.NewReader("a,30,40,A\na,20,30,A\na,10,20,A\na,5,5,A\n"), availability.Gap)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"2 repaired, first at line 2\n", `first at line 4, found "a,5,5,A"`} {
		if !strings.Contains(acc.String(), want) {
			t.Errorf("%s\nwant %q", acc, want)
		}
	}
}

// TestReadError checks that a read error names the file and the line.
func TestReadError(t *testing.T) {
	t.Parallel()
	broken := func() io.Reader {
		return io.MultiReader(strings.NewReader("1 1\n2 2\n"), iotest.ErrReader(io.ErrUnexpectedEOF))
	}
	_, _, err := ReadCSV(broken(), availability.Gap)
	if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "trace, line 3") {
		t.Errorf("one file: %v", err)
	}
	_, _, err = ReadUCB([]File{{"host-7", broken()}}, 0, availability.Gap)
	if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "host-7, line 3") {
		t.Errorf("a file of several: %v", err)
	}
}

func num(x float64) string {
	data, _ := json.Marshal(x)
	return string(data)
}

// TestBounds checks values at the limits of validity: loads of 0 and 100 %, a sample of 0
// operations, and a sample at the same time as the previous one.
func TestBounds(t *testing.T) {
	t.Parallel()
	trace, acc, err := ReadLoad(strings.NewReader("20110303\ta\t0 100\n"), LoadConfig{Threshold: 0.5, Gap: availability.Gap})
	if err != nil {
		t.Fatal(err)
	}
	if want := []availability.Record{{Start: 0, End: 300, State: availability.Available, Load: 0}, {Start: 300, End: 600, State: availability.Busy, Load: 1}}; acc.tallies[loadClamped].Count > 0 || !equal(trace.Hosts[0].Records(), want) {
		t.Errorf("0 and 100 %%: %v, %v, want %v", acc, trace.Hosts[0].Records(), want)
	}
	for text, want := range map[string][]availability.Record{
		"0 0\n60 50\n120 100\n": {{Start: 0, End: 60, State: availability.Available, Load: 1}, {Start: 60, End: 120, State: availability.Available, Load: 0.5}},
		"0 0\n60 0\n":           {{Start: 0, End: 60, State: availability.Available, Load: 0}},
		"0 1\n0 2\n60 1\n":      {{Start: 0, End: 60, State: availability.Available, Load: 0}},
	} {
		trace, acc, err := ReadUCB([]File{{"h", strings.NewReader(text)}}, 0, availability.Gap)
		if err != nil {
			t.Fatal(err)
		}
		if acc.tallies[outOfOrder].Count > 0 || !equal(trace.Hosts[0].Records(), want) {
			t.Errorf("%q: %v, %v, want %v", text, acc, trace.Hosts[0].Records(), want)
		}
	}
}

// TestSpan checks that the span of a trace covers the records of its hosts, and is empty
// without records.
func TestSpan(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]float64{
		"a,500,600,A\nb,450,550,P\n":          {450, 600},
		"a,500,600,A\nb,5,5,A\nb,520,530,A\n": {500, 600},
		"a,5,4,A\n":                           {0, 0},
	} {
		trace, _, err := ReadCSV(strings.NewReader(text), availability.Gap)
		if err != nil {
			t.Fatal(err)
		}
		if from, to := trace.Span(); from != want[0] || to != want[1] {
			t.Errorf("%q: %v to %v, want %v", text, from, to, want)
		}
	}
	none, err := availability.NewHistory("none", 1, nil, availability.Gap)
	if err != nil {
		t.Fatal(err)
	}
	one, err := availability.NewHistory("one", 1, []availability.Record{{Start: 500, End: 600, State: availability.Busy, Load: 0}}, availability.Gap)
	if err != nil {
		t.Fatal(err)
	}
	trace := availability.Trace{Hosts: []*availability.History{none, one}}
	if from, to := trace.Span(); from != 500 || to != 600 {
		t.Errorf("with a host of no records: %v to %v, want 500 to 600", from, to)
	}
}

// TestRoundedAway checks that a record that becomes empty when the origin is shifted is skipped
// without an error.
func TestRoundedAway(t *testing.T) {
	t.Parallel()
	trace, acc, err := ReadFTA(strings.NewReader("0 0 7 1 n 1 -1e12 -9e11 0\n0 0 7 1 n 1 999999999999.99951172 999999999999.99963379 0\n"), availability.Gap)
	if err != nil {
		t.Fatal(err)
	}
	if acc.tallies[emptySpan].Count != 1 || len(trace.Hosts[0].Records()) != 1 {
		t.Error(acc)
	}
	checkAccounting(t, "rounded away", acc, 2)
}

// checkAccounting checks that every line is accounted for, and every line not
// used has a reason.
func checkAccounting(t *testing.T, name string, a *Accounting, lines int) {
	t.Helper()
	if lines >= 0 && a.Lines != lines {
		t.Errorf("%s: %d lines, want %d", name, a.Lines, lines)
	}
	if a.Used+a.Repaired+a.Skipped != a.Lines {
		t.Errorf("%s: lines do not add up: %v", name, a)
	}
	skipped, repairs := 0, 0
	for _, r := range a.reasons() {
		if r.First.Line < 1 || r.First.Line > a.Lines {
			t.Errorf("%s: %s first at line %d of %d", name, r.First.Reason, r.First.Line, a.Lines)
		}
		if r.First.Reason.skips() {
			skipped += r.Count
		} else {
			repairs += r.Count
		}
	}
	if skipped != a.Skipped || repairs < a.Repaired || (repairs > 0) != (a.Repaired > 0) {
		t.Errorf("%s: reasons do not add up: %v", name, a)
	}
}

// TestReadUCB checks the origin over several files, the host's own peak, and lines that are not
// samples.
func TestReadUCB(t *testing.T) {
	t.Parallel()
	trace, acc, err := ReadUCB([]File{
		{"one", strings.NewReader("1000 50\n1100 100\n1200 -5\n1300 0\n")},
		{"two", strings.NewReader("500 10\n400 20\n400 30\nx 1\n700\n600 -1 9\n")},
	}, 0, availability.Gap)
	if err != nil {
		t.Fatal(err)
	}
	checkAccounting(t, "ucb", acc, 10)
	want := [][]availability.Record{
		{{Start: 600, End: 700, State: availability.Available, Load: 0.5}, {Start: 700, End: 800, State: availability.Available, Load: 0}, {Start: 800, End: 900, State: availability.Unavailable, Load: 0}},
		{{Start: 0, End: 100, State: availability.Available, Load: 0}, {Start: 100, End: 200, State: availability.Available, Load: 0.5}},
	}
	for i, h := range trace.Hosts {
		if !equal(h.Records(), want[i]) {
			t.Errorf("%s: %v, want %v", h.Name, h.Records(), want[i])
		}
	}
	for r, n := range map[reason]int{outOfOrder: 1, sameEpoch: 1, notNumber: 1, tooFewFields: 1, fieldsBeyond: 1} {
		if acc.tallies[r].Count != n {
			t.Errorf("%s: %d times, want %d", r, acc.tallies[r].Count, n)
		}
	}
	if s := acc.String(); !strings.Contains(s, `two line 4, found "x"`) {
		t.Errorf("accounting does not say where: %s", s)
	}
}

func equal(a, b []availability.Record) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// TestReadFTA checks types and end reasons, and the origin.
func TestReadFTA(t *testing.T) {
	t.Parallel()
	trace, acc, err := ReadFTA(strings.NewReader(`# event_id component_id node_id platform_id node_name event_type event_start_time event_stop_time event_end_reason
0 0 7 1 n7 1 1000 2000 0
1 0 7 1 n7 0 2000 2500 2
2 0 7 1 n7 0 2500 3000 4
3 0 7 1 n7 0 3000 3500 NULL
4 0 8 1 n8 0 1500 1600
5 0 8 1 n8 9 1600 1700 0
6 0 8 1 n8 1 1700
`), availability.Gap)
	if err != nil {
		t.Fatal(err)
	}
	checkAccounting(t, "fta", acc, 8)
	want := [][]availability.Record{
		{{Start: 0, End: 1000, State: availability.Available, Load: 0}, {Start: 1000, End: 1500, State: availability.UserPresent, Load: 0}, {Start: 1500, End: 2000, State: availability.Evicted, Load: 0}, {Start: 2000, End: 2500, State: availability.Unavailable, Load: 0}},
		{{Start: 500, End: 600, State: availability.Unavailable, Load: 0}},
	}
	for i, h := range trace.Hosts {
		if !equal(h.Records(), want[i]) {
			t.Errorf("%s: %v, want %v", h.Name, h.Records(), want[i])
		}
	}
	if acc.tallies[endUnread].Count != 1 || acc.tallies[badState].Count != 1 || acc.tallies[tooFewFields].Count != 1 {
		t.Error(acc)
	}
}

// TestReadLoad checks the threshold, the days placed end to end, and the minimum number of days
// per host.
func TestReadLoad(t *testing.T) {
	t.Parallel()
	day := strings.TrimSuffix(strings.Repeat("25 ", 287), " ")
	text := "20110420\ta\t26 " + day + "\n" + "20110303\ta\t25 x " + day + "\n" + "20110303\tb\t5 110\n" + "20110303\tb\t5\n" + "3 Mar\tb\t5\n"
	trace, acc, err := ReadLoad(strings.NewReader(text), LoadConfig{Threshold: 0.25, MinDays: 1, Gap: availability.Gap})
	if err != nil {
		t.Fatal(err)
	}
	checkAccounting(t, "load", acc, 5)
	want := [][]availability.Record{
		{{Start: 0, End: 300, State: availability.Available, Load: 0.25}, {Start: 600, End: availability.Day, State: availability.Available, Load: 0.25}, {Start: availability.Day, End: availability.Day + 300, State: availability.Busy, Load: 0.26}, {Start: availability.Day + 300, End: 2 * availability.Day, State: availability.Available, Load: 0.25}},
		{{Start: 0, End: 300, State: availability.Available, Load: 0.05}, {Start: 300, End: 600, State: availability.Busy, Load: 1}},
	}
	for i, h := range trace.Hosts {
		if !equal(h.Records(), want[i]) {
			t.Errorf("%s: %v, want %v", h.Name, h.Records(), want[i])
		}
	}
	for r, n := range map[reason]int{sampleBad: 1, fieldsBeyond: 1, loadClamped: 1, samplesShort: 1, sameDay: 1, badDate: 1} {
		if acc.tallies[r].Count != n {
			t.Errorf("%s: %d times, want %d", r, acc.tallies[r].Count, n)
		}
	}
	trace, acc, err = ReadLoad(strings.NewReader(text), LoadConfig{Threshold: 0.25, MinDays: 2, Gap: availability.Gap})
	if err != nil || len(trace.Hosts) != 1 || acc.tallies[tooFewDays].Count != 1 {
		t.Errorf("two days wanted: %d hosts, %v, %v", len(trace.Hosts), acc, err)
	}
	checkAccounting(t, "load of two days", acc, 5)
}

// TestPlanetLab reads the recorded load of ten days: every line is used, 457 hosts have seven
// days or more, and 12.6 % of all samples exceed a quarter, according to an independent count.
func TestPlanetLab(t *testing.T) {
	t.Parallel()
	file, err := os.Open("../../../shared/traces/planetlab-cpu-5min-10days.tsv.gz")
	if err != nil {
		t.Skip("no recorded load beside the project: ", err)
	}
	defer file.Close()
	trace, acc, err := ReadLoad(file, LoadConfig{Threshold: 0.25, Gap: availability.Gap})
	if err != nil {
		t.Fatal(err)
	}
	if acc.Lines != 11746 || acc.Used != 11746 || len(trace.Hosts) != 3596 {
		t.Errorf("%d hosts, %v", len(trace.Hosts), acc)
	}
	busy, all, seven := 0.0, 0.0, 0
	for _, h := range trace.Hosts {
		known := 0.0
		for _, r := range h.Records() {
			known += r.End - r.Start
			if r.State == availability.Busy {
				busy += r.End - r.Start
			}
		}
		all += known
		if known >= 7*availability.Day {
			seven++
		}
	}
	if seven != 457 || math.Abs(busy/all-0.126) > 0.0005 {
		t.Errorf("%d hosts of seven days, %.4f busy; want 457, 0.126", seven, busy/all)
	}
}

// TestCSVRoundTrip checks that ReadCSV reads the output of WriteCSV as the original trace, and
// that every line is used unchanged.
func TestCSVRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h, err := availability.NewHistory(`a,"b`, 2.5, drawRecords(t), availability.Gap)
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := WriteCSV(&text, &availability.Trace{Hosts: []*availability.History{h}}); err != nil {
			t.Fatal(err)
		}
		back, acc, err := ReadCSV(&text, availability.Gap)
		if err != nil || !acc.Clean() {
			t.Fatal(acc, err)
		}
		if len(h.Records()) == 0 {
			return
		}
		if g := back.Hosts[0]; g.Name != h.Name || g.MIPS != h.MIPS || !equal(g.Records(), h.Records()) {
			t.Fatalf("read %v, want %v", g.Records(), h.Records())
		}
	})
}

// TestColumns checks that an event trace with nine columns needs no repair, and that additional
// columns are reported.
func TestColumns(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]int{"1 1 n 1 0 0 0 10 4": 0, "1 1 n 1 0 0 0 10 4 x": 1, "1 1 n 1 0 0 0 10": 0} {
		trace, a, err := ReadFTA(bytes.NewReader([]byte(line+"\n")), 0)
		if err != nil || len(trace.Hosts) != 1 {
			t.Fatalf("%s: %v", line, err)
		}
		if got := a.Repaired; got != want {
			t.Errorf("%s: %d lines repaired, want %d", line, got, want)
		}
		if start, end := trace.Span(); end-start != 10 || math.IsInf(start, 0) {
			t.Errorf("%s: from %v to %v", line, start, end)
		}
	}
}

// drawRecords draws the records of a host over some days, adjacent or not.
func drawRecords(t *rapid.T) []availability.Record {
	var records []availability.Record
	at := float64(rapid.IntRange(-90_000, 90_000).Draw(t, "start"))
	for range rapid.IntRange(0, 60).Draw(t, "records") {
		if rapid.IntRange(0, 9).Draw(t, "hole") == 0 {
			at += float64(rapid.IntRange(1, 200).Draw(t, "hole length"))
		}
		length := float64(rapid.IntRange(1, 20_000).Draw(t, "length"))
		state := availability.State(rapid.IntRange(1, 5).Draw(t, "state"))
		records = append(records, availability.Record{Start: at, End: at + length, State: state, Load: 0.25})
		at += length
	}
	return records
}
