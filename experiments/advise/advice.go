package advise

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"bourse/experiments/misuse"
	"bourse/experiments/report"
	"bourse/experiments/results"
	"bourse/experiments/stats"
)

// An Advice is the advice on one configuration, computed from p_a, p_w, p_d and q. The number
// p_a comes from the reservation market, and the other numbers come from the spot market. The
// paper uses one q for both markets. If q is known for the reservation market, it is added as
// q_reservation.
type Advice struct {
	Configuration string             `json:"configuration,omitempty"`
	N             int                `json:"n,omitempty" doc:"number of replications in which all of these values are defined"`
	Numbers       map[string]float64 `json:"numbers" doc:"values, keyed by the symbols in the paper"`
	User          []Recommendation   `json:"advice"`

	each map[string][]float64 // the numbers by replication
}

// A Recommendation is advice to users of one kind, or to the provider.
type Recommendation struct {
	For       string  `json:"for" doc:"inelastic, elastic or provider"`
	Reserve   bool    `json:"reserve" doc:"whether p_a is above the threshold"`
	Threshold float64 `json:"threshold" doc:"threshold for p_a"`
	Equation  string  `json:"equation" doc:"number of the equation in the paper"`

	// The following fields are computed from the replications if there is more than one:
	Lo95    *float64 `json:"lo95" doc:"interval of the threshold (jackknife)"`
	Hi95    *float64 `json:"hi95"`
	AboveLo *float64 `json:"above_lo95" doc:"interval of p_a minus the threshold (jackknife)"`
	AboveHi *float64 `json:"above_hi95"`
	Verdict string   `json:"verdict" doc:"reserve, spot, or undecided: the interval of p_a minus the threshold contains 0"`
}

// Measured reads the numbers of every configuration with two policies, one for the spot market
// and one for the reservation market.
func Measured(dir *results.Dir, spot, reservation string) ([]Advice, error) {
	rows, err := dir.Metrics(Metrics()...)
	if err != nil {
		return nil, err
	}
	all := Of(rows, spot, reservation)
	if len(all) == 0 {
		return nil, misuse.Errorf("%s: no configuration ran both %s and %s", dir.Path, spot, reservation)
	}
	return all, nil
}

// Metrics returns the names of the metrics from which advice is computed.
func Metrics() []string { return []string{"p_a", "p_w", "p_d", "q"} }

// Of returns the numbers of every configuration in rows that ran both policies. It is like
// [Measured].
func Of(rows []results.Metric, spot, reservation string) (all []Advice) {
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
	return all
}

// letters lists the names of the numbers of a configuration, in the order in which they are
// printed.
var letters = []string{"p_a", "p_w", "p_d", "q", "q_reservation"}

// Weigh applies the rules to the numbers of each configuration and returns the advice as a
// document.
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

// rules are the rules for users of each kind, as functions of p_a, p_w, p_d and q. The field
// needs states which of p_w and p_d a rule uses.
var rules = []struct {
	kind, equation string
	needs          []string
	of             func(pa, pw, pd, q float64) (Verdict, error)
}{
	{"inelastic", "eq. 13", []string{"p_w"}, func(pa, pw, _, q float64) (Verdict, error) { return Inelastic(pa, pw, q) }},
	{"elastic", "eq. 18", []string{"p_d"}, func(pa, _, pd, q float64) (Verdict, error) { return Elastic(pa, pd, q) }},
	{"provider", "§5", []string{"p_w", "p_d"}, Provider},
}

// weigh applies the rules for which all numbers are known.
func (a *Advice) weigh() error {
	has := func(name string) bool { _, ok := a.Numbers[name]; return ok }
	if !has("p_a") || !has("q") || !has("p_w") && !has("p_d") {
		return misuse.Errorf("found %d numbers, want a results directory, or --pa and --q with --pw (inelastic jobs), --pd (elastic jobs) or both", len(a.Numbers))
	}
	for _, r := range rules {
		if slices.ContainsFunc(r.needs, func(name string) bool { return !has(name) }) {
			continue
		}
		v, err := r.of(a.Numbers["p_a"], a.Numbers["p_w"], a.Numbers["p_d"], a.Numbers["q"])
		if err != nil {
			return misuse.Of(err)
		}
		c := Recommendation{For: r.kind, Reserve: v.Reserving, Threshold: v.Threshold, Equation: r.equation, Verdict: "spot"}
		if v.Reserving {
			c.Verdict = "reserve"
		}
		a.doubt(&c, r.of)
		a.User = append(a.User, c)
	}
	return nil
}

// doubt adds the statistical certainty to c, which is the result of a rule. It is computed
// from the replications.
func (a *Advice) doubt(c *Recommendation, rule func(pa, pw, pd, q float64) (Verdict, error)) {
	if a.N < 2 {
		return
	}
	pa, pw, pd, q := stats.MeanWithout(a.each["p_a"]), stats.MeanWithout(a.each["p_w"]), stats.MeanWithout(a.each["p_d"]), stats.MeanWithout(a.each["q"])
	threshold, ok := stats.Jackknife(a.N, func(out int) (float64, bool) {
		v, err := rule(pa(out), pw(out), pd(out), q(out))
		return v.Threshold, err == nil
	})
	if !ok {
		return
	}
	interval := func(s stats.Sample) (lo, hi *float64) {
		from, to, ok := s.Estimate(stats.Quantity{}).Interval(0.05)
		if !ok {
			return nil, nil
		}
		return &from, &to
	}
	c.Lo95, c.Hi95 = interval(threshold)
	above := stats.Sample{Value: pa(-1), Parts: a.each["p_a"]}.Plus(-1, threshold)
	if c.AboveLo, c.AboveHi = interval(above); c.AboveLo != nil && *c.AboveLo <= 0 && *c.AboveHi > 0 {
		c.Verdict = "undecided"
	}
}

// String returns the advice as several lines of text.
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
			word = map[string]string{"reserve": "do not change the reservation partition", "spot": "enlarge the spot partition", "undecided": "undecided"}[v.Verdict]
		}
		fmt.Fprintf(&b, "  %-15s p_a %s %.4g", who, sign, v.Threshold)
		if v.Lo95 != nil {
			fmt.Fprintf(&b, " [%.4g, %.4g]", *v.Lo95, *v.Hi95)
		}
		fmt.Fprintf(&b, ": %s (%s", word, v.Equation)
		if v.AboveLo != nil {
			fmt.Fprintf(&b, "; p_a minus it in [%.4g, %.4g]", *v.AboveLo, *v.AboveHi)
		}
		b.WriteString(")\n")
	}
	return b.String()
}
