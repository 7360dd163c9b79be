package whatif

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"bourse/experiments/misuse"
	"bourse/workloadgen"
)

// A Step is a price and the time at which it starts to apply.
type Step struct {
	At    float64 // start time, in seconds
	Price float64 // price, in $/s
}

// Prices are the prices of one host. Each step lasts until the next one, and the last step
// lasts until End.
type Prices struct {
	Steps []Step
	End   float64
}

// A PriceSeries selects which prices of a file to read. If a field is empty, all prices in the
// file must have the same value for this field.
type PriceSeries struct {
	Series string
	Zone   string
}

// A readCount counts how the prices in a file were interpreted.
type readCount struct {
	Used     int
	Others   int // number of prices of another series or zone
	Replaced int // number of prices replaced by a later line with the same time

	columns []string // names of the columns that are not read
}

// String describes the counts in words.
func (r readCount) String() string {
	text := fmt.Sprintf("%d prices are used, %d belong to another series or zone, and %d were replaced by a later line with the same time", r.Used, r.Others, r.Replaced)
	if r.columns != nil {
		text += ", columns not used: " + firstNames(r.columns)
	}
	return text
}

// A quote is a price as written in a file.
type quote struct {
	line               int
	series, zone, time string
	price              string
	field              string  // name of the field that contains the price
	seconds            float64 // seconds for which this price is charged
}

// readPrices reads a price file, plain or gzip, and describes how its prices were treated. The
// file is CSV or JSON. CSV has a header with the columns time (RFC 3339, or 2006-01-02 15:04:05
// in UTC, or seconds), price_usd_per_hour or price (in $/s), and optionally series and zone.
// JSON is the output of EC2's describe-spot-price-history, and its series are InstanceType and
// ProductDescription. A file must contain a single series and a single zone, unless the caller
// selects one. Lines may be in any order. If two lines have the same time, the later line
// counts.
func readPrices(r io.Reader, file string, wanted PriceSeries) (p Prices, read readCount, err error) {
	fail := func(line int, format string, args ...any) (Prices, readCount, error) {
		return Prices{}, read, misuse.Errorf("%s:%d: %s", file, line, fmt.Sprintf(format, args...))
	}
	in, err := workloadgen.Unpack(r, 64<<10)
	if err != nil {
		return Prices{}, read, misuse.Errorf("%s: %v", file, err)
	}
	quotes := csvQuotes(in, &read)
	if start, _ := in.Peek(512); len(bytes.TrimSpace(start)) > 0 && bytes.TrimSpace(start)[0] == '{' {
		quotes = jsonQuotes(in)
	}
	series := nameFilter{of: "series", wanted: wanted.Series}
	zones := nameFilter{of: "zone", wanted: wanted.Zone}
	for q, err := range quotes {
		if err != nil {
			return fail(q.line, "%v", err)
		}
		ours, err := series.take(q.series)
		if err == nil && ours {
			ours, err = zones.take(q.zone)
		}
		if err != nil {
			return fail(q.line, "%v", err)
		}
		if !ours {
			read.Others++
			continue
		}
		when, ok := parseTime(q.time)
		switch {
		case !ok:
			return fail(q.line, "time: found %.40q, want 2006-01-02 15:04:05, or seconds", q.time)
		case when >= milliseconds:
			return fail(q.line, "time: found %.40q, which looks like milliseconds, want seconds", q.time)
		}
		x, err := strconv.ParseFloat(q.price, 64)
		if err != nil || !(x >= 0) || x > 1e9 {
			return fail(q.line, "%s: found %.40q, want a number from 0 to 1e9", q.field, q.price)
		}
		p.Steps = append(p.Steps, Step{when, x / q.seconds})
	}
	if len(p.Steps) == 0 {
		for _, n := range []*nameFilter{&series, &zones} {
			if n.wanted != "" && !n.met[n.wanted] {
				return Prices{}, read, misuse.Errorf("%s: %s: found %q, want one of %s", file, n.of, n.wanted, firstNames(slices.Sorted(maps.Keys(n.met))))
			}
		}
	}
	if len(p.Steps) < 2 {
		return Prices{}, read, misuse.Errorf("%s: found %d prices, want two or more", file, len(p.Steps))
	}
	all := len(p.Steps)
	p.sort()
	read.Used, read.Replaced = len(p.Steps), all-len(p.Steps)
	return p, read, nil
}

// milliseconds is the number from which times are interpreted as milliseconds. As a number of
// seconds, this value would be in the year 5138.
const milliseconds = 1e11

// A nameFilter selects one of the series or zones of a file.
type nameFilter struct {
	of, wanted string
	first      string
	met        map[string]bool
}

// take reports whether prices with the given name are read. If no name is selected, the file
// must contain only one name.
func (n *nameFilter) take(name string) (bool, error) {
	if !n.met[name] {
		if len(n.met) == 0 {
			n.first, n.met = name, make(map[string]bool)
		} else if n.wanted == "" {
			return false, fmt.Errorf("%s: found %s and %s, want only one of them, selected with --%s", n.of, n.first, name, n.of)
		}
		n.met[name] = true
	}
	return n.wanted == "" || name == n.wanted, nil
}

// csvQuotes yields the prices of a CSV table and notes the columns that it does not read.
func csvQuotes(r io.Reader, read *readCount) iter.Seq2[quote, error] {
	return func(yield func(quote, error) bool) {
		in := csv.NewReader(r)
		head, err := in.Read()
		if err != nil {
			yield(quote{line: 1}, fmt.Errorf("found no header, want a header with time and price_usd_per_hour: %w", err))
			return
		}
		column := func(name string) int { return slices.Index(head, name) }
		at, price, of, zone, seconds := column("time"), column("price_usd_per_hour"), column("series"), column("zone"), 3600.0
		if price < 0 {
			price, seconds = column("price"), 1
		}
		if at < 0 || price < 0 {
			yield(quote{line: 1}, fmt.Errorf("found columns %.200s, want time and one of price_usd_per_hour and price (in $/s)", strings.Join(head, ", ")))
			return
		}
		for i, name := range head {
			if !slices.Contains([]int{at, price, of, zone}, i) {
				read.columns = append(read.columns, name)
			}
		}
		for {
			row, err := in.Read()
			if errors.Is(err, io.EOF) {
				return
			}
			var bad *csv.ParseError
			if errors.As(err, &bad) {
				yield(quote{line: bad.Line}, bad.Err)
				return
			}
			if err != nil {
				yield(quote{}, err)
				return
			}
			line, _ := in.FieldPos(0)
			q := quote{line: line, time: row[at], price: row[price], field: head[price], seconds: seconds}
			if of >= 0 {
				q.series = row[of]
			}
			if zone >= 0 {
				q.zone = row[zone]
			}
			if !yield(q, nil) {
				return
			}
		}
	}
}

// jsonQuotes yields the prices in the output of EC2's describe-spot-price-history.
func jsonQuotes(r io.Reader) iter.Seq2[quote, error] {
	return func(yield func(quote, error) bool) {
		lines := &workloadgen.LineCounter{In: r}
		in := json.NewDecoder(lines)
		fail := func(err error) { yield(quote{line: lines.At(in.InputOffset())}, err) }
		const want = `want the output of describe-spot-price-history, with a list SpotPriceHistory`
		for found := false; !found; { // find the list among the fields of the object
			t, err := in.Token()
			if err != nil {
				fail(fmt.Errorf("%w, %s", err, want))
				return
			}
			switch t {
			case json.Delim('{'):
			case "SpotPriceHistory":
				if t, err = in.Token(); err != nil || t != json.Delim('[') {
					fail(fmt.Errorf("SpotPriceHistory: found %v, %s", t, want))
					return
				}
				found = true
			case json.Delim('}'):
				fail(errors.New("found no SpotPriceHistory, " + want))
				return
			default:
				var skipped json.RawMessage
				if err := in.Decode(&skipped); err != nil {
					fail(err)
					return
				}
			}
		}
		for in.More() {
			var e struct{ AvailabilityZone, InstanceType, ProductDescription, SpotPrice, Timestamp string }
			if err := in.Decode(&e); err != nil {
				fail(err)
				return
			}
			q := quote{
				line: lines.At(in.InputOffset()), series: strings.TrimSpace(e.InstanceType + " " + e.ProductDescription), zone: e.AvailabilityZone,
				time: e.Timestamp, price: e.SpotPrice, field: "SpotPrice", seconds: 3600,
			}
			if !yield(q, nil) {
				return
			}
		}
		if _, err := in.Token(); err != nil {
			fail(fmt.Errorf("the list is incomplete: %w", err))
			return
		}
		for in.More() { // skip the other fields of the object
			var name string
			var skipped json.RawMessage
			if err := errors.Join(in.Decode(&name), in.Decode(&skipped)); err != nil {
				fail(err)
				return
			}
		}
		if _, err := in.Token(); err != nil {
			fail(fmt.Errorf("the object does not end: %w", err))
		}
	}
}

// firstNames joins at most the first twelve names.
func firstNames(names []string) string {
	if len(names) > 12 {
		return strings.Join(names[:12], ", ") + fmt.Sprintf(" and %d more", len(names)-12)
	}
	return strings.Join(names, ", ")
}

// parseTime parses a time and returns it in seconds.
func parseTime(text string) (float64, bool) {
	for _, form := range []string{time.RFC3339, time.DateTime} {
		if t, err := time.Parse(form, text); err == nil {
			return float64(t.UnixNano()) / 1e9, true
		}
	}
	x, err := strconv.ParseFloat(text, 64)
	return x, err == nil && !math.IsInf(x, 0) && !math.IsNaN(x)
}

// sort sorts the steps by time. Of several steps with the same time, it retains one.
func (p *Prices) sort() {
	slices.SortStableFunc(p.Steps, func(a, b Step) int { return cmp.Compare(a.At, b.At) })
	last := p.Steps[:1]
	for _, s := range p.Steps[1:] {
		if s.At == last[len(last)-1].At {
			last[len(last)-1] = s
		} else {
			last = append(last, s)
		}
	}
	p.Steps = last
	p.End = max(p.End, p.Steps[len(p.Steps)-1].At)
}

// within returns the stretches of p between two times. The first stretch starts at from,
// and the last ends at to.
func (p *Prices) within(from, to float64) (all []stretch) {
	i, _ := slices.BinarySearchFunc(p.Steps, from, func(s Step, at float64) int {
		if s.At <= at {
			return -1
		}
		return 1
	})
	for i = max(0, i-1); i < len(p.Steps) && p.Steps[i].At < to; i++ {
		end := to
		if i+1 < len(p.Steps) {
			end = min(end, p.Steps[i+1].At)
		}
		if lasts := end - max(from, p.Steps[i].At); lasts > 0 {
			all = append(all, stretch{p.Steps[i].Price, lasts})
		}
	}
	return all
}

// A stretch is a price and its duration.
type stretch struct{ price, lasts float64 }

// pricePercentile returns the price that was not exceeded for the given fraction of the
// time.
func pricePercentile(all []stretch, g float64) float64 {
	sorted := slices.Clone(all)
	slices.SortFunc(sorted, func(a, b stretch) int { return cmp.Compare(a.price, b.price) })
	total, sum := 0.0, 0.0
	for _, s := range sorted {
		total += s.lasts
	}
	for _, s := range sorted {
		if sum += s.lasts; sum >= g*total {
			return s.price
		}
	}
	return sorted[len(sorted)-1].price
}
