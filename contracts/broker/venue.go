package broker

import (
	"math"
	"slices"

	"bourse/contracts"
	"bourse/hosts"
	"bourse/hosts/availability"
	"bourse/market"
)

// A venue pairs a machine with its auction.
type venue struct {
	host            hosts.ID
	machine         hosts.Machine
	speed, capacity float64 // of machine
	auction         market.Auctioneer
	on              []contracts.Standing // in order of admission
	at              float64              // instant up to which on is metered
	next            float64              // the next completion, as entered
	touched         bool                 // to be dealt out again
	news            bool                 // changed since the policy's last decision
	away            bool                 // it has left
}

// reset makes v an idle venue at instant 0 with machine m, which is host h, keeping
// its memory.
func (v *venue) reset(h hosts.ID, m hosts.Machine, window float64) {
	v.host = h
	v.machine, v.on, v.at, v.next = m, v.on[:0], 0, math.Inf(1)
	v.speed, v.capacity = m.Spec().Speed, m.Spec().Capacity()
	v.touched, v.news, v.away = false, false, false
	if v.auction.History().Window() == window {
		v.auction.Reset()
		return
	}
	a, err := market.New(market.Config{Window: window})
	if err != nil {
		panic("broker: " + err.Error())
	}
	v.auction = a
}

// meter charges what is on v for the time until now.
func (v *venue) meter(now float64) {
	dt := now - v.at
	if dt == 0 {
		return
	}
	for i := range v.on {
		s := &v.on[i]
		s.Owed += s.Paying * dt
		s.Done += s.Rate * dt
		s.At = now
	}
	v.at = now
}

// tell tells the machine the shares that it has not been told.
func (v *venue) tell(now float64) {
	for i := range v.on {
		if s := &v.on[i]; s.Share != s.Told {
			s.Told = s.Share
			v.machine.SetShare(now, s.Slot, s.Share)
		}
	}
}

// find returns the place of node n of contract i.
func (v *venue) find(i, n int32) int {
	return slices.IndexFunc(v.on, func(s contracts.Standing) bool { return s.Contract == i && s.Node == n })
}

// A view is what policies are shown.
type view struct{ b *Broker }

var _ contracts.View = view{}

func (w view) Fleet() int                         { return len(w.b.venues) }
func (w view) Spec(h hosts.ID) *hosts.Spec        { return w.b.venues[h].machine.Spec() }
func (w view) Room(h hosts.ID) hosts.Resources    { return w.b.venues[h].machine.Room() }
func (w view) Price(h hosts.ID) market.Rate       { return w.b.venues[h].auction.Price() }
func (w view) On(h hosts.ID) []contracts.Standing { return w.b.venues[h].on }
func (w view) Changed() []hosts.ID                { return w.b.news }
func (w view) Away(h hosts.ID) bool               { return w.b.venues[h].away }
func (w view) Contract(i int32) *contracts.Contract {
	return &w.b.contracts[i].Contract
}

func (w view) Percentile(h hosts.ID, g float64) float64 {
	return w.b.Forecast.Percentile(w.b.venues[h].auction.History(), w.b.now, g)
}

func (w view) History(h hosts.ID) *availability.History {
	if w.b.Presence == nil {
		return nil
	}
	return w.b.Presence.Histories[h]
}

func (w view) Stays(h hosts.ID, span float64) float64 {
	p := w.b.Presence
	if p == nil || p.Predictor == nil || !(span > 0) {
		return 1
	}
	return p.Predictor.Predict(p.Histories[h], w.b.now, span).Completes
}

func (w view) Cheapest(r *contracts.Request, out []hosts.ID) []hosts.ID {
	b := w.b
	var eligible func(int32) bool
	if least := r.Needs.Min.Resources; !least.Zero() || b.absent > 0 {
		eligible = func(h int32) bool { v := &b.venues[h]; return !v.away && least.Fit(v.machine.Room()) }
	}
	b.ranked = b.ranking.Cheapest(r.Nodes, b.Ties, eligible, b.ranked[:0])
	out = slices.Grow(out, len(b.ranked))
	for _, h := range b.ranked {
		out = append(out, hosts.ID(h))
	}
	return out
}
