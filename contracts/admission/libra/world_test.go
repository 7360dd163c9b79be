package libra

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"

	"github.com/goccy/go-yaml"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/bidding"
	"bourse/hosts"
)

// tb is a test, ours or rapid's.
type tb interface {
	Helper()
	Fatal(...any)
	Errorf(string, ...any)
}

// options are the options of a scenario; a plug-in is given those that it knows.
type options map[string]any

// decode fills in v with the options that it has fields for.
func (o options) decode(v any) error {
	known := options{}
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
	if err := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(v); err != io.EOF {
		return err
	}
	return nil
}

// A job is what is submitted to a world.
type job struct {
	ID       int64   `json:"id"`
	Submit   float64 `json:"submit"`
	Runtime  float64 `json:"runtime"`
	Estimate float64 `json:"estimate"`
	Deadline float64 `json:"deadline"`
	Procs    int     `json:"procs"`
	Hard     *bool   `json:"hard"` // omitted, hard
	Budget   float64 `json:"budget"`
	Penalty  float64 `json:"penalty"`
}

func (j *job) request() contracts.Request {
	budget := bank.Micros(1)
	if j.Budget > 0 {
		budget = must(bank.Dollars(j.Budget))
	}
	return contracts.Request{
		ID: contracts.ID(j.ID), Submit: j.Submit, Work: j.Estimate, Nodes: j.Procs, PerHost: true,
		SLA: contracts.SLA{
			Budget: budget, Deadline: j.Deadline, Soft: j.Hard != nil && !*j.Hard, RunsOn: true,
			Penalty: contracts.Penalty{Rate: j.Penalty, Max: math.Inf(1)},
		},
	}
}

// uniform returns n hosts of one processor.
func uniform(n int) []hosts.Spec {
	specs := make([]hosts.Spec, n)
	for h := range specs {
		specs[h] = hosts.Spec{Name: fmt.Sprintf("h%d", h), CPUs: 1, Speed: 1}
	}
	return specs
}

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

func check(t tb, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newDecider makes the decider of that policy, on the cheapest hosts.
func newDecider(t tb, name string, o options) contracts.Decider {
	t.Helper()
	rng := rand.New(rand.NewPCG(0, 0))
	bid := must(bidding.Table(rng).New("cheapest", func(any) error { return nil }))
	p := must(Policies()[name].New(o.decode, bid, rng))
	return reflect.ValueOf(p).Elem().FieldByName("Decider").Interface().(contracts.Decider)
}
