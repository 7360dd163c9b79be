package fitlab

import (
	"fmt"

	"bourse/workloadgen/describe"
)

// paperDiffers says in sentences how a log differs from the San Diego Blue
// Horizon's as the paper had it (§2), for a page that puts both beside each
// other. The log that the archive publishes today has been cleaned since: bursts
// of single users are out, and copies of it leave out what never ran.
func paperDiffers(l *describe.Log) []string {
	short := 0
	for _, r := range l.Run.Values {
		if r < 30 {
			short++
		}
	}
	return []string{
		fmt.Sprintf("The paper had 223402 jobs; this log has %d, of which %d ran.", l.Records, l.Ran),
		fmt.Sprintf("Of the paper's jobs less than 7 %% ran for less than 30 s; of these %.1f %%. PolyLin puts 6.3 %% at 30 s.",
			100*float64(short)/float64(max(1, l.Ran))),
		fmt.Sprintf("The paper's gaps have mean 378.648 s and coefficient of variation 3.86; these %.2f s and %.2f. Exp keeps the paper's mean.",
			l.IAT.Mean, l.IAT.CV),
		fmt.Sprintf("The paper measured a Hurst exponent of 0.735 in the gaps; rescaled range finds %.3f here.", l.RescaledRange.H),
		"Sizes other than powers of two count as they are; the paper left them out, as about 1 %.",
	}
}
