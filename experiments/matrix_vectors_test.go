package experiments

import (
	"math"
	"slices"

	"bourse/contracts"
	"bourse/hosts"
)

// A replayVector describes the resources that a task claims, bids for and holds. Element 0 is
// for processors, and the others are for the kinds in retold.held.
type replayVector struct {
	claims []float64 // fraction of the host; 0 without a price
	holds  []float64
	met    []float64 // sum of the other bids when the task started, in $/s
	least  float64   // floor price of the resources that the task holds, in $/s
}

// A replayKind is a resource that tasks hold.
type replayKind struct {
	kind   hosts.Kind
	priced bool
	floor  float64 // floor price of a unit, in $/s
}

// kinds returns the resources that have a price or a floor.
func (run *toldRun) kinds() (out []replayKind) {
	c := run.set.conf
	floors := c.Fleet.Floor.Held
	if slices.Contains([]string{"budget", "free"}, c.Market.Payment) {
		floors = nil
	}
	for i, name := range append([]string{"memory", "disk", "bandwidth"}, run.set.counts...) {
		k := replayKind{kind: hosts.Memory + hosts.Kind(i), priced: slices.Contains(c.Market.Resources, name), floor: floors[name] / 3600}
		if i < 3 {
			k.floor /= 1e9
		}
		if k.priced || k.floor > 0 {
			out = append(out, k)
		}
	}
	return out
}

// vector returns the vector of a task of r that starts on h.
func (w *retold) vector(r *contracts.Request, h *replayHost) (v replayVector) {
	most := r.Needs.Max.CPU
	for _, limit := range []float64{w.cap, h.cpus} {
		if limit > 0 && (most == 0 || limit < most) {
			most = limit
		}
	}
	v.claims, v.holds, v.met = []float64{most / h.cpus}, []float64{0}, []float64{0}
	for _, k := range h.on {
		v.met[0] += float64(k.part(0)) / 1e9
	}
	for i, kind := range w.held {
		room, met := h.room.Of(kind.kind), 0.0
		left := room
		for _, k := range h.on {
			left -= k.vector.holds[i+1]
			met += float64(k.part(i+1)) / 1e9
		}
		holds := r.Needs.Min.Of(kind.kind)
		if kind.kind <= hosts.Bandwidth {
			holds = max(holds, min(left, r.Needs.Max.Of(kind.kind)))
		}
		claim := 0.0
		if kind.priced && room > 0 {
			claim = holds / room
		}
		v.claims, v.holds, v.met = append(v.claims, claim), append(v.holds, holds), append(v.met, met)
		v.least += kind.floor * holds
	}
	if !slices.Contains([]string{"budget", "free"}, w.payment) {
		for i, name := range w.run.set.licences.Names {
			if r.Licences != nil {
				v.least += w.run.set.conf.Fleet.Floor.Held[name] / 3600 * float64(r.Licences[i]) / float64(r.Nodes)
			}
		}
	}
	return v
}

// part returns the part of the bid of k for element i of its vector, in nano-dollars per second.
func (k *replayTask) part(i int) int64 {
	a, most := k.vector.claims[i], slices.Max(k.vector.claims)
	switch {
	case k.bid == 0 || a == 0:
		return 0
	case a == most:
		return k.bid
	}
	return max(1, int64(math.Floor(float64(k.bid)*(a/most))))
}

// chargeVectors sets the charges on a host on which a task holds a resource with a price or a floor.
// It reports whether there is one.
func (w *retold) chargeVectors(h *replayHost, usable float64) bool {
	if !slices.ContainsFunc(h.on, func(k *replayTask) bool { return k.vector.least > 0 || slices.Max(append(k.vector.claims[1:], 0)) > 0 }) {
		return false
	}
	price := make([]float64, len(w.held)+1)
	for _, k := range h.on {
		for i := range price {
			price[i] += float64(k.part(i)) / 1e9
		}
	}
	for _, k := range h.on {
		bid, pays := float64(k.bid)/1e9, 0.0
		for i, a := range k.vector.claims {
			own, others := float64(k.part(i))/1e9, price[i]-float64(k.part(i))/1e9
			if i == 0 {
				a = k.rate / (h.cpus * h.speed)
			}
			term := 0.0
			switch w.payment {
			case "spot":
				term = a * others
			case "scarce":
				if term = a * others; i == 0 && usable < h.cpus*(1-1e-9) {
					term = w.reserve * (k.rate / h.speed)
				}
			case "admission":
				term = a * k.vector.met[i]
			case "percentile":
				if term = a * others; i == 0 {
					term = a * max(others, k.promised)
				}
			case "usage", "resource":
				term = a * price[i]
			case "bid":
				term = own
			}
			if i == 0 || a > 0 {
				pays = max(pays, term)
			}
		}
		if k.paying = min(bid, pays); w.payment == "resource" {
			k.paying /= float64(k.of.request.Nodes)
		}
		if w.payment != "budget" && w.payment != "free" {
			k.paying = max(k.paying, min(bid, w.floor/3600*(k.rate/h.speed)+k.vector.least))
		}
	}
	return true
}
