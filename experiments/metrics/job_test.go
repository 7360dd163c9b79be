package metrics_test

import (
	"bourse/bank"
	"bourse/contracts"
	"bourse/experiments/metrics"
	"bourse/workloadgen"
)

type (
	plan     = workloadgen.Job
	settled  = contracts.Settled
	contract = contracts.Contract
)

// job returns the outcome of job p, whose contract c ended as s states.
func job(p plan, s settled, c contract) metrics.Job {
	s.Contract = c
	s.Submit, s.Lead, s.Nodes, s.SLA.Budget = p.Arrival, p.Lead, p.Nodes, dollars(p.Value)
	return metrics.Job{Job: &p, Contract: s.Result()}
}

func dollars(x float64) bank.Amount { return bank.Micros(int64(x * 1e6)) }
