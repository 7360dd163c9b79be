package policies

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"bourse/contracts"
	"bourse/contracts/admission/policytest"
	"bourse/hosts"
)

// drawJobs draws jobs in order of submission. Estimates are exact if accurate is set, and
// otherwise between a fifth and five times the true runtime.
func drawJobs(t *rapid.T, fleet int, accurate bool) []job {
	jobs := make([]job, rapid.IntRange(1, 40).Draw(t, "jobs"))
	now := 0.0
	for i := range jobs {
		now += rapid.Float64Range(0, 200).Draw(t, "gap")
		runtime := rapid.Float64Range(1, 500).Draw(t, "runtime")
		estimate := runtime
		if !accurate {
			estimate *= math.Exp(rapid.Float64Range(-1.6, 1.6).Draw(t, "error"))
		}
		hard := rapid.Bool().Draw(t, "hard")
		jobs[i] = job{
			ID: int64(i), Submit: now, Runtime: runtime, Estimate: estimate,
			Deadline: runtime * rapid.Float64Range(1.01, 10).Draw(t, "factor"),
			Procs:    rapid.IntRange(1, fleet).Draw(t, "procs"), Hard: &hard,
			Budget: runtime * rapid.Float64Range(0.1, 10).Draw(t, "budget"), Penalty: rapid.Float64Range(0, 1).Draw(t, "penalty"),
		}
	}
	return jobs
}

// drawSpecs draws a fleet of hosts of one processor, or of several with a cap.
func drawSpecs(t *rapid.T) []hosts.Spec {
	specs := policytest.Uniform(rapid.IntRange(1, 6).Draw(t, "hosts"))
	several := rapid.Bool().Draw(t, "several processors")
	alike := rapid.Bool().Draw(t, "alike")
	for h := range specs {
		if alike && h > 0 {
			name := specs[h].Name
			specs[h] = specs[0]
			specs[h].Name = name
			continue
		}
		specs[h].Speed = rapid.SampledFrom([]float64{0.5, 1, 1, 2}).Draw(t, "speed")
		if several {
			specs[h].CPUs = float64(rapid.IntRange(1, 4).Draw(t, "cpus"))
			specs[h].Cap = rapid.SampledFrom([]float64{0, 1, 1.5}).Draw(t, "cap")
		}
	}
	return specs
}

func drawSpare(t *rapid.T) string {
	return rapid.SampledFrom([]string{"none", "proportional", "equal"}).Draw(t, "spare")
}

// TestLibraIsNeverLate checks that with accurate estimates every job that Libra accepts ends in
// time, whichever jobs arrive later and whichever job gets spare capacity.
func TestLibraIsNeverLate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		specs := drawSpecs(t)
		w := newWorld(t, specs, "libra", options{"spare": drawSpare(t)})
		for id, f := range w.run(t, drawJobs(t, len(specs), true)) {
			if f.Outcome != contracts.Fulfilled {
				t.Errorf("job %d is %v: ended at %v, due %v", id, f.Outcome, f.Ended, f.Due())
			}
		}
	})
}

// TestHardIsNeverLate checks that with accurate estimates and strict protection
// LibraSLA delays no job with a hard deadline, and that it does delay soft ones.
func TestHardIsNeverLate(t *testing.T) {
	t.Parallel()
	late := 0
	rapid.Check(t, func(t *rapid.T) {
		specs := drawSpecs(t)
		for h := range specs {
			specs[h].CPUs, specs[h].Cap = 1, 0
		}
		w := newWorld(t, specs, "librasla", options{"late": rapid.SampledFrom([]string{"shift", "pressure"}).Draw(t, "late")})
		for id, f := range w.run(t, drawJobs(t, len(specs), true)) {
			switch {
			case f.Outcome == contracts.Fulfilled:
			case f.SLA.Soft:
				late++
			default:
				t.Errorf("hard job %d ended at %v, due %v", id, f.Ended, f.Due())
			}
		}
	})
	if late == 0 && !testing.Short() { // 20 draws may have none
		t.Error("no soft job was ever delayed: nothing was tested")
	}
}

// TestUtilityIsEarned checks that the final gain of the host owners and the provider is the sum
// of budgets minus penalties over the completed jobs (SLA, eq. 1), exact to the micro-dollar.
func TestUtilityIsEarned(t *testing.T) {
	t.Parallel()
	beyond := 0
	rapid.Check(t, func(t *rapid.T) {
		specs := policytest.Uniform(rapid.IntRange(1, 6).Draw(t, "hosts"))
		w := newWorld(t, specs, "librasla", nil)
		before := w.ledger.Balance(w.user).Float64()
		utility, n := 0.0, 0
		for _, f := range w.run(t, drawJobs(t, len(specs), true)) {
			own := f.SLA.Budget.Float64() - f.SLA.Penalty.Of(f.Delay)
			utility += own
			n++
			if own < 0 {
				beyond++
			}
			if got := f.Paid.Float64() - f.Penalty.Float64(); math.Abs(got-own) > 2e-6 {
				t.Errorf("job %d: earned %v, want %v", f.ID, got, own)
			}
		}
		if got := before - w.ledger.Balance(w.user).Float64(); math.Abs(got-utility) > 2e-6*float64(n+1) {
			t.Errorf("users paid %v, want %v", got, utility)
		}
	})
	if beyond == 0 && !testing.Short() { // 20 draws may have none
		t.Error("no penalty ever exceeded its budget: nothing was tested")
	}
}
