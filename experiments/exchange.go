package experiments

import (
	"math"
	"os"
	"slices"

	"bourse/contracts"
	"bourse/contracts/admission"
	"bourse/contracts/broker"
	"bourse/contracts/core"
	"bourse/contracts/floor"
	"bourse/contracts/life"
	"bourse/experiments/des"
	"bourse/hosts"
	"bourse/market"
)

// An exchange is the old broker or the new core.
type exchange interface {
	Next() float64
	Advance(float64) error
	Submit(float64, *contracts.Request, hosts.Task) (*contracts.Decision, error)
	Cancel(float64, contracts.ID) error
	Close(float64) error
	Idle() bool
	Ended() []contracts.Contract
	Refused() []broker.Refusal
	Prices() *market.Series
}

// reset makes a.broker the new core if BOURSE_CORE is new.
func (a *arena) reset(c broker.Config) error {
	if os.Getenv("BOURSE_CORE") != "new" {
		a.old.Reset(c)
		a.broker, a.looks = &a.old, a.old.Looks()
		return nil
	}
	var presence *floor.Presence
	if p := c.Presence; p != nil {
		presence = &floor.Presence{Histories: p.Histories, Leaving: floor.Leaving(p.Leaving), Charged: p.Charged, Predictor: p.Predictor}
	}
	a.broker, a.looks = renewed{&a.core, &a.ended}, a.core.Late()
	return a.core.Reset(core.Config{
		Floor: floor.Config{
			Machines: c.Fleet, Sharing: c.Sharing, Tariff: c.Payment.Charge, Window: c.Window, Forecast: c.Forecast,
			Ties: c.Ties, NoPrices: c.NoPrices, Presence: presence,
		},
		Owners: c.Owners, Provider: c.Provider, Policy: admission.Adapt(c.Policy), Teller: c.Teller, Whole: c.Payment.Whole, Notes: c.Notes,
	})
}

var _ des.Source = core.Late{}

// renewed shows what has ended in the new core as the old broker would.
type renewed struct {
	*core.Broker
	memory *[]contracts.Contract
}

func (r renewed) Ended() []contracts.Contract {
	n := len(r.Broker.Ended())
	all := slices.Grow((*r.memory)[:0], n)[:n]
	*r.memory = all
	for i := range r.Broker.Ended() {
		all[i] = Renewed(&r.Broker.Ended()[i])
	}
	return all
}

// Renewed is e as the old broker would have it.
func Renewed(e *core.Ended) contracts.Contract {
	c := e.Contract
	c.State, c.Open = contracts.Violated, e.Outcome == life.Unfinished
	c.Waiting = c.Open && e.From == life.Waiting && !c.Gang
	c.Killed, c.Broken = e.Outcome == life.Killed, e.Outcome == life.Broken
	switch {
	case e.Outcome == life.Fulfilled:
		c.State = contracts.Fulfilled
	case !e.Outcome.Violated():
		c.State = contracts.Cancelled
	}
	return c
}

func (r renewed) Refused() (all []broker.Refusal) {
	for _, f := range r.Broker.Refused() {
		all = append(all, broker.Refusal(f))
	}
	return all
}

// Cancel takes nothing back that is not booked, as the old broker.
func (r renewed) Cancel(now float64, id contracts.ID) error {
	return r.Broker.Cancel(now, id)
}

var _ = math.Inf
