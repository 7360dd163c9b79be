// Package policytest contains helpers for tests of admission policies: options, jobs, golden
// cases and static markets.
package policytest

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/bidding"
	"bourse/hosts"
	"bourse/workloadgen/config"
)

// TB is a test of package testing or of package rapid.
type TB interface {
	Helper()
	Fatal(...any)
	Errorf(string, ...any)
}

// Options are the options of a scenario. A plug-in receives only the options that it defines.
type Options map[string]any

// Decode sets each field of v for which there is an option.
func (o Options) Decode(v any) error {
	known := Options{}
	for _, f := range reflect.VisibleFields(reflect.TypeOf(v).Elem()) {
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if x, ok := o[name]; ok {
			known[name] = x
		}
	}
	text, err := json.Marshal(known)
	if err != nil {
		return err
	}
	return config.Read("", text, v)
}

// A Factory creates a policy from options, a bidding strategy and a random stream.
type Factory func(decode func(any) error, bid bidding.Strategy, rng *rand.Rand) (contracts.Policy, error)

// Decider creates a policy that chooses the cheapest hosts, and returns the decider that the
// policy asks.
func Decider(t TB, factory Factory, o Options) contracts.Decider {
	t.Helper()
	rng := rand.New(rand.NewPCG(0, 0))
	bid, err := bidding.Table(rng).New("cheapest", func(any) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	p, err := factory(o.Decode, bid, rng)
	if err != nil {
		t.Fatal(err)
	}
	return reflect.ValueOf(p).Elem().FieldByName("Decider").Interface().(contracts.Decider)
}

// A Job is a request for processors of hosts, with its true run time.
type Job struct {
	ID       int64   `json:"id"`
	Submit   float64 `json:"submit"`
	Runtime  float64 `json:"runtime"`
	Estimate float64 `json:"estimate"`
	Deadline float64 `json:"deadline"`
	Procs    int     `json:"procs"`
	Hard     *bool   `json:"hard"` // whether the deadline is hard; true if omitted
	Budget   float64 `json:"budget"`
	Penalty  float64 `json:"penalty"`
}

// Request returns the request for the job, as the policy receives it.
func (j *Job) Request() contracts.Request {
	budget := bank.Micros(1)
	if j.Budget > 0 {
		budget = amount(j.Budget)
	}
	return contracts.Request{
		ID: contracts.ID(j.ID), Submit: j.Submit, Work: j.Estimate, Nodes: j.Procs, PerHost: true,
		SLA: contracts.SLA{
			Budget: budget, Deadline: j.Deadline, Soft: j.Hard != nil && !*j.Hard, RunsOn: true,
			Penalty: contracts.Penalty{Rate: j.Penalty, Max: math.Inf(1)},
		},
	}
}

// Uniform returns n hosts of one processor.
func Uniform(n int) []hosts.Spec {
	specs := make([]hosts.Spec, n)
	for h := range specs {
		specs[h] = hosts.Spec{Name: fmt.Sprintf("h%d", h), CPUs: 1, Speed: 1}
	}
	return specs
}

// amount returns dollars to the nearest micro-dollar.
func amount(dollars float64) bank.Amount {
	a, err := bank.Parse(strconv.FormatFloat(dollars, 'f', 6, 64))
	if err != nil {
		panic(err)
	}
	return a
}
