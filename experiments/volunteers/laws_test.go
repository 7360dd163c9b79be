package volunteers

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"bourse/hosts"
	"bourse/hosts/availability"
	"bourse/hosts/availability/models"
	"bourse/hosts/availability/predictors"
	"bourse/hosts/availability/sched"
)

func drawTrace(t *rapid.T) *availability.Trace {
	m, err := models.Table().New(rapid.SampledFrom(models.Table().Names()).Draw(t, "model"), nil)
	if err != nil {
		t.Fatal(err)
	}
	trace, err := m.Trace(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)), rapid.IntRange(1, 12).Draw(t, "hosts"), 3*availability.Day)
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// TestReplayLaws checks the laws of every replay, for any model, matchmaker and options.
// Every job is accounted for, and the hosts' work equals the jobs' work. Jobs start on
// available hosts, which are idle unless the matchmaker piles. A lost job is lost when its
// host leaves, and a job alone on its host ends its length after its start.
func TestReplayLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		trace := drawTrace(t)
		c := Config{
			Trace: trace, From: availability.Day, To: 3*availability.Day - float64(rapid.IntRange(0, 80_000).Draw(t, "early")),
			Interval: float64(rapid.SampledFrom([]int{30, 60, 77}).Draw(t, "interval")),
			Queue: sched.QueueOptions{
				Hold: 300, Mode: rapid.SampledFrom([]string{"skip", "block"}).Draw(t, "mode"),
				Resubmit: rapid.SampledFrom([]string{"tail", "head", "drop"}).Draw(t, "resubmit"),
			},
			InTurn: rapid.Bool().Draw(t, "in turn"), Log: true,
		}
		stream := week()
		stream.To, stream.Every = c.To, float64(rapid.IntRange(100, 1000).Draw(t, "every"))
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "jobs"), 1))
		var err error
		if c.Jobs, err = stream.Jobs(rng); err != nil {
			t.Fatal(err)
		}
		if c.Matchmaker, err = sched.Table(rng).New(rapid.SampledFrom(sched.Table(nil).Names()).Draw(t, "matchmaker"), nil); err != nil {
			t.Fatal(err)
		}
		out, err := Replay(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}

		dropped := 0
		if c.Queue.Resubmit == "drop" {
			dropped = out.Failed
		}
		if out.Submitted != len(c.Jobs) || out.Submitted != out.Done+dropped+out.Queued+out.Running || out.Failed != out.Resent+dropped {
			t.Fatalf("jobs do not add up: %+v", out)
		}
		if out.Placed != out.Done+out.Failed+out.Running {
			t.Fatalf("attempts do not add up: %+v", out)
		}

		on := make([]map[int32]float64, len(trace.Hosts)) // start of each job on the host
		for i := range on {
			on[i] = map[int32]float64{}
		}
		last, busy := c.From, 0.0
		idle := append([]float64(nil), make([]float64, len(on))...) // start of the busy period of a host
		for _, e := range out.Log {
			if e.At < last || e.At >= c.To {
				t.Fatalf("event %+v after %v", e, last)
			}
			last = e.At
			v, up := trace.Hosts[e.Host].At(e.At)
			switch e.Kind {
			case Alloc:
				if !up || !c.Matchmaker.Piles() && len(on[e.Host]) > 0 {
					t.Fatalf("%+v on a host that is available: %v, with %d jobs", e, up, len(on[e.Host]))
				}
				if len(on[e.Host]) == 0 {
					idle[e.Host] = e.At
				}
				on[e.Host][e.Job] = e.At
			case Done, Fail:
				start, ok := on[e.Host][e.Job]
				if !ok {
					t.Fatalf("%+v was not there", e)
				}
				length := c.Jobs[e.Job].Length
				if !c.Matchmaker.Piles() && e.Kind == Done && e.At != start+length {
					t.Fatalf("%+v of length %v started at %v", e, length, start)
				}
				if e.At < start+length-whole && e.Kind == Done {
					t.Fatalf("%+v of length %v started at %v", e, length, start)
				}
				if e.Kind == Fail && (up && v.Start != e.At || trace.Hosts[e.Host].After(e.At) == 0 || trace.Hosts[e.Host].Intervals()[trace.Hosts[e.Host].After(e.At)-1].End != e.At) {
					t.Fatalf("%+v while the host stays", e)
				}
				delete(on[e.Host], e.Job)
				if len(on[e.Host]) == 0 {
					busy += e.At - idle[e.Host]
				}
			}
		}
		for h := range on {
			if len(on[h]) > 0 {
				busy += c.To - idle[h]
			}
		}
		if worked := out.Useful + out.Wasted + out.Unfinished; math.Abs(worked-busy) > 1e-3 || math.Abs(out.Busy-busy) > 1e-3 {
			t.Fatalf("jobs got %v, hosts worked %v, counted %v", worked, busy, out.Busy)
		}
		if u := out.Utilization(); u < 0 || u > 1+1e-9 {
			t.Fatalf("utilization %v", u)
		}
	})
}

// TestLongPile checks that, among a thousand jobs, a job with 1.5e-6 s more work than
// another is done a thousand times that later.
func TestLongPile(t *testing.T) {
	t.Parallel()
	s := station{speed: 1}
	s.begin(0, 0, 5)
	s.begin(0, 1, 5+1.5e-6)
	for job := range int32(998) {
		s.begin(0, job+2, 100)
	}
	for job, want := range []float64{5000, 5000 + 999*1.5e-6} {
		at := s.next()
		if math.Abs(at-want) > whole {
			t.Errorf("next is %v, want %v", at, want)
		}
		s.advance(at)
		if done := s.completed(nil); len(done) != 1 || done[0].job != int32(job) {
			t.Fatalf("at %v: %d jobs are done, want job %d alone", at, len(done), job)
		}
	}
}

// An always is a matchmaker that chooses host 0.
type always struct{}

func (always) Match(_, _ float64, p *sched.Pool) hosts.ID { return 0 }
func (always) Piles() bool                                { return true }

// TestDisciplines checks jobs that share a host and jobs that take turns on it, computed by
// hand. The lengths are 100 and 50, and the host leaves at 140.
func TestDisciplines(t *testing.T) {
	t.Parallel()
	h, err := availability.NewHistory("h", 1, []availability.Record{{Start: 0, End: 140, State: availability.Available}, {Start: 140, End: 1000, State: availability.Busy}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		inTurn bool
		want   []Event
		wasted float64
	}{
		// If the jobs share the host, job 1 is half done at 50 and done at 100. Job 0 would be
		// done at 150.
		{false, []Event{{Alloc, 0, 0, 0}, {Alloc, 0, 1, 0}, {Done, 100, 1, 0}, {Fail, 140, 0, 0}}, 90},
		// If they take turns, job 0 is done at 100, and 40 of job 1 are done.
		{true, []Event{{Alloc, 0, 0, 0}, {Alloc, 0, 1, 0}, {Done, 100, 0, 0}, {Fail, 140, 1, 0}}, 40},
	} {
		out, err := Replay(context.Background(), Config{
			Trace: &availability.Trace{Hosts: []*availability.History{h}}, Jobs: []Job{{0, 100}, {0, 50}},
			From: 0, To: 150, Interval: 60, Queue: sched.DefaultQueue(), Matchmaker: always{}, InTurn: c.inTurn, Log: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Log) != len(c.want) {
			t.Fatalf("in turn %v: %v, want %v", c.inTurn, out.Log, c.want)
		}
		for i := range c.want {
			if out.Log[i] != c.want[i] {
				t.Errorf("in turn %v: %v, want %v", c.inTurn, out.Log[i], c.want[i])
			}
		}
		if out.Wasted != c.wasted || out.Queued != 1 || out.WastedShare() != c.wasted/140 {
			t.Errorf("in turn %v: %+v, want %v wasted", c.inTurn, out, c.wasted)
		}
	}
}

// TestSpeeds checks that a host with twice the MIPS needs half the time if this is
// requested, and that a forecast covers the time needed. The host leaves every day 60 s
// after noon, so a job of 100 s is safe in the minute before only on such a host.
func TestSpeeds(t *testing.T) {
	t.Parallel()
	const noon = availability.Day / 2
	trace := &availability.Trace{}
	for _, mips := range []float64{1, 2} {
		h, err := availability.NewHistory("h", mips, []availability.Record{
			{Start: 0, End: noon + 60, State: availability.Available}, {Start: noon + 60, End: availability.Day, State: availability.UserPresent},
			{Start: availability.Day, End: availability.Day + noon + 60, State: availability.Available},
		}, availability.Gap)
		if err != nil {
			t.Fatal(err)
		}
		trace.Hosts = append(trace.Hosts, h)
	}
	o := predictors.DefaultTDE()
	o.Plen = 1
	p, err := predictors.NewTDE(o)
	if err != nil {
		t.Fatal(err)
	}
	match, err := sched.NewThreshold(1, "fifo", p)
	if err != nil {
		t.Fatal(err)
	}
	out, err := Replay(context.Background(), Config{
		Trace: trace, Jobs: []Job{{availability.Day + noon, 100}}, From: availability.Day + noon, To: 2 * availability.Day, Interval: 60,
		Queue: sched.DefaultQueue(), Matchmaker: match, Speeds: true, Log: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Log) != 2 || out.Log[1] != (Event{Done, availability.Day + noon + 50, 0, 1}) || out.Useful != 100 || out.Busy != 50 {
		t.Errorf("%+v, want it done on host 1 in 50 s", out)
	}
}

// TestStream checks the distribution of the workload: an exponential with mean 1000,
// bounded to [1,10000], has the mean 1001 - 10,000/(e^9.999 - 1).
func TestStream(t *testing.T) {
	t.Parallel()
	s := week()
	s.Every = 5
	jobs, err := s.Jobs(rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if want := int(6 * availability.Day / 5); len(jobs) != want {
		t.Fatalf("%d jobs, want %d", len(jobs), want)
	}
	sum, least, most := 0.0, math.Inf(1), 0.0
	for i, j := range jobs {
		if j.Submit != s.From+5*float64(i) || j.Length != math.Round(j.Length) {
			t.Fatalf("job %d is %+v", i, j)
		}
		sum += j.Length
		least, most = min(least, j.Length), max(most, j.Length)
	}
	want := 1001 - 9999/(math.Exp(9.999)-1)
	if got := sum / float64(len(jobs)); math.Abs(got-want) > 4*1000/math.Sqrt(float64(len(jobs))) || least != 1 || most < 9000 || most > 10_000 {
		t.Errorf("lengths from %v to %v, mean %v; want from 1 to 10000, %v", least, most, got, want)
	}
	s.Every = 0
	if _, err := s.Jobs(rand.New(rand.NewPCG(1, 1))); err == nil {
		t.Error("no error at an interval of 0")
	}
}

// mean returns the mean job process ratio over five replications of the paper's week, and
// the mean length of the completed jobs.
func mean(t *testing.T, make func(days int) sched.Matchmaker, days int) (ratio, length float64) {
	t.Helper()
	s := week()
	for rep := range uint64(5) {
		rng := rand.New(rand.NewPCG(rep, 1))
		m, err := models.Table().New("diurnal", nil)
		if err != nil {
			t.Fatal(err)
		}
		trace, err := m.Trace(rng, 85, 7*availability.Day)
		if err != nil {
			t.Fatal(err)
		}
		jobs, err := s.Jobs(rng)
		if err != nil {
			t.Fatal(err)
		}
		out, err := Replay(context.Background(), Config{
			Trace: trace, Jobs: jobs, From: s.From, To: s.To, Interval: 60, Queue: sched.DefaultQueue(), Matchmaker: make(days),
		})
		if err != nil {
			t.Fatal(err)
		}
		ratio += out.Ratio() / 5
		length += out.MeanLength() / 5
	}
	return ratio, length
}

func tde(t *testing.T, days int) predictors.Predictor {
	t.Helper()
	o := predictors.DefaultTDE()
	o.Days = days
	p, err := predictors.NewTDE(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPaper checks the paper's statements about the diurnal model, calibrated only to the
// first number. They are 72.6 % at T = 0, the same at 50 %, an increase to 83.43 % at T =
// 100 % with N = 6, and better values there for larger N.
func TestPaper(t *testing.T) {
	t.Parallel()
	at := func(threshold float64, days int) float64 {
		ratio, length := mean(t, func(days int) sched.Matchmaker {
			m, err := sched.NewThreshold(threshold, "fifo", tde(t, days))
			if err != nil {
				t.Fatal(err)
			}
			return m
		}, days)
		t.Logf("T = %v, N = %d: %.2f %%, mean completed length %.0f s", threshold, days, ratio, length)
		return ratio
	}
	none, half1, half6 := at(0, 1), at(0.5, 1), at(0.5, 6)
	all1, all3, all6 := at(1, 1), at(1, 3), at(1, 6)
	if !(math.Abs(none-72.6) <= 1) {
		t.Errorf("%.2f %% at T = 0, want 72.6", none)
	}
	if !(math.Abs(half1-none) <= 1) || !(math.Abs(half6-none) <= 1) {
		t.Errorf("%.2f, %.2f %% at T = 50 %%, %.2f at 0: want the same", half1, half6, none)
	}
	if !(math.Abs(all6-83.43) <= 2) {
		t.Errorf("%.2f %% at T = 100 %%, N = 6, want 83.43", all6)
	}
	if !(none < all1 && all1 < all3 && all3 < all6) {
		t.Errorf("%.2f, %.2f, %.2f %% at T = 100 %% with N = 1, 3, 6: want them rising from %.2f", all1, all3, all6, none)
	}
}

// TestReplayRefuses checks that an invalid configuration is an error.
func TestReplayRefuses(t *testing.T) {
	t.Parallel()
	good := Config{Trace: &availability.Trace{}, Jobs: []Job{{5, 10}}, From: 0, To: 10, Interval: 1, Queue: sched.DefaultQueue(), Matchmaker: sched.First{}}
	if _, err := Replay(context.Background(), good); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*Config){
		"interval":  func(c *Config) { c.Interval = 0 },
		"ends":      func(c *Config) { c.To = 0 },
		"early job": func(c *Config) { c.Jobs = []Job{{-1, 10}} },
		"order":     func(c *Config) { c.Jobs = []Job{{5, 10}, {4, 10}} },
		"length":    func(c *Config) { c.Jobs = []Job{{5, 0.5}} },
		"queue":     func(c *Config) { c.Queue.Mode = "wait" },
	} {
		bad := good
		spoil(&bad)
		if _, err := Replay(context.Background(), bad); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestSameSeedSameLog checks that a replay is reproducible event for event, and that a
// threshold of 0 selects the first available host (§5: round-robin).
func TestSameSeedSameLog(t *testing.T) {
	t.Parallel()
	run := func(name string) []Event {
		rng := rand.New(rand.NewPCG(4, 4))
		m, err := models.Table().New("workstation", nil)
		if err != nil {
			t.Fatal(err)
		}
		trace, err := m.Trace(rng, 20, 7*availability.Day)
		if err != nil {
			t.Fatal(err)
		}
		jobs, err := week().Jobs(rng)
		if err != nil {
			t.Fatal(err)
		}
		match, err := sched.Table(

			rng).New(name, func(o any) error {
			if o, ok := o.(*sched.ThresholdOptions); ok {
				o.Threshold = 0
			}
			return nil
		})

		if err != nil {
			t.Fatal(err)
		}
		out, err := Replay(context.Background(), Config{Trace: trace, Jobs: jobs, From: availability.Day, To: 7 * availability.Day, Interval: 60, Queue: sched.DefaultQueue(), Matchmaker: match, Log: true})
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Log) < 1000 {
			t.Fatalf("%s: %d events", name, len(out.Log))
		}
		return out.Log
	}
	if !slices.Equal(run("random"), run("random")) {
		t.Error("same seed, other events")
	}
	first := run("first-available")
	if !slices.Equal(first, run("threshold")) {
		t.Error("a threshold of 0 is not the first available host")
	}
	if slices.Equal(first, run("random")) {
		t.Error("random is the first available host")
	}
}
