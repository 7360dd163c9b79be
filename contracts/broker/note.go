package broker

import (
	"encoding/json"
	"math"
	"strconv"

	"bourse/bank"
	"bourse/contracts"
	"bourse/market"
)

// appendTerms appends to note, a JSON object, what was agreed with r, so that an
// audit can compute from the ledger what is to be charged:
//
//	"submit":0,"deadline":100,"on":[20000000,"h00","h01",5000000,"h02"]
//
// Submit is an instant and deadline in seconds after it. A number in on is the bid
// of the hosts after it, in nano-dollars per second. Terms of their own follow
// where they apply: "runs_on", "on_demand", "per_host", "max_cpu", "penalty_rate"
// and "penalty_max". The hosts are not told if there are so many that the note would
// exceed [bank.MaxNote]. A planner names one host, for all nodes: see appendWindow.
func (b *Broker) appendTerms(note []byte, r *contracts.Request, d *contracts.Decision) []byte {
	note = note[:len(note)-1]
	number := func(name string, x float64) {
		note = append(note, `,"`+name+`":`...)
		note = strconv.AppendFloat(note, x, 'g', -1, 64)
	}
	number("submit", r.Submit)
	number("deadline", r.SLA.Deadline)
	if r.SLA.GoesOn() || b.planner != nil {
		note = append(note, `,"runs_on":true`...)
	}
	if r.OnDemand {
		note = append(note, `,"on_demand":true`...)
	}
	if r.PerHost {
		note = append(note, `,"per_host":true`...)
	}
	if r.Needs.Max.CPU > 0 {
		number("max_cpu", r.Needs.Max.CPU)
	}
	if p := r.SLA.Penalty; p.Rate > 0 {
		number("penalty_rate", p.Rate)
		if !math.IsInf(p.Max, 1) {
			number("penalty_max", p.Max)
		}
	}
	if b.planner != nil {
		return b.appendWindow(note, r, d)
	}
	without := len(note)
	note = b.appendPlaces(append(note, `,"on":[`...), d.Placements)
	if len(note) >= bank.MaxNote {
		note = note[:without]
	}
	return append(note, '}')
}

// appendPlaces appends the hosts of on, each after its bid or after others of the
// same bid, and a closing bracket.
func (b *Broker) appendPlaces(note []byte, on []contracts.Placement) []byte {
	bid := market.Rate(-1)
	for n := range on {
		if n > 0 {
			note = append(note, ',')
		}
		if on[n].Bid != bid {
			bid = on[n].Bid
			note = append(strconv.AppendInt(note, int64(bid), 10), ',')
		}
		name, err := json.Marshal(b.venues[on[n].Host].machine.Spec().Name)
		if err != nil {
			panic("broker: " + err.Error()) // a string has a JSON form
		}
		note = append(note, name...)
	}
	return append(note, ']')
}
