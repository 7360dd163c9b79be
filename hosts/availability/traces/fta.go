package traces

import (
	"io"
	"math"
	"strconv"
	"strings"

	"bourse/hosts/availability"
)

// ReadFTA reads an event_trace of the Failure Trace Archive, plain or gzip. It has nine
// columns separated by white space. ReadFTA uses node (3rd), event type (6th), start (7th),
// stop (8th) and end reason (9th). Type 1 is available. Type 0 is a user's presence if the end
// reason is 2 or 3, an eviction if it is 4 or 5, and unavailable for any other end reason.
// Loads are unknown and set to 0. The origin is the earliest start. Gap is as for
// [availability.NewHistory].
func ReadFTA(r io.Reader, gap float64) (*availability.Trace, *Accounting, error) {
	a := new(Accounting)
	f := newFleet(a)
	origin := math.Inf(1)
	err := eachLine(r, "", a, func(at place, text string) {
		fields := strings.Fields(text)
		if fields[0] == "event_id" {
			a.skip(header, at, "")
			return
		}
		if len(fields) < 8 {
			a.skip(tooFewFields, at, text)
			return
		}
		l := line{at: at}
		if !l.spans(a, fields[6], fields[7], text) {
			return
		}
		switch fields[5] {
		case "1":
			l.State = availability.Available
		case "0":
			reason := 0
			if len(fields) > 8 {
				var err error
				if reason, err = strconv.Atoi(fields[8]); err != nil {
					l.verdict.repair(endUnread)
				}
			}
			l.State = endReason(reason)
		default:
			a.skip(badState, at, fields[5])
			return
		}
		if len(fields) > 9 {
			l.verdict.repair(fieldsBeyond)
		}
		origin = min(origin, l.Start)
		d := f.host(fields[2])
		d.records = append(d.records, l)
	})
	if err != nil {
		return nil, a, err
	}
	if math.IsInf(origin, 1) {
		origin = 0
	}
	t, err := f.trace(origin, gap)
	return t, a, err
}

// endReason returns the state for an end reason of the archive.
func endReason(reason int) availability.State {
	switch reason {
	case 2, 3:
		return availability.UserPresent
	case 4, 5:
		return availability.Evicted
	}
	return availability.Unavailable
}
