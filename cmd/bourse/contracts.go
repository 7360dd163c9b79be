package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"bourse/bank"
	"bourse/contracts"
	"bourse/experiments/live"
	"bourse/experiments/live/client"
	"bourse/experiments/live/service"

	"github.com/urfave/cli/v2"
)

var statusCommand = command(`status [CONTRACT]...
print the state of contracts

The command prints the contracts given as arguments. Without arguments, it prints the account's open
contracts or, with --all, all its contracts. With --wait, it waits until these contracts have ended.
The exit status is then 1 unless all of them were fulfilled.

   bourse job status
   bourse job status 17 --wait`, func(c *cli.Context, o *statusOptions) error {
	ids, err := contractIDs(c)
	if err != nil {
		return err
	}
	return withMarket(c, func(m *client.Client) error {
		var shown contractsShown
		all, err := contractsOf(c, m, ids)
		if err != nil {
			return err
		}
		if o.Wait {
			var known []int64
			for i := range all {
				known = append(known, all[i].ID)
			}
			slices.Sort(known)
			return shown.await(c, m, slices.Compact(known))
		}
		shown.Contracts = all
		for i := range shown.Contracts {
			sayLine(c, client.Stands(&shown.Contracts[i]))
		}
		return shown.print(c)
	})
})

type statusOptions struct {
	All                        bool `doc:"include contracts that have ended"`
	Wait                       bool `doc:"wait until the contracts have ended"`
	homeOption                 `yaml:",inline"`
	jsonOption[contractsShown] `yaml:",inline"`
	quietOption                `yaml:",inline"`
}

// contractIDs returns the numbers of the contracts given on the command line.
func contractIDs(c *cli.Context) (ids []int64, err error) {
	for _, arg := range c.Args().Slice() {
		id, err := contractID(arg)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func contractID(arg string) (int64, error) {
	id, err := strconv.ParseInt(arg, 10, 64)
	if err != nil || id < 0 {
		return 0, usagef("CONTRACT: found %q, want a number, as listed by 'bourse job status'", arg)
	}
	return id, nil
}

// contractsOf returns the contracts with the given ids, or all contracts of the account.
func contractsOf(c *cli.Context, m *client.Client, ids []int64) (all []live.Contract, err error) {
	if len(ids) == 0 {
		return m.List(c.Context, live.Filter{Account: m.Account, Ended: c.Bool("all")})
	}
	for _, id := range ids {
		k, err := m.Status(c.Context, id)
		if err != nil {
			return nil, err
		}
		all = append(all, *k)
	}
	return all, nil
}

var cancelCommand = command(`cancel CONTRACT...
cancel contracts

   bourse job cancel 17 18`, func(c *cli.Context, _ *cancelOptions) error {
	ids, err := contractIDs(c)
	if err != nil {
		return err
	}
	if len(ids) == 0 {
		return usagef("cancel: CONTRACT is missing; see 'bourse job cancel --help'")
	}
	return withMarket(c, func(m *client.Client) error {
		var shown contractsShown
		for _, id := range ids {
			a, err := m.Cancel(c.Context, id)
			if err != nil {
				return errors.Join(leftBehind(err), shown.print(c))
			}
			sayLine(c, client.Decided(a))
			shown.Answers = append(shown.Answers, *a)
		}
		return shown.print(c)
	})
})

var bidCommand = command(`bid CONTRACT
change the budget and the bids of a running contract

After the change, the contract bids the part of the new budget that is not owed yet, spread over the
remaining time. The difference between the old and the new budget is transferred between your account and the
escrow. If you state the same budget again, the contract spreads the unspent part again. The exit
status is 1 if the market refuses.

   bourse job bid 17 --budget 2.50
   bourse job bid 17 --budget 2.50 --json`, func(c *cli.Context, o *bidOptions) error {
	id, err := contractID(c.Args().First())
	if err != nil {
		return err
	}
	budget, err := bank.Parse(o.Budget)
	if err != nil || budget.Sign() <= 0 {
		return usagef("--budget: found %q, want dollars above 0, such as 2.50", o.Budget)
	}
	return withMarket(c, func(m *client.Client) error {
		a, err := m.Bid(c.Context, id, budget)
		if err != nil {
			return leftBehind(err)
		}
		sayLine(c, client.Bids(a, budget.String()))
		shown := contractsShown{Answers: []live.Answer{*a}}
		if err := shown.print(c); err != nil || a.Verdict == contracts.Accept.String() {
			return err
		}
		return fmt.Errorf("the budget of contract %d is unchanged: %s", id, cmp.Or(a.Why, a.Reason))
	})
})

type bidOptions struct {
	Budget                     string `doc:"change the budget to {DOLLARS}"`
	homeOption                 `yaml:",inline"`
	jsonOption[contractsShown] `yaml:",inline"`
	quietOption                `yaml:",inline"`
}

type cancelOptions struct {
	homeOption                 `yaml:",inline"`
	jsonOption[contractsShown] `yaml:",inline"`
	quietOption                `yaml:",inline"`
}

var logsCommand = command(`logs CONTRACT
print the output of a program

   bourse job logs 17
   bourse job logs 17 --node 1 --errors --follow`, func(c *cli.Context, o *logsOptions) error {
	id, err := contractID(c.Args().First())
	if err != nil {
		return err
	}
	return withMarket(c, func(m *client.Client) error {
		return copyLog(c, m, id, service.Log{Node: o.Node, Errors: o.Errors})
	})
})

type logsOptions struct {
	Node       int  `doc:"node {N}, from 0"`
	Errors     bool `doc:"print standard error"`
	Follow     bool `alias:"f" doc:"continue to print output until the program ends"`
	homeOption `yaml:",inline"`
}

// copyLog prints a log of a contract, either only the available part or all output until the
// contract ends.
func copyLog(c *cli.Context, m *client.Client, id int64, l service.Log) error {
	for from := int64(0); ; {
		text, size, ended, err := m.Read(c.Context, id, l, from)
		if err != nil {
			return err
		}
		if _, err := c.App.Writer.Write(text); err != nil {
			return err
		}
		from += int64(len(text))
		switch {
		case from < size && len(text) > 0:
		case ended || !c.Bool("follow"):
			return nil
		default:
			if err := service.Pause(c.Context, time.Second); err != nil {
				return err
			}
		}
	}
}

// quoted is the JSON form of a quote.
type quoted struct {
	Least string  `json:"least,omitempty" doc:"lowest budget that is accepted now, in dollars; omitted if no budget is accepted"`
	Part  float64 `json:"penalty_part,omitempty" doc:"penalty as a fraction of the budget, if a host or the market prevented all work; the penalty decreases in proportion to the work done"`
	Most  float64 `json:"penalty_most,omitempty" doc:"maximum penalty, as a fraction of the budget"`

	Charges []live.Charge `json:"charges,omitempty" doc:"expected charges for each resource, at present prices and shares; omitted if the contract pays only for processors"`
}

var quoteCommand = command(`quote
print the lowest budget that is accepted now

The command asks the market's policy for a decision in the present state, and books nothing. If you
submit a job with this budget immediately, the policy accepts it.

   bourse job quote --work 60 --deadline 120 --class cac`, func(c *cli.Context, o *quoteOptions) error {
	a, err := o.asked()
	if err != nil {
		return err
	}
	a.Budget = "1" // the market computes the budget
	terms, wrong := a.terms()
	if wrong != nil {
		return usagef("%w", wrong)
	}
	return withMarket(c, func(m *client.Client) error {
		least, owed, charges, ok, err := m.Quote(c.Context, terms)
		switch {
		case err != nil:
			return err
		case o.JSON && ok:
			return printJSON(c, quoted{least.String(), owed.Part, owed.Most, charges})
		case o.JSON:
			return printJSON(c, quoted{})
		case !ok:
			_, err = fmt.Fprintln(c.App.Writer, "no budget is accepted now")
		default:
			if _, err = fmt.Fprintf(c.App.Writer, "$%v%s\n", least, client.Charges("expected charges", charges)); owed.Part > 0 {
				note(c, "penalty: if a host or the market causes missing work, %v of the budget times the missing fraction, and at most %v of the budget", owed.Part, owed.Most)
			}
		}
		return err
	})
})

type quoteOptions struct {
	termsOptions       `yaml:",inline"`
	homeOption         `yaml:",inline"`
	jsonOption[quoted] `yaml:",inline"`
}

// pricesShown is the JSON form of prices.
type pricesShown struct {
	Host   string       `json:"host"`
	Prices []live.Price `json:"prices"`
}

var priceCommand = command(`price HOST
print the spot price of a host

Prices are in dollars per second for the whole host. The command prints the current
price or, with --history, recent prices.

   bourse job price h00
   bourse job price h00 --last 600 --json`, func(c *cli.Context, o *priceOptions) error {
	return withMarket(c, func(m *client.Client) error {
		about, err := m.About(c.Context)
		if err != nil {
			return err
		}
		host := c.Args().First()
		all, err := m.Prices(c.Context, host, about.Now-o.Last)
		if err != nil {
			return err
		}
		if !c.IsSet("last") && len(all) > 0 {
			all = all[len(all)-1:]
		}
		if o.JSON {
			return printJSON(c, pricesShown{host, all})
		}
		for _, p := range all {
			if _, err := fmt.Fprintln(c.App.Writer, client.Cost(p)); err != nil {
				return err
			}
		}
		return nil
	})
})

type priceOptions struct {
	Last                    float64 `unit:"seconds" doc:"print the prices of the last {SECONDS}; units such as 2h are accepted"`
	homeOption              `yaml:",inline"`
	jsonOption[pricesShown] `yaml:",inline"`
}

// marketShown is the JSON form of a market.
type marketShown struct {
	service.About
	Hosts []live.Host `json:"hosts"`
}

var topCommand = command(`top
print hosts, their prices and their contracts

The command prints the list once or, with --every, repeatedly.

   bourse job top
   bourse job top --every 2`, func(c *cli.Context, o *topOptions) error {
	every := o.Every
	if c.IsSet("every") && !(every >= 0.1 && every <= 86400) {
		return usagef("--every: found %v, want 0.1 to 86400 seconds", every)
	}
	return withMarket(c, func(m *client.Client) error {
		for {
			if err := showMarket(c, m); err != nil || every == 0 {
				return err
			}
			if err := service.Pause(c.Context, time.Duration(every*float64(time.Second))); err != nil {
				return nil // an interrupt is the normal end of this command
			}
		}
	})
})

type topOptions struct {
	Every                   float64 `unit:"seconds" doc:"print the list again every {SECONDS}; units such as 5m are accepted"`
	homeOption              `yaml:",inline"`
	jsonOption[marketShown] `yaml:",inline"`
}

// showMarket prints the current state of the market.
func showMarket(c *cli.Context, m *client.Client) error {
	about, err := m.About(c.Context)
	if err != nil {
		return err
	}
	hosts, err := m.Hosts(c.Context)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(c, marketShown{about, hosts})
	}
	_, err = io.WriteString(c.App.Writer, client.Top(about.Market, hosts, about.Now, about.Head, about.Unsettled)+client.Licences(about.Licences))
	return err
}
