package workloadgen

import "math/rand/v2"

// A Model makes plans. Its members are in workloadgen/models.
type Model interface {
	// Plan returns n jobs drawn with src, in order of arrival; n = 0 asks for
	// as many as the model's own options say. The memory of into is used
	// again where it is large enough; nil is good.
	//
	// The same model, source and n give the same plan. A model is not changed
	// by making one and may make several at a time, each with its own source.
	Plan(src rand.Source, n int, into Plan) (Plan, error)
}
