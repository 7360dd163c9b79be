package audit

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"unicode/utf8"

	"bourse/bank/canonical"
)

// A line is one move of an entry in a log of JSON lines, or an entry without moves.
type line struct {
	Seq      int64   `json:"seq"`
	Time     float64 `json:"time"`
	ID       string  `json:"id,omitempty"`
	Kind     string  `json:"kind"`
	Contract *int64  `json:"contract,omitempty"`
	From     string  `json:"from,omitempty"`
	To       string  `json:"to,omitempty"`
	Micros   int64   `json:"micros,omitempty"`
	Note     string  `json:"note,omitempty"`
	Note64   []byte  `json:"note64,omitempty"`
	Hash     string  `json:"hash"`
}

const (
	maxLine    = 1 << 20 // maximum length in bytes
	aheadBytes = 4 * maxLine
)

// sameEntry reports whether two lines differ only in their moves.
func (l *line) sameEntry(o *line) bool {
	sameContract := l.Contract == o.Contract || l.Contract != nil && o.Contract != nil && *l.Contract == *o.Contract
	return sameContract && l.Seq == o.Seq && math.Float64bits(l.Time) == math.Float64bits(o.Time) && l.ID == o.ID && l.Kind == o.Kind &&
		l.Note == o.Note && string(l.Note64) == string(o.Note64) && l.Hash == o.Hash
}

// fault describes the error in a line whose values have valid types but could not have been
// written. The argument alone is true if the entry has no other line.
func (l *line) fault(alone bool) (found, want string) {
	none := l.From == "" && l.To == "" && l.Micros == 0
	switch {
	case l.Contract != nil && *l.Contract < 0:
		return fmt.Sprintf("contract %d", *l.Contract), "a number of at least 0, or no contract"
	case len(l.Note64) > 0 && (l.Note != "" || utf8.Valid(l.Note64)):
		return "a base64 note that is valid UTF-8, or next to another note", "one note, in base64 only if it is not UTF-8"
	case none && !alone:
		return "a line without a move among others", "one move per line"
	case !none && (l.From == "" || l.To == "" || l.Micros <= 0):
		return fmt.Sprintf("from %q to %q %d micros", l.From, l.To, l.Micros), "two accounts and a positive amount, or neither accounts nor an amount"
	}
	return "", ""
}

// Log verifies a log of JSON lines, as written by bank/export, without other data. It checks
// entries, hashes and money, as [Audit] does. It uses Head, Whole, Keys, Follow, Spread and
// Chance of opts. The report lists the errors in the log. An error means that the log could
// not be read or that Head is malformed.
func Log(r io.Reader, opts Options) (*Report, error) {
	if opts.Head != "" {
		if _, err := parseHead(opts.Head); err != nil {
			return nil, fmt.Errorf("audit log: %w", err)
		}
	}
	a := newAuditor(opts)
	a.expect(opts.Head, "the head given")
	a.authority.used = make(map[place]int64)
	if err := a.readLog(r); err != nil {
		return nil, fmt.Errorf("audit log: %w", err)
	}
	a.finishEntries()
	report := a.report()
	report.Beyond = without(report.Beyond, lostTail, pebbleOwn)
	if opts.Head == "" {
		report.Beyond = append(report.Beyond, "entries cut off at the end of the log")
	}
	return report, nil
}

// A logLine is a line of a log with its number, and with its parsed contents or an error.
type logLine struct {
	text []byte
	n    int
	line
	err error
}

// A part is a batch of lines of a log, with the orders in them.
type part struct {
	lines  []logLine
	bytes  int
	orders []checked
}

// readLog checks the entries of a log. An error means that the log could not be read.
func (a *auditor) readLog(r io.Reader) error {
	if a.opts.Spread == nil {
		a.opts.Spread = func(n int, do func(int)) {
			for i := range n {
				do(i)
			}
		}
	}
	in := bufio.NewScanner(r)
	in.Buffer(nil, maxLine)
	in.Split(wholeLines)
	var pending []logLine // lines of the current entry
	next := new(part)
	use := func() bool {
		next.read(a.opts.Spread)
		a.check(next.orders)
		for i := range next.lines {
			pending = a.line(pending, &next.lines[i])
		}
		next = new(part)
		return a.bad == nil
	}
	for n := 1; in.Scan(); n++ {
		next.lines = append(next.lines, logLine{text: bytes.Clone(in.Bytes()), n: n})
		if next.bytes += len(in.Bytes()); len(next.lines) < aheadOf && next.bytes < aheadBytes {
			continue
		}
		if !use() {
			return nil
		}
	}
	if use() {
		if err := in.Err(); err != nil {
			return err
		}
		if len(pending) > 0 {
			a.lines(pending)
		}
	}
	return nil
}

// read parses the lines.
func (p *part) read(spread func(int, func(int))) {
	parts := slices.Collect(slices.Chunk(p.lines, inPart))
	spread(len(parts), func(i int) {
		in := canonical.NewReader()
		for j := range parts[i] {
			l := &parts[i][j]
			l.err = in.Read(l.text, &l.line)
		}
	})
	for i := range p.lines {
		if l := &p.lines[i]; l.err == nil && (len(p.orders) == 0 || p.orders[len(p.orders)-1].seq != l.Seq) {
			p.orders = append(p.orders, checked{seq: l.Seq, note: []byte(l.Note)})
		}
	}
}

// line processes the next line. The argument pending contains the earlier lines of the current
// entry. The result is the lines of the entry if it may continue.
func (a *auditor) line(pending []logLine, l *logLine) []logLine {
	next := len(pending) > 0 && l.Seq != pending[0].Seq
	if l.err != nil {
		next = len(pending) > 0 && !bytes.HasPrefix(l.text, fmt.Appendf(nil, `{"seq":%d,`, pending[0].Seq))
	}
	if next {
		a.lines(pending)
		pending = pending[:0]
	}
	if a.bad != nil {
		return nil
	}
	if l.err != nil {
		a.fail(a.chain.size+1, fmt.Sprintf("line %d: %v", l.n, l.err), "lines as 'bank log' writes them")
		return nil
	}
	return append(pending, *l)
}

// wholeLines splits only at line feeds. A carriage return is part of its line.
func wholeLines(b []byte, end bool) (advance int, line []byte, err error) {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return i + 1, b[:i+1], nil
	}
	if end && len(b) > 0 {
		return len(b), b, nil
	}
	return 0, nil, nil
}

// lines checks the entry that consists of these lines.
func (a *auditor) lines(lines []logLine) {
	seq := a.chain.size + 1
	first := &lines[0]
	for i := range lines {
		l := &lines[i]
		if !l.sameEntry(&first.line) {
			a.fail(seq, fmt.Sprintf("line %d: a second line of the entry that differs in more than its move", l.n), "the same kind, time, contract, id, note and hash on each line")
			return
		}
		if found, want := l.fault(len(lines) == 1); found != "" {
			a.fail(seq, fmt.Sprintf("line %d: %s", l.n, found), want)
			return
		}
	}
	kind := slices.Index([]string{Issue: "issue", Admit: "admit", Reject: "reject", Settle: "settle", Penalty: "penalty", Transfer: "transfer", Owner: "owner", Refuse: "refuse", Cleared: "clear", Moved: "move", Adjust: "adjust"}, first.Kind)
	hash, ok := parseHash(first.Hash)
	if kind < 1 || !ok || first.Seq < 0 {
		a.fail(seq, fmt.Sprintf("line %d: number %d, kind %q, hash %.60q", first.n, first.Seq, first.Kind, first.Hash), "a number, a kind of entry and 44 characters of base64")
		return
	}
	b := []byte{byte(kind)}
	b = binary.AppendUvarint(b, uint64(first.Seq))
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(first.Time))
	own := ""
	if c := first.Contract; c == nil {
		b = append(b, 0)
	} else {
		b = binary.AppendUvarint(b, uint64(*c)+1)
		own = fmt.Sprintf("escrow:%d", *c)
	}
	text := func(s string) {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	text(first.ID)
	text(first.Note + string(first.Note64))
	name := func(s string) {
		if s == own {
			s = ""
		}
		text(s)
	}
	if len(lines) == 1 && first.From == "" && first.To == "" && first.Micros == 0 {
		lines = nil
	}
	b = binary.AppendUvarint(b, uint64(len(lines)))
	for _, l := range lines {
		name(l.From)
		name(l.To)
		b = binary.AppendUvarint(b, uint64(l.Micros))
	}
	a.entry(b, stored(b), hash[:])
	if a.passed(); a.bad == nil {
		a.bad = a.anew
	}
}
