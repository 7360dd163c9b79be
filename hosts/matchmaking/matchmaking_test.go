package matchmaking

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"bourse/hosts/timetable"
	"bourse/workloadgen/config"
)

// A stub returns a preset quote and counts the requests.
type stub struct {
	quote timetable.Quote
	asked *int
}

func (s stub) Quote(int64, timetable.Job) timetable.Quote { *s.asked++; return s.quote }

// window returns sellers with the given quotes, and a counter of the requests to them.
func window(quotes ...timetable.Quote) ([]Seller, *int) {
	asked := new(int)
	var w []Seller
	for _, q := range quotes {
		q.Nodes, q.At = 10, 10
		q.Speed = max(q.Speed, 1)
		w = append(w, stub{q, asked})
	}
	return w, asked
}

func defaults(any) error { return nil }

func mustNew(t *testing.T, name string, decode func(any) error, source rand.Source) Matchmaker {
	t.Helper()
	m, err := Table(rand.New(source)).New(name, decode)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A draws is a random source that replays recorded numbers.
type draws []uint64

func (d *draws) Uint64() uint64 {
	v := (*d)[0]
	*d = (*d)[1:]
	return v
}

// TestRules checks which seller each algorithm chooses, also if sellers are tied, and that it
// requests only the quotes that it needs (A.5).
func TestRules(t *testing.T) {
	t.Parallel()
	no := timetable.Quote{Reason: timetable.NoPlan}
	yes := func(completion, zeta, zetaAll, busy, executed, committed int64) timetable.Quote {
		return timetable.Quote{Feasible: true, Completion: completion, Zeta: zeta, ZetaAll: zetaAll, Busy: busy, Executed: executed, Committed: committed}
	}
	fast := func(q timetable.Quote, speed int64) timetable.Quote { q.Speed = speed; return q }
	three := []timetable.Quote{no, yes(9, 4, 0, 5, 50, 10), yes(7, 4, 1, 3, 70, 30), yes(7, 3, 2, 3, 50, 30), yes(8, 3, 2, 5, 70, 10)}
	set := func(o any) func(any) error {
		return func(into any) error {
			switch into := into.(type) {
			case *UtilizationOptions:
				*into = o.(UtilizationOptions)
			case *ImpactOptions:
				*into = o.(ImpactOptions)
			case *NextFit:
				*into = o.(NextFit)
			}
			return nil
		}
	}
	util := func(u string) func(any) error { return set(UtilizationOptions{u}) }
	impact := func(scope, scale, ties string) func(any) error { return set(ImpactOptions{scope, scale, ties}) }
	for _, c := range []struct {
		why     string
		name    string
		decode  func(any) error
		quotes  []timetable.Quote
		want    int // -1 if no seller is chosen
		asked   int
		nextRan []uint64
	}{
		{"first that can", "ff", defaults, three, 1, 2, nil},
		{"nobody can", "ff", defaults, []timetable.Quote{no, no}, -1, 2, nil},
		{"no window", "ff", defaults, nil, -1, 0, nil},
		{"from the pointer", "nf", set(NextFit{3}), three, 3, 1, nil},
		{"round to the first that can", "nf", set(NextFit{5}), three, 1, 2, nil},
		{"a pointer past the window", "nf", set(NextFit{9}), three, 4, 1, nil},
		{"earliest completion, lowest index", "imct", defaults, three, 2, 5, nil},
		{"least used, cumulative", "minu", defaults, three, 1, 5, nil},
		{"least used, now", "minu", util("instant"), three, 2, 5, nil},
		{"least work left", "minu", util("committed"), three, 1, 5, nil},
		{"most used, cumulative", "maxu", defaults, three, 2, 5, nil},
		{"most used, now", "maxu", util("instant"), three, 1, 5, nil},
		{"most work left", "maxu", util("committed"), three, 2, 5, nil},
		{"least impact, then completion", "mli", defaults, three, 3, 5, nil},
		{"on all jobs", "mli", impact("all", "mul", "completion"), three, 1, 5, nil},
		{"equals to the index", "mli", impact("ar", "mul", "index"), []timetable.Quote{yes(9, 0, 0, 0, 0, 0), yes(7, 0, 0, 0, 0, 0)}, 0, 2, nil},
		{"times speed", "mli", defaults, []timetable.Quote{fast(yes(9, 10, 0, 0, 0, 0), 1000), fast(yes(7, 6, 0, 0, 0, 0), 2000)}, 0, 2, nil},
		{"over speed", "mli", impact("ar", "div", "completion"), []timetable.Quote{fast(yes(7, 10, 0, 0, 0, 0), 1000), fast(yes(9, 12, 0, 0, 0, 0), 2000)}, 1, 2, nil},
		{"as it is", "mli", impact("ar", "none", "completion"), []timetable.Quote{fast(yes(9, 10, 0, 0, 0, 0), 1000), fast(yes(7, 12, 0, 0, 0, 0), 2000)}, 0, 2, nil},
		{"who gains laxity", "mli", defaults, []timetable.Quote{yes(9, 0, 0, 0, 0, 0), yes(9, -3, 0, 0, 0, 0)}, 1, 2, nil},
		// The first draw selects seller 4 mod 4 = 0, which cannot accept the job. The next draw
		// selects the third of the remaining three.
		{"by lot", "ran", defaults, []timetable.Quote{no, yes(1, 0, 0, 0, 0, 0), yes(1, 0, 0, 0, 0, 0), yes(1, 0, 0, 0, 0, 0)}, 3, 2, []uint64{4, 8}},
		{"each once", "ran", defaults, []timetable.Quote{no, no, no}, -1, 3, []uint64{2, 0, 0}},
	} {
		d := draws(c.nextRan)
		m := mustNew(t, c.name, c.decode, &d)
		w, asked := window(c.quotes...)
		choice, ok := m.Match(10, timetable.Job{}, w)
		if !ok {
			choice.Seller = -1
		}
		if choice.Seller != c.want || *asked != c.asked || len(d) > 0 {
			t.Errorf("%s, %s: seller %d after %d quotes, want %d after %d (draws left %v)", c.name, c.why, choice.Seller, *asked, c.want, c.asked, d)
		}
	}
}

// TestNextFitPointer checks that each search starts after the last seller chosen and wraps
// around, and that a rejection does not change the start.
func TestNextFitPointer(t *testing.T) {
	t.Parallel()
	m := mustNew(t, "nf", defaults, &draws{})
	all, _ := window(timetable.Quote{Feasible: true}, timetable.Quote{Feasible: true}, timetable.Quote{Feasible: true})
	none, _ := window(timetable.Quote{}, timetable.Quote{}, timetable.Quote{})
	var got []int
	for _, w := range [][]Seller{all, all, none, all, all} {
		c, ok := m.Match(0, timetable.Job{}, w)
		if !ok {
			c.Seller = -1
		}
		got = append(got, c.Seller)
	}
	if want := []int{0, 1, -1, 2, 0}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestRandomIsEven checks that each of three sellers that can accept the job is chosen about
// equally often. In 3,000 draws, each count must be within 5 standard deviations of the mean.
func TestRandomIsEven(t *testing.T) {
	t.Parallel()
	m := mustNew(t, "ran", defaults, rand.NewPCG(1, 2))
	w, _ := window(timetable.Quote{Feasible: true}, timetable.Quote{Feasible: true}, timetable.Quote{Feasible: true})
	var counts [3]int
	for range 3000 {
		c, _ := m.Match(0, timetable.Job{}, w)
		counts[c.Seller]++
	}
	for i, n := range counts {
		if n < 1000-130 || n > 1000+130 {
			t.Errorf("seller %d taken %d times of 3000", i, n)
		}
	}
}

// TestNew checks the names in the table, and that the table rejects unknown names and invalid
// options.
func TestNew(t *testing.T) {
	t.Parallel()
	if got, want := Table(nil).Names(), []string{"ff", "imct", "maxu", "minu", "mli", "nf", "ran"}; !slices.Equal(got, want) {
		t.Errorf("names = %v, want %v", got, want)
	}
	if _, err := Table(nil).New("best", defaults); err == nil || !strings.Contains(err.Error(), "ff, imct") {
		t.Errorf("unknown name: %v", err)
	}
	if _, err := Table(nil).New("ran", defaults); err == nil {
		t.Error("ran without a source of chance")
	}
	bad := errors.New("unknown field")
	for _, name := range Table(nil).Names() {
		if _, err := Table(rand.New(&draws{})).New(name, func(any) error { return bad }); !errors.Is(err, bad) {
			t.Errorf("%s: %v, want the decoder's error", name, err)
		}
	}
	for name, change := range map[string]func(any){
		"minu": func(o any) { o.(*UtilizationOptions).Util = "now" },
		"maxu": func(o any) { o.(*UtilizationOptions).Util = "" },
		"nf":   func(o any) { o.(*NextFit).Next = -1 },
		"mli":  func(o any) { o.(*ImpactOptions).Scale = "log" },
	} {
		if _, err := Table(nil).New(name, func(o any) error { change(o); return config.Check(o) }); err == nil {
			t.Errorf("%s: a bad option was taken", name)
		}
	}
}
