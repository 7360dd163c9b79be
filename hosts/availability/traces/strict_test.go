package traces

import (
	"io"
	"strings"
	"testing"

	"bourse/hosts/availability"
)

// TestUnclearLines checks that lines that another program would read differently are reported
// as faults and not used.
func TestUnclearLines(t *testing.T) {
	t.Parallel()
	csv := func(r io.Reader) (*Accounting, error) { _, a, err := ReadCSV(r, availability.Gap); return a, err }
	ucb := func(r io.Reader) (*Accounting, error) {
		_, a, err := ReadUCB([]File{{"h", r}}, 0, availability.Gap)
		return a, err
	}
	fta := func(r io.Reader) (*Accounting, error) { _, a, err := ReadFTA(r, availability.Gap); return a, err }
	load := func(r io.Reader) (*Accounting, error) {
		_, a, err := ReadLoad(r, LoadConfig{Threshold: 0.1, Gap: availability.Gap})
		return a, err
	}
	for _, c := range []struct {
		read func(io.Reader) (*Accounting, error)
		text string
		why  reason
	}{
		{ucb, "1000 100\r1060 50\r1120 60\r", loneReturn},
		{fta, "0 0 7 1 n7 1 1 2 0\r0 0 7 1 n7 1 2 3 0\r", loneReturn},
		{csv, "a,0,1,A\rb,0,1,A\n", loneReturn},
		{ucb, "1\v2\n", loneReturn},
		{ucb, "0x10 1\n", notNumber},
		{csv, "a,0x1p0,0x1p3,A\n", notNumber},
		{fta, "0 0 7 1 n7 1 0x_1 0x2 0\n", notNumber},
		{csv, "a, \"0\",1,A\n", badQuotes},
		{load, "20111399\ta\t1\n", badDate},
		{load, "20110229\ta\t1\n", badDate},
	} {
		a, err := c.read(strings.NewReader(c.text))
		if err != nil || a.tallies[c.why].Count != 1 || a.Used+a.Repaired > 0 || a.Clean() {
			t.Errorf("%q: %v, %v, want 1 line skipped: %s", c.text, a, err, c.why)
		}
	}
}

// TestHeader checks that a table with its columns in another order is refused.
func TestHeader(t *testing.T) {
	t.Parallel()
	for head, want := range map[string]string{
		"resource,start,end,state":                      "",
		"resource, start, end, state, load, mips, note": "",
		"resource,start,end,state,mips,load":            "line 2: found the columns",
		"resource,end,start,state":                      "want resource,start,end,state,load,mips",
		"resource,start,end":                            "found the columns",
		"resource,start,start,state":                    "found the columns",
	} {
		_, a, err := ReadCSV(strings.NewReader("# trace\n"+head+"\na,0,1,A\n"), availability.Gap)
		if want == "" && (err != nil || a.Used != 1) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, %v, want %q", head, a, err, want)
		}
	}
}

// TestLoadExact checks that a percentage is read exactly: 10.00000001 exceeds a threshold of a
// tenth.
func TestLoadExact(t *testing.T) {
	t.Parallel()
	trace, _, err := ReadLoad(strings.NewReader("20110303\ta\t33.3 10.00000001\n"), LoadConfig{Threshold: 0.1, Gap: availability.Gap})
	if err != nil {
		t.Fatal(err)
	}
	r := trace.Hosts[0].Records()
	if x := 33.3; r[0].Load != x/100 || r[1].State != availability.Busy {
		t.Errorf("%+v, want a load of 0.333 and a busy host", r[:2])
	}
}

// TestWriteCSVFar checks that a time that could not be read again is not written, and that the
// latest readable time is.
func TestWriteCSVFar(t *testing.T) {
	t.Parallel()
	h, err := availability.NewHistory("h", 1, []availability.Record{{Start: -1e12, End: 0, State: availability.Available, Load: 0}, {Start: 0, End: 1e12, State: availability.Busy, Load: 0}}, availability.Gap)
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteCSV(io.Discard, &availability.Trace{Hosts: []*availability.History{h}}); err != nil {
		t.Error(err)
	}
	trace, _, err := ReadUCB([]File{{"h", strings.NewReader("-1e12 1\n1e12 1\n")}}, 0, availability.Gap)
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteCSV(io.Discard, trace); err == nil || !strings.Contains(err.Error(), "cannot represent") {
		t.Errorf("error %v", err)
	}
}
