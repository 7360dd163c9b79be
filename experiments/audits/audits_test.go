package audits

import (
	"testing"

	"bourse/bank/audit"
)

// TestOldRules checks that results of earlier releases are audited by their own rules.
// testdata has a directory for each version of [results.Rules] except the newest, written
// by a release with that version.
func TestOldRules(t *testing.T) {
	t.Parallel()
	for dir, charges := range map[string]int64{"testdata/rules1": 5} {
		l, err := In(dir, "")
		if err != nil {
			t.Fatal(err)
		}
		found, err := l.Audit(audit.Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		computed := int64(0)
		for _, a := range found.Ledgers {
			if computed += a.Report.Computed; !a.Report.Clean() {
				t.Errorf("%s: %v, want a clean audit", a.Ledger, a.Report.Findings)
			}
		}
		if computed != charges {
			t.Errorf("%s: %d charges computed, want %d", dir, computed, charges)
		}
	}
}
