package value

// Equal is worth 1, always.
type Equal struct{}

// Quantile implements [Model].
func (Equal) Quantile(float64) float64 { return 1 }
