package live

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"bourse/contracts"
	"bourse/contracts/order"
	"bourse/hosts"
	"bourse/hosts/remote"
	"bourse/workloadgen/plugin"
)

// # Held resources
//
// A market sells memory, disk or bandwidth if its file lists it among the resources that have a
// price. It sells units of gpu and of each countable resource that its file names. A task holds
// these resources from its start to its end. The amounts of memory and disk are fixed when the
// order is accepted, so that a replay of the log does not depend on limits that change later.
// They are the limits that the hosts enforce. No host enforces bandwidth; see [Resource.Enforced].

// gpu is the name of the countable resource that every market supports.
const gpu = "gpu"

// counts returns the names of the countable resources that hosts can offer, sorted.
func (c *Config) counts() (all []string) {
	add := func(name string) {
		if _, is := c.Market.Licences[name]; is {
			return
		}
		if order.IsCountable(name) && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	for _, name := range c.Market.Resources {
		add(name)
	}
	for name := range c.Floor.Held {
		add(name)
	}
	add(gpu)
	slices.Sort(all)
	return all
}

// licences returns the market's licences, and the floor prices of other resources.
func (c *Config) licences() (l contracts.Licences, floors map[string]float64, err error) {
	if l, floors, err = contracts.NewLicences(c.Market.Licences, c.Floor.Held); err != nil {
		return l, nil, err
	}
	for _, name := range l.Names {
		if !order.IsCountable(name) || slices.Contains(c.Market.Resources, name) {
			return l, nil, fmt.Errorf("market.licences: found %.40s, want lower-case letters, digits and underscores, and not the name of a resource in market.resources", name)
		}
	}
	return l, floors, nil
}

// sells reports whether tasks hold memory, disk or bandwidth on every host.
func (c *Config) sells(k hosts.Kind) bool { return slices.Contains(c.Market.Resources, k.Name(nil)) }

// sold returns the memory, disk and bandwidth of a, without what the market does not sell.
func (c *Config) sold(a hosts.Resources) (s hosts.Resources) {
	if c.sells(hosts.Memory) {
		s.Memory = a.Memory
	}
	if c.sells(hosts.Disk) {
		s.Disk = a.Disk
	}
	if c.sells(hosts.Bandwidth) {
		s.Bandwidth = a.Bandwidth
	}
	return s
}

// prices returns the resources that have a price in addition to processors, in the order of
// kinds, and the floor prices.
func (c *Config) prices() (priced []hosts.Kind, least hosts.Floor, err error) {
	counts := c.counts()
	if len(counts) > hosts.MaxCounts {
		return nil, least, fmt.Errorf("market.resources, floor_per_hour: found %d countable resources, including gpu, want at most %d", len(counts), hosts.MaxCounts)
	}
	if priced, err = hosts.Priced(c.Market.Resources, counts); err != nil {
		return nil, least, err
	}
	_, floors, err := c.licences()
	if err != nil {
		return nil, least, err
	}
	least, err = hosts.Floors(c.Floor.CPU, floors, counts)
	for k := hosts.Disk; k <= hosts.Bandwidth && err == nil; k++ {
		if least[k] > 0 && !c.sells(k) {
			err = fmt.Errorf("floor_per_hour: found %s, which the market does not sell, want it in market.resources", k.Name(nil))
		}
	}
	return priced, least, err
}

// Spec returns the specification of a host with the given name and offer.
func (m *Market) Spec(name string, o *remote.Offer) (hosts.Spec, error) { return m.conf.spec(name, o) }

func (c *Config) spec(name string, o *remote.Offer) (hosts.Spec, error) {
	s := hosts.Spec{Name: name, CPUs: o.CPUs, Speed: 1, Whole: o.Kind == "slurm"}
	offers := hosts.Resources{Memory: math.Floor(o.Memory), Disk: math.Floor(o.Disk), Bandwidth: math.Floor(o.Bandwidth)}
	if s.Room = c.sold(offers); s.Whole {
		s.Room.Memory = offers.Memory
	}
	for one, units := range o.Counts {
		k, known := hosts.KindOf(one, c.counts())
		if !known || k < hosts.Countable || units < 0 {
			return s, fmt.Errorf("host %s: found %d units of %s, want units of %v; define other resources in market.resources of the market's file", name, units, plugin.Clip(one), c.counts())
		}
		s.Room.Counts[k-hosts.Countable] = units
	}
	return s, nil
}

// mebibyte is the unit in which Slurm counts memory.
const mebibyte = 1 << 20

// amountsOf returns the memory, disk and bandwidth that a node of an order would hold. These are
// the amounts stated in the order. Otherwise they are the limits of its job, given as l; and if
// these are 0, the market's defaults. Bandwidth has no limit and no default.
func (c *Config) amountsOf(t *order.Terms, l remote.Limits) hosts.Resources {
	of := func(stated, limit int64, usual float64) float64 {
		return math.Ceil(cmp.Or(float64(stated), float64(max(0, limit)), usual))
	}
	return hosts.Resources{Memory: of(t.Memory, l.Memory, c.Limits.Memory), Disk: of(t.Disk, l.Disk, c.Limits.Disk), Bandwidth: float64(t.Bandwidth)}
}

// submission returns the record of an order for a job with limits l. It contains the amount of
// disk if the market sells disk.
func (c *Config) submission(signed, job string, t *order.Terms, l remote.Limits) *submission {
	a := c.amountsOf(t, l)
	return &submission{Order: signed, Job: job, Memory: a.Memory, Disk: c.sold(a).Disk}
}

// amountsIn returns the amounts that a node of a logged order holds if the market sells them.
// Records of earlier versions do not contain these numbers.
func (c *Config) amountsIn(s *submission, t *order.Terms) hosts.Resources {
	var l remote.Limits
	if s.Memory == 0 || s.Disk == 0 && c.sells(hosts.Disk) {
		if j, err := order.ParseJob([]byte(s.Job)); err == nil {
			l = j.Limits
		}
	}
	a := c.amountsOf(t, l)
	a.Memory, a.Disk = cmp.Or(s.Memory, a.Memory), cmp.Or(s.Disk, a.Disk)
	return a
}

// lacks returns why no host of the market can ever satisfy an order: the market does not sell
// bandwidth or a countable resource of the order, or has no licence of that name.
func (k *core) lacks(t *order.Terms) contracts.Reason {
	if t.Bandwidth > 0 && !k.conf.sells(hosts.Bandwidth) {
		return contracts.TooFewHosts
	}
	for name := range t.Counts {
		if _, known := hosts.KindOf(name, k.config.Counts); !known {
			return contracts.TooFewHosts
		}
	}
	if _, known := k.config.Licences.Of(t.Licences); !known {
		return contracts.NoLicence
	}
	return contracts.None
}

// needs sets the resources that each node of r holds, which the market must know. The argument a
// is a result of amountsOf. Each amount is held if the market sells it. Memory is also held if all
// hosts have whole cores. If any host has whole cores, memory is rounded up to Slurm's unit.
func (k *core) needs(r *contracts.Request, t *order.Terms, a hosts.Resources) {
	holds := k.conf.sold(a)
	if k.wholeOnly() {
		holds.Memory = a.Memory
	}
	if slices.ContainsFunc(k.hosts, func(h *host) bool { return h.Spec.Whole && !h.removed }) {
		holds.Memory = math.Ceil(holds.Memory/mebibyte) * mebibyte
	}
	r.Needs.Min.Resources = holds
	for name, units := range t.Counts {
		kind, _ := hosts.KindOf(name, k.config.Counts)
		r.Needs.Min.Counts[kind-hosts.Countable] = units
	}
	r.Licences, _ = k.config.Licences.Of(t.Licences)
}

// A Licence is the units of one name that belong to the whole market.
type Licence struct {
	Name  string `json:"licence"`
	Units int32  `json:"units" doc:"number of units that the market has"`
	Held  int32  `json:"held" doc:"number of units that contracts hold"`
}

// Licences returns the licences of the market, sorted by name.
func (m *Market) Licences() (all []Licence) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	l, b := &m.core.config.Licences, &m.core.broker
	for i, name := range l.Names {
		all = append(all, Licence{name, l.Units[i], l.Units[i] - b.FreeLicences(i)})
	}
	return all
}

// licencesLeft returns the free units of each licence of r.
func (k *core) licencesLeft(r *contracts.Request) map[string]float64 {
	left := make(map[string]float64)
	for i, n := range r.Licences {
		if n > 0 {
			left[k.config.Licences.Names[i]] = float64(k.broker.FreeLicences(i))
		}
	}
	return left
}

// left returns, for each resource that a node of r holds, the maximum amount that is free on
// any present host.
func (k *core) left(r *contracts.Request) map[string]float64 {
	left := make(map[string]float64)
	v := k.broker.View()
	for kind := hosts.Memory; kind < hosts.Kinds; kind++ {
		if r.Needs.Min.Of(kind) == 0 {
			continue
		}
		most := 0.0
		for h := range k.hosts {
			if room := v.Room(hosts.ID(h)); !v.Unavailable(hosts.ID(h)) {
				most = max(most, room.Of(kind))
			}
		}
		left[v.KindName(kind)] = most
	}
	return left
}

// A Resource describes a resource of a host that tasks can hold.
type Resource struct {
	Name    string  `json:"resource" doc:"name, such as memory or gpu"`
	Offered float64 `json:"offered" doc:"amount that the host offers, in bytes or units"`
	Held    float64 `json:"held" doc:"amount that tasks hold, in bytes or units"`
	Priced  bool    `json:"priced" doc:"whether the resource has a price"`
	Price   float64 `json:"price" doc:"price in $/s, which is the sum of the bids for the resource"`
}

// Enforced reports whether hosts limit a task to the amount that it holds. If not, this amount is
// only reserved.
func (r Resource) Enforced() bool { return r.Name != hosts.Bandwidth.Name(nil) }

// resources returns the held resources that host i offers.
func (k *core) resources(i int) (all []Resource) {
	v, spec := k.broker.View(), &k.hosts[i].Spec
	room := v.Room(hosts.ID(i))
	for kind := hosts.Memory; kind < hosts.Kinds; kind++ {
		offered := spec.Room.Of(kind)
		if offered == 0 {
			continue
		}
		r := Resource{Name: v.KindName(kind), Offered: offered, Held: offered - room.Of(kind)}
		if r.Priced = slices.Contains(v.Priced(), kind); r.Priced {
			r.Price = v.PriceOf(hosts.ID(i), kind).Float64()
		}
		all = append(all, r)
	}
	return all
}
