package results

import "fmt"

// whole returns the error of read, or one in place of its panic: the library that reads
// Parquet trusts the sizes that a damaged file states.
func whole(read func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("damaged: %v", p)
		}
	}()
	return read()
}
