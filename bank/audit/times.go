package audit

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// A Seen is a head of the ledger that a witness has cosigned in a published checkpoint. The
// entries up to this head had been booked by the time of the cosignature. Later entries had not
// been published yet, so they must not be dated much earlier.
type Seen struct {
	Head string // "118:BASE64"
	Time float64
	By   string // name of the witness
}

// A Cosigned is a checkpoint that a witness cosigned.
type Cosigned struct {
	By      string    `json:"by"`
	Time    time.Time `json:"time"`
	Entries int64     `json:"entries"`
}

// These are tolerances for times, in seconds: for differences between clocks, and for the time
// between the reading of a ledger and the cosignature of the witness.
const (
	clocks     = 60
	publishing = 600
)

// instant converts a time of an entry to a date.
func instant(at float64) time.Time {
	const year9999 = 252e9
	sec := max(-year9999, min(at, year9999))
	return time.Date(2000, 1, 1, 0, 0, int(math.Floor(sec)), 0, time.UTC)
}

// date returns a time of an entry as text, to the second.
func date(at float64) string { return instant(at).Format(time.RFC3339) }

// lasts returns a duration of s seconds as text.
func lasts(s float64) string {
	if s > math.MaxInt64/1e10 {
		return fmt.Sprintf("%.0f s", s)
	}
	return (time.Duration(math.Round(s)) * time.Second).String()
}

// A times checks the times of entries against the auditor's clock and against cosignatures.
type times struct {
	now, fresh float64
	seen       []seen // sorted by size

	ahead, last int64   // first and last entry dated later than now
	at          float64 // time of the last of these entries
}

type seen struct {
	Seen
	size int64
	root hash
}

func newTimes(opts Options) times {
	t := times{now: opts.Now, fresh: opts.Fresh}
	for _, s := range opts.Seen {
		if h, err := parseHead(s.Head); err == nil {
			t.seen = append(t.seen, seen{s, h.size, h.root})
		}
	}
	slices.SortStableFunc(t.seen, func(x, y seen) int { return int(x.size - y.size) })
	return t
}

// entry checks the time of e against the cosignatures. It also counts the entries dated later
// than the auditor's clock.
func (t *times) entry(e *Entry) (found, want string) {
	if t.now > 0 && e.Time > t.now+clocks {
		if t.ahead == 0 {
			t.ahead = e.Seq
		}
		t.last, t.at = e.Seq, e.Time
	}
	for i := range t.seen {
		s := &t.seen[i]
		switch {
		case e.Seq <= s.size && e.Time > s.Time+clocks:
			return fmt.Sprintf("an entry dated %s, %s after %s had cosigned it", date(e.Time), lasts(e.Time-s.Time), s.By), fmt.Sprintf("%s or earlier, when entries to %d were published", date(s.Time), s.size)
		case e.Seq > s.size && e.Time < s.Time-publishing:
			return fmt.Sprintf("an entry dated %s, %s before %s cosigned the ledger without it", date(e.Time), lasts(s.Time-e.Time), s.By), fmt.Sprintf("%s or later, when entries to %d were published", date(s.Time), s.size)
		}
	}
	return "", ""
}

// findings returns the problems with times, given the number of entries.
func (t *times) findings(entries int64) (all []Finding) {
	if t.ahead > 0 {
		f := Finding{Seq: t.ahead, Found: fmt.Sprintf("a date %s later than the clock of this audit, %s", lasts(t.at-t.now), date(t.at)), Want: "no date later than " + date(t.now)}
		if t.last > t.ahead {
			f.To, f.Found = t.last, fmt.Sprintf("dates up to %s later than the clock of this audit, to %s", lasts(t.at-t.now), date(t.at))
		}
		all = append(all, f)
	}
	newest := math.Inf(-1)
	for i := range t.seen {
		s := &t.seen[i]
		newest = max(newest, s.Time)
		if t.now > 0 && s.Time > t.now+clocks {
			all = append(all, Finding{Found: fmt.Sprintf("a cosignature by %s dated %s, %s later than the clock of this audit", s.By, date(s.Time), lasts(s.Time-t.now)), Want: "no date later than " + date(t.now)})
		}
	}
	switch {
	case t.fresh <= 0:
	case len(t.seen) == 0:
		all = append(all, Finding{Found: "no cosignature", Want: fmt.Sprintf("one from the last %s", lasts(t.fresh))})
	case newest < t.now-t.fresh:
		all = append(all, Finding{Found: fmt.Sprintf("the last cosignature dated %s, %s ago", date(newest), lasts(t.now-newest)), Want: fmt.Sprintf("one from the last %s", lasts(t.fresh))})
	}
	return all
}

// cosigned returns the cosignatures, sorted by size.
func (t *times) cosigned() (all []Cosigned) {
	for i := range t.seen {
		s := &t.seen[i]
		all = append(all, Cosigned{s.By, instant(s.Time), s.size})
	}
	return all
}
