package whatif

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"

	"bourse/bank"
	"bourse/experiments/metrics"
	"bourse/experiments/misuse"
	"bourse/experiments/report"
	"bourse/experiments/scenario"
	"bourse/workloadgen"
)

// Replay repeats one run of e on the same jobs and hosts. The first repetition is unchanged;
// the second changes some fields of the configuration, such as "admission=cac" or
// "market.payment=bid". Replay compares the outcomes of each job. The worth of a job is its
// utility at alpha before payments (§4.2, eq. 9). The argument inputs has the same meaning as
// for [Explain].
func Replay(ctx context.Context, e *scenario.Experiment, inputs map[string]string, path string, alpha float64, sets ...string) (*Replayed, error) {
	if err := checkAlpha(alpha); err != nil {
		return nil, err
	}
	chosen, one, err := single(e, path)
	if err != nil {
		return nil, err
	}
	other, err := changed(&one, sets...)
	if err != nil {
		return nil, err
	}
	if d := scenario.Differ(&one, &other); d == nil {
		return nil, misuse.Errorf("run %s has these settings already; use another --admission or --set", chosen)
	}
	if n := len(other.Configurations[0].Admission); n != 1 || len(other.Configurations) != 1 {
		return nil, misuse.Errorf("found %d configurations with %d policies, want one of each", len(other.Configurations), n)
	}
	was, err := jobsOf(ctx, &one, chosen.Replication, inputs)
	if err != nil {
		return nil, err
	}
	is, err := jobsOf(ctx, &other, chosen.Replication, nil)
	if err != nil {
		return nil, err
	}
	jobs, err := pairs(was, is, alpha)
	if err != nil {
		return nil, err
	}
	mine, theirs := chosen.Admission, other.Configurations[0].Admission[0].Label
	if mine == theirs {
		mine, theirs = "as it was", "instead"
	}
	return compared(mine, theirs, jobs), nil
}

// pairs returns the jobs of two runs of the same workload, with their outcomes at alpha, in the
// order of the first run. If jobs follow other jobs, arrivals in the two runs may differ. A job
// whose predecessor did not end in one run counts as rejected in that run.
func pairs(was, is []metrics.Job, alpha float64) (all []comparedJob, err error) {
	others, follow := make(map[int64]*metrics.Job, len(is)), false
	for i := range is {
		others[is[i].ID] = &is[i]
		follow = follow || is[i].After != 0
	}
	if !follow && len(was) != len(is) {
		return nil, misuse.Errorf("the change would turn the workload of %d jobs into %d jobs; change a field that does not affect the jobs", len(was), len(is))
	}
	add := func(a, b *metrics.Job) error {
		absent := outcome{State: "refused", Reason: "the predecessor of the job did not end"}
		j := comparedJob{Was: absent, Is: absent}
		for job, of := range map[*metrics.Job]*outcome{b: &j.Is, a: &j.Was} {
			if job == nil || err != nil {
				continue
			}
			*of, err = outcomeOf(job, alpha)
		}
		j.ID, j.Owner, j.Asked = cmp.Or(a, b).ID, owner(cmp.Or(a, b).User), cmp.Or(a, b).Arrival
		all = append(all, j)
		return err
	}
	for i := range was {
		a := &was[i]
		b := others[a.ID]
		delete(others, a.ID)
		if b == nil && !follow || b != nil && !sameJob(*a.Job, *b.Job, follow) {
			return nil, misuse.Errorf("the change would affect job %d and later jobs; change a field that does not affect the jobs", a.ID)
		}
		if err := add(a, b); err != nil {
			return nil, err
		}
	}
	for i := range is {
		if others[is[i].ID] != nil {
			if err := add(nil, &is[i]); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// sameJob reports whether a and b are the same job of a plan. If jobs follow others, the
// arrivals of a and b may differ.
func sameJob(a, b workloadgen.Job, follow bool) bool {
	if follow {
		a.Arrival = b.Arrival
	}
	return reflect.DeepEqual(a, b) // Needs is a pointer, so the values must be compared
}

// A comparedJob is a job with its outcomes in two runs.
type comparedJob struct {
	ID    int64       `json:"id"`
	Owner string      `json:"owner"`
	Asked float64     `json:"asked" doc:"time of the submission, s"`
	Was   outcome     `json:"was"`
	Is    outcome     `json:"is"`
	Gain  bank.Amount `json:"gain" doc:"surplus in the second run minus surplus in the first run, $"`
}

// A side contains the total outcomes of one run.
type side struct {
	Policy    string      `json:"policy"`
	Fulfilled int         `json:"fulfilled"`
	Violated  int         `json:"violated"`
	Cancelled int         `json:"cancelled"`
	Refused   int         `json:"refused"`
	Paid      bank.Amount `json:"paid"`
	Penalties bank.Amount `json:"penalties"`
	Surplus   bank.Amount `json:"surplus" doc:"value minus payments plus penalties, summed over all owners"`
}

// add counts one job.
func (s *side) add(f *outcome) {
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
	s.Surplus = bank.Micros(s.Surplus.Micros() + f.surplus())
}

// A Replayed compares two runs of the same jobs.
type Replayed struct {
	Sides  []side        `json:"sides" doc:"the original run and the other run"`
	Gain   int           `json:"gain" doc:"number of jobs whose owners gain"`
	Lose   int           `json:"lose"`
	Same   int           `json:"same"`
	Gained bank.Amount   `json:"gained" doc:"sum of the gains"`
	Lost   bank.Amount   `json:"lost" doc:"sum of the losses"`
	Jobs   []comparedJob `json:"jobs" doc:"jobs in order of decreasing gain"`
}

// compared compares the outcomes of the jobs under two policies. It sets the gain of each job
// and sorts the jobs.
func compared(was, is string, jobs []comparedJob) *Replayed {
	r := &Replayed{Sides: []side{{Policy: was}, {Policy: is}}, Jobs: jobs}
	var gained, lost int64
	for i := range jobs {
		j := &jobs[i]
		gain := j.Is.surplus() - j.Was.surplus()
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
	slices.SortStableFunc(jobs, func(a, b comparedJob) int {
		return cmp.Or(b.Gain.Cmp(a.Gain), cmp.Compare(a.ID, b.ID))
	})
	return r
}

// Text formats r as text. It lists the largest gains and the largest losses, at most the
// given number of each.
func (r *Replayed) Text(most int) string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(what string, of func(s *side) any) {
		fmt.Fprintf(w, "%s\t", what)
		for i := range r.Sides {
			fmt.Fprintf(w, "%v\t", of(&r.Sides[i]))
		}
		fmt.Fprintln(w)
	}
	row("", func(s *side) any { return s.Policy })
	row("fulfilled", func(s *side) any { return s.Fulfilled })
	row("violated", func(s *side) any { return s.Violated })
	row("cancelled", func(s *side) any { return s.Cancelled })
	row("refused", func(s *side) any { return s.Refused })
	row("paid ($)", func(s *side) any { return s.Paid })
	row("penalties ($)", func(s *side) any { return s.Penalties })
	row("surplus ($)", func(s *side) any { return s.Surplus })
	w.Flush()
	fmt.Fprintf(&out, "\nOf %d jobs, %d gain $%v, %d lose $%v and %d stay the same.\n", len(r.Jobs), r.Gain, r.Gained, r.Lose, r.Lost, r.Same)
	r.list(&out, "gains", r.Jobs[:min(most, r.Gain)])
	losers := slices.Clone(r.Jobs[len(r.Jobs)-min(most, r.Lose):])
	slices.Reverse(losers)
	r.list(&out, "losses", losers)
	return out.String()
}

func (r *Replayed) list(out *strings.Builder, what string, jobs []comparedJob) {
	if len(jobs) == 0 {
		return
	}
	fmt.Fprintf(out, "\nLargest %s\n", what)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "job\towner\tsubmitted (s)\t%s\t%s\tgain ($)\n", r.Sides[0].Policy, r.Sides[1].Policy)
	for i := range jobs {
		j := &jobs[i]
		fmt.Fprintf(w, "%d\t%s\t%.1f\t%s\t%s\t%v\n", j.ID, j.Owner, j.Asked, j.Was.summary(), j.Is.summary(), j.Gain)
	}
	w.Flush()
}

// Figure returns a figure of the total surplus of all jobs submitted up to a time, in both
// runs.
func (r *Replayed) Figure() report.Figure {
	was, is := report.Curve{Name: r.Sides[0].Policy}, report.Curve{Name: r.Sides[1].Policy}
	jobs := slices.Clone(r.Jobs)
	slices.SortStableFunc(jobs, func(a, b comparedJob) int { return cmp.Or(cmp.Compare(a.Asked, b.Asked), cmp.Compare(a.ID, b.ID)) })
	var before, after int64 // micro-dollars
	add := func(c *report.Curve, sum *int64, asked float64, f *outcome) {
		*sum += f.surplus()
		y := float64(*sum) / 1e6
		c.Points = append(c.Points, report.Point{X: asked, Mean: y, Lo: y, Hi: y})
	}
	for i := range jobs {
		add(&was, &before, jobs[i].Asked, &jobs[i].Was)
		add(&is, &after, jobs[i].Asked, &jobs[i].Is)
	}
	return report.Figure{
		Name: "replay", Title: "Surplus of all owners under " + was.Name + " and " + is.Name,
		Caption: "The curves show the value of the jobs submitted up to a time, minus payments, plus penalties.",
		Panels:  []report.Panel{{X: "submitted up to (s)", Y: "surplus ($)", Curves: []report.Curve{was, is}}},
	}
}
