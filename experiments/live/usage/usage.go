// Package usage reports the usage and cost of settled contracts. It reports sums, and rows of
// FOCUS 1.2, the format in which clouds and their customers exchange costs.
//
// The package is independent of markets and of how their contracts are read.
package usage

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"bourse/bank"
)

// Settled is a settled contract.
type Settled struct {
	Contract                                    int64
	Account, Project, Name, Class, State, Cause string
	Admitted, Ended, Booked                     float64     // times of the submission, the end and the settlement; Booked is 0 if there was no settlement
	Done                                        float64     // processor-seconds
	Paid, Penalty                               bank.Amount // payment before the deduction of the penalty, and the penalty
}

// booked returns the time of the settlement.
func (s *Settled) booked() float64 { return cmp.Or(s.Booked, s.Ended) }

// Columns are the names of the columns of [Focus]: the 21 that FOCUS 1.2 requires and 12 more.
var Columns = []string{
	"BilledCost", "BillingAccountId", "BillingAccountName", "BillingCurrency", "BillingPeriodEnd", "BillingPeriodStart",
	"ChargeCategory", "ChargeClass", "ChargeDescription", "ChargeFrequency", "ChargePeriodEnd", "ChargePeriodStart",
	"ConsumedQuantity", "ConsumedUnit", "ContractedCost", "EffectiveCost", "InvoiceIssuerName", "ListCost",
	"PricingCategory", "PricingQuantity", "PricingUnit", "ProviderName", "PublisherName", "ResourceId", "ResourceName", "ResourceType",
	"ServiceCategory", "ServiceName", "ServiceSubcategory", "SkuId", "SubAccountId", "SubAccountName", "Tags",
}

// Focus returns the rows of a market's contracts, in the order of their numbers. There is one
// row of category Usage per contract, and one of category Credit per penalty.
func Focus(market string, all []Settled) (rows [][]string) {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b Settled) int { return cmp.Compare(a.Contract, b.Contract) })
	for i := range all {
		s := &all[i]
		hours := strconv.FormatFloat(s.Done/3600, 'f', 6, 64)
		rows = append(rows, s.row(market, map[string]string{
			"ChargeCategory": "Usage", "ChargeDescription": fmt.Sprintf("contract %d, %s", s.Contract, s.State), "ChargeFrequency": "Usage-Based",
			"ConsumedQuantity": hours, "ConsumedUnit": hoursUnit, "PricingCategory": "Dynamic", "PricingQuantity": hours, "PricingUnit": hoursUnit,
		}, s.Paid.String()))
		if s.Penalty.Sign() > 0 {
			rows = append(rows, s.row(market, map[string]string{
				"ChargeCategory": "Credit", "ChargeDescription": fmt.Sprintf("penalty for contract %d, %s", s.Contract, s.Cause), "ChargeFrequency": "One-Time",
			}, "-"+s.Penalty.String()))
		}
	}
	return rows
}

const hoursUnit = "CPU-Hours"

// row returns a row with the given values, the given cost, and the values that all rows of s
// share.
func (s *Settled) row(market string, v map[string]string, cost string) []string {
	begin := month(s.booked())
	for name, value := range map[string]string{
		"BilledCost": cost, "ContractedCost": cost, "EffectiveCost": cost, "ListCost": cost, "BillingCurrency": "USD",
		"BillingAccountId": s.Account, "BillingAccountName": s.Account, "SubAccountId": s.Project, "SubAccountName": s.Project,
		"BillingPeriodStart": stamp(begin), "BillingPeriodEnd": stamp(begin.AddDate(0, 1, 0)),
		"ChargePeriodStart": stamp(instant(s.Admitted)), "ChargePeriodEnd": stamp(instant(s.Ended)),
		"InvoiceIssuerName": market, "ProviderName": market, "PublisherName": market,
		"ResourceId": strconv.FormatInt(s.Contract, 10), "ResourceName": s.Name, "ResourceType": "Contract",
		"ServiceCategory": "Compute", "ServiceName": "bourse", "ServiceSubcategory": "Serverless Compute", "SkuId": s.Class, "Tags": "{}",
	} {
		v[name] = value
	}
	row := make([]string, len(Columns))
	for i, name := range Columns {
		row[i] = v[name]
	}
	return row
}

// instant converts a time to a date, rounded down to a full second.
func instant(at float64) time.Time {
	return bank.Epoch.Add(time.Duration(math.Floor(at)) * time.Second)
}

// month returns the start of the month that contains a time, in UTC.
func month(at float64) time.Time {
	t := instant(at).UTC()
	return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Month returns the month that contains a time, such as 2026-11.
func Month(at float64) string { return month(at).Format("2006-01") }

// A Sum is the total usage and cost of several contracts.
type Sum struct {
	Key       string      `json:"key" doc:"contract, project or day"`
	Contracts int         `json:"contracts"`
	Hours     float64     `json:"cpu_hours"`
	Paid      bank.Amount `json:"paid" doc:"amount paid, without penalties"`
	Penalty   bank.Amount `json:"penalty" doc:"penalty received"`
}

// Keys are the keys by which [Sums] can add up contracts.
var Keys = map[string]func(*Settled) string{
	"contract": func(s *Settled) string { return strconv.FormatInt(s.Contract, 10) },
	"project":  func(s *Settled) string { return cmp.Or(s.Project, "-") },
	"day":      func(s *Settled) string { return instant(s.booked()).UTC().Format(time.DateOnly) },
}

// Sums adds up the contracts that have the same key. The sums are in the order of contracts,
// or in alphabetical order of names.
func Sums(all []Settled, key func(*Settled) string) (out []Sum, err error) {
	at := make(map[string]int)
	for i := range all {
		s := &all[i]
		n, known := at[key(s)]
		if !known {
			n = len(out)
			at[key(s)], out = n, append(out, Sum{Key: key(s)})
		}
		o := &out[n]
		o.Contracts, o.Hours = o.Contracts+1, o.Hours+s.Done/3600
		if o.Paid, err = o.Paid.Add(s.Paid); err == nil {
			o.Penalty, err = o.Penalty.Add(s.Penalty)
		}
		if err != nil {
			return nil, fmt.Errorf("sum of %s: %w", o.Key, err)
		}
	}
	slices.SortStableFunc(out, func(a, b Sum) int {
		return cmp.Or(cmp.Compare(len(a.Key), len(b.Key)), cmp.Compare(a.Key, b.Key))
	})
	return out, nil
}
