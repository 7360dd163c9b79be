package core

import (
	"flag"
	"fmt"
	"strings"
	"testing"
)

// TestAgainstBroker checks for 2,000 random markets that the new core comes to the
// same decisions, starts, ends, prices, payments and journal as contracts/broker, to
// the last bit. Three kinds of market are set apart, in which the old broker is at
// fault; TestKnownFaults looks at them.
func TestAgainstBroker(t *testing.T) {
	t.Parallel()
	same, apart := map[string]int{}, 0
	contractsSeen, waited := 0, 0
	for seed := uint64(*first); sum(same) < *trials; seed++ {
		m := newTrial(seed, 40)
		if *only != "" && m.policy != *only {
			continue
		}
		got, b := m.new(true, nil)
		m = newTrial(seed, 40)
		want, failed := m.old(true)
		if failed != nil {
			t.Logf("%v: the old broker fails: %v", m, failed)
			apart++
			continue
		}
		if where := difference(got, want); where != "" {
			t.Errorf("%v: %s", m, where)
			if apart++; apart > 5 {
				t.FailNow()
			}
		}
		same[m.policy]++
		contractsSeen += len(b.Ended())
		waited += len(b.Refused())
		for i := range b.Ended() {
			if e := &b.Ended()[i]; e.Admitted > e.Submit {
				waited++
			}
		}
	}
	t.Logf("the same: %v; set apart: %d; %d contracts, %d waited", same, apart, contractsSeen, waited)
}

var (
	first  = flag.Int("first", 0, "first seed")
	trials = flag.Int("trials", 2000, "")
	only   = flag.String("only", "", "")
)

func sum(counts map[string]int) (n int) {
	for _, k := range counts {
		n += k
	}
	return n
}

func difference(got, want record) string {
	for _, part := range []struct {
		name      string
		got, want []string
	}{
		{"decision", got.decisions, want.decisions},
		{"refusal", got.refused, want.refused},
		{"end", got.ended, want.ended},
		{"prices", []string{got.prices}, []string{want.prices}},
		{"accounts", []string{got.accounts}, []string{want.accounts}},
		{"journal", strings.Split(got.journal, "\n"), strings.Split(want.journal, "\n")},
	} {
		for i := range max(len(part.got), len(part.want)) {
			var g, w string
			if i < len(part.got) {
				g = part.got[i]
			}
			if i < len(part.want) {
				w = part.want[i]
			}
			if g != w {
				return fmt.Sprintf("%s %d:\n\tgot  %s\n\twant %s", part.name, i, g, w)
			}
		}
	}
	return ""
}
