package main

import (
	"flag"
	"fmt"

	"bourse/experiments/advise"
	"bourse/experiments/live"
	"bourse/experiments/live/lab"
	"bourse/experiments/papers"
	"bourse/experiments/results"
	"bourse/experiments/scenario"
	"bourse/experiments/whatif"

	"github.com/urfave/cli/v2"
)

func adviseCommand() *cli.Command {
	return &cli.Command{
		Name:      "advise",
		Usage:     "say whether to reserve or to buy on the spot market (§5), and what to ask for",
		ArgsUsage: "[RESULTS]",
		Description: `From numbers: p_a, the probability of admission by the reservation market; p_w,
that of fulfilment on the spot market; p_d, the work completed there; q, cost
over value. Or from a finished run, configuration by configuration: p_a of the
reservation policy, p_w, p_d and q of be.

   bourse advise --pa 0.63 --pw 0.39 --q 0.14
   bourse advise results/paper --reservation cac

With --job it sets budgets for one job against the probability that it is done by its
deadline, on the spot and as a reservation, with intervals; and where a value is said, which to
choose. By RESULTS the job is one more in each replication, which is run again with it; by
--live or --prices it is held against what prices were, from deadline to deadline. A
reservation is let in there if its bid does at the price that was not exceeded for the part
--guarantee of the time before.

   bourse advise --job work=600,nodes=4,deadline=900,value=20 results/paper --configuration pareto-high
   bourse advise --job work=3600,deadline=7200 --prices ec2.csv.gz --series us-east-1.linux.m1.small
   bourse advise --job work=60,deadline=300,value=1 --live ~/.bourse/lab --out advice`,
		Flags: []cli.Flag{
			&cli.Float64Flag{Name: "pa", DefaultText: "none", Usage: "probability of admission, in [0,1]"},
			&cli.Float64Flag{Name: "pw", DefaultText: "none", Usage: "probability of fulfilment, in [0,1]"},
			&cli.Float64Flag{Name: "pd", DefaultText: "none", Usage: "fraction of work completed, in [0,1]"},
			&cli.Float64Flag{Name: "q", DefaultText: "none", Usage: "cost over value, in [0,1)"},
			lateFlag{&cli.StringFlag{Name: "reservation", Usage: "admission `POLICY` that stands for the reservation market"}, func() string { return papers.Of("").Reservation }},
			&cli.StringFlag{Name: "job", Usage: "advise for the job `work=S,nodes=N,deadline=S,value=$`: processor-seconds of a node, and what it is worth to be done in time"},
			&cli.StringFlag{Name: "configuration", Usage: "by the runs of configuration `NAME` of RESULTS", DefaultText: "the only one"},
			&cli.StringFlag{Name: "live", Usage: "by the prices of the live market in the folder `DIR`, which is not running"},
			&cli.StringFlag{Name: "prices", Usage: "by the price file `FILE` (CSV with time and price_usd_per_hour, or price in $/s; or the JSON of EC2's describe-spot-price-history; plain or gzip)"},
			&cli.StringFlag{Name: "series", Usage: "take the series `NAME` of it"},
			&cli.StringFlag{Name: "zone", Usage: "take the prices of zone `NAME` of it"},
			&cli.Float64Flag{Name: "guarantee", Value: 0.9, Usage: "a reservation does at the price that was not exceeded for the part `G` of the time before, in (0,1)"},
			&cli.Float64Flag{Name: "probability", Value: 0.9, Usage: "that the job is to be done with, `P` in (0,1)"},
			&cli.StringFlag{Name: "budgets", Usage: "look at budgets `FROM..TO`, $", DefaultText: "by the history"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "draw it to `DIR`"},
			jsonFlag[[]whatif.Advice](),
		},
		Action: adviseAction,
	}
}

// A lateFlag has a default that takes long to read: it is read for who asks for it.
type lateFlag struct {
	*cli.StringFlag
	of func() string
}

// flag returns it with its default.
func (f lateFlag) flag() *cli.StringFlag {
	if f.Value == "" {
		f.Value = f.of()
	}
	return f.StringFlag
}

func (f lateFlag) Apply(set *flag.FlagSet) error { return f.flag().Apply(set) }
func (f lateFlag) GetValue() string              { return f.flag().GetValue() }
func (f lateFlag) GetDefaultText() string        { return f.flag().GetDefaultText() }
func (f lateFlag) String() string                { return cli.FlagStringer(f) }

func adviseAction(c *cli.Context) error {
	if c.IsSet("job") {
		return adviseJob(c)
	}
	for _, flag := range []string{"configuration", "live", "prices", "series", "zone", "guarantee", "probability", "budgets", "out"} {
		if c.IsSet(flag) {
			return usagef("--%s: want it with --job", flag)
		}
	}
	all := []advise.Advice{{Numbers: make(map[string]float64)}}
	if c.NArg() == 1 {
		dir, err := results.Open(c.Args().First())
		if err != nil {
			return err
		}
		if all, err = advise.Measured(dir, papers.Of("").Spot, c.String("reservation")); err != nil {
			return err
		}
	} else {
		for flag, name := range map[string]string{"pa": "p_a", "pw": "p_w", "pd": "p_d", "q": "q"} {
			if c.IsSet(flag) {
				all[0].Numbers[name] = c.Float64(flag)
			}
		}
	}
	d, err := whatif.Weigh(all)
	if err != nil {
		return err
	}
	return show(c, d, nil)
}

// adviseJob sets budgets for a job against the probability that it is done in time.
func adviseJob(c *cli.Context) error {
	for _, flag := range []string{"pa", "pw", "pd", "q"} {
		if c.IsSet(flag) {
			return usagef("--%s: found it with --job, want one of them", flag)
		}
	}
	ask := whatif.AdviseAsk{Configuration: c.String("configuration"), Reservation: c.String("reservation"), Probability: c.Float64("probability")}
	var err error
	if ask.Job, err = whatif.ParseJob(c.String("job")); err != nil {
		return err
	}
	if text := c.String("budgets"); text != "" {
		if ask.Budgets[0], ask.Budgets[1], err = whatif.ParseBudgets(text); err != nil {
			return err
		}
	}
	for _, flag := range []string{"probability", "guarantee"} {
		if x := c.Float64(flag); !(x > 0 && x < 1) {
			return usagef("--%s: found %v, want a number between 0 and 1", flag, x)
		}
	}
	p, err := advised(c, ask)
	if err != nil {
		return err
	}
	d := p.Document()
	out := c.String("out")
	if out == "" {
		return show(c, d, nil)
	}
	wrote, err := writeDocument(out, "", d)
	if err != nil {
		return err
	}
	return show(c, d, wrote)
}

// livePrices returns the prices that the log in dir has, of a live market, and what they are
// of: the mean of all hosts, each of which is shared in proportion to bids. A budget is bid
// over the time until the deadline.
func livePrices(dir string) (*whatif.PriceHistory, string, error) {
	p, err := live.PricesOf(dir, nil)
	if err != nil {
		return nil, "", err
	}
	all := whatif.Prices{End: p.End}
	for _, s := range p.Steps {
		all.Steps = append(all.Steps, whatif.Step(s))
	}
	of := fmt.Sprintf("the mean price of %d hosts of %.3g processors", p.Hosts, p.CPUs)
	return &whatif.PriceHistory{Prices: all, Rule: whatif.SharedHost(p.CPUs)}, of, nil
}

// advised asks the history that c names.
func advised(c *cli.Context, ask whatif.AdviseAsk) (*whatif.BudgetPlan, error) {
	dir, prices := c.String("live"), c.String("prices")
	named := c.NArg()
	for _, s := range []string{dir, prices} {
		if s != "" {
			named++
		}
	}
	switch {
	case named != 1:
		return nil, usagef("found %d histories, want RESULTS, --live DIR or --prices FILE", named)
	case dir != "":
		h, of, err := livePrices(lab.File(dir, "log"))
		if err != nil {
			return nil, err
		}
		h.Guarantee = c.Float64("guarantee")
		return whatif.AdviseHistory(h, ask, of)
	case prices != "":
		f, err := open(c, prices)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return whatif.AdvisePrices(f, prices, whatif.PriceSeries{Series: c.String("series"), Zone: c.String("zone")}, ask, c.Float64("guarantee"))
	}
	r, err := results.Open(c.Args().First())
	if err != nil {
		return nil, err
	}
	if err := r.Unchanged(); err != nil {
		return nil, err
	}
	e, err := scenario.Stored(r.Path, r.Manifest.Scenario)
	if err != nil {
		return nil, err
	}
	ask.Of, ask.Inputs = r.Path, r.Manifest.Inputs
	return whatif.Advise(c.Context, &e, ask)
}
