package engine

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

// A Workload is the input of an [Engine].
type Workload struct {
	Hosts int   // number of hosts, at least 1
	Jobs  []Job // in order of arrival
}

// A Job is one request for work. Host k of job j is host (j*7919 + k*104729) mod H of the
// fleet, where H is the number of hosts, and j and k start at 0.
type Job struct {
	Arrival float64 // seconds, at least 0
	Work    float64 // processor-seconds on each host, at least 0
	Rate    int64   // bid on each host, at least 1; the unit is the same for all jobs
	Nodes   int32   // number of hosts, at least 1
}

// The limits of a workload file.
const (
	maxHosts   = 1_000_000
	maxJobs    = 10_000_000
	maxInstant = 1e12 // seconds
	maxWork    = 1e12 // processor-seconds
	maxBid     = 1e6  // $/s
	maxLine    = 256  // bytes
	maxPrice   = 1 << 62
)

// ReadWorkload reads a workload file, plain or compressed with gzip. The first line gives the
// number of hosts and of jobs. Each following line describes one job: arrival in seconds,
// number of hosts, work and bid in dollars per second. Arrivals must not decrease. Empty lines
// and a byte order mark are skipped.
//
// For example, this file has two hosts and one job, which arrives at 0 s, uses both hosts,
// needs 100 processor-seconds on each and bids 0.5 $/s on each:
//
//	2 1
//	0 2 100 0.5
//
// Rates are in nano-dollars per second. If bids have more digits than that, the unit is the
// smallest power of ten for which the sum of all bids still fits. The unit does not matter to
// the results, because bids are only compared with each other.
//
// An error names the file (name), the line and the field, and states the value found and the
// values wanted. Time and memory are bounded by the actual size of the file, not by the numbers
// in its first line.
func ReadWorkload(name string, r io.Reader) (*Workload, error) {
	in := bufio.NewReader(r)
	// Some editors write a byte order mark at the start of a text file.
	if mark, _ := in.Peek(3); string(mark) == "\ufeff" {
		in.Discard(3)
	}
	// The first two bytes of a gzip file are 1f 8b.
	if magic, _ := in.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		in = bufio.NewReader(z)
	}
	l := lines{name: name, in: bufio.NewScanner(in)}
	l.in.Buffer(make([]byte, maxLine), maxLine)
	return l.workload()
}

// A lines reads the fields of a file line by line, and stores the current line number and the
// first error.
type lines struct {
	name   string
	in     *bufio.Scanner
	number int
	fields [][]byte
	err    error
}

// workload reads the whole file.
func (l *lines) workload() (*Workload, error) {
	l.next(2, "hosts and jobs")
	w := &Workload{Hosts: l.whole(0, "hosts", 1, maxHosts)}
	n := l.whole(1, "jobs", 0, maxJobs)
	if l.err != nil {
		return nil, l.err
	}
	// The number of jobs that the file states may be wrong, so the first allocation is limited.
	// Function append allocates more as jobs are read.
	w.Jobs = make([]Job, 0, min(n, 1<<16))
	last, price, whole := 0.0, 0.0, true
	bids := make([]float64, 0, cap(w.Jobs))
	for range n {
		l.next(4, "arrival, hosts, work and bid")
		job := Job{
			Arrival: l.number64(0, "arrival", last, maxInstant),
			Nodes:   int32(l.whole(1, "hosts", 1, w.Hosts)),
			Work:    l.number64(2, "work", 0, maxWork),
		}
		bid := l.number64(3, "bid", 1e-9, maxBid)
		if l.err != nil {
			return nil, l.err
		}
		last = job.Arrival
		job.Rate = int64(math.Round(bid * 1e9))
		// The sum of all bids must stay below maxPrice, so that sums of rates fit in an int64.
		price += float64(job.Rate) * float64(job.Nodes)
		if price >= maxPrice {
			return nil, l.wrong("bid", l.fields[3], "all bids to sum to less")
		}
		whole = whole && float64(job.Rate)/1e9 == bid
		w.Jobs, bids = append(w.Jobs, job), append(bids, bid)
	}
	if !whole {
		w.refine(bids, price)
	}
	if l.scan() {
		return nil, l.wrong("jobs", l.in.Bytes(), fmt.Sprintf("the end after %d jobs", n))
	}
	if l.in.Err() != nil {
		return nil, l.broken()
	}
	return w, nil
}

// refine converts the rates to the finest unit in which the sum of all bids still fits. price
// is that sum in nano-dollars per second.
func (w *Workload) refine(bids []float64, price float64) {
	unit := 1e9
	for price*10 <= maxPrice/2 { // half, because price is a sum of rounded rates
		price, unit = price*10, unit*10
	}
	for i, bid := range bids {
		w.Jobs[i].Rate = int64(math.Round(bid * unit))
	}
}

// scan moves to the next non-empty line and reports whether there is one.
func (l *lines) scan() bool {
	for l.in.Scan() {
		l.number++ // the number of the missing line
		if len(bytes.TrimSpace(l.in.Bytes())) > 0 {
			return true
		}
	}
	l.number++ // number of the missing line
	return false
}

// next reads a line of n fields, which error messages call what.
func (l *lines) next(n int, what string) {
	if l.err != nil {
		return
	}
	if !l.scan() {
		l.err = l.broken()
		if l.in.Err() == nil {
			l.err = fmt.Errorf("%s:%d: found the end of the file, want %s", l.name, l.number, what)
		}
		return
	}
	if i := bytes.IndexAny(l.in.Bytes(), "\r\v\f"); i >= 0 { // some programs treat these as line ends
		l.err = fmt.Errorf("%s:%d: found %q, want blanks between fields and a line feed after them", l.name, l.number, l.in.Bytes()[i])
		return
	}
	l.fields = bytes.Fields(l.in.Bytes())
	if len(l.fields) != n {
		l.err = fmt.Errorf("%s:%d: found %d fields, want %d: %s", l.name, l.number, len(l.fields), n, what)
	}
}

// broken returns the error for a missing next line.
func (l *lines) broken() error {
	if errors.Is(l.in.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("%s:%d: found a line of more than %d bytes", l.name, l.number, maxLine)
	}
	return fmt.Errorf("%s:%d: %w", l.name, l.number, l.in.Err())
}

// whole returns field number i, called field in errors, as a whole number between lo and hi.
func (l *lines) whole(i int, field string, lo, hi int) int {
	if l.err != nil {
		return 0
	}
	x, err := strconv.Atoi(string(l.fields[i]))
	if err != nil || x < lo || x > hi {
		l.err = l.wrong(field, l.fields[i], fmt.Sprintf("a whole number from %d to %d", lo, hi))
	}
	return x
}

// number64 returns field number i, called field in errors, as a number between lo and hi.
func (l *lines) number64(i int, field string, lo, hi float64) float64 {
	if l.err != nil {
		return 0
	}
	x, err := strconv.ParseFloat(string(l.fields[i]), 64)
	if err != nil || !(x >= lo && x <= hi) || bytes.ContainsAny(l.fields[i], "xX_") { // reject hexadecimal numbers
		l.err = l.wrong(field, l.fields[i], fmt.Sprintf("a number from %v to %v", lo, hi))
	}
	return x
}

// wrong returns an error that states what was found in the field and what is wanted.
func (l *lines) wrong(field string, found []byte, want string) error {
	return fmt.Errorf("%s:%d: %s: found %.40q, want %s", l.name, l.number, field, found, want)
}
