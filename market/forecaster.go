package market

// A Forecaster estimates a percentile of the price from past prices. Admission policies plan
// with that percentile instead of the current price, because the price rises when other users
// bid.
type Forecaster interface {
	// Percentile returns F⁻¹(g): the price, in dollars per second, that will not be exceeded
	// with probability g (eq. 5). g is between 0 and 1, exclusive. The estimate uses the
	// window of h that ends at now.
	Percentile(h *History, now, g float64) float64
}
