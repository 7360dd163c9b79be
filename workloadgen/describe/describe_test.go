package describe

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"bourse/workloadgen/dist"
	"bourse/workloadgen/swf"
)

func read(t *testing.T, name string) *swf.Trace {
	t.Helper()
	path := "../../../shared/traces/" + name
	trace, err := swf.ReadFile(path)
	if os.IsNotExist(err) {
		t.Skipf("no recorded trace %s", path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// TestMeasured checks known properties of the recorded logs: mean and coefficient of variation
// of the inter-arrival time, mean runtime and size of the jobs that ran, and load.
func TestMeasured(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file                     string
		iat, cv, run, size, load float64
	}{
		{"SDSC-BLUE-2000-4.1-cln.valid.swf.gz", 363.77, 3.895, 4216.8, 41.28, 0.763},
		{"SDSC-SP2-1998-4.1-cln.valid.swf.gz", 1169.95, 2.694, 7353.1, 12.30, 0.823},
		{"KTH-SP2-1996-2.1-cln.swf.gz", 1010.14, 3.298, 8874.7, 7.66, 0.701},
		{"LANL-CM5-1994-4.1-cln.swf.gz", 510.32, 2.923, 0, 0, 0.744},
	} {
		l := Describe(read(t, c.file))
		for _, v := range []struct {
			what      string
			got, want float64
			tol       float64
		}{
			{"mean IAT", l.IAT.Mean, c.iat, 0.01},
			{"CV of IAT", l.IAT.CV, c.cv, 0.001},
			{"mean runtime", l.Run.Mean, c.run, 0.1},
			{"mean size", l.Procs.Mean, c.size, 0.01},
			{"load", l.Load, c.load, 0.0006},
		} {
			if v.want != 0 && math.Abs(v.got-v.want) > v.tol {
				t.Errorf("%s: %s %v, want %v", c.file, v.what, v.got, v.want)
			}
		}
		t.Logf("%s: %d records, %d ran, %d users, Hurst %.3f %.3f %.3f", c.file, l.Records, l.Ran, l.Users,
			l.RescaledRange.H, l.AggregatedVariance.H, l.LocalWhittle.H)
	}
}

// TestNumbered checks the mean inter-arrival time of the Libra papers' windows
// as they print it: 2131 and 2276 s, over all job numbers.
func TestNumbered(t *testing.T) {
	t.Parallel()
	trace := read(t, "SDSC-SP2-1998-4.1-cln.valid.swf.gz")
	for filter, want := range map[string]float64{"last:3000": 2131.1, "last:1000": 2276.3} {
		filters, err := swf.ParseFilters(filter)
		if err != nil {
			t.Fatal(err)
		}
		window, _, err := trace.Apply(filters...)
		if err != nil {
			t.Fatal(err)
		}
		if got := Describe(window).NumberedIAT; math.Abs(got-want) > 0.05 {
			t.Errorf("%s: %v, want %v", filter, got, want)
		}
	}
}

const week = `; UnixStartTime: 0
; TimeZone: 3600
; MaxProcs: 10
1 0 0 100 5 -1 -1 5 200 -1 1 7 -1 -1 -1 -1 -1 -1
3 3600 0 100 10 -1 -1 10 -1 -1 1 8 -1 -1 -1 -1 -1 -1
2 1800 0 -1 1 -1 -1 1 60 -1 5 -1 -1 -1 -1 -1 -1 -1
4 172800 0 864 10 -1 -1 10 864 -1 1 7 -1 -1 -1 -1 -1 -1
`

// TestCalendar compares a small log with counts made by hand. The log starts on Thursday, 1
// January 1970, at 1:00 by the machine's clock.
func TestCalendar(t *testing.T) {
	t.Parallel()
	trace, err := swf.Read(strings.NewReader(week))
	if err != nil {
		t.Fatal(err)
	}
	l := Describe(trace)
	if l.Records != 4 || l.Ran != 3 || l.Users != 2 || l.Statuses[1] != 3 || l.Statuses[5] != 1 || !l.Clock {
		t.Errorf("%+v", l)
	}
	if l.ByHour[1] != 3 || l.ByHour[2] != 1 || l.ByWeekday[4] != 3 || l.ByWeekday[6] != 1 {
		t.Errorf("by hour %v, by weekday %v", l.ByHour, l.ByWeekday)
	}
	if want := []float64{1800, 1800, 169200}; !slices.Equal(l.IAT.Values, want) {
		t.Errorf("gaps %v, want %v", l.IAT.Values, want)
	}
	if l.MeanIAT != 57600 || l.NumberedIAT != 57600 {
		t.Errorf("mean gaps %v %v, want 57600", l.MeanIAT, l.NumberedIAT)
	}
	if want := (500 + 1000 + 8640.) / (10 * 172800); math.Abs(l.Load-want) > 1e-12 {
		t.Errorf("load %v, want %v", l.Load, want)
	}
	if len(l.Days) != 3 || l.Days[0].Jobs != 3 || l.Days[1].Jobs != 0 || math.Abs(l.Days[2].Load-0.01) > 1e-12 {
		t.Errorf("days %+v", l.Days)
	}
	if !slices.Equal(l.Overestimate.Values, []float64{2, 1}) {
		t.Errorf("overestimates %v", l.Overestimate.Values)
	}
	if e := Describe(&swf.Trace{}); e.Records != 0 || !math.IsNaN(e.MeanIAT) || !math.IsNaN(e.IAT.Mean) {
		t.Errorf("an empty log is %+v", e)
	}
}

// TestCurves checks that a distribution function with few points lies on the full one, and
// checks the Q-Q line of two samples.
func TestCurves(t *testing.T) {
	t.Parallel()
	values := []float64{5, 1, 1, 1, 2, 3, 3, 8, 9, 9}
	c := CDF("x", values, 5)
	if !slices.Equal(c.X, []float64{1, 3, 9}) && !slices.Equal(c.X, []float64{1, 2, 3, 8, 9}) && !slices.Equal(c.X, []float64{1, 3, 8, 9}) {
		t.Errorf("points %v", c.X)
	}
	for i, x := range c.X {
		n := 0.0
		for _, v := range values {
			if v <= x {
				n++
			}
		}
		if c.Y[i] != n/10 {
			t.Errorf("F(%v) = %v, want %v", x, c.Y[i], n/10)
		}
	}
	if last := len(c.X) - 1; c.X[last] != 9 || c.Y[last] != 1 {
		t.Errorf("the curve ends at %v, %v", c.X[last], c.Y[last])
	}
	if l := Law("u", dist.Constant(3), c.X); l.Y[0] != 0 || l.Y[len(l.Y)-1] != 1 {
		t.Errorf("law %v", l)
	}
	k := Compare("q", []float64{1, 2, 3, 4}, []float64{10, 20, 30, 40}, 4)
	if k.Test.D != 1 || !slices.Equal(k.QQ.X, []float64{1, 2, 3, 4}) || !slices.Equal(k.QQ.Y, []float64{10, 20, 30, 40}) {
		t.Errorf("%+v", k)
	}
}

// TestClock checks that hours and days are those of the machine's zone, including summer time.
func TestClock(t *testing.T) {
	t.Parallel()
	// summer is 1 Oct 1993, 00:00:03 PDT. winter is the number of seconds from then to 20 May
	// 1994, 11:33:20 PDT.
	const summer, winter = 749458803, 20000000
	log, err := swf.Read(strings.NewReader(fmt.Sprintf(`; UnixStartTime: %d
; TimeZoneString: US/Pacific
; TimeZone: -28800
1 0 0 1 1
2 %d 0 1 1
3 5270400 0 1 1
`, summer, winter)))
	if err != nil {
		t.Fatal(err)
	}
	// The third record is 61 days later, on 30 November at 23:00:03 PST, a Tuesday.
	d := Describe(log)
	if d.ByHour[0] != 1 || d.ByHour[11] != 1 || d.ByHour[23] != 1 || d.ByWeekday[5] != 2 || d.ByWeekday[2] != 1 {
		t.Errorf("records by hour %v and by weekday %v, want them at 0, 11 and 23, on two Fridays and a Tuesday", d.ByHour, d.ByWeekday)
	}
}

// TestMedian checks the median of an odd and of an even number of values.
func TestMedian(t *testing.T) {
	t.Parallel()
	if a, b := New("", "", []float64{3, 1, 2}).Median, New("", "", []float64{4, 1, 2, 3}).Median; a != 2 || b != 2.5 {
		t.Errorf("medians %v and %v, want 2 and 2.5", a, b)
	}
}

// TestClasses checks the records and the work of each queue and group, and that a field that is
// unknown in the log has no classes.
func TestClasses(t *testing.T) {
	t.Parallel()
	log, err := swf.Read(strings.NewReader(`1 0 0 10 2 -1 -1 2 20 -1 1 3 7 -1 1 -1 -1 -1
2 1 0 10 3 -1 -1 3 20 -1 1 3 -1 -1 2 -1 -1 -1
3 2 0 10 1 -1 -1 1 20 -1 1 4 7 -1 1 -1 -1 -1
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []Class{{"queue", 1, 2, 30}, {"queue", 2, 1, 30}, {"group", 7, 2, 30}, {"group", -1, 1, 30}}
	if got := Describe(log).Classes; !slices.Equal(got, want) {
		t.Errorf("classes %v, want %v", got, want)
	}
}
