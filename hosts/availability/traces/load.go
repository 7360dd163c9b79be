package traces

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"bourse/hosts/availability"
)

// samplesADay is the number of samples on each line of a load file, one every five minutes.
const samplesADay = 288

// LoadConfig describes how CPU load is converted to states.
type LoadConfig struct {
	Threshold float64 // load above which a host is Busy, in [0,1)
	MinDays   int     // minimum number of recorded days; hosts with fewer are omitted
	Gap       float64 // as for [availability.NewHistory]
}

// ReadLoad reads CPU load records, plain or gzip. Each line describes one host and day: date,
// host and 288 percentages, separated by tabs; the percentages are separated by spaces. A
// sample above the threshold makes the host busy for its five minutes. Any other sample makes
// it available at that load.
//
// The dates are placed end to end, the first at 0: a recording of ten days that are weeks apart
// becomes ten consecutive days. A host without a line for a date is unknown on that day.
func ReadLoad(r io.Reader, c LoadConfig) (*availability.Trace, *Accounting, error) {
	a := new(Accounting)
	f := newFleet(a)
	days := make(map[*draft][]hostDay)
	dates := make(map[string]int)
	err := eachLine(r, "", a, func(at place, text string) {
		fields := strings.Split(text, "\t")
		if len(fields) < 3 {
			a.skip(tooFewFields, at, text)
			return
		}
		date := fields[0]
		if _, err := time.Parse("20060102", date); err != nil {
			a.skip(badDate, at, date)
			return
		}
		if fields[1] == "" {
			a.skip(nameMissing, at, text)
			return
		}
		d := f.host(fields[1])
		if slices.ContainsFunc(days[d], func(o hostDay) bool { return o.date == date }) {
			a.skip(sameDay, at, fields[1])
			return
		}
		day := hostDay{at: at, date: strings.Clone(date)}
		day.read(fields[2])
		dates[day.date] = 0
		days[d] = append(days[d], day)
	})
	if err != nil {
		return nil, a, err
	}

	for i, date := range slices.Sorted(maps.Keys(dates)) {
		dates[date] = i
	}
	t := &availability.Trace{}
	for _, d := range f.hosts {
		own := days[d]
		if len(own) < c.MinDays {
			for i := range own {
				a.skip(tooFewDays, own[i].at, d.name)
			}
			continue
		}
		slices.SortFunc(own, func(x, y hostDay) int { return cmp.Compare(x.date, y.date) })
		var records []availability.Record
		for i := range own {
			a.book(own[i].verdict, own[i].at)
			records = appendSamples(records, own[i].samples[:], float64(dates[own[i].date])*availability.Day, c.Threshold)
		}
		h, err := availability.NewHistory(d.name, 1, records, c.Gap)
		if err != nil {
			return nil, a, err
		}
		t.Hosts = append(t.Hosts, h)
	}
	return t, a, nil
}

// A hostDay is one line: the samples of one host and day.
type hostDay struct {
	at      place
	date    string
	verdict verdict
	samples [samplesADay]float64 // percent; -1 if unknown
}

// read parses the samples and repairs invalid ones.
func (d *hostDay) read(text string) {
	n := 0
	for word := range strings.FieldsSeq(text) {
		if n == samplesADay {
			d.verdict.repair(fieldsBeyond)
			break
		}
		x, _, ok := number(word)
		switch {
		case !ok:
			d.verdict.repair(sampleBad)
			x = -1
		case x < 0 || x > 100:
			d.verdict.repair(loadClamped)
			x = min(max(x, 0), 100)
		}
		d.samples[n] = x
		n++
	}
	if n < samplesADay {
		d.verdict.repair(samplesShort)
	}
	for ; n < samplesADay; n++ {
		d.samples[n] = -1
	}
}

// appendSamples appends the samples of a day and merges equal consecutive samples into one
// record.
func appendSamples(records []availability.Record, samples []float64, start, threshold float64) []availability.Record {
	const step = availability.Day / samplesADay
	for i, percent := range samples {
		if percent < 0 {
			continue
		}
		r := availability.Record{Start: start + float64(i)*step, State: availability.Available, Load: percent / 100}
		r.End = r.Start + step
		if r.Load > threshold {
			r.State = availability.Busy
		}
		if n := len(records); n > 0 && records[n-1].End == r.Start && records[n-1].State == r.State && records[n-1].Load == r.Load {
			records[n-1].End = r.End
			continue
		}
		records = append(records, r)
	}
	return records
}
