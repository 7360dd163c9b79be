package metrics

import "slices"

// What refusals that carry offers come to.
var (
	// Offers is how many offers were made.
	Offers = Metric{
		Name: "offers",
		Unit: "offers",
		Doc:  "offers made to owners of requests that were to be refused, where users negotiate",
		Of: func(o *Outcome) (float64, bool) {
			return sumOpen(o, func(j *Job) float64 { return float64(j.Offers) }), true
		},
	}

	// OffersTaken is how many requests became contracts by one.
	OffersTaken = Metric{
		Name: "offers_taken",
		Unit: "jobs",
		Doc:  "jobs whose owners took one of the offers that they were made, where users negotiate",
		Of: func(o *Outcome) (float64, bool) {
			return sumOpen(o, func(j *Job) float64 { return one(j.Bargained) }), true
		},
	}
)

// Negotiated returns the names of the metrics that tell of offers, which nobody is made but
// where users negotiate.
func Negotiated() []string { return []string{Offers.Name, OffersTaken.Name} }

// Bargained returns all without what bounds the cost over value of jobs: who has taken an offer
// can come to pay more than the job is worth to him.
func Bargained(all []Metric) []Metric {
	all = slices.Clone(all)
	for i := range all {
		if all[i].Name == CostOverValue.Name || all[i].Name == MeanCostOverValue.Name {
			all[i].Bound = Unbounded
		}
	}
	return all
}
