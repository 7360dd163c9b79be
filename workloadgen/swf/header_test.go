package swf

import (
	"slices"
	"strings"
	"testing"
)

// TestMachine checks the data about the machine and its clock in a header, and problems with
// it.
func TestMachine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		processors int64 // 0 if they are not known
		zone       string
		problems   []string
	}{
		{"all", "; MaxProcs: 8\n; UnixStartTime: 5\n; TimeZoneString: US/Pacific\n", 8, "US/Pacific", nil},
		{"blank lines", "; Computer: A\n\n; MaxProcs: 8\n \r\n", 8, "UTC", nil},
		{"the same twice", "; MaxProcs: 8\n; maxprocs: 8 (all)\n", 8, "UTC", nil},
		{"two sizes", "; MaxProcs: 8\n; MaxProcs: 16\n; MaxNodes: 4\n", 0, "UTC",
			[]string{"MaxProcs: found 8 and 16, want one number: the size of the machine is unknown"}},
		{"no number", "; MaxProcs: many\n; MaxNodes: 4\n", 0, "UTC",
			[]string{`MaxProcs: found "many", want a whole number: the size of the machine is unknown`}},
		{"nodes", "; MaxNodes: 4\n", 4, "UTC", []string{"MaxProcs is missing: using MaxNodes, 4, as the number of processors"}},
		{"no processors", "; MaxProcs: -1\n; MaxNodes: 4\n", 0, "UTC", []string{"MaxProcs: found -1, want 1 or more: the size of the machine is unknown"}},
		{"two numbers of nodes", "; MaxNodes: 4\n; MaxNodes: 5\n", 0, "UTC",
			[]string{"MaxNodes: found 4 and 5, want one number: the size of the machine is unknown"}},
		{"two zones", "; MaxProcs: 8\n; TimeZoneString: US/Pacific\n; TimeZoneString: Europe/Paris\n", 8, "UTC",
			[]string{"TimeZoneString: found US/Pacific and Europe/Paris, want one zone: hours are in UTC"}},
		{"an empty zone", "; MaxProcs: 8\n; TimeZoneString:\n; TimeZone: 90000\n", 8, "UTC",
			[]string{"TimeZone: found 90000, want seconds east of UTC: hours are in UTC"}},
		{"no start", "; MaxProcs: 8\n; UnixStartTime: -1\n", 8, "UTC",
			[]string{"UnixStartTime: found -1, want seconds since 1970: the start of the log is unknown"}},
		{"milliseconds", "; MaxProcs: 8\n; UnixStartTime: 1100000000000\n", 8, "UTC",
			[]string{"UnixStartTime: found 1100000000000, which looks like milliseconds, want seconds: the start of the log is unknown"}},
		{"a tab", "; MaxProcs:\t8\t(all)\r\n; UnixStartTime: 5\r\n", 8, "UTC", nil},
		{"both zones", "; MaxProcs: 8\n; TimeZone: 3600\n; TimeZoneString: Europe/Stockholm\n", 8, "Europe/Stockholm", nil},
		{"unknown zone", "; MaxProcs: 8\n; TimeZone: 3600\n; TimeZoneString: Europe/Atlantis\n", 8, "",
			[]string{`TimeZoneString: found "Europe/Atlantis", want a zone such as Europe/Stockholm: hours are in the zone of TimeZone`}},
		{"this machine's zone", "; MaxProcs: 8\n; TimeZoneString: Local\n", 8, "UTC",
			[]string{`TimeZoneString: found "Local", want a zone such as Europe/Stockholm: hours are in UTC`}},
		{"zone without a number", "; MaxProcs: 8\n; TimeZone: PST\n", 8, "UTC",
			[]string{`TimeZone: found "PST", want a whole number of seconds: hours are in UTC`}},
		{"two starts", "; MaxProcs: 8\n; UnixStartTime: 1\n; UnixStartTime: 2\n", 8, "UTC",
			[]string{"UnixStartTime: found 1 and 2, want one number: the start of the log is unknown"}},
	} {
		log, err := Read(strings.NewReader(c.text + "1 0 0 1 1\n"))
		if err != nil {
			t.Fatal(err)
		}
		if n, ok := log.Header.Processors(); n != c.processors && ok || ok != (c.processors > 0) {
			t.Errorf("%s: %d processors, %v, want %d", c.name, n, ok, c.processors)
		}
		if zone := log.Header.Zone().String(); zone != c.zone {
			t.Errorf("%s: zone %s, want %s", c.name, zone, c.zone)
		}
		if found := log.Header.Problems(); !slices.Equal(found, c.problems) {
			t.Errorf("%s: found %q, want %q", c.name, found, c.problems)
		}
	}
}

// TestWhole checks which records are jobs, and that a plan contains the same jobs.
func TestWhole(t *testing.T) {
	t.Parallel()
	log, err := Read(strings.NewReader(`; MaxJobs: 9
; MaxRecords: 9
1 0 0 100 10 -1 -1 10 200 -1 1 1
1 0 0 60 10 -1 -1 10 200 -1 2 1
2 1 0 -1 -1 -1 -1 10 200 -1 5 1
2 2 0 50 10 -1 -1 10 200 -1 1 1
3 3 0 20 5 -1 -1 5 200 -1 0 1
3 4 0 25 5 -1 -1 5 200 -1 1 1
4 5 0 -1 -1 -1 -1 5 200 -1 5 1
`))
	if err != nil {
		t.Fatal(err)
	}
	whole, parts, repeats := log.Whole()
	var submits []float64
	for _, r := range whole {
		submits = append(submits, r.Submit)
	}
	if want := []float64{0, 2, 3, 5}; !slices.Equal(submits, want) || parts != 1 || repeats != 2 {
		t.Errorf("jobs submitted at %v, %d parts, %d repeats, want %v, 1 and 2", submits, parts, repeats, want)
	}
	plan, acc := log.Plan(NoMemory)
	submits = submits[:0]
	for _, j := range plan {
		submits = append(submits, j.Arrival)
	}
	if want := []float64{0, 2, 3}; !slices.Equal(submits, want) {
		t.Errorf("plan with arrivals %v, want %v: %s", submits, want, acc.String())
	}
	h := log.Header.Agree(log.Records)
	if want := (Header{"; MaxJobs: 4", "; MaxRecords: 7"}); !slices.Equal(h, want) {
		t.Errorf("header %q, want %q", h, want)
	}
}

// TestTooShort checks that a job that completed in 0 s is not reported as one that never ran.
func TestTooShort(t *testing.T) {
	t.Parallel()
	log, err := Read(strings.NewReader("1 0 0 0 2 -1 -1 2 60 -1 1\n2 0 0 0 2 -1 -1 2 60 -1 0\n3 0 0 0 -1 -1 -1 -1 60 -1 1\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, acc := log.Plan(NoMemory); acc.Count(TooShort) != 1 || acc.Count(NeverRan) != 2 {
		t.Errorf("accounting %s, want 1 too short and 2 that never ran", acc.String())
	}
}

// TestCheck checks that files of other formats are not accepted as logs.
func TestCheck(t *testing.T) {
	t.Parallel()
	const record = "1 0 0 1 1 -1 -1 1 1 -1 1 1 1 -1 1 1 -1 -1"
	for _, c := range []struct {
		name, text string
		log        bool
	}{
		{"a log", "; MaxProcs: 4\n" + record + "\n", true},
		{"nothing", "", true},
		{"one bad line of two", record + "\nbad\n", true},
		{"text", "job,submit\n1,0\n", false},
		{"two bad lines of three", "bad\n" + record + "\nbad\n", false},
		{"milliseconds", "1 1100000000000 0 1 1 -1 -1 1 1 -1 1 1 1 -1 1 1 -1 -1\n", false},
		{"29 fields in each line", strings.Repeat(record+strings.Repeat(" -1", 11)+"\n", 3), false},
	} {
		log, err := Read(strings.NewReader(c.text))
		if err != nil {
			t.Fatal(err)
		}
		if err := log.Check(); (err == nil) != c.log {
			t.Errorf("%s: %v, want a log %v", c.name, err, c.log)
		}
	}
}
