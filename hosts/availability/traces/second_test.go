package traces

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"bourse/hosts/availability"
	"bourse/workloadgen/csvtest"
)

// This file has second readers of the formats, written from their definitions. [ReadCSV] and
// the other readers must find the same records. The second readers recognize usable lines but
// give no reasons.

// A found maps each host to its records, in the order of the file.
type found struct {
	hosts []string
	lines map[string][]availability.Record
	mips  map[string]float64
}

func (f *found) add(host string, r availability.Record) {
	if f.lines == nil {
		f.lines, f.mips = map[string][]availability.Record{}, map[string]float64{}
	}
	if f.lines[host] == nil {
		f.hosts = append(f.hosts, host)
	}
	f.lines[host] = append(f.lines[host], r)
}

// differs returns the place at which a trace with the given origin differs from found.
func (f *found) differs(t *availability.Trace, origin float64) error {
	if len(t.Hosts) != len(f.hosts) {
		return fmt.Errorf("%d hosts, want %q", len(t.Hosts), f.hosts)
	}
	for i, h := range t.Hosts {
		mips := f.mips[f.hosts[i]]
		if mips == 0 {
			mips = 1
		}
		var want []availability.Record
		lines := slices.Clone(f.lines[f.hosts[i]])
		slices.SortStableFunc(lines, func(a, b availability.Record) int {
			return int(math.Copysign(1, a.Start-b.Start)) * btoi(a.Start != b.Start)
		})
		free := math.Inf(-1) // no earlier line covers the time from here on
		for _, r := range lines {
			r.Start, r.End = max(r.Start-origin, free), r.End-origin
			if r.Start < r.End {
				want, free = append(want, r), r.End
			}
		}
		if h.Name != f.hosts[i] || h.MIPS != mips || !slices.Equal(h.Records(), want) {
			return fmt.Errorf("host %d is %q, %v mips, %+v, want %q, %v, %+v", i, h.Name, h.MIPS, h.Records(), f.hosts[i], mips, want)
		}
	}
	return nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// usable returns the lines with data. It omits a line that contains a carriage return, which
// some programs would split.
func usable(text string) []string {
	var out []string
	for line := range strings.SplitSeq(strings.TrimPrefix(text, "\ufeff"), "\n") {
		line = strings.TrimRight(line, "\r")
		if s := strings.TrimSpace(line); s != "" && s[0] != '#' && !strings.ContainsAny(line, "\r\v\f") && len(line) < maxLine-1 {
			out = append(out, line)
		}
	}
	return out
}

func decimal(cell string) (float64, bool) {
	x, ok := csvtest.Number(strings.TrimSpace(cell))
	return x, ok && math.Abs(x) <= 1e12
}

func span(from, to string) (availability.Record, bool) {
	a, ok1 := decimal(from)
	b, ok2 := decimal(to)
	return availability.Record{Start: a, End: b}, ok1 && ok2 && a < b
}

// secondCSV returns an error for a header with other columns.
func secondCSV(text string) (f found, err error) {
	for _, line := range usable(text) {
		cells, err := csvtest.Cells(line)
		if err != nil {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if cells[0] == "resource" {
			if head := strings.Join(cells, ",") + ","; !strings.HasPrefix(head, columns+",") && !strings.HasPrefix(columns+",", head) || len(cells) < 4 {
				return f, fmt.Errorf("columns %q", cells)
			}
			continue
		}
		if len(cells) < 4 || cells[0] == "" {
			continue
		}
		r, ok := span(cells[1], cells[2])
		state := strings.Index("APCEU", cells[3])
		if !ok || len(cells[3]) != 1 || state < 0 {
			continue
		}
		r.State = []availability.State{availability.Available, availability.UserPresent, availability.Busy, availability.Evicted, availability.Unavailable}[state]
		if len(cells) > 4 {
			if load, ok := decimal(cells[4]); ok {
				r.Load = max(0, min(1, load))
			}
		}
		f.add(cells[0], r)
		if len(cells) > 5 && f.mips[cells[0]] == 0 {
			if mips, ok := decimal(cells[5]); ok && mips > 0 {
				f.mips[cells[0]] = mips
			}
		}
	}
	return f, nil
}

func secondFTA(text string) (f found, origin float64) {
	origin = math.Inf(1)
	for _, line := range usable(text) {
		w := strings.Fields(line)
		if w[0] == "event_id" || len(w) < 8 || w[5] != "0" && w[5] != "1" {
			continue
		}
		r, ok := span(w[6], w[7])
		if !ok {
			continue
		}
		r.State = availability.Available
		if w[5] == "0" {
			r.State = availability.Unavailable
			if len(w) > 8 {
				switch strings.TrimLeft(strings.TrimPrefix(w[8], "+"), "0") {
				case "2", "3":
					r.State = availability.UserPresent
				case "4", "5":
					r.State = availability.Evicted
				}
			}
		}
		origin = min(origin, r.Start)
		f.add(w[2], r)
	}
	return f, origin
}

func secondUCB(text string) (f found, origin float64) {
	ops := map[float64]float64{}
	var epochs []float64
	peak := 0.0
	for _, line := range usable(text) {
		w := strings.Fields(line)
		if len(w) < 2 {
			continue
		}
		epoch, ok1 := decimal(w[0])
		n, ok2 := decimal(w[1])
		if _, again := ops[epoch]; ok1 && ok2 && !again {
			ops[epoch], epochs, peak = n, append(epochs, epoch), max(peak, n)
		}
	}
	slices.Sort(epochs)
	f.hosts = []string{"h"}
	f.lines = map[string][]availability.Record{}
	for i := range epochs {
		if i == 0 {
			origin = epochs[0]
			continue
		}
		r := availability.Record{Start: epochs[i-1], End: epochs[i], State: availability.Unavailable}
		if n := ops[r.Start]; n >= 0 {
			r.State = availability.Available
			if peak > 0 {
				r.Load = max(0, min(1, 1-n/peak))
			}
		}
		f.add("h", r)
	}
	f.hosts = f.hosts[:1]
	return f, origin
}

// secondLoad returns the load of each host at each five minutes, or -1 if unknown. The dates
// that occur are placed end to end.
func secondLoad(text string, minDays int) (hosts []string, loads map[string][]float64) {
	days := map[string]map[string][288]float64{}
	dates := map[string]bool{}
	for _, line := range usable(text) {
		w := strings.Split(line, "\t")
		if len(w) < 3 || w[1] == "" || len(w[0]) != 8 {
			continue
		}
		if _, err := time.Parse("2006-01-02", w[0][:4]+"-"+w[0][4:6]+"-"+w[0][6:]); err != nil {
			continue
		}
		if days[w[1]] == nil {
			hosts, days[w[1]] = append(hosts, w[1]), map[string][288]float64{}
		}
		if _, again := days[w[1]][w[0]]; again {
			continue
		}
		var day [288]float64
		words := strings.Fields(w[2])
		for i := range day {
			day[i] = -1
			if i < len(words) {
				if x, ok := decimal(words[i]); ok {
					day[i] = max(0, min(100, x)) / 100
				}
			}
		}
		days[w[1]][w[0]], dates[w[0]] = day, true
	}
	var order []string
	for date := range dates {
		order = append(order, date)
	}
	slices.Sort(order)
	loads = map[string][]float64{}
	hosts = slices.DeleteFunc(hosts, func(h string) bool { return len(days[h]) < minDays })
	for _, h := range hosts {
		for _, date := range order {
			day, ok := days[h][date]
			for i := range day {
				if !ok {
					day[i] = -1
				}
			}
			loads[h] = append(loads[h], day[:]...)
		}
	}
	return hosts, loads
}
