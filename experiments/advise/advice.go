package advise

import (
	"fmt"
	"slices"
	"strings"

	"bourse/experiments/misuse"
	"bourse/experiments/report"
	"bourse/experiments/results"
)

// An Advice is what is said of one configuration, from its numbers by the letters of the
// paper: p_a, p_w, p_d and q.
type Advice struct {
	Configuration string             `json:"configuration,omitempty"`
	Numbers       map[string]float64 `json:"numbers" doc:"by the letters of the paper"`
	User          []counsel          `json:"advice"`
}

// A counsel is given to users of one kind, or to the provider.
type counsel struct {
	For       string  `json:"for" doc:"inelastic, elastic or provider"`
	Reserve   bool    `json:"reserve" doc:"p_a is above it"`
	Threshold float64 `json:"threshold" doc:"of p_a"`
	Equation  string  `json:"equation" doc:"of the paper"`
}

// Measured reads the numbers of every configuration of a run that has both markets, with
// these policies for the spot market and the reservation market.
func Measured(dir *results.Dir, spot, reservation string) ([]Advice, error) {
	rows, err := dir.Summary()
	if err != nil {
		return nil, err
	}
	var all []Advice
	at := make(map[string]int)
	for _, r := range rows {
		if r.Mean == nil {
			continue
		}
		own := r.Admission == reservation && r.Metric == "p_a" ||
			r.Admission == spot && (r.Metric == "p_w" || r.Metric == "p_d" || r.Metric == "q")
		if !own {
			continue
		}
		i, seen := at[r.Configuration]
		if !seen {
			i = len(all)
			at[r.Configuration] = i
			all = append(all, Advice{Configuration: r.Configuration, Numbers: make(map[string]float64)})
		}
		all[i].Numbers[r.Metric] = *r.Mean
	}
	all = slices.DeleteFunc(all, func(a Advice) bool { return len(a.Numbers) < 4 })
	if len(all) == 0 {
		return nil, misuse.Errorf("%s: no configuration ran both %s and %s", dir.Path, spot, reservation)
	}
	return all, nil
}

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
		a.User = append(a.User, counsel{kind, v.Reserving, v.Threshold, equation})
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

// String returns the advice as text, several lines.
func (a *Advice) String() string {
	var b strings.Builder
	if a.Configuration != "" {
		fmt.Fprintf(&b, "%s\n", a.Configuration)
	}
	for _, name := range []string{"p_a", "p_w", "p_d", "q"} {
		if x, ok := a.Numbers[name]; ok {
			fmt.Fprintf(&b, "  %s = %.4g", name, x)
		}
	}
	b.WriteString("\n")
	for _, v := range a.User {
		sign, word := "<=", "spot"
		if v.Reserve {
			sign, word = ">", "reserve"
		}
		who := v.For + " jobs"
		if v.For == "provider" {
			who = "the provider"
			word = map[bool]string{true: "keep the reservation partition", false: "enlarge the spot partition"}[v.Reserve]
		}
		fmt.Fprintf(&b, "  %-15s p_a %s %.4g: %s (%s)\n", who, sign, v.Threshold, word, v.Equation)
	}
	return b.String()
}
