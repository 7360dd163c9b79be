//go:build !unix

package results

import (
	"errors"
	"os"
)

// lockDir is not supported, so leftovers of killed runs cannot be distinguished from live
// runs.
func lockDir(string) (*os.File, error) { return nil, errors.ErrUnsupported }

// mounted always returns false.
func mounted(string) bool { return false }

func shareDir(dir string) (*os.File, error) { return lockDir(dir) }
