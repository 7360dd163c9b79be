package workloadgen

import "math/rand/v2"

// A Model creates plans. The models are in workloadgen/models.
type Model interface {
	// Plan returns n jobs drawn with src, in order of arrival. If n is 0, the model's options
	// determine the number. Plan reuses the memory of into if it is large enough; into may be
	// nil.
	//
	// The same model, source and n give the same plan. Creating a plan does not change the
	// model, and several plans may be created concurrently, each with its own source.
	Plan(src rand.Source, n int, into Plan) (Plan, error)
}
