package advise

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"bourse/experiments/misuse"
	"bourse/experiments/report"
	"bourse/experiments/results"
	"bourse/experiments/stats"
)

// An Advice is what is said of one configuration, from its numbers by the letters of the
// paper: p_a, p_w, p_d and q, those of the spot market but for p_a. The paper's q serves
// both markets; beside it is q_reservation, where that is known.
type Advice struct {
	Configuration string             `json:"configuration,omitempty"`
	N             int                `json:"n,omitempty" doc:"replications in which all of them are defined"`
	Numbers       map[string]float64 `json:"numbers" doc:"by the letters of the paper"`
	User          []counsel          `json:"advice"`

	each map[string][]float64 // the numbers by replication
}

// A counsel is given to users of one kind, or to the provider.
type counsel struct {
	For       string  `json:"for" doc:"inelastic, elastic or provider"`
	Reserve   bool    `json:"reserve" doc:"p_a is above it"`
	Threshold float64 `json:"threshold" doc:"of p_a"`
	Equation  string  `json:"equation" doc:"of the paper"`

	// By the replications, if there are several:
	Lo95    *float64 `json:"lo95" doc:"of the threshold (jackknife)"`
	Hi95    *float64 `json:"hi95"`
	AboveLo *float64 `json:"above_lo95" doc:"of p_a less the threshold (jackknife)"`
	AboveHi *float64 `json:"above_hi95"`
	Verdict string   `json:"verdict" doc:"reserve, spot, or undecided: the interval of p_a less the threshold has 0 in it"`
}

// Measured reads the numbers of every configuration of a run that has both markets, with
// these policies for the spot market and the reservation market.
func Measured(dir *results.Dir, spot, reservation string) ([]Advice, error) {
	rows, err := dir.Metrics("p_a", "p_w", "p_d", "q")
	if err != nil {
		return nil, err
	}
	type replications map[int]map[string]float64
	var order []string
	found := make(map[string]replications) // by configuration
	for _, r := range rows {
		name := r.Metric
		switch {
		case r.Value == nil || (name == "p_a") != (r.Admission == reservation) && name != "q":
			continue
		case name == "q" && r.Admission == reservation && reservation != spot:
			name = "q_reservation"
		case r.Admission != spot && r.Admission != reservation:
			continue
		}
		if found[r.Configuration] == nil {
			found[r.Configuration] = make(replications)
			order = append(order, r.Configuration)
		}
		of := found[r.Configuration]
		if of[r.Replication] == nil {
			of[r.Replication] = make(map[string]float64)
		}
		of[r.Replication][name] = *r.Value
	}
	var all []Advice
	for _, configuration := range order {
		a := Advice{Configuration: configuration, Numbers: make(map[string]float64), each: make(map[string][]float64)}
		of := found[configuration]
		for _, rep := range slices.Sorted(maps.Keys(of)) {
			if len(of[rep]) < len(letters) {
				continue
			}
			a.N++
			for name, x := range of[rep] {
				a.each[name] = append(a.each[name], x)
			}
		}
		for name, xs := range a.each {
			a.Numbers[name] = stats.Mean(xs)
		}
		if a.N > 0 {
			all = append(all, a)
		}
	}
	if len(all) == 0 {
		return nil, misuse.Errorf("%s: no configuration ran both %s and %s", dir.Path, spot, reservation)
	}
	return all, nil
}

// letters are the numbers of a configuration, as they are printed.
var letters = []string{"p_a", "p_w", "p_d", "q", "q_reservation"}

// Weigh applies the rules to all of the numbers, and returns the advice.
func Weigh(all []Advice) (report.Document, error) {
	text := ""
	for i := range all {
		if err := all[i].weigh(); err != nil {
			return report.Document{}, err
		}
		text += all[i].String()
	}
	return report.Said(text, all), nil
}

// weigh applies the rules for which there are numbers.
func (a *Advice) weigh() error {
	pa, hasA := a.Numbers["p_a"]
	pw, hasW := a.Numbers["p_w"]
	pd, hasD := a.Numbers["p_d"]
	q, hasQ := a.Numbers["q"]
	if !hasA || !hasQ || !hasW && !hasD {
		return misuse.Errorf("found %d numbers, want --pa, --q, and --pw (inelastic jobs), --pd (elastic ones) or both; or a results directory", len(a.Numbers))
	}
	add := func(kind, equation string, v Verdict, err error) error {
		if err != nil {
			return misuse.Of(err)
		}
		c := counsel{For: kind, Reserve: v.Reserving, Threshold: v.Threshold, Equation: equation, Verdict: "spot"}
		if v.Reserving {
			c.Verdict = "reserve"
		}
		a.doubt(&c)
		a.User = append(a.User, c)
		return nil
	}
	if hasW {
		v, err := Inelastic(pa, pw, q)
		if err := add("inelastic", "eq. 13", v, err); err != nil {
			return err
		}
	}
	if hasD {
		v, err := Elastic(pa, pd, q)
		if err := add("elastic", "eq. 18", v, err); err != nil {
			return err
		}
	}
	if hasW && hasD {
		v, err := Provider(pa, pw, pd, q)
		return add("provider", "§5", v, err)
	}
	return nil
}

// doubt adds what the replications tell of how certain c is.
func (a *Advice) doubt(c *counsel) {
	if a.N < 2 {
		return
	}
	threshold := func(without int) (float64, bool) {
		v, err := c.rule()(a.mean("p_a", without), a.mean("p_w", without), a.mean("p_d", without), a.mean("q", without))
		return v.Threshold, err == nil
	}
	t, ok := stats.Jackknife(a.N, threshold)
	if !ok {
		return
	}
	above, ok := stats.Jackknife(a.N, func(without int) (float64, bool) {
		t, ok := threshold(without)
		return a.mean("p_a", without) - t, ok
	})
	inf := math.Inf(1)
	lo, hi, known := t.Estimate(-inf, inf).Interval(0.05)
	if known {
		c.Lo95, c.Hi95 = &lo, &hi
	}
	from, to, known := above.Estimate(-inf, inf).Interval(0.05)
	if !ok || !known {
		return
	}
	if c.AboveLo, c.AboveHi = &from, &to; from <= 0 && to > 0 {
		c.Verdict = "undecided"
	}
}

// rule returns the one that c was given by.
func (c *counsel) rule() func(pa, pw, pd, q float64) (Verdict, error) {
	switch c.For {
	case "inelastic":
		return func(pa, pw, _, q float64) (Verdict, error) { return Inelastic(pa, pw, q) }
	case "elastic":
		return func(pa, _, pd, q float64) (Verdict, error) { return Elastic(pa, pd, q) }
	}
	return Provider
}

// mean returns that of a number over the replications, without one of them unless that is
// negative.
func (a *Advice) mean(name string, without int) float64 {
	xs := a.each[name]
	if without >= 0 {
		xs = slices.Delete(slices.Clone(xs), without, without+1)
	}
	return stats.Mean(xs)
}

// String returns the advice as text, several lines.
func (a *Advice) String() string {
	var b strings.Builder
	if a.Configuration != "" {
		fmt.Fprintf(&b, "%s\n", a.Configuration)
	}
	for _, name := range letters {
		if x, ok := a.Numbers[name]; ok {
			fmt.Fprintf(&b, "  %s = %.4g", strings.Replace(name, "_reservation", " of the reservation market", 1), x)
		}
	}
	if a.N > 0 {
		fmt.Fprintf(&b, "  (n %d)", a.N)
	}
	b.WriteString("\n")
	for _, v := range a.User {
		sign := "<="
		if v.Reserve {
			sign = ">"
		}
		who, word := v.For+" jobs", v.Verdict
		if v.For == "provider" {
			who = "the provider"
			word = map[string]string{"reserve": "keep the reservation partition", "spot": "enlarge the spot partition", "undecided": "undecided"}[v.Verdict]
		}
		fmt.Fprintf(&b, "  %-15s p_a %s %.4g", who, sign, v.Threshold)
		if v.Lo95 != nil {
			fmt.Fprintf(&b, " [%.4g, %.4g]", *v.Lo95, *v.Hi95)
		}
		fmt.Fprintf(&b, ": %s (%s", word, v.Equation)
		if v.AboveLo != nil {
			fmt.Fprintf(&b, "; p_a less it in [%.4g, %.4g]", *v.AboveLo, *v.AboveHi)
		}
		b.WriteString(")\n")
	}
	return b.String()
}
