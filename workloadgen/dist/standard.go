package dist

import (
	"fmt"

	"gonum.org/v1/gonum/stat/distuv"
)

// If gonum has a distribution, this package uses gonum's type and adds options, defaults and
// checks.

// ExponentialOptions are the options of "exponential".
type ExponentialOptions struct {
	Mean float64 `yaml:"mean" validate:"gt=0" doc:"mean"`
}

func newExponential(decode func(any) error) (Distribution, error) {
	o := ExponentialOptions{Mean: 1}
	if err := decode(&o); err != nil {
		return nil, err
	}
	return distuv.Exponential{Rate: 1 / o.Mean}, nil
}

// ShapeScale are the options of "weibull" and "gamma".
type ShapeScale struct {
	Shape float64 `yaml:"shape" validate:"gt=0" doc:"shape"`
	Scale float64 `yaml:"scale" validate:"gt=0" doc:"scale"`
}

func decodeShapeScale(decode func(any) error) (ShapeScale, error) {
	o := ShapeScale{Shape: 1, Scale: 1}
	err := decode(&o)
	return o, err
}

func newWeibull(decode func(any) error) (Distribution, error) {
	o, err := decodeShapeScale(decode)
	if err != nil {
		return nil, err
	}
	return distuv.Weibull{K: o.Shape, Lambda: o.Scale}, nil
}

func newGamma(decode func(any) error) (Distribution, error) {
	o, err := decodeShapeScale(decode)
	if err != nil {
		return nil, err
	}
	return NewGamma(o.Shape, o.Scale), nil
}

// LogNormalOptions are the options of "lognormal".
type LogNormalOptions struct {
	Mu    float64 `yaml:"mu" doc:"mean of the logarithm"`
	Sigma float64 `yaml:"sigma" validate:"gt=0" doc:"standard deviation of the logarithm"`
}

func newLogNormal(decode func(any) error) (Distribution, error) {
	o := LogNormalOptions{Sigma: 1}
	if err := decode(&o); err != nil {
		return nil, err
	}
	return distuv.LogNormal{Mu: o.Mu, Sigma: o.Sigma}, nil
}

// NormalOptions are the options of "normal".
type NormalOptions struct {
	Mean float64 `yaml:"mean" doc:"mean"`
	SD   float64 `yaml:"sd" validate:"gt=0" doc:"standard deviation"`
}

func newNormal(decode func(any) error) (Distribution, error) {
	o := NormalOptions{SD: 1}
	if err := decode(&o); err != nil {
		return nil, err
	}
	return distuv.Normal{Mu: o.Mean, Sigma: o.SD}, nil
}

// ParetoOptions are the options of "pareto".
type ParetoOptions struct {
	Shape float64 `yaml:"shape" validate:"gt=0" doc:"shape"`
	Min   float64 `yaml:"min" validate:"gt=0" doc:"smallest value"`
}

func newPareto(decode func(any) error) (Distribution, error) {
	o := ParetoOptions{Shape: 1.16, Min: 1}
	if err := decode(&o); err != nil {
		return nil, err
	}
	return distuv.Pareto{Alpha: o.Shape, Xm: o.Min}, nil
}

// UniformOptions are the options of "uniform".
type UniformOptions struct {
	Min float64 `yaml:"min" doc:"lower end"`
	Max float64 `yaml:"max" doc:"upper end, more than min"`
}

func newUniform(decode func(any) error) (Distribution, error) {
	o := UniformOptions{Max: 1}
	if err := decode(&o); err != nil {
		return nil, err
	}
	if o.Min >= o.Max {
		return nil, fmt.Errorf("max %v is not more than min %v", o.Max, o.Min)
	}
	return distuv.Uniform{Min: o.Min, Max: o.Max}, nil
}

// Constant is the distribution of a single value.
type Constant float64

// ConstantOptions are the options of "constant".
type ConstantOptions struct {
	Value float64 `yaml:"value" doc:"the value"`
}

func newConstant(decode func(any) error) (Distribution, error) {
	o := ConstantOptions{Value: 1}
	err := decode(&o)
	return Constant(o.Value), err
}

// CDF implements [Distribution].
func (c Constant) CDF(x float64) float64 {
	if x < float64(c) {
		return 0
	}
	return 1
}

// Quantile implements [Distribution].
func (c Constant) Quantile(float64) float64 { return float64(c) }

// Mean implements [Distribution].
func (c Constant) Mean() float64 { return float64(c) }

// Variance implements [Distribution].
func (c Constant) Variance() float64 { return 0 }
