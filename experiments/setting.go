package experiments

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"bourse/contracts"
	"bourse/contracts/admission"
	"bourse/contracts/bidding"
	"bourse/contracts/broker"
	"bourse/contracts/policies"
	"bourse/contracts/sharing"
	"bourse/experiments/scenario"
	"bourse/hosts"
	"bourse/market"
	"bourse/market/forecast"
	"bourse/workloadgen"
	"bourse/workloadgen/annotate"
	"bourse/workloadgen/config"
	"bourse/workloadgen/plugin"
	"bourse/workloadgen/swf"
)

// A setting is a configuration that is ready to run. All its names have been resolved and
// checked. Running a setting does not change it.
type setting struct {
	conf    *scenario.Configuration
	common  contracts.Request // fields that all requests share
	work    *workload
	churn   *churn // nil means that hosts never leave
	payment broker.Payment
	bidding choice
	price   choice
	offers  []offer

	priced   []hosts.Kind // resources with a price in addition to processors, in order
	least    hosts.Floor
	licences contracts.Licences
	counts   []string // sorted names of the countable resources of the fleet and the plan

	hostPrices bool // whether to record the price of each host, which some metrics need

	jobs, short int               // number of jobs of the first replication, and number of those with a deadline below the runtime
	wide        map[int]int       // number of jobs that are too wide for a policy, by the maximum width that the policy can admit
	follow      int               // number of jobs that follow another job
	sized       annotate.SizeNote // effect of the mapping of sizes in the first replication
}

// An offer is an admission policy of a setting, with its label. It includes the sharing rule
// that applies under this policy.
type offer struct {
	choice
	sharing choice
	about   admission.Properties
}

// A choice is a plug-in name with options. The options are decoded once and then copied.
type choice struct {
	scenario.Choice
	decode func(any) error
}

// Negotiates reports whether users receive offers under policy c.
func Negotiates(c *scenario.Choice) bool { return c.Negotiate != "" && c.Negotiate != scenario.Never }

// made creates the plug-in named by c.
func made[T any](c *choice, t plugin.Table[T]) (T, error) {
	v, err := t.New(c.Name, c.decode)
	return v, c.Blame(err)
}

// fix returns c as a choice that stores its decoded options. If load is not nil, fix calls it
// with the decoded options. After the plug-in has been created once, the choice is safe for
// concurrent use.
func fix(c scenario.Choice, load func(v any) error) choice {
	var saved reflect.Value
	return choice{c, func(v any) error {
		if saved.IsValid() {
			reflect.ValueOf(v).Elem().Set(saved)
			return nil
		}
		if err := c.Decode(v); err != nil {
			return err
		}
		if load != nil {
			if err := load(v); err != nil {
				return err
			}
		}
		saved = reflect.ValueOf(v).Elem()
		copied := reflect.New(saved.Type()).Elem()
		copied.Set(saved)
		saved = copied
		return nil
	}}
}

// settings prepares the configurations of e. The experiment must be expanded. The error names
// the field that is invalid.
func settings(e *scenario.Experiment, in files) ([]*setting, error) {
	var all []*setting
	read := recordings{in, make(map[string]*swf.Trace), make(map[logKey]workload), make(map[scenario.Availability]recorded)}
	for i := range e.Configurations {
		s, err := read.prepare(&e.Configurations[i])
		if err != nil {
			var placed *config.Error
			if !errors.As(err, &placed) || !placed.Placed() {
				err = fmt.Errorf("configuration %s: %w", e.Configurations[i].Name, err)
			}
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// The orders of simultaneous events other than submissions-first. Ends are reported either
// before submissions, or after them and one at a time.
const (
	endsFirst = "ends-first"
	oneByOne  = "one-by-one"
)

// A recordings contains the input files that have been read. All settings of a sweep share it.
type recordings struct {
	files  files
	whole  map[string]*swf.Trace              // logs by path
	logs   map[logKey]workload                // filtered logs
	traces map[scenario.Availability]recorded // traces by their options
}

// prepare makes one configuration ready to run.
func (read *recordings) prepare(c *scenario.Configuration) (*setting, error) {
	s := &setting{conf: c, common: common(c), bidding: fix(c.Market.Bidding, nil), price: fix(c.Market.Forecaster, nil)}
	var err error
	if s.work, err = read.workload(&c.Workload, &c.Fleet); err != nil {
		return nil, err
	}
	for h := range max(1, len(c.Fleet.Held)) {
		for name, units := range c.Fleet.HeldOf(h).Count {
			if !workloadgen.ValidCount(name) || units < 0 || units > workloadgen.MaxCount {
				return nil, fmt.Errorf("fleet.count: found %s: %d, want a name of lower-case letters, digits, - or _ (not cpu, memory, disk or bandwidth), and 0 to %d units", plugin.Clip(name), units, workloadgen.MaxCount)
			}
		}
	}
	s.counts = c.Fleet.Counts()
	if s.counts = append(s.counts, s.work.fixed.Counts()...); len(s.counts) > 0 {
		slices.Sort(s.counts)
		s.counts = slices.Compact(s.counts)
	}
	floors := c.Fleet.Floor.Held
	if s.licences, floors, err = contracts.NewLicences(c.Market.Licences, floors); err != nil {
		return nil, err
	}
	for _, name := range s.licences.Names {
		if slices.Contains(c.Fleet.Counts(), name) {
			return nil, fmt.Errorf("market.licences: found %s, want a name that is not a resource of hosts (fleet.count)", plugin.Clip(name))
		}
		s.counts = slices.DeleteFunc(s.counts, func(count string) bool { return count == name })
	}
	if len(s.counts) > hosts.MaxCounts {
		return nil, fmt.Errorf("fleet.count: found %d countable resources in this field and in the plan (%s), want at most %d", len(s.counts), strings.Join(s.counts, ", "), hosts.MaxCounts)
	}
	if s.least, err = hosts.Floors(c.Fleet.Floor.CPU, floors, s.counts); err != nil {
		return nil, fmt.Errorf("fleet.%w", err)
	}
	if s.priced, err = hosts.Priced(c.Market.Resources, s.counts); err != nil {
		return nil, err
	}
	s.common.Packed = c.Workload.Packs()
	if s.churn, err = read.churn(&c.Fleet, s.work); err != nil {
		return nil, err
	}
	if s.payment, err = broker.Payments().New(c.Market.Payment, nil); err != nil {
		return nil, fmt.Errorf("market.payment: %w", err)
	}
	for _, a := range c.Admission {
		shares := c.Market.Sharing
		if a.Sharing != nil {
			shares = *a.Sharing
		}
		s.offers = append(s.offers, offer{choice: fix(a, read.outside(c)), sharing: fix(shares, nil)})
	}
	// Create every plug-in once, so that errors are reported before the first run.
	for i := range s.offers {
		o := &s.offers[i]
		rules, err := newMakers().rules(s, o, 0, 0)
		if err != nil {
			return nil, err
		}
		o.about = policies.Properties(o.Name, rules.policy)
		if o.about.Sharing != o.sharing.Name {
			s.work.note("%s: admission %s is designed for %s sharing, but runs under %s.", c.Name, o.Name, o.about.Sharing, o.sharing.Name)
		}
		if c.SLA.Deadline == "none" && policies.NeedsDeadlines(o.about, o.sharing.Name) {
			return nil, o.Blame(fmt.Errorf("admission %s under sharing %s: requires sla.deadline: hard, soft or plan, not none, because the policy uses deadlines", o.Name, o.sharing.Name))
		}
		if o.about.Rated {
			payment := "bid"
			if o.about.Free {
				payment = "free"
			}
			switch {
			case o.sharing.Name != "exclusive":
				return nil, o.Blame(fmt.Errorf("admission %s: found sharing %s, want exclusive", o.Name, o.sharing.Name))
			case o.about.Clears && c.Fleet.Availability != nil && c.Fleet.Availability.Leaving == "suspend":
				return nil, o.Blame(fmt.Errorf("admission %s: found fleet.availability.leaving: suspend, want lost or resubmit", o.Name))
			case c.Market.Payment != payment:
				return nil, o.Blame(fmt.Errorf("admission %s: found market.payment %s, want %s, because the policy sets the rates", o.Name, c.Market.Payment, payment))
			}
		}
		if !o.about.Books {
			continue
		}
		switch {
		case s.churn != nil:
			return nil, o.Blame(fmt.Errorf("admission %s: found fleet.availability, want none, because the policy requires hosts that never leave", o.Name))
		case o.about.Single && c.Fleet.Hosts > 1:
			return nil, o.Blame(fmt.Errorf("admission %s: found fleet.hosts: %d, want 1, because the policy sells the processors of a single host", o.Name, c.Fleet.Hosts))
		case slices.Contains(c.Fleet.Whole, true):
			return nil, o.Blame(fmt.Errorf("admission %s: found fleet.whole, want none, because the policy plans with nodes of one processor", o.Name))
		case len(c.Fleet.Sizes) > 0:
			return nil, o.Blame(fmt.Errorf("admission %s: requires fleet.cpus instead of fleet.sizes, because the policy plans on clusters of one size", o.Name))
		case o.sharing.Name != "planned":
			return nil, o.Blame(fmt.Errorf("admission %s: found sharing %s, want planned", o.Name, o.sharing.Name))
		case c.Market.Instant != endsFirst:
			return nil, o.Blame(fmt.Errorf("admission %s: requires market.instant: ends-first, because the policy plans with jobs that end at the same time", o.Name))
		}
	}
	return s, nil
}

// A rules contains the broker components that are created for each run.
type rules struct {
	policy   contracts.Policy
	sharing  sharing.Rule
	forecast market.Forecaster // nil if the policy uses no forecasts
	ties     *rand.Rand
}

// A makers creates the rules of successive runs. It contains the tables of plug-ins and the
// random streams from which the plug-ins draw. Each goroutine needs its own makers.
type makers struct {
	sharing  plugin.Table[sharing.Rule]
	forecast plugin.Table[market.Forecaster]
	bidding  plugin.Table[bidding.Strategy]
	streams  [3]rand.PCG // random streams for bidding, admission and ties
	rngs     [3]*rand.Rand
}

func newMakers() *makers {
	m := &makers{sharing: sharing.Table(), forecast: forecast.Table()}
	for i := range m.streams {
		m.rngs[i] = rand.New(&m.streams[i])
	}
	m.bidding = bidding.Table(m.rngs[0])
	return m
}

// rules creates the plug-ins of s with policy o, for replication rep. Bidding, admission and
// ties have separate random streams. The result is valid until the next call.
func (m *makers) rules(s *setting, o *offer, seed uint64, rep int) (r rules, err error) {
	for i, name := range [...]string{"bidding", "admission", "ties"} {
		scenario.Reseed(&m.streams[i], seed, rep, name)
	}
	if r.sharing, err = made(&o.sharing, m.sharing); err != nil {
		return r, err
	}
	if r.forecast, err = made(&s.price, m.forecast); err != nil {
		return r, err
	}
	bid, err := made(&s.bidding, m.bidding)
	if err != nil {
		return r, err
	}
	if r.policy, err = made(&o.choice, policies.WithOutside(bid, m.rngs[1])); err != nil {
		return r, err
	}
	if !policies.Properties(o.Name, r.policy).Forecasts {
		r.forecast = nil
	}
	r.ties = m.rngs[2]
	return r, nil
}

// spec returns the specification of host number h in the fleet. Names are padded with zeros to
// the same number of digits, so that they sort numerically. The names of the countable
// resources are in counts.
func spec(f *scenario.Fleet, h int, counts []string) hosts.Spec {
	held := f.HeldOf(h)
	digits := max(2, len(strconv.Itoa(f.Hosts-1)))
	s := hosts.Spec{
		Name: fmt.Sprintf("h%0*d", digits, h), CPUs: f.CPUsOf(h), Speed: f.SpeedOf(h), Cap: f.Cap, Whole: f.WholeOf(h),
		Room: hosts.Resources{Memory: held.Memory, Disk: held.Disk, Bandwidth: held.Bandwidth},
	}
	for i, name := range counts {
		s.Room.Counts[i] = int32(held.Count[name])
	}
	return s
}

// common returns the fields shared by the requests of all jobs.
func common(c *scenario.Configuration) contracts.Request {
	r := contracts.Request{
		PerHost: c.SLA.Enforcement == "per-host",
		Needs:   contracts.Requirement{Min: bound(c.Needs.Min), Max: bound(c.Needs.Max)},
	}
	r.SLA = contracts.SLA{
		Soft: c.SLA.Deadline == "soft", RunsOn: c.SLA.RunsOn,
		Penalty: contracts.Penalty{Max: math.Inf(1)},
	}
	if p := c.SLA.Penalty; p != nil {
		r.SLA.Penalty.Rate = p.Rate
		if p.Max != nil {
			r.SLA.Penalty.Max = *p.Max
		}
	}
	return r
}

// request fills r with the request for j, without the owner and the budget. It returns the
// task that runs if the job is admitted.
func (s *setting) request(j *workloadgen.Job, r *contracts.Request) hosts.Task {
	sla := &s.conf.SLA
	*r = s.common
	r.ID, r.User, r.Class, r.Submit = contracts.ID(j.ID), j.User, j.Class, j.Arrival
	r.Work, r.Nodes = j.Estimate, j.Nodes
	r.Lead, r.OnDemand, r.Parts = j.Lead, j.OnDemand, j.Parts
	if j.CPUs > 0 {
		r.Needs.Max.CPU = j.CPUs
	}
	if n := j.Needs; n != nil {
		hold(&r.Needs.Min.Memory, &r.Needs.Max.Memory, n.Memory)
		hold(&r.Needs.Min.Disk, &r.Needs.Max.Disk, n.Disk)
		hold(&r.Needs.Min.Bandwidth, &r.Needs.Max.Bandwidth, n.Bandwidth)
		for i, name := range s.counts {
			r.Needs.Min.Counts[i] = int32(n.Counts[name])
		}
		for i, name := range s.licences.Names {
			if units := n.Counts[name]; units > 0 {
				if r.Licences == nil {
					r.Licences = make([]int32, len(s.licences.Names))
				}
				r.Licences[i] = int32(units)
			}
		}
	}
	r.SLA.Deadline = sla.Slack * deadline(sla.Of, j)
	if sla.Deadline == "plan" {
		r.SLA.Soft = !j.Hard && j.PenaltyRate > 0
	}
	if sla.Penalty == nil {
		r.SLA.Penalty.Rate = j.PenaltyRate
	}
	return hosts.Task{Work: j.Runtime}
}

// hold sets both bounds of a resource to the amount stated in the plan. If the amount is 0,
// hold does nothing.
func hold(least, most *float64, amount float64) {
	if amount > 0 {
		*least, *most = amount, amount
	}
}

// deadline returns the quantity that is multiplied by the slack factor. This is the estimate,
// the runtime or the planned deadline of j, in seconds.
func deadline(of string, j *workloadgen.Job) float64 {
	switch of {
	case "estimate":
		return j.Estimate
	case "runtime":
		return j.Runtime
	}
	return j.Deadline
}

func bound(b scenario.Bound) contracts.Bound {
	return contracts.Bound{CPU: b.CPU, Resources: hosts.Resources{Memory: b.Memory, Disk: b.Disk, Bandwidth: b.Bandwidth}}
}
