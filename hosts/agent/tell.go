//go:build linux

package agent

import (
	"errors"
	"math"
	"path/filepath"
	"slices"

	"bourse/hosts/remote"
)

// spans are the periods of usage to report. They are reported until they are booked, starting
// with the first unbooked one.
type spans struct {
	all    []remote.Span
	first  int64   // number of the first span
	since  float64 // start of the current span
	until  float64 // time of the last measurement
	booked float64 // time up to which all usage is booked
}

// mostSpans is the maximum number of reported spans. If spans are not booked for a long time,
// they are merged.
const mostSpans = 32

// newSpans returns spans that start at now, or at the time up to which the usage of an earlier
// agent was booked.
func newSpans(now, booked float64) spans {
	if booked <= 0 || booked > now {
		booked = now
	}
	return spans{first: 1, since: booked, until: now, booked: booked}
}

// read measures the usage of all running tasks.
func (a *Agent) read() error {
	a.spans.until = a.clock()
	all, err := a.Kernel.Read(nil)
	for _, u := range all {
		if t := a.tasks[u.Name]; t != nil && t.runs() && t.record.Name != "" {
			if u.Used == 0 && t.used == 0 { // the process that prepares itself for the command can also wait
				t.unbegun = max(0, a.spans.until-t.record.Began)
			}
			t.used = max(t.used, u.Used)
			t.waits(u.Waited)
		}
	}
	return err
}

// waits records how long t has waited since its start, in whole milliseconds.
func (t *task) waits(seconds float64) {
	t.waited = max(t.waited, math.Round((t.unbegun+seconds)*1e3)/1e3)
}

// used returns the processor-seconds used by a control group.
func (a *Agent) used(name string) float64 {
	all, _ := a.Kernel.Read(nil)
	for _, u := range all {
		if u.Name == name {
			return u.Used
		}
	}
	return 0
}

// closeSpan ends the current span, during which the given allocation was in force.
func (a *Agent) closeSpan(deal int64) {
	s := remote.Span{Deal: deal, Length: a.spans.until - a.spans.since, At: a.spans.until}
	if s.Length <= 0 {
		return // later usage belongs to the next span
	}
	for _, t := range a.sorted() {
		if (t.used != t.spanned || t.waited != t.waitedSpanned) && t.forgotten == 0 {
			s.Used = append(s.Used, remote.Used{Name: t.number, Seconds: t.used, Waited: t.waited})
			t.spanned, t.waitedSpanned = t.used, t.waited
		}
	}
	a.spans.since = s.At
	if len(s.Used) > 0 || a.charges() {
		a.spans.all = append(a.spans.all, s)
	} else if len(a.spans.all) == 0 {
		a.spans.booked = s.At // no usage needs booking
	}
}

// charges reports whether a task holds resources that are charged even if it uses no
// processor.
func (a *Agent) charges() bool {
	for _, t := range a.tasks {
		if t.runs() && (t.record.Memory+t.record.Disk+t.record.Bandwidth > 0 || len(t.record.Units) > 0) {
			return true
		}
	}
	return false
}

// Tell returns a report of all changes and usage that have not been acknowledged.
func (a *Agent) Tell() (*remote.Told, error) {
	err := a.read()
	if len(a.spans.all) < mostSpans {
		a.closeSpan(a.deal)
	}
	a.seq++
	told := &remote.Told{
		Session: a.session.Number, Boot: a.self, After: a.session.After, Seq: a.seq, Have: a.deal,
		First: a.spans.first, Offer: a.Offer, Load: load(), Closed: a.shut(), Leaving: a.leaving(),
		Stored: a.stored, Deleted: a.deletions(),
	}
	told.Offer.Busy = a.busy()
	if a.Backend != nil {
		told.Load = 0 // the load of this machine is not the load of the backend's machine
	}
	told.Spans = slices.Clone(a.spans.all)
	for _, t := range a.sorted() {
		if e := t.end; e != nil && t.forgotten == 0 && t.used == t.spanned && !a.holds(t) {
			told.Ends = append(told.Ends, remote.End{
				Name: t.number, Why: e.Why, Code: uint8(e.Status), Signal: e.Signal, Fault: e.Fault,
				OutOfMemory: e.OutOfMemory, Lacks: e.Lacks,
			})
		}
	}
	return told, err
}

// shut returns the reason for which the host accepts no more tasks, or "".
func (a *Agent) shut() string {
	if a.closed == "" && a.Backend != nil {
		return a.Backend.Closed()
	}
	return a.closed
}

// acknowledge removes state that the market has stored permanently, according to o.
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
