package experiments

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"bourse/contracts/policies"
	"bourse/experiments/results"
)

// derived describes the attributes of jobs that the settings add to the workload.
func (s *setting) derived() []string {
	name, _ := results.Spot(s.conf.Name)
	var said []string
	say := func(format string, args ...any) { said = append(said, name+": "+fmt.Sprintf(format, args...)) }
	if a := s.work.annotate; a != nil {
		if a.Price > 0 {
			worth := "worth"
			if a.Value != nil {
				worth = "worth, drawn from " + a.Value.Name
			}
			say("budgets are derived: each one is $%v per processor-second, multiplied by the job's %s.", a.Price, worth)
		}
		if u := a.Urgency; u != nil {
			say("deadlines are derived: each one is the runtime times a random factor that depends on the urgency class.")
			if u.SLA {
				say("budgets ($%v by %s) and penalties ($%v/s by %s) are derived: they are multiplied by random factors that depend on the urgency class.", u.Price, u.BudgetOf, u.Rate, u.PenaltyOf)
			}
		}
	}
	if f := s.conf.SLA.Slack; s.conf.SLA.Deadline == "none" {
		say("jobs have no deadlines.")
	} else if f != 1 {
		say("deadlines are derived: each one is %v times the quantity in sla.of (%s).", f, s.conf.SLA.Of)
	}
	if s.follow > 0 {
		say("%d of %d jobs follow another job and arrive after it ends. Arrivals therefore depend on the policy, and there is no U* (workload.preceding: ignored keeps the recorded arrivals).", s.follow, s.jobs)
	}
	if n := s.sized; n.Changed+n.Dropped > 0 {
		say("sizes: %s changed %d of %d jobs and omitted %d; %.3g of %.3g processor-seconds remain (%.3g %%).", s.work.annotate.Sizes.Rule, n.Changed, n.Jobs, n.Dropped, n.Left, n.Work, 100*n.Left/n.Work)
	}
	if w := s.tooWide(); w != "" {
		said = append(said, w)
	}
	if w := s.unpacked(); w != "" {
		said = append(said, w)
	}
	if n := s.underestimated(); n > 0 {
		say("%d of %d jobs run longer than estimated. Policies that rely on the estimate, such as cac, cannot keep their promises to these jobs.", n, len(s.work.fixed)+len(s.work.log))
	}
	return said
}

// warnings describes settings that are valid but probably unintended, with counts.
func (s *setting) warnings() (all []string) {
	if w := s.tooWide(); w != "" {
		all = append(all, w)
	}
	if w := s.unpacked(); w != "" {
		all = append(all, w)
	}
	name, _ := results.Spot(s.conf.Name)
	f := &s.conf.Fleet
	if fleet := float64(f.Hosts) * f.CPUs; float64(s.work.machine) > fleet {
		all = append(all, fmt.Sprintf("%s: the log is from a machine with %d processors, but the fleet has %v.", name, s.work.machine, fleet))
	}
	if s.short > 0 {
		all = append(all, fmt.Sprintf("%s: %d of %d jobs have a deadline below their runtime. They can end in time only if they get more than one processor per node.", name, s.short, s.jobs))
	}
	return all
}

// tooWide states how many jobs can never run, and why. It returns an empty string if every job
// can run.
func (s *setting) tooWide() string {
	name, _ := results.Spot(s.conf.Name)
	f := &s.conf.Fleet
	var all []string
	for _, widest := range slices.Sorted(maps.Keys(s.wide)) {
		var under []string
		for i := range s.offers {
			if o := &s.offers[i]; s.widest(o) == widest {
				under = append(under, o.Label)
			}
		}
		text := fmt.Sprintf("%s: %d of %d jobs can never run", name, s.wide[widest], s.jobs)
		if len(under) < len(s.offers) {
			text += " under " + strings.Join(under, ", ")
		}
		if widest > f.Hosts {
			all = append(all, text+fmt.Sprintf(": each node needs its own processor, and these jobs have more nodes than the fleet has processors (%d).", widest))
			continue
		}
		all = append(all, text+fmt.Sprintf(": each node needs its own host, and these jobs have more nodes than the fleet has hosts (%d). They can run on hosts with one processor each, or with "+
			"workload.annotate.sizes: {rule: pack} under %s, or with {rule: fold, hosts: %d, per: %.0f}.", f.Hosts, packers(), f.Hosts, max(1, f.CPUsOf(0))))
	}
	return strings.Join(all, " ")
}

// unpacked states under which policies the packing of sizes has no effect. It returns an empty
// string if there are no such policies.
func (s *setting) unpacked() string {
	if !s.common.Packed {
		return ""
	}
	name, _ := results.Spot(s.conf.Name)
	var spread []string
	for i := range s.offers {
		if o := &s.offers[i]; !s.packs(o) {
			spread = append(spread, o.Label)
		}
	}
	if spread == nil {
		return ""
	}
	return fmt.Sprintf("%s: sizes: {rule: pack} has no effect under %s, where each node of a job has its own host. It has an effect under %s.",
		name, strings.Join(spread, ", "), packers())
}

// packers returns the names of the policies that can place several nodes of a job on one host.
func packers() string {
	return strings.Join(slices.DeleteFunc(policies.Table(nil, nil).Names(), func(p string) bool { return !policies.Of(p).Packs }), ", ")
}

// underestimated returns the number of jobs of a log or plan that run longer than their
// deadlines allow. It counts only jobs whose deadlines were computed from recorded estimates.
func (s *setting) underestimated() (n int) {
	if a := s.work.annotate; s.conf.SLA.Of != "estimate" || a != nil && (a.Inaccuracy != nil || a.Restore != 0 || a.Urgency != nil) {
		return 0
	}
	jobs := slices.Values(s.work.fixed)
	if s.work.log != nil {
		jobs = s.work.log.All()
	}
	for j := range jobs {
		if j.Runtime > s.conf.SLA.Slack*j.Estimate {
			n++
		}
	}
	return n
}
