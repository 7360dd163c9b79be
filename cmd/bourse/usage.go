package main

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"bourse/experiments/live"
	"bourse/experiments/live/client"
	"bourse/experiments/live/service"
	"bourse/experiments/live/usage"

	"github.com/urfave/cli/v2"
)

// A usageShown is the JSON form of usage.
type usageShown struct {
	Account string      `json:"account"`
	Month   string      `json:"month,omitempty"`
	Sums    []usage.Sum `json:"sums"`
}

var usageCommand = command(`usage
print the usage and cost of settled contracts

A contract is counted in the month of its settlement. The paid amount does not include penalties.
Users can read their own usage; with --dir, the operator can read the usage of all accounts. With
--format focus, the output is CSV in the FOCUS 1.2 format (bourse docs usage). It has one row per
contract, and one row with a negative amount per penalty.

   bourse job usage --month 2026-11 --by day
   bourse job usage --month 2026-11 --format focus > november.csv`, usageAction)

type usageOptions struct {
	Month                  string `doc:"include only the month {YYYY-MM} (default: all months)"`
	By                     string `validate:"oneof=contract project day" default:"contract" doc:"add up the usage by {KEY}: contract, project or day"`
	Format                 string `validate:"oneof=text csv focus" default:"text" doc:"print {FORMAT}: text, csv or focus"`
	Account                string `doc:"print the usage of {ACCOUNT}, or of all accounts with '*' (default: the user's own account)"`
	Dir                    string `doc:"act as the operator of the market in {DIR}"`
	homeOption             `yaml:",inline"`
	jsonOption[usageShown] `yaml:",inline"`
}

func usageAction(c *cli.Context, o *usageOptions) error {
	if _, err := time.Parse("2006-01", o.Month); o.Month != "" && err != nil {
		return usagef("--month: found %q, want a month, such as 2026-11", o.Month)
	}
	if o.Dir == "" {
		return withMarket(c, func(m *client.Client) error {
			o.Account = cmp.Or(o.Account, m.Account)
			return showUsage(c, o, m.Market, func(f live.Filter) ([]live.Contract, error) { return m.List(c.Context, f) })
		})
	}
	return withKeeper(c, func(_ string, s *serving, m *service.Caller) error {
		o.Account = cmp.Or(o.Account, s.Account, everyone)
		return showUsage(c, o, s.Market, func(f live.Filter) ([]live.Contract, error) { return m.List(c.Context, nil, s.Secret, f) })
	})
}

// A lister returns the contracts that a filter selects.
type lister func(live.Filter) ([]live.Contract, error)

// showUsage prints the usage of the contracts of a market that list returns.
func showUsage(c *cli.Context, o *usageOptions, market string, list lister) error {
	all, err := settledOf(list, o)
	if err != nil {
		return err
	}
	if o.Format == "focus" {
		return writeCSV(c, usage.Columns, usage.Focus(market, all))
	}
	sums, err := usage.Sums(all, usage.Keys[o.By])
	if err != nil {
		return err
	}
	if o.JSON {
		return printJSON(c, usageShown{o.Account, o.Month, append([]usage.Sum{}, sums...)})
	}
	head := []string{o.By, "contracts", "cpu_hours", "paid", "penalty"}
	var rows [][]string
	for _, s := range sums {
		rows = append(rows, []string{s.Key, strconv.Itoa(s.Contracts), strconv.FormatFloat(s.Hours, 'f', 6, 64), s.Paid.String(), s.Penalty.String()})
	}
	if o.Format == "csv" {
		return writeCSV(c, head, rows)
	}
	w := tabwriter.NewWriter(c.App.Writer, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{head}, rows...) {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", row[0], row[1], row[2], row[3], row[4])
	}
	return w.Flush()
}

// everyone is the name that selects all accounts.
const everyone = "*"

// settledOf returns the settled contracts of the account and month that o states.
func settledOf(list lister, o *usageOptions) (all []usage.Settled, err error) {
	const perCall = 1000
	for from := int64(0); ; {
		some, err := list(live.Filter{Account: strings.TrimSuffix(o.Account, everyone), Ended: true, From: from, Most: perCall})
		if err != nil {
			return nil, err
		}
		for i := range some {
			k := &some[i]
			from = k.ID + 1
			if k.Settlement == "" || o.Month != "" && usage.Month(k.Booked()) != o.Month {
				continue
			}
			s := usage.Settled{
				Contract: live.Short(k.ID), Account: k.Account, Name: k.Name, Project: k.Project, Class: k.Class, State: k.State,
				Admitted: k.Submitted, Ended: k.Ended, Booked: k.Settled, Done: k.Done, Paid: k.Charged(), Penalty: k.Penalty,
			}
			if k.Served != nil {
				s.Cause = k.Served.Cause
			}
			all = append(all, s)
		}
		if len(some) < perCall {
			return all, nil
		}
	}
}

// writeCSV prints rows under a head.
func writeCSV(c *cli.Context, head []string, rows [][]string) error {
	w := csv.NewWriter(c.App.Writer)
	if err := w.Write(head); err != nil {
		return err
	}
	return w.WriteAll(rows)
}
