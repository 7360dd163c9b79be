package market

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestSeries checks the sums and averages of a series against values computed by hand.
func TestSeries(t *testing.T) {
	t.Parallel()
	var s Series
	s.Add(100, 2e9)
	s.Add(300, 4e9)
	s.Add(300, -3e9)
	s.Add(450, 6e9)
	s.Add(900, -9e9)
	if got, want := s.Steps(), []Step{{100, 2e9}, {300, 3e9}, {450, 9e9}, {900, 0}}; !slices.Equal(got, want) {
		t.Errorf("steps = %v, want %v", got, want)
	}
	// 200 s at 2; 150 s at 3 and 150 s at 9; all at 9; all at 0; 50 s at 0.
	if got, want := s.Averages(300, 1250, nil), []float64{4.0 / 3, 6, 9, 0, 0}; !slices.EqualFunc(got, want, near) {
		t.Errorf("averages = %v, want %v", got, want)
	}
	// The last bin is shorter: 50 s at 3 and 10 s at 9.
	if got, want := s.Averages(400, 460, nil), []float64{(200*2 + 100*3) / 400.0, 4}; !slices.EqualFunc(got, want, near) {
		t.Errorf("averages = %v, want %v", got, want)
	}
	if got := s.Averages(300, 0, nil); len(got) != 0 {
		t.Errorf("averages of nothing = %v", got)
	}
	s.Reset()
	if s.total != 0 || len(s.Steps()) != 0 {
		t.Errorf("total %v, %d steps after Reset, want none", s.total, len(s.Steps()))
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-14*math.Abs(b) }

// TestAveragesKeepTheIntegral checks that the integral over all bins equals the integral over
// the steps, whatever the width. The averages of a series that is drained at any times must be
// the same to the last bit.
func TestAveragesKeepTheIntegral(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var s, often Series
		width := rapid.SampledFrom([]float64{0.7, 60, 300, 1e6}).Draw(t, "width")
		now, drained := 0.0, []float64(nil)
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			now += float64(rapid.IntRange(0, 500_000).Draw(t, "dt")) / 1e3
			delta := Rate(rapid.Int64Range(0, 1e9).Draw(t, "delta"))
			s.Add(now, delta)
			if often.Add(now, delta); rapid.Bool().Draw(t, "drain") {
				drained = often.Drain(width, drained)
			}
		}
		end := now + float64(rapid.IntRange(0, 1000).Draw(t, "rest"))
		if got, want := often.Averages(width, end, drained), s.Averages(width, end, nil); !slices.Equal(got, want) {
			t.Fatalf("drained: averages = %v, want %v", got, want)
		}
		want := 0.0
		for i, step := range s.Steps() {
			until := end
			if i+1 < len(s.Steps()) {
				until = s.Steps()[i+1].At
			}
			want += (until - step.At) * step.Total.Float64()
		}
		got := 0.0
		for i, mean := range s.Averages(width, end, nil) {
			got += mean * (min(float64(i+1)*width, end) - float64(i)*width)
		}
		if math.Abs(got-want) > 1e-10*want {
			t.Fatalf("integral = %v, want %v", got, want)
		}
	})
}

// TestSeriesRefuses checks the panics that Add and Averages document.
func TestSeriesRefuses(t *testing.T) {
	t.Parallel()
	for name, add := range map[string]func(*Series){
		"no width":        func(s *Series) { s.Averages(0, 0, nil) },
		"width below 0":   func(s *Series) { s.Averages(-1, 9, nil) },
		"time going back": func(s *Series) { s.Add(4, 1) },
		"no time":         func(s *Series) { s.Add(math.NaN(), 1) },
		"sum too high":    func(s *Series) { s.Add(6, math.MaxInt64) },
		"sum too low":     func(s *Series) { s.Add(6, -5); s.Add(7, math.MinInt64) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			var s Series
			s.Add(5, 1)
			add(&s)
		})
	}
}
