// Package replay compares what became of the same requests under two policies: who gains by
// the other, and who loses.
//
// What a request is worth to its owner is told by who knows it: where nobody does, a contract
// that is fulfilled is worth its budget, and another nothing. What its owner has of it is
// that, less what was paid, and the penalty that was received.
package replay

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"bourse/bank"
)

// A Fate is what became of a request under one policy.
type Fate struct {
	State   string      `json:"state" doc:"fulfilled, violated, cancelled or refused"`
	Reason  string      `json:"reason,omitempty" doc:"it was refused for"`
	Ended   float64     `json:"ended" doc:"instant, s"`
	Worth   bank.Amount `json:"worth" doc:"to its owner"`
	Paid    bank.Amount `json:"paid"`
	Penalty bank.Amount `json:"penalty" doc:"that its owner received"`
}

// Surplus returns what its owner has of it, in micro-dollars.
func (f *Fate) Surplus() int64 { return f.Worth.Micros() - f.Paid.Micros() + f.Penalty.Micros() }

// A Job is one request.
type Job struct {
	ID    int64       `json:"id"`
	Owner string      `json:"owner"`
	Asked float64     `json:"asked" doc:"instant, s"`
	Was   Fate        `json:"was"`
	Is    Fate        `json:"is"`
	Gain  bank.Amount `json:"gain" doc:"what its owner has more of it, $"`
}

// A Side is what became of all of them.
type Side struct {
	Policy    string      `json:"policy"`
	Fulfilled int         `json:"fulfilled"`
	Violated  int         `json:"violated"`
	Cancelled int         `json:"cancelled"`
	Refused   int         `json:"refused"`
	Paid      bank.Amount `json:"paid"`
	Penalties bank.Amount `json:"penalties"`
	Surplus   bank.Amount `json:"surplus" doc:"worth, less what was paid, and penalties, of all owners"`
}

// add counts one request.
func (s *Side) add(f *Fate) {
	switch f.State {
	case "fulfilled":
		s.Fulfilled++
	case "violated":
		s.Violated++
	case "refused":
		s.Refused++
	default:
		s.Cancelled++
	}
	s.Paid = bank.Micros(s.Paid.Micros() + f.Paid.Micros())
	s.Penalties = bank.Micros(s.Penalties.Micros() + f.Penalty.Micros())
	s.Surplus = bank.Micros(s.Surplus.Micros() + f.Surplus())
}

// A Report compares two policies on the same requests.
type Report struct {
	Sides  []Side      `json:"sides" doc:"as it was, and instead"`
	Gain   int         `json:"gain" doc:"requests whose owners have more"`
	Lose   int         `json:"lose"`
	Same   int         `json:"same"`
	Gained bank.Amount `json:"gained" doc:"by those who gain"`
	Lost   bank.Amount `json:"lost"`
	Jobs   []Job       `json:"jobs" doc:"those who gain most first"`
}

// Compare compares what became of jobs under two policies, and sets what each gains.
func Compare(was, is string, jobs []Job) *Report {
	r := &Report{Sides: []Side{{Policy: was}, {Policy: is}}, Jobs: jobs}
	var gained, lost int64
	for i := range jobs {
		j := &jobs[i]
		gain := j.Is.Surplus() - j.Was.Surplus()
		j.Gain = bank.Micros(gain)
		r.Sides[0].add(&j.Was)
		r.Sides[1].add(&j.Is)
		switch {
		case gain > 0:
			r.Gain++
			gained += gain
		case gain < 0:
			r.Lose++
			lost -= gain
		default:
			r.Same++
		}
	}
	r.Gained, r.Lost = bank.Micros(gained), bank.Micros(lost)
	slices.SortStableFunc(jobs, func(a, b Job) int {
		return cmp.Or(b.Gain.Cmp(a.Gain), cmp.Compare(a.ID, b.ID))
	})
	return r
}

// Text returns r for people, with so many of those who gain, and of those who lose, most.
func (r *Report) Text(most int) string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(what string, of func(s *Side) any) {
		fmt.Fprintf(w, "%s\t", what)
		for i := range r.Sides {
			fmt.Fprintf(w, "%v\t", of(&r.Sides[i]))
		}
		fmt.Fprintln(w)
	}
	row("", func(s *Side) any { return s.Policy })
	row("fulfilled", func(s *Side) any { return s.Fulfilled })
	row("violated", func(s *Side) any { return s.Violated })
	row("cancelled", func(s *Side) any { return s.Cancelled })
	row("refused", func(s *Side) any { return s.Refused })
	row("paid, $", func(s *Side) any { return s.Paid })
	row("penalties, $", func(s *Side) any { return s.Penalties })
	row("surplus, $", func(s *Side) any { return s.Surplus })
	w.Flush()
	fmt.Fprintf(&out, "\n%d gain $%v, %d lose $%v, %d have the same.\n", r.Gain, r.Gained, r.Lose, r.Lost, r.Same)
	r.list(&out, "gain", r.Jobs[:min(most, r.Gain)])
	losers := slices.Clone(r.Jobs[len(r.Jobs)-min(most, r.Lose):])
	slices.Reverse(losers)
	r.list(&out, "lose", losers)
	return out.String()
}

func (r *Report) list(out *strings.Builder, what string, jobs []Job) {
	if len(jobs) == 0 {
		return
	}
	fmt.Fprintf(out, "\nThose who %s most\n", what)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "id\towner\tasked\t%s\t%s\t$\n", r.Sides[0].Policy, r.Sides[1].Policy)
	for i := range jobs {
		j := &jobs[i]
		fmt.Fprintf(w, "%d\t%s\t%.1f\t%s\t%s\t%v\n", j.ID, j.Owner, j.Asked, j.Was.Said(), j.Is.Said(), j.Gain)
	}
	w.Flush()
}

// Said returns f in a few words.
func (f *Fate) Said() string {
	if f.State == "refused" && f.Reason != "" {
		return "refused: " + f.Reason
	}
	return fmt.Sprintf("%s, paid %v", f.State, f.Paid)
}
