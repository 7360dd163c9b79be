package traces

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"bourse/hosts/availability"
)

// fuzz checks the properties of every reader for any text: it does not panic, the line counts
// add up, and a second reader finds the same records.
func fuzz(f *testing.F, read func(string) (*availability.Trace, *Accounting, error), differs func(text string, t *availability.Trace) error, seeds ...string) {
	for _, s := range append(seeds, "\ufeff# c\r\n\r\n", "1 1\r2 2\r3 3\r", "0x1p4 0x_1 1_000 inf nan 1e400 1,5\n") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		trace, acc, err := read(text)
		if err != nil {
			if strings.HasPrefix(text, "\x1f\x8b") {
				return // a broken gzip
			}
			if differs(text, nil) == nil {
				t.Fatal(err)
			}
			return
		}
		lines := strings.Count(text, "\n")
		if text != "" && !strings.HasSuffix(text, "\n") {
			lines++
		}
		packed := strings.HasPrefix(text, "\x1f\x8b")
		if packed || strings.HasPrefix(text, "\ufeff") {
			lines = -1
		}
		checkAccounting(t, "fuzz", acc, lines)
		if packed {
			return
		}
		if err := differs(text, trace); err != nil {
			t.Fatalf("%q: %v\n%v", text, err, acc)
		}
		var out bytes.Buffer
		if WriteCSV(&out, trace) != nil {
			return // a name that would not be read back unchanged
		}
		written := out.String()
		again, acc, err := ReadCSV(&out, availability.Gap)
		if err != nil || !acc.Clean() {
			t.Fatalf("%s: %v\n%v", written, err, acc)
		}
		for _, h := range again.Hosts {
			was := trace.Hosts[slices.IndexFunc(trace.Hosts, func(w *availability.History) bool { return w.Name == h.Name })]
			if h.MIPS != was.MIPS || !reflect.DeepEqual(h.Records(), was.Records()) {
				t.Fatalf("%q is written\n%sand read as %+v, want %+v", text, written, h.Records(), was.Records())
			}
		}
	})
}

func FuzzReadCSV(f *testing.F) {
	fuzz(f, func(s string) (*availability.Trace, *Accounting, error) {
		return ReadCSV(strings.NewReader(s), availability.Gap)
	}, func(text string, t *availability.Trace) error {
		want, err := secondCSV(text)
		if t == nil && err != nil {
			return err // both refuse it
		}
		if err != nil || t == nil {
			return err
		}
		return want.differs(t, 0)
	}, columns+"\na,0,10,A,0.5,1\nb,5,9,U\na,8,12,P,2,2\n", "a,1e300,2,A\na,-5,-6,A,nan\n\"", "\x1f\x8b\x08",
		"resource,end,start,state\na,10,0,A\n", "resource,start,end,state,mips,load\na,0,10,A,1,0.5\n", "resource,0,1,A\n",
		"\"a,\"\"b\",0,10,A\n a , 0 , \"10\" ,A\na, \"0\",1,A\n\"a\",0x0,0x1p3,A,0x1,0x2\na,0,1,A,\"1,5\",1_0\n")
}

func FuzzReadUCB(f *testing.F) {
	fuzz(f, func(s string) (*availability.Trace, *Accounting, error) {
		return ReadUCB([]File{{"h", strings.NewReader(s)}}, 0, availability.Gap)
	}, func(text string, t *availability.Trace) error {
		if t == nil {
			return nil
		}
		want, origin := secondUCB(text)
		return want.differs(t, origin)
	}, "1000 100\n1060 50\n1120 -1\n1180 100\n1300 0\n", "1 nan\n1 1\n1 2\n-1e12 5 5\n", "1000 100\r1060 50\r1120 60\r")
}

func FuzzReadFTA(f *testing.F) {
	fuzz(f, func(s string) (*availability.Trace, *Accounting, error) {
		return ReadFTA(strings.NewReader(s), availability.Gap)
	}, func(text string, t *availability.Trace) error {
		if t == nil {
			return nil
		}
		want, origin := secondFTA(text)
		if len(want.hosts) == 0 {
			origin = 0
		}
		return want.differs(t, origin)
	}, "# c\n0 0 7 1 n7 1 1000 2000 0\n0 0 7 1 n7 0 1500 2500 4\n", "0 0 7 1 n7 5 1 0 x x\n", "0 0 7 1 n7 0 1 2 +03\n0 0 7 1 n7 0 2 0x3 4\n")
}

func FuzzReadLoad(f *testing.F) {
	fuzz(f, func(s string) (*availability.Trace, *Accounting, error) {
		return ReadLoad(strings.NewReader(s), LoadConfig{Threshold: 0.1, MinDays: 2, Gap: availability.Gap})
	}, func(text string, t *availability.Trace) error {
		if t == nil {
			return nil
		}
		hosts, loads := secondLoad(text, 2)
		if len(hosts) != len(t.Hosts) {
			return fmt.Errorf("%d hosts, want %q", len(t.Hosts), hosts)
		}
		for i, h := range t.Hosts {
			got := make([]float64, len(loads[hosts[i]]))
			for k := range got {
				got[k] = -1
			}
			for _, r := range h.Records() {
				if (r.State == availability.Busy) != (r.Load > 0.1) {
					return fmt.Errorf("%+v", r)
				}
				for at := r.Start; at < r.End; at += 300 {
					got[int(at/300)] = r.Load
				}
			}
			if h.Name != hosts[i] || !slices.Equal(got, loads[hosts[i]]) {
				return fmt.Errorf("host %q has %v, want %q and %v", h.Name, got, hosts[i], loads[hosts[i]])
			}
		}
		return nil
	}, "20110303\ta\t1 2 99 101 -4 x\n20110304\ta\t5\n", "20110303\ta\t\n20110303\ta\t1\n2011\tb\t1\n", "20111399\ta\t1\n20110229\ta\t1\n", "20110303\ta\t33.3 10.00000001\n20110304\ta\t0x5 1_0\n")
}
