package main

import (
	"path/filepath"

	"bourse/experiments/verify"
)

// published returns what the results in path publish beside each of the ledgers in
// dirs, nil if path is a ledger.
func published(path string, dirs []string) ([]*verify.Run, error) {
	if len(dirs) == 1 && dirs[0] == path {
		return make([]*verify.Run, 1), nil
	}
	r, err := openResults(path)
	if err != nil {
		return nil, err
	}
	e, err := experimentOf(r)
	if err != nil {
		return nil, err
	}
	runs := make([]string, len(dirs))
	for i, dir := range dirs {
		run, err := filepath.Rel(filepath.Join(path, "ledger"), dir)
		if err != nil {
			return nil, err
		}
		runs[i] = filepath.ToSlash(run)
	}
	return verify.Published(r, e, runs), nil
}
