//go:build linux

package agent

import (
	"errors"
	"math"
	"path/filepath"
	"slices"

	"bourse/hosts/remote"
)

// Spans are told until they are booked, from the first that is not.
type spans struct {
	all    []remote.Span
	first  int64   // number of the first
	since  float64 // instant at which the one under way began
	until  float64 // instant of what was read last
	booked float64 // instant up to which all is booked
}

// mostSpans bounds how many are told: what is not booked for long is told in one.
const mostSpans = 32

// newSpans begins at now, or where an earlier agent's were booked last.
func newSpans(now, booked float64) spans {
	if booked <= 0 || booked > now {
		booked = now
	}
	return spans{first: 1, since: booked, until: now, booked: booked}
}

// read takes a reading of all that run.
func (a *Agent) read() error {
	a.spans.until = a.clock()
	all, err := a.Kernel.Read(nil)
	for _, u := range all {
		if t := a.tasks[u.Name]; t != nil && t.runs() && t.record.Name != "" {
			if u.Used == 0 && t.used == 0 { // what is to begin it waits, too
				t.unbegun = max(0, a.spans.until-t.record.Began)
			}
			t.used = max(t.used, u.Used)
			t.waits(u.Waited)
		}
	}
	return err
}

// waits notes for how long t has waited since it began, in milliseconds.
func (t *task) waits(seconds float64) {
	t.waited = max(t.waited, math.Round((t.unbegun+seconds)*1e3)/1e3)
}

// used returns what a group has used.
func (a *Agent) used(name string) float64 {
	all, _ := a.Kernel.Read(nil)
	for _, u := range all {
		if u.Name == name {
			return u.Used
		}
	}
	return 0
}

// closeSpan ends the span under way, in which that deal stood.
func (a *Agent) closeSpan(deal int64) {
	s := remote.Span{Deal: deal, Length: a.spans.until - a.spans.since, At: a.spans.until}
	if s.Length <= 0 {
		return // what was used comes in the next
	}
	for _, t := range a.sorted() {
		if (t.used != t.spanned || t.waited != t.waitedSpanned) && t.forgotten == 0 {
			s.Used = append(s.Used, remote.Used{Name: t.number, Seconds: t.used, Waited: t.waited})
			t.spanned, t.waitedSpanned = t.used, t.waited
		}
	}
	a.spans.since = s.At
	if len(s.Used) > 0 {
		a.spans.all = append(a.spans.all, s)
	} else if len(a.spans.all) == 0 {
		a.spans.booked = s.At // nothing is to be booked
	}
}

// Tell returns all that was not acknowledged.
func (a *Agent) Tell() (*remote.Told, error) {
	err := a.read()
	if len(a.spans.all) < mostSpans {
		a.closeSpan(a.deal)
	}
	a.seq++
	told := &remote.Told{
		Session: a.session.Number, Boot: a.self, After: a.session.After, Seq: a.seq, Have: a.deal,
		First: a.spans.first, Offer: a.Offer, Load: load(), Closed: a.closed, Leaving: a.leaving(),
		Stored: a.stored, Deleted: a.deletions(),
	}
	told.Spans = slices.Clone(a.spans.all)
	for _, t := range a.sorted() {
		if e := t.end; e != nil && t.forgotten == 0 && t.used == t.spanned {
			told.Ends = append(told.Ends, remote.End{
				Name: t.number, Why: e.Why, Code: uint8(e.Status), Signal: e.Signal, Fault: e.Fault,
				OutOfMemory: e.OutOfMemory, Lacks: e.Lacks,
			})
		}
	}
	return told, err
}

// acknowledge forgets what the market has for good.
func (a *Agent) acknowledge(o *remote.Orders) error {
	s := &a.spans
	for len(s.all) > 0 && s.first <= o.Ack {
		s.booked = s.all[0].At
		s.first, s.all = s.first+1, s.all[1:]
	}
	known := make(map[int64]bool)
	for _, name := range o.Known {
		known[name] = true
	}
	var errs []error
	for _, t := range a.tasks {
		if t.end == nil || t.forgotten > 0 || !known[t.number] {
			continue
		}
		now := a.clock()
		err := put(filepath.Join(t.folder, "told"), struct {
			Boot string
			At   float64
		}{a.boot, now}, true)
		if err == nil {
			t.forgotten = now
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
