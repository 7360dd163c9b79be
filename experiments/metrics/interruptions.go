package metrics

// Interruptions is the mean number of times that a contract was removed from its hosts and
// could continue later.
var Interruptions = Metric{
	Name: "interruptions", Unit: "1", Less: true,
	Doc: "suspensions per admitted job, including moves to other hosts; computed only if a figure or search names the metric",
	Of: func(o *Outcome) (float64, bool) {
		sum, n := 0.0, 0.0
		for i := range o.Jobs {
			if j := &o.Jobs[i]; j.Admitted() {
				sum += float64(j.Contract.Suspensions)
				n++
			}
		}
		return over(sum, n)
	},
}
