package traces

import (
	"cmp"
	"io"
	"math"
	"slices"
	"strings"

	"bourse/hosts/availability"
)

// A File is a named text to read.
type File struct {
	Name string
	io.Reader
}

// ReadUCB reads raw desktop grid files, one per host, with lines "epoch ops". From each epoch
// until the next, the host delivered ops operations to the grid; a negative value means that it
// was unavailable. The last line ends the trace. The load of an available host is 1 - ops/peak,
// clamped to [0,1]; if peak is 0, the host's own maximum is used. The origin is the earliest
// epoch of all files. Gap is as for [availability.NewHistory].
func ReadUCB(files []File, peak, gap float64) (*availability.Trace, *Accounting, error) {
	a := new(Accounting)
	f := newFleet(a)
	origin := math.Inf(1)
	for _, file := range files {
		samples, err := readSamples(file, a)
		if err != nil {
			return nil, a, err
		}
		if len(samples) > 0 {
			origin = min(origin, samples[0].epoch)
		}
		d := &draft{name: file.Name}
		f.hosts = append(f.hosts, d)
		top := peak
		if top == 0 {
			for _, s := range samples {
				top = max(top, s.ops)
			}
		}
		for i := range samples {
			s := &samples[i]
			if i == len(samples)-1 {
				a.book(s.verdict, s.at)
				break
			}
			l := line{Record: availability.Record{Start: s.epoch, End: samples[i+1].epoch, State: availability.Unavailable}, at: s.at, verdict: s.verdict}
			if s.ops >= 0 {
				l.State = availability.Available
				if top > 0 {
					l.Load = 1 - s.ops/top
				}
				l.clamp()
			}
			d.records = append(d.records, l)
		}
	}
	if math.IsInf(origin, 1) {
		origin = 0
	}
	t, err := f.trace(origin, gap)
	return t, a, err
}

type sample struct {
	epoch, ops float64
	at         place
	verdict    verdict
}

// readSamples returns the lines of a file, sorted by epoch without duplicates. It counts the
// lines that it omits.
func readSamples(file File, a *Accounting) ([]sample, error) {
	var out []sample
	err := eachLine(file, file.Name, a, func(at place, text string) {
		fields := strings.Fields(text)
		if len(fields) < 2 {
			a.skip(tooFewFields, at, text)
			return
		}
		epoch, why, ok := number(fields[0])
		if !ok {
			a.skip(why, at, fields[0])
			return
		}
		ops, why, ok := number(fields[1])
		if !ok {
			a.skip(why, at, fields[1])
			return
		}
		s := sample{epoch: epoch, ops: ops, at: at}
		if len(fields) > 2 {
			s.verdict.repair(fieldsBeyond)
		}
		if n := len(out); n > 0 && epoch < out[n-1].epoch {
			s.verdict.repair(outOfOrder)
		}
		out = append(out, s)
	})
	slices.SortStableFunc(out, func(a, b sample) int { return cmp.Compare(a.epoch, b.epoch) })
	kept := out[:0]
	for _, s := range out {
		if n := len(kept); n > 0 && kept[n-1].epoch == s.epoch {
			a.skip(sameEpoch, s.at, "")
			continue
		}
		kept = append(kept, s)
	}
	return kept, err
}
