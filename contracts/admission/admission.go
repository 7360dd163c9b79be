package admission

import (
	"math/rand/v2"
	"slices"

	"bourse/contracts"
	"bourse/contracts/bidding"
	"bourse/workloadgen/config"
)

// A factory creates a policy. decode fills in the policy's own options struct and rejects
// unknown fields. bid chooses hosts, and rng is the policy's own random stream.
type factory func(decode func(any) error, bid bidding.Strategy, rng *rand.Rand) (contracts.Policy, error)

// A maker creates a decider from the same arguments.
type maker func(decode func(any) error, bid bidding.Strategy, rng *rand.Rand) (contracts.Decider, error)

// immediate creates a policy that decides at submission.
func (m maker) immediate(decode func(any) error, bid bidding.Strategy, rng *rand.Rand) (contracts.Policy, error) {
	d, err := m(decode, bid, rng)
	return Immediate(d), err
}

// policies is the table of policies, by the name used in scenarios.
var policies = map[string]struct {
	doc     string
	sharing string // the sharing rule for which the policy is designed
	new     factory
}{
	"adaptive":  {"by load: one policy under low load, another under high load (§1)", "auction", maker(newAdaptive).immediate},
	"be":        {"best effort: admit everything that can be placed (§3)", "auction", maker(newBestEffort).immediate},
	"cac":       {"capacity: admit if no contract would be violated (§3, eq. 6)", "auction", maker(newCapacity).immediate},
	"class":     {"mixed: each request by the policy of its class (§3)", "auction", maker(newByClass).immediate},
	"easy":      {"first come, first served, with EASY backfilling", "exclusive", newEasy},
	"edf":       {"earliest deadline first, in a queue", "exclusive", newEDF},
	"fcfs":      {"first come, first served, in a queue", "exclusive", newFCFS},
	"libra":     {"admit if all deadlines can be kept, best fit (Libra)", "deadline", maker(newLibra).immediate},
	"librarisk": {"admit on hosts where no task risks more delay than another (LibraRisk)", "deadline", maker(newLibraRisk).immediate},
	"librasla":  {"admit on hosts whose return increases (LibraSLA)", "librasla", maker(newLibraSLA).immediate},
	"partition": {"some hosts for reservations, the others for the spot market (§5)", "auction", maker(newPartition).immediate},
	"queue":     {"first come, first served, on hosts predicted to stay (volunteers)", "exclusive", newQueue},
	"rac":       {"random: reject a fixed fraction of requests (§4.3)", "auction", maker(newRandom).immediate},
	"reserve":   {"advance reservations in the books of clusters", "planned", newReserve},
	"sac":       {"statistical: admit if the bids pay the price percentile (§3, eq. 5)", "auction", maker(newStatistical).immediate},
}

// Table returns the table of policies. bid chooses the hosts for the policy that is created,
// and rng is its random stream.
func Table(bid bidding.Strategy, rng *rand.Rand) config.Table[contracts.Policy] {
	t := config.Table[contracts.Policy]{Kind: "admission policy", Members: make(config.Members[contracts.Policy], len(policies))}
	for name, p := range policies {
		m := t.Members[name]
		m.Doc = p.doc + "; for " + p.sharing + " sharing"
		m.New = func(decode config.Decoder) (contracts.Policy, error) { return p.new(decode, bid, rng) }
		t.Members[name] = m
	}
	return t
}

// Again creates the named policy as [Table] does, from options that are known to be valid.
// Callers that create the same policy for each run use it.
func Again(name string, decode config.Decoder, bid bidding.Strategy, rng *rand.Rand) (contracts.Policy, error) {
	return policies[name].new(decode, bid, rng)
}

// Books reports whether the named policy uses books: it promises hosts and times to requests,
// and starts and ends them itself.
func Books(name string) bool { return policies[name].sharing == "planned" }

// Spot reports whether the named policy is that of a spot market. Such a policy admits
// whatever can be placed, so prices under it reflect demand.
func Spot(name string) bool { return name == "be" }

// Forecasts reports whether the named policy uses price forecasts. These are sac and the
// policies that contain it.
func Forecasts(name string) bool {
	return slices.Contains([]string{"sac", "cac", "adaptive", "class", "partition"}, name)
}

// NeedsDeadlines reports whether the named policy, under the named sharing rule, cannot decide
// sensibly if jobs have no deadlines.
func NeedsDeadlines(policy, sharing string) bool {
	return policy == "edf" || slices.ContainsFunc([]string{policies[policy].sharing, sharing}, func(rule string) bool { return rule == "deadline" || rule == "librasla" })
}

// Queues reports whether the named policy is a queue that starts jobs in order of arrival.
func Queues(name string) bool { return slices.Contains([]string{"easy", "fcfs", "queue"}, name) }

// Classes returns the classes that the named policy offers, or nil if it ignores classes.
func Classes(name string) []string {
	if name != "class" && name != "partition" {
		return nil
	}
	return []string{"be", "sac", "cac", "rac"}
}

// SharingOf returns the name of the sharing rule for which the named policy is designed. The
// policy also runs under other rules, but then its decisions assume shares that the hosts do
// not allocate.
func SharingOf(name string) string { return policies[name].sharing }
