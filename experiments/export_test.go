package experiments

import (
	"errors"

	"bourse/experiments/scenario"
)

// MatrixHashes is the number of random scenarios whose results have stored hashes.
const MatrixHashes = matrixHashes

// Drawn writes the files of the n-th random scenario to dir and returns the scenario, or nil if
// it is refused. The result follow reports whether some jobs follow others.
func Drawn(n uint64, dir string) (e *scenario.Experiment, follow bool, err error) {
	d := draw(n)
	if err := d.write(dir); err != nil {
		return nil, false, err
	}
	e, err = parse(dir)
	if errors.As(err, new(refused)) {
		e, err = nil, nil
	}
	return e, follows(d.plan), err
}
