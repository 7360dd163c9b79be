package main

import (
	"bourse/contracts/admission"
	"bourse/contracts/bidding"
	"bourse/contracts/broker"
	"bourse/contracts/sharing"
	"bourse/experiments/metrics"
	"bourse/experiments/papers"
	"bourse/experiments/scenario"
	availability "bourse/hosts/availability/models"
	"bourse/hosts/availability/predictors"
	"bourse/market"
	"bourse/workloadgen/models"
)

// known returns the names that a scenario may use.
func known() scenario.Known {
	return scenario.Known{
		Admission:   admission.Names(),
		Sharing:     sharing.Table().Names(),
		Bidding:     bidding.Table(nil).Names(),
		Forecasters: market.Forecasters().Names(),
		Models:      models.Table().Names(),
		Payments:    broker.Payments().Names(),

		Availability: availability.Table().Names(),
		Predictors:   predictors.Table().Names(),

		Metrics: metricNames(),
		Presets: papers.Presets(),
	}
}

// metricEnds returns what the metrics lie between that lie between two values.
func metricEnds() map[string][2]float64 {
	ends := make(map[string][2]float64)
	for _, m := range metrics.All() {
		if m.Bound != metrics.Unbounded {
			lo, hi := m.Bound.Ends()
			ends[m.Name] = [2]float64{lo, hi}
		}
	}
	return ends
}

func metricNames() []string {
	var names []string
	for _, m := range metrics.All() {
		names = append(names, m.Name)
	}
	return names
}
