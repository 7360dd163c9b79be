package main

import (
	"fmt"
	"slices"
	"strings"

	"bourse/experiments/advise"

	"github.com/urfave/cli/v2"
)

func adviseCommand() *cli.Command {
	return &cli.Command{
		Name:      "advise",
		Usage:     "say whether to reserve or to buy on the spot market (§5)",
		ArgsUsage: "[RESULTS]",
		Description: `From numbers: p_a, the probability of admission by the reservation market; p_w,
that of fulfilment on the spot market; p_d, the work completed there; q, cost
over value. Or from a finished run, configuration by configuration: p_a of the
reservation policy, p_w, p_d and q of be.

   bourse advise --pa 0.63 --pw 0.39 --q 0.14
   bourse advise results/paper --reservation cac`,
		Flags: []cli.Flag{
			&cli.Float64Flag{Name: "pa", DefaultText: "none", Usage: "probability of admission, in [0,1]"},
			&cli.Float64Flag{Name: "pw", DefaultText: "none", Usage: "probability of fulfilment, in [0,1]"},
			&cli.Float64Flag{Name: "pd", DefaultText: "none", Usage: "fraction of work completed, in [0,1]"},
			&cli.Float64Flag{Name: "q", DefaultText: "none", Usage: "cost over value, in [0,1)"},
			&cli.StringFlag{Name: "reservation", Value: "cac", Usage: "admission `POLICY` that stands for the reservation market"},
			jsonFlag(),
		},
		Action: adviseAction,
	}
}

// An advice is what is said of one configuration.
type advice struct {
	Configuration string             `json:"configuration,omitempty"`
	Numbers       map[string]float64 `json:"numbers"`
	User          []verdict          `json:"advice"`
}

// A verdict is said to users of one kind, or to the provider.
type verdict struct {
	For       string  `json:"for"` // inelastic, elastic or provider
	Reserve   bool    `json:"reserve"`
	Threshold float64 `json:"threshold"`
	Equation  string  `json:"equation"`
}

func adviseAction(c *cli.Context) error {
	if err := between(c, 0, 1, "RESULTS"); err != nil {
		return err
	}
	var all []advice
	if c.NArg() == 1 {
		from, err := measured(c)
		if err != nil {
			return err
		}
		all = from
	} else {
		numbers := make(map[string]float64)
		for flag, name := range map[string]string{"pa": "p_a", "pw": "p_w", "pd": "p_d", "q": "q"} {
			if c.IsSet(flag) {
				numbers[name] = c.Float64(flag)
			}
		}
		all = []advice{{Numbers: numbers}}
	}
	for i := range all {
		if err := all[i].weigh(); err != nil {
			return err
		}
	}
	if c.Bool("json") {
		return printJSON(c, all)
	}
	for i := range all {
		fmt.Fprint(c.App.Writer, all[i].String())
	}
	return nil
}

// measured reads the numbers of every configuration of a run that has both
// markets.
func measured(c *cli.Context) ([]advice, error) {
	dir, err := openResults(c.Args().First())
	if err != nil {
		return nil, err
	}
	rows, err := dir.Summary()
	if err != nil {
		return nil, err
	}
	reservation := c.String("reservation")
	var all []advice
	at := make(map[string]int)
	for _, r := range rows {
		if r.Mean == nil {
			continue
		}
		own := r.Admission == reservation && r.Metric == "p_a" ||
			r.Admission == "be" && (r.Metric == "p_w" || r.Metric == "p_d" || r.Metric == "q")
		if !own {
			continue
		}
		i, seen := at[r.Configuration]
		if !seen {
			i = len(all)
			at[r.Configuration] = i
			all = append(all, advice{Configuration: r.Configuration, Numbers: make(map[string]float64)})
		}
		all[i].Numbers[r.Metric] = *r.Mean
	}
	all = slices.DeleteFunc(all, func(a advice) bool { return len(a.Numbers) < 4 })
	if len(all) == 0 {
		return nil, usagef("%s: no configuration ran both be and %s", dir.Path, reservation)
	}
	return all, nil
}

// weigh applies the rules for which there are numbers.
func (a *advice) weigh() error {
	pa, hasA := a.Numbers["p_a"]
	pw, hasW := a.Numbers["p_w"]
	pd, hasD := a.Numbers["p_d"]
	q, hasQ := a.Numbers["q"]
	if !hasA || !hasQ || !hasW && !hasD {
		return usagef("found %d numbers, want --pa, --q, and --pw (inelastic jobs), --pd (elastic ones) or both; or a results directory", len(a.Numbers))
	}
	add := func(kind, equation string, v advise.Verdict, err error) error {
		if err != nil {
			return usageError{err}
		}
		a.User = append(a.User, verdict{kind, v.Reserving, v.Threshold, equation})
		return nil
	}
	if hasW {
		v, err := advise.Inelastic(pa, pw, q)
		if err := add("inelastic", "eq. 13", v, err); err != nil {
			return err
		}
	}
	if hasD {
		v, err := advise.Elastic(pa, pd, q)
		if err := add("elastic", "eq. 18", v, err); err != nil {
			return err
		}
	}
	if hasW && hasD {
		v, err := advise.Provider(pa, pw, pd, q)
		return add("provider", "§5", v, err)
	}
	return nil
}

func (a *advice) String() string {
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
