package store

import (
	"bytes"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

var _ Fetcher = (*directory)(nil)

// Fetch reads the values of keys in one pass. Reading them one by one would search every table
// that may contain them. It ignores errors, because Get will report them.
func (d *directory) Fetch(keys [][]byte) {
	d.fetched = nil
	if len(keys) < 2 {
		return
	}
	slices.SortFunc(keys, bytes.Compare)
	it, err := d.db.NewIter(&pebble.IterOptions{LowerBound: keys[0]})
	if err != nil {
		return
	}
	values := make(map[string][]byte, len(keys))
	for _, key := range keys {
		var value []byte
		if it.SeekPrefixGE(key) {
			if value, err = it.ValueAndErr(); err != nil {
				break
			}
			value = slices.Clone(value)
		}
		values[string(key)] = value
	}
	if it.Close() == nil && err == nil {
		d.fetched = values
	}
}
