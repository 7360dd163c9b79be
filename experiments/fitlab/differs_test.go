package fitlab

import (
	"strings"
	"testing"

	"bourse/workloadgen/describe"
)

// TestPaperDiffers checks the sentences on the Blue Horizon log: the number of jobs, the
// fraction below 30 s, and the coefficient of variation of the gaps, 3.9.
func TestPaperDiffers(t *testing.T) {
	t.Parallel()
	text := strings.Join(paperDiffers(describe.Describe(trace(t, "SDSC-BLUE-2000-4.1-cln.valid.swf.gz"))), "\n")
	for _, want := range []string{"223402 jobs; this log has 232542, of which 232542 ran", "in this log, 1.2 %", "363.77 s and 3.89 here", "0.749"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s\ndoes not say %s", text, want)
		}
	}
}
