package experiments

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// This file computes the share of each task on a host from the papers and the
// specification. It shares no code with contracts/sharing or hosts.

// Remaining seconds and processors below these limits count as zero (Libra, §1).
const (
	tickOfTime  = 1e-6
	tickOfShare = 1e-9
)

// A shareRule is the part of a sharing rule that a replay needs.
type shareRule struct {
	name           string
	spare, overrun string // parameters of the rule deadline
	late           string // parameter of the rule librasla
}

// ruleOf reads the sharing rule of an offer.
func ruleOf(o *offer) (shareRule, error) {
	r := shareRule{name: o.sharing.Name, spare: "proportional", overrun: "keep", late: "shift"}
	said := o.sharing.Choice.Options()
	for _, f := range []struct {
		name string
		to   *string
	}{{"spare", &r.spare}, {"overrun", &r.overrun}, {"late", &r.late}} {
		if x, ok := said[f.name].(string); ok {
			*f.to = x
		}
	}
	if r.name == "maxmin" && said["weight"] == "bid" {
		r.name = "auction"
	}
	switch r.name {
	case "auction", "exclusive", "maxmin", "turns", "planned", "deadline", "librasla":
		return r, nil
	}
	return r, fmt.Errorf("the matrix cannot replay the sharing rule %s: want its formula in matrix_shares_test.go", r.name)
}

// allocate gives the tasks on h their processors from now on.
func (w *retold) allocate(h *replayHost) {
	h.dirty = false
	tasks := h.on
	if h.away {
		for _, k := range tasks {
			k.rate, k.paying = 0, 0
		}
		return
	}
	weight, limit := make([]float64, len(tasks)), make([]float64, len(tasks))
	for i := range limit {
		limit[i] = math.Inf(1)
	}
	switch w.rule.name {
	case "auction":
		for i, k := range tasks {
			weight[i] = float64(k.part(0))
			if most := k.of.request.Needs.Max.CPU; most > 0 {
				limit[i] = most
			}
		}
	case "maxmin":
		for i, k := range tasks {
			weight[i] = 1
			if most := k.of.request.Needs.Max.CPU; most > 0 {
				limit[i] = most
			}
		}
	case "exclusive":
		for i, k := range tasks {
			weight[i], limit[i] = 1, 1
			if k.of.request.PerHost { // the nodes of a parallel program run at the pace of the slowest
				for _, other := range k.of.nodes {
					limit[i] = min(limit[i], other.host.speed/h.speed)
				}
			}
		}
	case "turns":
		for i := range tasks[:min(1, len(tasks))] {
			weight[i], limit[i] = 1, 1
		}
	case "planned":
		for i, k := range tasks {
			weight[i] = float64(k.nodes)
			limit[i] = weight[i]
		}
	case "deadline":
		w.libra(h, weight, limit)
	case "librasla":
		w.librasla(h, weight)
	}
	w.pour(h, weight, limit)
	if w.rule.name == "auction" {
		w.leftovers(h, limit)
	}
	w.charge(h)
}

// leftovers gives the unused capacity of h to tasks of contracts whose money is spent. These
// tasks get equal parts, none above its limit, and nothing while a task with a bid could use
// the capacity.
func (w *retold) leftovers(h *replayHost, limit []float64) {
	left, open := h.cpus, []int{}
	for i, k := range h.on {
		switch left -= k.rate / h.speed; {
		case k.bid == 0:
			open = append(open, i)
		case k.rate < limit[i]*h.speed:
			return
		}
	}
	slices.SortFunc(open, func(i, j int) int { return cmp.Compare(limit[i], limit[j]) })
	for n, i := range open {
		get := min(limit[i], max(0, left)/float64(len(open)-n))
		h.on[i].rate = get * h.speed
		left -= get
	}
}

// pour divides the processors of h by weight, with no task above its limit. Capacity that
// tasks at their limits cannot use goes to the others.
func (w *retold) pour(h *replayHost, weight, limit []float64) {
	open := make(map[int]bool)
	for i, k := range h.on {
		k.rate = 0
		if w.cap > 0 {
			limit[i] = min(limit[i], w.cap)
		}
		limit[i] = min(limit[i], h.cpus)
		if weight[i] > 0 {
			open[i] = true
		}
	}
	for left := h.cpus; len(open) > 0; {
		sum, first := 0.0, -1
		for i := range h.on {
			if !open[i] {
				continue
			}
			sum += weight[i]
			if first < 0 || limit[i]/weight[i] < limit[first]/weight[first] {
				first = i
			}
		}
		if weight[first]*left/sum < limit[first] { // if this is true, no task is at its limit
			for i := range open {
				h.on[i].rate = weight[i] * left / sum * h.speed
			}
			return
		}
		h.on[first].rate = limit[first] * h.speed
		left = max(0, left-limit[first])
		delete(open, first)
	}
}

// most returns the largest number of processors of h that one task can use.
func (w *retold) most(h *replayHost) float64 {
	if w.cap > 0 {
		return min(w.cap, h.cpus)
	}
	return h.cpus
}

// required returns the share that a task needs to end by its deadline (Libra, eq. 1).
func required(left, span, keep float64) float64 {
	switch {
	case span <= tickOfTime:
		return math.Inf(1)
	case left <= tickOfTime:
		return keep
	}
	return left / span
}

// left returns the remaining part of k's estimate, in seconds on its host.
func (k *replayTask) left() float64 { return (k.of.request.Work - k.done) / k.host.speed }

// libra returns the shares by §4.2 of the specification.
func (w *retold) libra(h *replayHost, weight, limit []float64) {
	sum := 0.0
	for i, k := range h.on {
		span := k.of.due() - w.now
		need := required(k.left(), span, k.keep)
		if k.left() > tickOfTime && span > tickOfTime && w.rule.overrun != "zero" {
			k.keep = min(need, w.most(h))
		}
		if math.IsInf(need, 1) {
			need = w.most(h)
		}
		weight[i] = need
		sum += need
	}
	for i := range h.on {
		switch {
		case sum == 0:
			weight[i] = 1
		case sum > h.cpus || w.rule.spare == "proportional":
		case w.rule.spare == "none":
			limit[i] = weight[i]
			if weight[i] == 0 {
				limit[i] = math.Inf(1) // a task with the weight 0 gets nothing
			}
		case w.rule.spare == "equal":
			weight[i] += (h.cpus - sum) / float64(len(h.on))
		}
	}
}

// librasla returns the shares by §6.2 and §6.4 of the specification.
func (w *retold) librasla(h *replayHost, share []float64) {
	if len(h.on) == 0 {
		return
	}
	need, total, top := make([]float64, len(h.on)), 0.0, 0
	rank := func(k *replayTask) float64 {
		r := k.of.request
		return r.SLA.Budget.Float64() / r.Work / r.SLA.Deadline
	}
	for i, k := range h.on {
		by := max(k.of.due(), k.target) - w.now
		if w.rule.late == "pressure" {
			by = k.of.due() - w.now
		}
		need[i] = required(k.left(), by, k.keep)
		if sla := &k.of.request.SLA; !sla.Soft && !sla.RunsOn && k.of.due()-w.now <= tickOfTime {
			need[i] = k.keep // the task stops now
		}
		need[i] = min(w.most(h), need[i])
		total += need[i]
		if rank(k) > rank(h.on[top]) {
			top = i
		}
	}
	copy(share, need)
	switch hard, others := 0.0, 0.0; {
	case total <= h.cpus+tickOfShare:
		share[top] = min(w.most(h), share[top]+max(0, h.cpus-total))
	default:
		for i, k := range h.on {
			if !k.of.request.SLA.Soft {
				hard += need[i]
			} else if i != top {
				others += need[i]
			}
		}
		room := max(0, h.cpus-hard)
		rest := room - need[top]
		if rest <= tickOfShare {
			rest = 0
		}
		for i, k := range h.on {
			switch {
			case hard > h.cpus+tickOfShare:
				share[i] = need[i] * h.cpus / total
			case !k.of.request.SLA.Soft:
			case i == top:
				share[i] = min(need[i], room)
			case !h.on[top].of.request.SLA.Soft: // top is one of the tasks with hard deadlines
				share[i] = need[i] * max(0, room) / others
				if room <= tickOfShare {
					share[i] = 0
				}
			default:
				share[i] = need[i] * rest / others
			}
		}
	}
	for i, k := range h.on {
		if k.left() > tickOfTime && max(k.of.due(), k.target)-w.now > tickOfTime {
			k.keep = need[i]
		}
		if share[i] > 0 && share[i] < need[i] {
			k.target = max(k.target, w.now+k.left()/share[i])
		}
	}
}

// usable returns the processors that k could use if it were alone on its host.
func (w *retold) usable(k *replayTask) float64 {
	most := k.of.request.Needs.Max.CPU
	switch w.rule.name {
	case "planned": // one processor for each node
		most = float64(k.nodes)
	case "exclusive":
		most = 1
		if k.of.request.PerHost {
			for _, other := range k.of.nodes {
				most = min(most, other.host.speed/k.host.speed)
			}
		}
	}
	for _, limit := range []float64{w.cap, k.host.cpus} {
		if limit > 0 && (most == 0 || limit < most) {
			most = limit
		}
	}
	return most
}

// charge sets the charge of each task on h in dollars per second (market, §4).
func (w *retold) charge(h *replayHost) {
	price, usable := 0.0, 0.0
	for _, k := range h.on {
		price += float64(k.bid) / 1e9
		if k.bid > 0 || w.rule.name != "auction" {
			usable += w.usable(k)
		}
	}
	if w.chargeVectors(h, usable) {
		return
	}
	for _, k := range h.on {
		bid, got := float64(k.bid)/1e9, k.rate/(h.cpus*h.speed)
		switch w.payment {
		case "spot":
			k.paying = min(bid, got*(price-bid))
		case "scarce":
			k.paying = min(bid, w.reserve*(k.rate/h.speed))
			if usable > h.cpus*(1+1e-9) {
				k.paying = min(bid, got*(price-bid))
			}
		case "admission":
			k.paying = min(bid, got*k.vector.met[0])
		case "percentile":
			k.paying = min(bid, got*max(price-bid, k.promised))
		case "usage":
			k.paying = min(bid, got*price)
		case "resource":
			k.paying = min(bid, got*price) / float64(k.of.request.Nodes)
		case "bid":
			k.paying = bid
		default:
			k.paying = 0
			continue
		}
		k.paying = max(k.paying, min(bid, w.floor/3600*(k.rate/h.speed)))
	}
}
