package admission

import (
	"slices"

	"bourse/contracts"
)

// A Test holds one number that a policy has looked at against another. Those who are refused
// for its reason have not passed it.
type Test struct {
	Reason contracts.Reason
	Got    string // name of the number that is held against the other
	Want   string // that which it is to reach; nodes and budget are those asked for
	AtMost bool   // or not to exceed
	Word   string // what the first is, as people say it
}

// deciding are the tests of the policies that give numbers, in the order in which they make
// them.
var deciding = map[string][]Test{
	"adaptive":  slices.Concat(statisticalTests, capacityTests),
	"cac":       slices.Concat(statisticalTests, capacityTests),
	"class":     slices.Concat(statisticalTests, capacityTests),
	"libra":     hostsTests(noShare),
	"librarisk": hostsTests(risky),
	"librasla":  hostsTests(noReturn),
	"partition": slices.Concat(statisticalTests, capacityTests),
	"reserve":   askTests,
	"sac":       statisticalTests,
}

// Tests returns the tests of the named policy that have two numbers, in the order in which
// it makes them, and that of those who are to pay.
func Tests(policy string) []Test {
	return append(slices.Clip(deciding[policy]), Test{contracts.Unfunded, "budget", "balance", true, "its budget"})
}

// hostsTests are those of a policy that refuses for want of hosts that would do.
func hostsTests(why contracts.Reason) []Test {
	return []Test{{why, "hosts", "nodes", false, "the number of hosts that would do"}}
}
