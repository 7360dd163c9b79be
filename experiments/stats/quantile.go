package stats

// Quantile returns the p quantile of xs, which must be sorted and not empty. The
// probability p is in [0,1]. It interpolates linearly between the order statistics around 1
// + p(n-1) (type 7 of Hyndman and Fan, the default of R and NumPy). Quantile panics if p is
// outside [0,1].
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
