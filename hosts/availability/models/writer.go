package models

import (
	"math"

	"bourse/hosts/availability"
)

// A writer writes consecutive records of one host from 0 to span.
type writer struct {
	span    float64
	at      float64 // start of the next record, not rounded
	records []availability.Record
}

// full reports whether the trace is complete.
func (w *writer) full() bool { return w.at >= w.span }

// add appends a record of the given length, with its ends rounded to whole seconds. It omits
// records that become empty.
func (w *writer) add(length float64, state availability.State, load float64) {
	start := math.Round(w.at)
	w.at = min(w.at+length, w.span)
	end := math.Round(w.at)
	if n := len(w.records); n > 0 && w.records[n-1].State == state && w.records[n-1].Load == load && w.records[n-1].End == start {
		w.records[n-1].End = max(end, start)
		return
	}
	if end > start {
		w.records = append(w.records, availability.Record{Start: start, End: end, State: state, Load: load})
	}
}
