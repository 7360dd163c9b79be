package whatif

import (
	"fmt"

	"bourse/experiments/advise"
	"bourse/experiments/report"
	"bourse/experiments/stats"
)

// A chance is the result of one budget in one market. It contains means over units, with 95 %
// score intervals that treat each unit as a cluster.
type chance struct {
	Admitted float64  `json:"admitted" doc:"probability of admission"`
	Done     float64  `json:"done" doc:"probability that the job is admitted and completed by the deadline"`
	Lo95     *float64 `json:"lo95" doc:"Wilson's score interval of done, for each budget separately; null for fewer than two units"`
	Hi95     *float64 `json:"hi95"`
	Paid     float64  `json:"paid" doc:"expected payment, $"`
	Utility  *float64 `json:"utility" doc:"value times done minus payment, $; null unless a value was stated"`
}

// A budgetRow has the results of one budget.
type budgetRow struct {
	Budget      float64 `json:"budget" doc:"$"`
	Spot        chance  `json:"spot"`
	Reservation chance  `json:"reservation"`
}

// A marketChoice is the best choice in one market.
type marketChoice struct {
	Least  *float64 `json:"least" doc:"smallest tried budget that completes the job with the required probability, $; null if there is none"`
	Surely *float64 `json:"surely" doc:"smallest budget for which the lower end of the interval is at least the required probability, $"`
	Best   *float64 `json:"best" doc:"budget with the largest mean utility, $; null unless a value was stated"`
}

// A BudgetPlan is the advice on budgets for a job.
type BudgetPlan struct {
	Job         AdviceJob    `json:"job"`
	Of          string       `json:"of" doc:"history from which the advice is computed"`
	Units       int          `json:"units" doc:"number of independent observations"`
	What        string       `json:"what" doc:"description of one observation"`
	Probability float64      `json:"probability" doc:"required probability"`
	Rows        []budgetRow  `json:"rows"`
	Spot        marketChoice `json:"spot"`
	Reservation marketChoice `json:"reservation"`

	Difference *float64 `json:"difference" doc:"utility on the spot market minus utility of the reservation, each at the best budget, $; null unless a value was stated"`
	Lo95       *float64 `json:"lo95" doc:"interval of the difference (paired by unit, Student's t)"`
	Hi95       *float64 `json:"hi95"`
	P          *float64 `json:"p"`
	Needed     *int     `json:"needed" doc:"number of observations needed to detect the observed difference with a power of 80 % at 5 %"`
	Verdict    string   `json:"verdict" doc:"spot, reserve, either (both are equal), neither (no budget brings a gain), or undecided; empty unless a value was stated"`
}

// An Advice is the advice on which market to use, or a plan of budgets for one job.
type Advice struct {
	advise.Advice
	Plan *BudgetPlan `json:"plan,omitempty" doc:"budgets for a job; the other fields are omitted in this case"`
}

// Weigh applies the rules of §5 to all the numbers and returns the advice.
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

// planned evaluates the outcomes of the job with each budget, over all units.
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

// utilities returns the utility in each unit with budget i in one market.
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

// choose returns the best choice in a market and the index of the best budget.
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

// decide recommends a market by comparing the utilities of each unit in both markets.
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

// Document returns p as a document with its figure.
func (p *BudgetPlan) Document() report.Document {
	t := report.Table{
		Title:  "Budget and probability that the job is done by the deadline",
		Header: []string{"budget, $", "spot", "95 %", "pays, $", "reservation: admitted", "done", "95 %", "pays, $"},
		Note: fmt.Sprintf("%s; by %s. The values are means over the same %d %s for all budgets and for both markets. Intervals are Wilson's score intervals, for each budget separately.",
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
		t.Rows = append(t.Rows, report.Cells(fmt.Sprintf("%.6g", r.Budget), fmt.Sprintf("%.3f", r.Spot.Done), between(&r.Spot), fmt.Sprintf("%.4g", r.Spot.Paid),
			fmt.Sprintf("%.3f", r.Reservation.Admitted), fmt.Sprintf("%.3f", r.Reservation.Done), between(&r.Reservation), fmt.Sprintf("%.4g", r.Reservation.Paid)))
		for k, c := range []*chance{&r.Spot, &r.Reservation} {
			pt := report.Point{X: r.Budget, Mean: c.Done, Lo: c.Done, Hi: c.Done}
			if c.Lo95 != nil {
				pt.Lo, pt.Hi = *c.Lo95, *c.Hi95
			}
			curves[k].Points = append(curves[k].Points, pt)
		}
	}
	return report.Document{
		Title: "Recommended budget", Tables: []report.Table{t}, Notes: p.summary(),
		Figures: []report.Figure{{
			Name: "advise", Title: "Budget and probability that the job is done in time",
			Caption: p.Of + ", " + p.Job.String() + ". Bands are 95 % Wilson score intervals, for each budget separately.",
			Panels:  []report.Panel{{X: "budget, $", Y: "done by the deadline", Hi: 1, LogX: true, Curves: curves}},
		}},
		Values: func([]string) any {
			return []Advice{{advise.Advice{Numbers: map[string]float64{}, User: []advise.Recommendation{}}, p}}
		},
	}
}

// summary describes the recommendation.
func (p *BudgetPlan) summary() (all []string) {
	for _, m := range []struct {
		name string
		of   marketChoice
	}{{"On the spot market", p.Spot}, {"As a reservation", p.Reservation}} {
		s := fmt.Sprintf("%s, none of these budgets completes the job with a probability of %.3g.", m.name, p.Probability)
		if m.of.Least != nil {
			s = fmt.Sprintf("%s, $%.6g is the smallest of these budgets that completes the job with a probability of %.3g", m.name, *m.of.Least, p.Probability)
			if m.of.Surely != nil {
				s += fmt.Sprintf("; with $%.6g, the interval also confirms this.", *m.of.Surely)
			} else {
				s += "; the interval does not confirm this for any of the budgets."
			}
		}
		all = append(all, s)
	}
	if p.Verdict == "" {
		return append(all, "To get a recommendation, state a value (value=$ in --job).")
	}
	best := fmt.Sprintf("the best budgets are $%.6g on the spot market and $%.6g for a reservation", *p.Spot.Best, *p.Reservation.Best)
	how := ""
	if p.Lo95 != nil {
		how = fmt.Sprintf(": spot minus reservation is $%.4g [%.4g, %.4g] (paired, Student's t, p %.2g; the budgets were chosen on the same sample)", *p.Difference, *p.Lo95, *p.Hi95, *p.P)
	}
	switch p.Verdict {
	case "spot":
		return append(all, "Buy on the spot market: "+best+how+".")
	case "reserve":
		return append(all, "Reserve: "+best+how+".")
	case "either":
		return append(all, "Choose either market, because both are equal: "+best+".")
	case "neither":
		return append(all, "Choose neither market, because none of these budgets leaves the user a gain.")
	}
	s := "The choice is undecided: " + best + how
	if p.Needed != nil && *p.Needed > p.Units {
		s += fmt.Sprintf("; %d would decide it", *p.Needed)
	}
	return append(all, s+".")
}
