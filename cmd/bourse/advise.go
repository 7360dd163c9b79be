package main

import (
	"cmp"
	"fmt"

	"bourse/experiments/advise"
	"bourse/experiments/live"
	"bourse/experiments/live/lab"
	"bourse/experiments/papers"
	"bourse/experiments/results"
	"bourse/experiments/whatif"

	"github.com/urfave/cli/v2"
)

var adviseCommand = command(`advise [RESULTS]
recommend a market and a budget for a job

The advice depends on four numbers. The first one, p_a, is the probability that the reservation
market admits the job. The probability of fulfilment on the spot market is p_w, and the fraction of
work completed there is p_d. The ratio of cost to value is q. For each configuration of a finished
run, the command computes p_a from the results of the reservation policy, and p_w, p_d and q from
the results of policy be.

   bourse study advise --pa 0.63 --pw 0.39 --q 0.14
   bourse study advise results/paper --reservation cac

With --job, it estimates, for each of several budgets, the probability that the job is done by its
deadline, on the spot market and as a reservation, with intervals. If the job has a value, it
recommends a market. With RESULTS, the job is added to each replication, which is run again. With
--live or --prices, the job runs at recorded prices, in successive periods as long as the deadline.
A reservation is then admitted if its bid is at least the price that was not exceeded for the
fraction --guarantee of the preceding time. In --job, work is in processor-seconds per node, and
value is the worth of the job if it ends in time. The file in --prices has the columns time and
price_usd_per_hour (or price, in $/s), or is the output of EC2's describe-spot-price-history.

   bourse study advise --job work=600,nodes=4,deadline=900,value=20 results/paper --configuration pareto-high
   bourse study advise --job work=3600,deadline=7200 --prices ec2.csv.gz --series us-east-1.linux.m1.small
   bourse study advise --job work=60,deadline=300,value=1 --live ~/.bourse/lab --out advice`, adviseAction)

type adviseOptions struct {
	PA                          *float64 `doc:"use {P} as the probability of admission to the reservation market, in [0,1]"`
	PW                          *float64 `doc:"use {P} as the probability of fulfilment on the spot market, in [0,1]"`
	PD                          *float64 `doc:"use {F} as the fraction of work completed on the spot market, in [0,1]"`
	Q                           *float64 `doc:"use {Q} as the ratio of cost to value, in [0,1)"`
	Reservation                 string   `shown:"the market paper's" doc:"use {POLICY} as the reservation market's admission policy"`
	Job                         string   `doc:"give advice for the job {work=S,nodes=N,deadline=S,value=$}"`
	Configuration               string   `shown:"the only one" doc:"use the runs of configuration {NAME} in RESULTS"`
	Live                        string   `doc:"use the prices of the live market in {DIR}, which must be stopped"`
	Prices                      string   `doc:"use the prices in {FILE}, in CSV or in the JSON format of EC2, plain or gzip"`
	Series                      string   `doc:"use only the series {NAME} in the file of --prices"`
	Zone                        string   `doc:"use only the availability zone {NAME} in the file of --prices"`
	Guarantee                   float64  `default:"0.9" validate:"gt=0,lt=1" doc:"admit reservations that bid at least the quantile {G} of the preceding prices, with G in (0,1)"`
	Probability                 float64  `default:"0.9" validate:"gt=0,lt=1" doc:"require that jobs end in time with probability {P}, in (0,1)"`
	Budgets                     string   `shown:"from the history" doc:"search the budget range {FROM..TO}, in dollars"`
	Out                         string   `alias:"o" doc:"write the figure to {DIR}"`
	jsonOption[[]whatif.Advice] `yaml:",inline"`
}

func adviseAction(c *cli.Context, o *adviseOptions) error {
	o.Reservation = cmp.Or(o.Reservation, papers.Of("").Reservation)
	for _, flag := range []string{"configuration", "live", "prices", "series", "zone", "guarantee", "probability", "budgets", "out"} {
		if o.Job == "" && c.IsSet(flag) {
			return usagef("--%s: requires --job", flag)
		}
	}
	if o.Job != "" {
		if o.PA != nil || o.PW != nil || o.PD != nil || o.Q != nil {
			return usagef("--job: found also --pa, --pw, --pd or --q, want either --job or those flags")
		}
		return adviseJob(c, o)
	}
	all := []advise.Advice{{Numbers: make(map[string]float64)}}
	if c.NArg() == 1 {
		dir, err := results.Open(c.Args().First())
		if err != nil {
			return err
		}
		if all, err = advise.Measured(dir, papers.Of("").Spot, o.Reservation); err != nil {
			return err
		}
	}
	for name, x := range map[string]*float64{"p_a": o.PA, "p_w": o.PW, "p_d": o.PD, "q": o.Q} {
		if x != nil && c.NArg() == 0 {
			all[0].Numbers[name] = *x
		}
	}
	d, err := whatif.Weigh(all)
	if err != nil {
		return err
	}
	return show(c, d, nil)
}

// adviseJob compares budgets for one job with the probability that it ends in time.
func adviseJob(c *cli.Context, o *adviseOptions) error {
	ask := whatif.AdviseAsk{Configuration: o.Configuration, Reservation: o.Reservation, Probability: o.Probability}
	var err error
	if ask.Job, err = whatif.ParseJob(o.Job); err != nil {
		return err
	}
	if o.Budgets != "" {
		if ask.Budgets[0], ask.Budgets[1], err = whatif.ParseBudgets(o.Budgets); err != nil {
			return err
		}
	}
	p, err := advised(c, o, ask)
	if err != nil {
		return err
	}
	return showOut(c, o.Out, "", p.Document())
}

// livePrices returns the prices in the log of the live market in dir, with a description. They
// are means over all hosts, each of which is shared in proportion to bids. The budget is
// spread evenly over the time until the deadline.
func livePrices(dir string) (*whatif.PriceHistory, string, error) {
	p, err := live.PricesOf(dir, nil)
	if err != nil {
		return nil, "", err
	}
	all := whatif.Prices{End: p.End}
	for _, s := range p.Steps {
		all.Steps = append(all.Steps, whatif.Step(s))
	}
	of := fmt.Sprintf("the mean price of %d hosts with %.3g processors each", p.Hosts, p.CPUs)
	return &whatif.PriceHistory{Prices: all, Rule: whatif.SharedHost(p.CPUs)}, of, nil
}

// advised returns the advice based on the price history that the command line names.
func advised(c *cli.Context, o *adviseOptions, ask whatif.AdviseAsk) (*whatif.BudgetPlan, error) {
	dir, prices := o.Live, o.Prices
	named := c.NArg()
	for _, s := range []string{dir, prices} {
		if s != "" {
			named++
		}
	}
	switch {
	case named != 1:
		return nil, usagef("found %d price histories, want exactly one: RESULTS, --live DIR or --prices FILE", named)
	case dir != "":
		h, of, err := livePrices(lab.File(dir, "log"))
		if err != nil {
			return nil, err
		}
		h.Guarantee = o.Guarantee
		return whatif.AdviseHistory(h, ask, of)
	case prices != "":
		f, err := open(c, prices)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return whatif.AdvisePrices(f, prices, whatif.PriceSeries{Series: o.Series, Zone: o.Zone}, ask, o.Guarantee)
	}
	r, e, err := ran(c)
	if err != nil {
		return nil, err
	}
	ask.Of, ask.Inputs = r.Path, r.Manifest.Inputs
	return whatif.Advise(c.Context, &e, ask)
}
