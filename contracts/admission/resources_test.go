package admission_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"bourse/contracts"
	"bourse/contracts/admission"
	"bourse/contracts/admission/policytest"
	"bourse/hosts"
	"bourse/market"
)

// A priced is a market with given prices and percentiles of each resource, in nano-dollars per
// second. Every request is placed on all of its hosts.
type priced struct {
	policytest.Still
	kinds            []string
	spot, percentile []map[string]float64
	floors           []hosts.Floor
	bid              market.Rate
}

func (p *priced) Place(_ *contracts.Request, _ contracts.View, out []contracts.Placement) ([]contracts.Placement, contracts.Reason) {
	for h := range p.Specs {
		out = append(out, contracts.Placement{Host: hosts.ID(h), Bid: p.bid})
	}
	return out, contracts.None
}

func (p *priced) Priced() (all []hosts.Kind) {
	for k := hosts.Memory; int(k) < len(p.kinds); k++ {
		all = append(all, k)
	}
	return all
}

func (p *priced) Price(h hosts.ID) market.Rate { return p.PriceOf(h, hosts.CPU) }
func (p *priced) PriceOf(h hosts.ID, k hosts.Kind) market.Rate {
	return market.Rate(p.spot[h][p.kinds[k]])
}
func (p *priced) KindName(k hosts.Kind) string             { return p.kinds[k] }
func (p *priced) Percentile(h hosts.ID, g float64) float64 { return p.PercentileOf(h, hosts.CPU, g) }
func (p *priced) Floors(h hosts.ID) *hosts.Floor           { return &p.floors[h] }
func (p *priced) PercentileOf(h hosts.ID, k hosts.Kind, _ float64) float64 {
	all := p.Specs[h].CPUs
	if k != hosts.CPU {
		all = p.Specs[h].Room.Of(k)
	}
	return max(p.percentile[h][p.kinds[k]]/1e9, p.floors[h][k]*all)
}

// TestPriced checks the decisions of sac in markets of several resources, and the sums that it
// compares.
func TestPriced(t *testing.T) {
	t.Parallel()
	policytest.RunCases(t, "BOURSE_GOLDEN_RESOURCES", "testdata/resources", func(c *policytest.Case) func(*testing.T, *policytest.Case) {
		if c.Kind != "admit" {
			return nil
		}
		return admit
	})
}

func admit(t *testing.T, c *policytest.Case) {
	var in struct {
		Hosts []struct {
			CPUs, Cap, Memory, Disk, Bandwidth float64
			Countables                         map[string]int32
			Floor, Spot, Percentile            map[string]float64
		}
		Request struct {
			Bid    market.Rate
			Limit  float64
			Holds  map[string]float64
			MinCPU float64 `json:"min_cpu"`
		}
	}
	if err := json.Unmarshal(c.Input, &in); err != nil {
		t.Fatal(err)
	}
	counts := map[string]bool{}
	for _, h := range in.Hosts {
		for name := range h.Countables {
			counts[name] = true
		}
	}
	p := &priced{kinds: append([]string{"cpu", "memory", "disk", "bandwidth"}, slices.Sorted(maps.Keys(counts))...), bid: in.Request.Bid}
	for _, h := range in.Hosts {
		s := hosts.Spec{CPUs: h.CPUs, Speed: 1, Cap: h.Cap, Room: hosts.Resources{Memory: h.Memory, Disk: h.Disk, Bandwidth: h.Bandwidth}}
		for name, n := range h.Countables {
			s.Room.Counts[slices.Index(p.kinds, name)-int(hosts.Countable)] = n
		}
		var f hosts.Floor
		for name, x := range h.Floor {
			f[slices.Index(p.kinds, name)] = x
		}
		p.Specs, p.floors, p.spot, p.percentile = append(p.Specs, s), append(p.floors, f), append(p.spot, h.Spot), append(p.percentile, h.Percentile)
	}
	r := policytest.Wish(100, len(in.Hosts), 1)
	r.Needs.Min.CPU, r.Needs.Max.CPU = in.Request.MinCPU, in.Request.Limit
	for name, x := range in.Request.Holds {
		switch k := slices.Index(p.kinds, name); hosts.Kind(k) {
		case hosts.Memory:
			r.Needs.Min.Memory, r.Needs.Max.Memory = x, x
		case hosts.Disk:
			r.Needs.Min.Disk, r.Needs.Max.Disk = x, x
		case hosts.Bandwidth:
			r.Needs.Min.Bandwidth, r.Needs.Max.Bandwidth = x, x
		default:
			r.Needs.Min.Counts[k-int(hosts.Countable)] = int32(x)
		}
	}
	policy, err := admission.Policies()["sac"].New(func(any) error { return nil }, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	sac, _ := admission.Decides(policy)
	d := sac.Decide(0, &r, p)
	c.Exact(t, "verdict", d.Verdict.String())
	if d.Reason != contracts.None {
		c.Exact(t, "reason", string(d.Reason))
	}
	if want := c.Expect["numbers"]; want != nil {
		sums := map[string]any{}
		for i := range d.Numbers {
			name, x := d.Numbers[i].Value()
			for _, of := range p.kinds {
				for number, as := range map[string]string{"spot_share": "spot", "share": "percentile", "threshold": "threshold"} {
					if of == "cpu" && name == number || name == of+"_"+number {
						if sums[of] == nil {
							sums[of] = map[string]any{}
						}
						sums[of].(map[string]any)[as] = x
					}
				}
			}
		}
		c.Exact(t, "numbers", sums)
	}
}
