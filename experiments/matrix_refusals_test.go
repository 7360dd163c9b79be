package experiments

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"bourse/contracts/policies"
)

// matrixRefusals lists combinations that are refused: the text of the check's error, and
// why such a scenario is refused instead of run.
var matrixRefusals = []struct{ says, why string }{
	{`no job has a budget; set price or budget`, "a market in which nobody can pay admits nobody"},
	{`admission (reserve|windows|bundle): found fleet.availability, want none`, "a book promises nodes that it knows to be there"},
	{`admission (reserve|windows|bundle): found sharing \w+, want planned`, "only planned sharing gives a gang all of its nodes at once"},
	{`admission (reserve|windows|bundle): requires market.instant: ends-first`, "a book is told of ends before it is asked for room"},
	{`found "edf\+insert" with preempt`, "a plan that suspends has no holes to insert into"},
	{`requires sla.deadline: hard, soft or plan, not none`, "a policy or a share that follows deadlines has none to follow"},
	{`found \d+ jobs( requested)?, want at most \d+`, "a log is run as it was recorded, and has no more jobs"},
	{`admission (posted|spot|call|karma|slices): found sharing \w+, want exclusive$`, "rates are of whole processors"},
	{`admission (posted|spot|call|karma|slices): found market.payment \w+, want (bid|free), because the policy sets the rates`, "what the policy agreed is what is paid"},
	{`admission (spot|call|karma|slices): found fleet.availability.leaving: suspend`, "a unit that is away is no longer sold"},
	{`admission (windows|bundle): found fleet.hosts: \d+, want 1, because the policy sells the processors of a single host`, "it sells the processors of one host"},
	{`admission policy windows: (prices|high): found`, "the price of a unit that is sold first is the highest that all may pay"},
	{`notice: want at most every`, "a decision is made after the clearing before it"},
	{`bidding: progress needs a price ondemand`, "its buyers fall back on it"},
	{`admission policy posted: high: found`, "a price does not fall with the load"},
	{`log.swf: (no jobs|none of \d+ records passed the filter)`, "there is nothing to run"},
}

var matrixSays = func() (all []*regexp.Regexp) {
	for _, r := range matrixRefusals {
		all = append(all, regexp.MustCompile(r.says))
	}
	return all
}()

// A coverage counts the cases that the draws have covered.
type coverage struct {
	refused int
	lines   []int           // number of occurrences of each line of matrixRefusals
	met     map[string]bool // combinations POLICY/SHARING that have run
}

func newCoverage() *coverage {
	return &coverage{lines: make([]int, len(matrixRefusals)), met: make(map[string]bool)}
}

func (c *coverage) add(o *coverage) {
	c.refused += o.refused
	for i, n := range o.lines {
		c.lines[i] += n
	}
	for k := range o.met {
		c.met[k] = true
	}
}

// refuse finds the line of the list that explains why a scenario was refused.
func (c *coverage) refuse(text string) error {
	var found []int
	for i, says := range matrixSays {
		if says.MatchString(text) {
			found = append(found, i)
		}
	}
	if len(found) != 1 {
		return fmt.Errorf("refused, by %d lines of the list, want one: %s", len(found), text)
	}
	c.lines[found[0]]++
	return nil
}

// ran records which policies ran under which sharing rule.
func (c *coverage) ran(r *told) {
	for _, run := range r.runs {
		c.met[run.offer.Name+" under "+run.offer.sharing.Name] = true
	}
}

// judge checks that the draws have covered the required cases.
func (c *coverage) judge(t *testing.T, draws uint64) {
	if draws >= 200 && uint64(c.refused)*5 > draws {
		t.Errorf("%d of %d draws are refused, want a fifth at most", c.refused, draws)
	}
	if draws >= 300 {
		for _, name := range policies.Table(nil, nil).Names() {
			if key := name + " under " + policies.Of(name).Sharing; !c.met[key] {
				t.Errorf("no draw of %d ran %s", draws, key)
			}
		}
	}
	if i := slices.Index(c.lines, 0); i >= 0 && draws >= 20_000 {
		t.Errorf("nothing is refused by %q any more in %d draws: want the line gone from the list", matrixRefusals[i].says, draws)
	}
	t.Logf("%d of %d draws refused, by line of the list: %v; %d pairs of policy and sharing", c.refused, draws, c.lines, len(c.met))
}
