package fitlab

import (
	"math"

	"bourse/workloadgen/describe"
	"bourse/workloadgen/fit"
)

// OptionsFor returns the options of the market paper for fits. The distribution of sizes is
// limited to powers of two. They range from the smallest size of the log, without the smallest
// 5 %, to its largest size.
func OptionsFor(l *describe.Log) fit.Options {
	o := fit.PaperOptions()
	if l.Procs.N > 0 && l.Procs.Min > 0 {
		lo, hi := math.Round(math.Log2(l.Procs.P05)), math.Round(math.Log2(l.Procs.Max))
		o.Bins, o.Shift = int(hi-lo)+1, int(lo)-1
	}
	return o
}
