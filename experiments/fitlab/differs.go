package fitlab

import (
	"fmt"

	"bourse/workloadgen/describe"
)

// paperDiffers returns sentences that describe how a log differs from the paper's log of San
// Diego's Blue Horizon (§2). They are for a page that shows both. The archive has cleaned the
// log since the paper was written. It has removed bursts of single users, and some copies omit
// jobs that never ran.
func paperDiffers(l *describe.Log) []string {
	short := 0
	for _, r := range l.Run.Values {
		if r < 30 {
			short++
		}
	}
	return []string{
		fmt.Sprintf("The paper's log had 223402 jobs; this log has %d, of which %d ran.", l.Records, l.Ran),
		fmt.Sprintf("In the paper's log, less than 7 %% of the jobs ran for less than 30 s; in this log, %.1f %% of them did. PolyLin puts 6.3 %% at 30 s.",
			100*float64(short)/float64(max(1, l.Ran))),
		fmt.Sprintf("The gaps have a mean of 378.648 s and a coefficient of variation of 3.86 in the paper, and %.2f s and %.2f here. The model exp keeps the paper's mean.",
			l.IAT.Mean, l.IAT.CV),
		fmt.Sprintf("The paper measured a Hurst exponent of 0.735 in the gaps; here, the rescaled range method gives %.3f.", l.RescaledRange.H),
		"Sizes other than powers of two are counted unchanged. The paper omitted them, because they are only about 1 % of all sizes.",
	}
}
