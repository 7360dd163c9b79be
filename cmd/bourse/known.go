package main

import (
	"bourse/contracts/admission"
	"bourse/contracts/bidding"
	"bourse/contracts/broker"
	"bourse/contracts/sharing"
	paper "bourse/experiments/papers/market"
	"bourse/experiments/scenario"
	"bourse/market"
	"bourse/workloadgen/models"
)

// presets returns the scenarios that come with the program, by name.
func presets() map[string][]byte {
	return map[string][]byte{"paper": paper.Preset()}
}

// known returns the names that a scenario may use.
func known() scenario.Known {
	return scenario.Known{
		Admission:   admission.Names(),
		Sharing:     sharing.Names(),
		Bidding:     bidding.Names(),
		Forecasters: market.ForecasterNames(),
		Models:      models.Names(),
		Payments:    broker.Payments(),
		Presets:     presets(),
	}
}
