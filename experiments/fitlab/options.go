package fitlab

import (
	"math"

	"bourse/workloadgen/describe"
	"bourse/workloadgen/fit"
)

// OptionsFor returns the market paper's options of fits. Sizes are powers of two from the
// log's smallest size, leaving out the smallest 5 %, to its largest.
func OptionsFor(l *describe.Log) fit.Options {
	o := fit.PaperOptions()
	if l.Procs.N > 0 && l.Procs.Min > 0 {
		lo, hi := math.Round(math.Log2(l.Procs.P05)), math.Round(math.Log2(l.Procs.Max))
		o.Bins, o.Shift = int(hi-lo)+1, int(lo)-1
	}
	return o
}
