package whatif

import (
	"fmt"

	"bourse/experiments/advise"
	"bourse/experiments/report"
	"bourse/experiments/stats"
)

// A chance is what a budget comes to in one market: means over units, with their 95 %
// score intervals, each unit being a cluster.
type chance struct {
	Admitted float64  `json:"admitted" doc:"probability of being let in"`
	Done     float64  `json:"done" doc:"probability of being let in and done by the deadline"`
	Lo95     *float64 `json:"lo95" doc:"of done (Wilson's score, each budget by itself); null under two units"`
	Hi95     *float64 `json:"hi95"`
	Paid     float64  `json:"paid" doc:"$ that may be expected to be paid"`
	Utility  *float64 `json:"utility" doc:"$: value times done, less paid; null unless a value was said"`
}

// A budgetRow is one budget.
type budgetRow struct {
	Budget      float64 `json:"budget" doc:"$"`
	Spot        chance  `json:"spot"`
	Reservation chance  `json:"reservation"`
}

// A marketChoice is what may be advised of one market.
type marketChoice struct {
	Least  *float64 `json:"least" doc:"$, the least budget looked at with which the job is done with that probability; null if there is none"`
	Surely *float64 `json:"surely" doc:"$, the least of which the lower end of the interval says so"`
	Best   *float64 `json:"best" doc:"$, of the greatest mean utility; null unless a value was said"`
}

// A BudgetPlan is what is advised.
type BudgetPlan struct {
	Job         AdviceJob    `json:"job"`
	Of          string       `json:"of" doc:"the history"`
	Units       int          `json:"units" doc:"independent observations"`
	What        string       `json:"what" doc:"an observation is"`
	Probability float64      `json:"probability" doc:"that is wanted"`
	Rows        []budgetRow  `json:"rows"`
	Spot        marketChoice `json:"spot"`
	Reservation marketChoice `json:"reservation"`

	Difference *float64 `json:"difference" doc:"$, of utilities: spot less reservation, each at its best budget; null unless a value was said"`
	Lo95       *float64 `json:"lo95" doc:"of the difference (paired by unit, Student's t)"`
	Hi95       *float64 `json:"hi95"`
	P          *float64 `json:"p"`
	Needed     *int     `json:"needed" doc:"units that would show such a difference with a power of 80 % at 5 %"`
	Verdict    string   `json:"verdict" doc:"spot, reserve, either (both come to the same), neither (no budget gains anything), or undecided; empty unless a value was said"`
}

// An Advice is the advice on markets, or a plan of budgets for one job.
type Advice struct {
	advise.Advice
	Plan *BudgetPlan `json:"plan,omitempty" doc:"budgets for a job; then there is nothing else"`
}

// Weigh applies the rules of §5 to all numbers and returns the advice.
func Weigh(all []advise.Advice) (report.Document, error) {
	d, err := advise.Weigh(all)
	d.Values = func([]string) any {
		values := make([]Advice, len(all))
		for i := range all {
			values[i].Advice = all[i]
		}
		return values
	}
	return d, err
}

// planned weighs what became of a job in units, with each budget.
func planned(j AdviceJob, of, what string, probability float64, budgets []float64, units []unit) *BudgetPlan {
	p := &BudgetPlan{Job: j, Of: of, Units: len(units), What: what, Probability: probability}
	spot := func(u *unit) []meanOutcome { return u.Spot }
	reservation := func(u *unit) []meanOutcome { return u.Reservation }
	for i, budget := range budgets {
		p.Rows = append(p.Rows, budgetRow{budget, chanceOf(&j, units, i, spot), chanceOf(&j, units, i, reservation)})
	}
	var at [2]int
	p.Spot, at[0] = p.choose(func(r *budgetRow) *chance { return &r.Spot })
	p.Reservation, at[1] = p.choose(func(r *budgetRow) *chance { return &r.Reservation })
	if j.Value > 0 {
		p.decide(utilities(&j, units, at[0], spot), utilities(&j, units, at[1], reservation))
	}
	return p
}

// utilities returns those of each unit with budget i in a market.
func utilities(j *AdviceJob, units []unit, i int, in func(*unit) []meanOutcome) (all []float64) {
	for k := range units {
		f := in(&units[k])[i]
		all = append(all, j.Value*f.Done-f.Paid)
	}
	return all
}

func chanceOf(j *AdviceJob, units []unit, i int, in func(*unit) []meanOutcome) (c chance) {
	var done []float64
	var mean meanOutcome
	for k := range units {
		f := in(&units[k])[i]
		done = append(done, f.Done)
		mean.plus(f, 1/float64(len(units)))
	}
	c.Admitted, c.Done, c.Paid = mean.Admitted, stats.Mean(done), mean.Paid
	if lo, hi, ok := stats.Interval(done, stats.Quantity{Hi: 1, Dependent: true}, 0.05); ok {
		c.Lo95, c.Hi95 = &lo, &hi
	}
	if j.Value > 0 {
		c.Utility = new(j.Value*c.Done - c.Paid)
	}
	return c
}

// choose returns what may be advised of a market, and which of the budgets is best.
func (p *BudgetPlan) choose(in func(*budgetRow) *chance) (c marketChoice, best int) {
	for i := range p.Rows {
		r := &p.Rows[i]
		f := in(r)
		if c.Least == nil && f.Done >= p.Probability {
			c.Least = &r.Budget
		}
		if c.Surely == nil && f.Lo95 != nil && *f.Lo95 >= p.Probability {
			c.Surely = &r.Budget
		}
		if f.Utility != nil && (c.Best == nil || *f.Utility > *in(&p.Rows[best]).Utility) {
			c.Best, best = &r.Budget, i
		}
	}
	return c, best
}

// decide says which market is to be chosen, by the utilities of each unit in both.
func (p *BudgetPlan) decide(spot, reservation []float64) {
	d, ok := stats.Pairs(spot, reservation)
	mean := stats.Mean(spot) - stats.Mean(reservation)
	p.Difference, p.Verdict = &mean, "undecided"
	if max(stats.Mean(spot), stats.Mean(reservation)) <= 0 {
		p.Verdict = "neither"
		return
	}
	if !ok {
		if mean == 0 && len(spot) > 1 {
			p.Verdict = "either"
		}
		return
	}
	lo, hi := d.Interval(0.05)
	pv := d.P()
	p.Lo95, p.Hi95, p.P = &lo, &hi, &pv
	if n, ok := stats.SampleFor(d.Effect, 0.8, true, 0.05); ok {
		p.Needed = &n
	}
	switch {
	case pv <= 0.05 && mean > 0:
		p.Verdict = "spot"
	case pv <= 0.05:
		p.Verdict = "reserve"
	}
}

// Document returns p for people and programs, with its figure.
func (p *BudgetPlan) Document() report.Document {
	t := report.Table{
		Title:  "Budget against the probability of being done by the deadline",
		Header: []string{"budget, $", "spot", "95 %", "pays, $", "reservation: let in", "done", "95 %", "pays, $"},
		Note: fmt.Sprintf("%s; by %s. Means over %d %s, the same for all budgets and both markets; intervals by Wilson's score, each budget by itself.",
			p.Job.String(), p.Of, p.Units, p.What),
	}
	between := func(c *chance) string {
		if c.Lo95 == nil {
			return "–"
		}
		return fmt.Sprintf("[%.3f, %.3f]", *c.Lo95, *c.Hi95)
	}
	curves := []report.Curve{{Name: "spot"}, {Name: "reservation"}}
	for i := range p.Rows {
		r := &p.Rows[i]
		var cells []report.Cell
		for _, text := range []string{
			fmt.Sprintf("%.6g", r.Budget), fmt.Sprintf("%.3f", r.Spot.Done), between(&r.Spot), fmt.Sprintf("%.4g", r.Spot.Paid),
			fmt.Sprintf("%.3f", r.Reservation.Admitted), fmt.Sprintf("%.3f", r.Reservation.Done), between(&r.Reservation), fmt.Sprintf("%.4g", r.Reservation.Paid),
		} {
			cells = append(cells, report.Cell{Text: text})
		}
		t.Rows = append(t.Rows, cells)
		for k, c := range []*chance{&r.Spot, &r.Reservation} {
			pt := report.Point{X: r.Budget, Mean: c.Done, Lo: c.Done, Hi: c.Done}
			if c.Lo95 != nil {
				pt.Lo, pt.Hi = *c.Lo95, *c.Hi95
			}
			curves[k].Points = append(curves[k].Points, pt)
		}
	}
	return report.Document{
		Title: "What to ask for", Tables: []report.Table{t}, Notes: p.summary(),
		Figures: []report.Figure{{
			Name: "advise", Title: "Budget against the probability of being done in time",
			Caption: p.Of + ", " + p.Job.String() + ". Bands are 95 % intervals by Wilson's score, each budget by itself.",
			Panels:  []report.Panel{{X: "budget, $", Y: "done by the deadline", Hi: 1, LogX: true, Curves: curves}},
		}},
		Values: func([]string) any {
			return []Advice{{advise.Advice{Numbers: map[string]float64{}, User: []advise.Recommendation{}}, p}}
		},
	}
}

// summary says what to choose.
func (p *BudgetPlan) summary() (all []string) {
	for _, m := range []struct {
		name string
		of   marketChoice
	}{{"On the spot", p.Spot}, {"As a reservation", p.Reservation}} {
		s := fmt.Sprintf("%s, no budget of these makes it done with a probability of %.3g.", m.name, p.Probability)
		if m.of.Least != nil {
			s = fmt.Sprintf("%s, $%.6g is the least of these budgets with which it was done with a probability of %.3g", m.name, *m.of.Least, p.Probability)
			if m.of.Surely != nil {
				s += fmt.Sprintf("; with $%.6g the interval says so, too.", *m.of.Surely)
			} else {
				s += "; of none does the interval say so."
			}
		}
		all = append(all, s)
	}
	if p.Verdict == "" {
		return append(all, "A value (value=$ in --job) would say which to choose.")
	}
	best := fmt.Sprintf("at their best, $%.6g on the spot and $%.6g as a reservation", *p.Spot.Best, *p.Reservation.Best)
	how := ""
	if p.Lo95 != nil {
		how = fmt.Sprintf(": spot less reservation is worth $%.4g [%.4g, %.4g] (paired, Student's t, p %.2g; of budgets that were chosen on the same sample)", *p.Difference, *p.Lo95, *p.Hi95, *p.P)
	}
	switch p.Verdict {
	case "spot":
		return append(all, "Buy on the spot: "+best+how+".")
	case "reserve":
		return append(all, "Reserve: "+best+how+".")
	case "either":
		return append(all, "Either will do, both come to the same: "+best+".")
	case "neither":
		return append(all, "Ask for neither: no budget of these leaves a user more than nothing.")
	}
	s := "Which to choose cannot be told: " + best + how
	if p.Needed != nil && *p.Needed > p.Units {
		s += fmt.Sprintf("; %d would tell", *p.Needed)
	}
	return append(all, s+".")
}
