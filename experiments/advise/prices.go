package advise

import (
	"bufio"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"bourse/experiments/misuse"
)

// A Step is a price from an instant on.
type Step struct {
	At    float64 // s
	Price float64 // $/s
}

// Prices are those of one host: each step lasts until the next, and the last until End.
type Prices struct {
	Steps []Step
	End   float64
}

// ReadPrices reads a price file: CSV, plain or gzip, with a header, of which columns time (RFC 3339, or
// 2006-01-02 15:04:05 in UTC, or s) and price_usd_per_hour, or price in $/s, are read, and
// series if there are several. Without the name of a series the file must have but one. Lines
// need not be in order; of two at one instant the later counts.
func ReadPrices(r io.Reader, file, series string) (p Prices, err error) {
	fail := func(line int, format string, args ...any) (Prices, error) {
		return Prices{}, misuse.Errorf("%s:%d: %s", file, line, fmt.Sprintf(format, args...))
	}
	plain := bufio.NewReader(r)
	in := csv.NewReader(plain)
	if magic, _ := plain.Peek(2); string(magic) == "\x1f\x8b" {
		z, err := gzip.NewReader(plain)
		if err != nil {
			return Prices{}, misuse.Errorf("%s: %v", file, err)
		}
		in = csv.NewReader(z)
	}
	in.ReuseRecord = true
	head, err := in.Read()
	if err != nil {
		return fail(1, "found no header, want one with time and price_usd_per_hour: %v", err)
	}
	head = slices.Clone(head)
	column := func(name string) int { return slices.Index(head, name) }
	at, price, of, unit := column("time"), column("price_usd_per_hour"), column("series"), 3600.0
	if price < 0 {
		price, unit = column("price"), 1
	}
	if at < 0 || price < 0 {
		return fail(1, "found columns %.200s, want time, and price_usd_per_hour or price ($/s)", strings.Join(head, ", "))
	}
	known := make(map[string]bool)
	var names []string
	for {
		row, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Prices{}, misuse.Errorf("%s: %v", file, err)
		}
		line, _ := in.FieldPos(0)
		if of >= 0 && !known[row[of]] {
			name := strings.Clone(row[of])
			known[name], names = true, append(names, name)
			if series == "" && len(names) > 1 {
				return fail(line, "series: found %s and %s, want the name of one", names[0], names[1])
			}
		}
		if series != "" && (of < 0 || row[of] != series) {
			continue
		}
		when, ok := instant(row[at])
		if !ok {
			return fail(line, "time: found %.40q, want 2006-01-02 15:04:05, or seconds", row[at])
		}
		x, err := strconv.ParseFloat(row[price], 64)
		if err != nil || !(x >= 0) || x > 1e9 {
			return fail(line, "%s: found %.40q, want a number from 0 to 1e9", head[price], row[price])
		}
		p.Steps = append(p.Steps, Step{when, x / unit})
	}
	if len(p.Steps) == 0 && series != "" {
		slices.Sort(names)
		return Prices{}, misuse.Errorf("%s: series: found %q, want one of %s", file, series, short(names))
	}
	if len(p.Steps) < 2 {
		return Prices{}, misuse.Errorf("%s: found %d prices, want two or more", file, len(p.Steps))
	}
	p.sort()
	return p, nil
}

// short joins names, the first dozen.
func short(names []string) string {
	if len(names) > 12 {
		return strings.Join(names[:12], ", ") + fmt.Sprintf(" and %d more", len(names)-12)
	}
	return strings.Join(names, ", ")
}

// instant reads one, in s.
func instant(text string) (float64, bool) {
	for _, form := range []string{time.RFC3339, time.DateTime} {
		if t, err := time.Parse(form, text); err == nil {
			return float64(t.UnixNano()) / 1e9, true
		}
	}
	x, err := strconv.ParseFloat(text, 64)
	return x, err == nil && !math.IsInf(x, 0) && !math.IsNaN(x)
}

// sort brings steps in order, one an instant.
func (p *Prices) sort() {
	slices.SortStableFunc(p.Steps, func(a, b Step) int {
		switch {
		case a.At < b.At:
			return -1
		case a.At > b.At:
			return 1
		}
		return 0
	})
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

// within returns the stretches of p from one instant to another, of which the first begins and
// the last ends there.
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

// A stretch is a price, and for how long.
type stretch struct{ price, lasts float64 }

// percentile returns the price that was not exceeded for that part of the time.
func percentile(all []stretch, g float64) float64 {
	sorted := slices.Clone(all)
	slices.SortFunc(sorted, func(a, b stretch) int {
		if a.price < b.price {
			return -1
		} else if a.price > b.price {
			return 1
		}
		return 0
	})
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
