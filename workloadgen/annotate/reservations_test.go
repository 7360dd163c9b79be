package annotate

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"bourse/workloadgen"
)

func reserved(r Reservations, seed uint64) workloadgen.Plan {
	plan := somePlan(20000, 3)
	if err := r.annotate(plan, rand.NewPCG(seed, 1)); err != nil {
		panic(err)
	}
	return plan
}

// TestReservationLaws checks the annotation of the reservation papers' jobs (A.9). Half of them
// are reservations, with a lead of U(0, 7200 s), a laxity of q U(0, 2) and estimates of r (1 +
// 2f U). The other distributions have the same means. With 20,000 jobs the means are within 2
// %.
func TestReservationLaws(t *testing.T) {
	t.Parallel()
	means := func(plan workloadgen.Plan) (share, lead, laxity, wrong float64) {
		n := 0.0
		for _, j := range plan {
			wrong += j.Estimate / j.Runtime / float64(len(plan))
			if !j.OnDemand {
				n++
				lead += j.Lead
				laxity += (j.Deadline - j.Lead) / j.Estimate
			}
		}
		return n / float64(len(plan)), lead / n, laxity/n - 1, wrong
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 0.02*want {
			t.Errorf("%s: mean %v, want %v", what, got, want)
		}
	}
	r := defaultReservations()
	r.Share, r.Inaccuracy = 0.5, 1
	for _, law := range []string{"uniform", "exp", "fixed"} {
		r.Lead.Law, r.Laxity.Law = law, law
		share, lead, laxity, wrong := means(reserved(r, 7))
		near("share", share, 0.5)
		near(law+" lead", lead, 3600)
		near(law+" laxity", laxity, 1)
		near("estimate over runtime", wrong, 2)
	}
	// E[1/(1+2U)] = ln 3 / 2; E[3^(2U-1)] = (3 - 1/3) / (2 ln 3).
	for errors, want := range map[string]float64{"under": math.Log(3) / 2, "both": (3 - 1.0/3) / (2 * math.Log(3))} {
		r.Errors = errors
		_, _, _, wrong := means(reserved(r, 7))
		near(errors, wrong, want)
	}
	for _, j := range reserved(defaultReservations(), 7) {
		if j.OnDemand || j.Estimate != j.Runtime {
			t.Fatalf("by default %+v", j)
		}
	}
}

// TestReservationCancels checks that the requested fraction of reservations is cancelled, on
// average half-way to the deadline, within 3 standard errors, and that no other property of a
// job changes.
func TestReservationCancels(t *testing.T) {
	t.Parallel()
	r := defaultReservations()
	r.Share = 0.5
	was := reserved(r, 9)
	r.Cancel = 0.3
	n, all, way := 0.0, 0.0, 0.0
	for i, j := range reserved(r, 9) {
		if !j.OnDemand {
			all++
		}
		if j.Cancel > 0 {
			n++
			way += j.Cancel / j.Deadline
		}
		if j.OnDemand && j.Cancel > 0 || j.Cancel > j.Deadline {
			t.Fatalf("%+v", j)
		}
		if j.Cancel = 0; j != was[i] {
			t.Fatalf("%+v, was %+v", j, was[i])
		}
	}
	if math.Abs(n/all-0.3) > 3*math.Sqrt(0.3*0.7/all) || math.Abs(way/n-0.5) > 3/math.Sqrt(12*n) {
		t.Errorf("%v of %v taken back, on average after %v of the time to the deadline", n, all, way/n)
	}
}

// TestReservationParts checks that the requested fraction of reservations has several parts,
// within 3 standard errors, that each part has at least one node, and that no other draw
// changes.
func TestReservationParts(t *testing.T) {
	t.Parallel()
	r := defaultReservations()
	r.Share, r.Cancel = 0.5, 0.3
	was, src := somePlan(20000, 3), rand.NewPCG(9, 1)
	if err := r.annotate(was, src); err != nil {
		t.Fatal(err)
	}
	next := src.Uint64()
	r.Parts = Parts{0.3, 4}
	plan, src := somePlan(20000, 3), rand.NewPCG(9, 1)
	if err := r.annotate(plan, src); err != nil {
		t.Fatal(err)
	}
	if got := src.Uint64(); got != next {
		t.Errorf("what is drawn next is %d, and was %d", got, next)
	}
	n, all := 0.0, 0.0
	for i, j := range plan {
		if !j.OnDemand {
			all++
		}
		if j.Parts > 0 {
			n++
		}
		if j.Parts > 0 && (j.OnDemand || j.Parts != min(4, j.Nodes)) {
			t.Fatalf("%+v", j)
		}
		if j.Parts = 0; j != was[i] {
			t.Fatalf("%+v, was %+v", j, was[i])
		}
	}
	if math.Abs(n/all-0.3) > 3*math.Sqrt(0.3*0.7/all) {
		t.Errorf("%v of %v are in parts", n, all)
	}
}

// TestReservationStreams checks that every factor has its own random stream. Whatever the other
// options, kind, lead, laxity and inaccuracy of a job are the same, and a reservation stays a
// reservation when the share of reservations increases.
func TestReservationStreams(t *testing.T) {
	t.Parallel()
	base := defaultReservations()
	base.Share, base.Inaccuracy = 0.5, 0.5
	was := reserved(base, 5)
	change := func(f func(*Reservations)) workloadgen.Plan {
		r := base
		f(&r)
		return reserved(r, 5)
	}
	more := change(func(r *Reservations) { r.Share = 0.8 })
	tight := change(func(r *Reservations) { r.Laxity.Mean = 0 })
	exact := change(func(r *Reservations) { r.Inaccuracy = 0 })
	for i, j := range was {
		switch {
		case !j.OnDemand && more[i] != j:
			t.Fatalf("with more reservations %+v is %+v", j, more[i])
		case tight[i].Lead != j.Lead || tight[i].Estimate != j.Estimate || tight[i].OnDemand != j.OnDemand:
			t.Fatalf("without laxity %+v is %+v", j, tight[i])
		case !j.OnDemand && tight[i].Deadline != j.Lead+j.Estimate:
			t.Fatalf("laxity of %+v", tight[i])
		case exact[i].Lead != j.Lead || exact[i].OnDemand != j.OnDemand:
			t.Fatalf("with true estimates %+v is %+v", j, exact[i])
		}
	}
}

// TestReservationPlans checks that, under any options, jobs have whole seconds, a reservation
// fits its window, and the plan is valid.
func TestReservationPlans(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		laws := []string{"uniform", "exp", "fixed"}
		o := Options{Arrivals: rapid.SampledFrom([]string{"", "poisson"}).Draw(t, "arrivals"), Load: &Load{Target: 0.7, Processors: 256}}
		o.Reservations = &Reservations{
			Share: rapid.Float64Range(0, 1).Draw(t, "share"), Inaccuracy: rapid.Float64Range(0, 5).Draw(t, "f"),
			Lead:   Spread{rapid.SampledFrom(laws).Draw(t, "lead"), rapid.Float64Range(0, 1e5).Draw(t, "mean lead")},
			Laxity: Spread{rapid.SampledFrom(laws).Draw(t, "laxity"), rapid.Float64Range(0, 9).Draw(t, "mean laxity")},
			Errors: rapid.SampledFrom([]string{"over", "under", "both", "log"}).Draw(t, "errors"),
			Parts:  Parts{rapid.Float64Range(0, 1).Draw(t, "parts"), rapid.IntRange(2, 9).Draw(t, "count")},
		}
		if err := o.Validate(); err != nil {
			t.Fatal(err)
		}
		plan, _, err := o.Apply(somePlan(50, rapid.Uint64().Draw(t, "seed")), rand.NewPCG(1, 1))
		if err != nil {
			t.Fatal(err)
		}
		if err := plan.Validate(); err != nil {
			t.Fatal(err)
		}
		for _, j := range plan {
			for _, x := range []float64{j.Arrival, j.Runtime, j.Estimate, j.Lead, j.Deadline} {
				if x != math.Trunc(x) {
					t.Fatalf("%+v: %v is no whole second", j, x)
				}
			}
			if !j.OnDemand && j.Lead+j.Estimate > j.Deadline {
				t.Fatalf("%+v does not fit its window", j)
			}
		}
	})
}
