package admission

import (
	"slices"

	"bourse/contracts"
)

// A Test compares two numbers of a decision. A request that was rejected for Reason did not
// pass it. Reports use tests to show how far a request was from being accepted.
type Test struct {
	Reason contracts.Reason
	Got    string // name of the number that is tested
	Want   string // name of the number that it must reach; nodes and budget are those of the request
	AtMost bool   // if set, Got must not exceed Want
	Word   string // phrase for Got in reports
}

// deciding holds the tests of the policies that report numbers, in the order in which they
// make them.
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

// Tests returns the tests of the named policy that compare two numbers, in the order in which
// it makes them. The last is the broker's test whether the owner can pay.
func Tests(policy string) []Test {
	return append(slices.Clip(deciding[policy]), Test{contracts.Unfunded, "budget", "balance", true, "its budget"})
}

// hostsTests returns the test of a policy that rejects requests if too few hosts are suitable.
func hostsTests(why contracts.Reason) []Test {
	return []Test{{why, "hosts", "nodes", false, "the number of hosts that would do"}}
}
