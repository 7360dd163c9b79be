package metrics

import "slices"

// These are the metrics of offers.
var (
	// Offers is the number of offers that users received.
	Offers = Metric{
		Name: "offers",
		Unit: "offers",
		Doc:  "number of offers made instead of rejections, if users negotiate",
		Of: func(o *Outcome) (float64, bool) {
			return sumOpen(o, func(j *Job) float64 { return float64(j.Offers) }), true
		},
	}

	// OffersTaken is the number of requests that became contracts because the user accepted
	// an offer.
	OffersTaken = Metric{
		Name: "offers_taken",
		Unit: "jobs",
		Doc:  "number of jobs for which the user accepted an offer, if users negotiate",
		Of: func(o *Outcome) (float64, bool) {
			return sumOpen(o, func(j *Job) float64 { return one(j.Bargained) }), true
		},
	}
)

// Negotiated returns the names of the metrics about offers. Users receive offers only if
// they negotiate.
func Negotiated() []string { return []string{Offers.Name, OffersTaken.Name} }

// Bargained returns the metrics in all without the bounds of metrics that divide cost by value.
// These bounds do not hold if users accept offers, because a user who accepts an offer may pay
// more than the value of the job.
func Bargained(all []Metric) []Metric {
	all = slices.Clone(all)
	for i := range all {
		if all[i].Name == CostOverValue.Name || all[i].Name == MeanCostOverValue.Name {
			all[i].Bound = Unbounded
		}
	}
	return all
}
