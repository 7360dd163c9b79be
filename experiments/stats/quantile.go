package stats

// Quantile returns the p quantile of xs, sorted and not empty, p in [0,1]:
// linear between the order statistics around 1 + p(n-1) (type 7 of Hyndman and
// Fan, the default of R and NumPy). It panics on a p outside [0,1].
func Quantile(xs []float64, p float64) float64 {
	if !(p >= 0 && p <= 1) {
		panic("stats: quantile outside [0,1]")
	}
	at := p * float64(len(xs)-1)
	i := int(at)
	if i+1 >= len(xs) {
		return xs[len(xs)-1]
	}
	w := at - float64(i)
	return min(xs[i]+w*(xs[i+1]-xs[i]), xs[i+1])
}
