package metrics

import (
	"fmt"
	"math"

	"bourse/contracts"
)

// The following metrics are from Farooq, Majumdar, Parsons, "A Framework to Achieve Guaranteed
// QoS for Applications and High System Performance in Multi-Institutional Grid Computing", §4.
// P_b is [Rejections]. The size of a job is its true work, nodes × runtime.

// RejectedWork is W_R, the work of rejected jobs in percent of the submitted work.
var RejectedWork = Metric{
	Name: "rejected_work", Less: true,
	Unit:    "%",
	Bound:   Percent,
	Decided: true,
	Doc:     "work of rejected jobs, in percent of the work submitted, W_R (Reservations, §4.1)",
	Of:      func(o *Outcome) (float64, bool) { return sizes(o, everyJob).rejectedWork() },
}

// RejectedSize is Q, the mean size of rejected jobs divided by the mean size of all jobs.
var RejectedSize = Metric{
	Name: "rejected_size",
	Unit: "1",
	Doc:  "mean work of rejected jobs / mean work of submitted jobs, Q = W_R/(100 P_b) (Reservations, §4.1)",
	Of: func(o *Outcome) (float64, bool) {
		t := sizes(o, everyJob)
		if t.refusals == 0 {
			return 0, false
		}
		return (t.rejected / t.refusals) / (t.work / t.jobs), true
	},
}

// RejectedWorkAR and RejectionsAR are W_R and P_b for reservations only.
var (
	RejectedWorkAR = Metric{
		Name: "rejected_work_ar", Less: true,
		Label:   "Rejected work AR",
		Unit:    "%",
		Bound:   Percent,
		Decided: true,
		Doc:     RejectedWork.Doc + ", only reservations",
		Of:      booked(func(o *Outcome) (float64, bool) { return sizes(o, reservation).rejectedWork() }),
	}
	RejectionsAR = Metric{
		Name: "rejections_ar", Less: true,
		Label:   "Rejections AR",
		Unit:    "1",
		Bound:   Proportion,
		Decided: true,
		Doc:     "reservations rejected / reservations requested, P_b (Reservations, eq. 4.1)",
		Trials:  func(o *Outcome) int { return int(sizes(o, reservation).jobs) },
		Of: booked(func(o *Outcome) (float64, bool) {
			t := sizes(o, reservation)
			return over(t.refusals, t.jobs)
		}),
	}
)

// ResponseOD and ResponseAR are the response times of accepted on-demand jobs and of accepted
// reservations. Killed jobs do not count.
var (
	ResponseOD = Metric{
		Name: "response_od", Less: true,
		Label: "Response OD",
		Unit:  "s",
		Doc:   "mean time from the arrival to the end of on-demand jobs, R_OD (Reservations, §4.1)",
		Of: booked(func(o *Outcome) (float64, bool) {
			return mean(o, func(j *Job) (float64, bool) { return j.response(), j.ended() && j.OnDemand })
		}),
	}
	ResponseAR = Metric{
		Name: "response_ar", Less: true,
		Label: "Response AR",
		Unit:  "s",
		Doc:   "mean time from the earliest start to the end of reservations, R_AR (Reservations, §4.1)",
		Of: booked(func(o *Outcome) (float64, bool) {
			return mean(o, func(j *Job) (float64, bool) { return j.Contract.Ended - (j.Arrival + j.Lead), j.ended() && !j.OnDemand })
		}),
	}
)

// Late and Killed count broken promises. Cancelled counts contracts cancelled by their
// owners.
var (
	Late = Metric{
		Name: "late", Less: true,
		Unit: "jobs",
		Doc:  "number of reservations that ended after the deadline",
		Of:   booked(count(func(j *Job) bool { return j.ended() && !j.Fulfilled() })),
	}
	Killed = Metric{
		Name: "killed", Less: true,
		Unit: "jobs",
		Doc:  "number of jobs killed because they exceeded the estimate",
		Of:   booked(count(func(j *Job) bool { return j.Contract.Outcome == contracts.Killed })),
	}
	Cancelled = Metric{
		Name: "cancelled", Less: true,
		Unit: "jobs",
		Doc:  "number of contracts that users cancelled before the end",
		Of: func(o *Outcome) (float64, bool) {
			if !o.Booked && !o.Cancels {
				return 0, false
			}
			return count(func(j *Job) bool { return j.Contract.Outcome == contracts.Cancelled })(o)
		},
	}
)

// everyJob and reservation select the jobs to count.
func everyJob(*Job) bool      { return true }
func reservation(j *Job) bool { return !j.OnDemand }

// booked makes a metric undefined if hosts have no reservation books.
func booked(of func(*Outcome) (float64, bool)) func(*Outcome) (float64, bool) {
	return func(o *Outcome) (float64, bool) {
		if !o.Booked {
			return 0, false
		}
		return of(o)
	}
}

// count returns the number of jobs for which f is true.
func count(f func(*Job) bool) func(*Outcome) (float64, bool) {
	return func(o *Outcome) (float64, bool) {
		n := 0.0
		for i := range o.Jobs {
			n += one(f(&o.Jobs[i]))
		}
		return n, true
	}
}

// A tally contains a number of jobs and their total work.
type tally struct{ jobs, refusals, work, rejected float64 }

func sizes(o *Outcome, of func(*Job) bool) (t tally) {
	for i := range o.Jobs {
		j := &o.Jobs[i]
		if !of(j) {
			continue
		}
		t.jobs++
		t.work += j.Work()
		if !j.Admitted() {
			t.refusals++
			t.rejected += j.Work()
		}
	}
	return t
}

func (t tally) rejectedWork() (float64, bool) { return over(100*t.rejected, t.work) }

// over returns a / b. The result is undefined if b is 0.
func over(a, b float64) (float64, bool) {
	if b == 0 {
		return 0, false
	}
	return a / b, true
}

// Check returns an error if the metrics of o are inconsistent: Q must equal W_R/(100 P_b).
func Check(o *Outcome) error {
	q, ok := RejectedSize.Of(o)
	wr, _ := RejectedWork.Of(o)
	pb, _ := Rejections.Of(o)
	if ok && math.Abs(q-wr/(100*pb)) > 1e-9*q {
		return fmt.Errorf("metrics: Q is %v, W_R/(100 P_b) %v", q, wr/(100*pb))
	}
	return nil
}
