package experiments

import (
	"errors"

	"bourse/experiments/scenario"
)

// MatrixHashes is the number of random scenarios whose results have stored hashes.
const MatrixHashes = matrixHashes

// Drawn returns the n-th random scenario and writes its files to dir. It returns nil if the
// scenario is refused. It reports whether some jobs follow others.
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
