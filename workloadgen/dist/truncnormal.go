package dist

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// TruncNormal is the normal distribution with mean Mu and standard deviation SD, conditioned
// on values above Lo and, unless Hi is 0, below Hi. Mu and SD are the parameters before
// truncation.
type TruncNormal struct {
	Mu float64 `yaml:"mean" doc:"mean before truncation"`
	SD float64 `yaml:"sd" validate:"gt=0" doc:"standard deviation before truncation"`
	Lo float64 `yaml:"min" doc:"lower end"`
	Hi float64 `yaml:"max" doc:"upper end; 0 means none"`
}

func newTruncNormal(decode func(any) error) (Distribution, error) {
	t := TruncNormal{Mu: 1, SD: 1}
	if err := decode(&t); err != nil {
		return nil, err
	}
	if t.Hi != 0 && t.Hi <= t.Lo {
		return nil, fmt.Errorf("max %v is not more than min %v", t.Hi, t.Lo)
	}
	if a, b := t.bounds(); !(phi(b) > phi(a)) {
		return nil, fmt.Errorf("the normal has no mass above %v", t.Lo)
	}
	return t, nil
}

func phi(z float64) float64 { return distuv.UnitNormal.CDF(z) }

// bounds returns Lo and Hi in standard deviations from the mean.
func (t TruncNormal) bounds() (a, b float64) {
	a, b = (t.Lo-t.Mu)/t.SD, math.Inf(1)
	if t.Hi != 0 {
		b = (t.Hi - t.Mu) / t.SD
	}
	return a, b
}

// CDF implements [Distribution].
func (t TruncNormal) CDF(x float64) float64 {
	a, b := t.bounds()
	switch z := (x - t.Mu) / t.SD; {
	case z <= a:
		return 0
	case z >= b:
		return 1
	default:
		return (phi(z) - phi(a)) / (phi(b) - phi(a))
	}
}

// Quantile implements [Distribution]:
//
//	x = Mu + SD PHI^-1(PHI(a) + u (PHI(b) - PHI(a)))
func (t TruncNormal) Quantile(u float64) float64 {
	a, b := t.bounds()
	x := t.Mu + t.SD*distuv.UnitNormal.Quantile(phi(a)+u*(phi(b)-phi(a)))
	if x = math.Max(x, t.Lo); t.Hi != 0 {
		x = math.Min(x, t.Hi)
	}
	return x
}

// Mean implements [Distribution].
func (t TruncNormal) Mean() float64 {
	m, _ := t.moments()
	return t.Mu + t.SD*m
}

// Variance implements [Distribution].
func (t TruncNormal) Variance() float64 {
	_, v := t.moments()
	return t.SD * t.SD * v
}

// moments returns the mean and variance of the standardized law.
func (t TruncNormal) moments() (mean, variance float64) {
	a, b := t.bounds()
	mass := phi(b) - phi(a)
	da, db := distuv.UnitNormal.Prob(a), distuv.UnitNormal.Prob(b)
	edge := a * da
	if !math.IsInf(b, 1) {
		edge -= b * db
	}
	mean = (da - db) / mass
	return mean, 1 + edge/mass - mean*mean
}
