package audit

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
)

// A line is one move of an entry in a log of JSON lines, or an entry without any.
type line struct {
	Seq      int64   `json:"seq"`
	Time     float64 `json:"time"`
	ID       string  `json:"id"`
	Kind     string  `json:"kind"`
	Contract *int64  `json:"contract"`
	From     string  `json:"from"`
	To       string  `json:"to"`
	Micros   int64   `json:"micros"`
	Note     string  `json:"note"`
	Note64   []byte  `json:"note64"`
	Hash     string  `json:"hash"`
}

const maxLine = 1 << 20 // bytes

// header is what the lines of an entry have in common, as text.
func (l line) header() string {
	l.From, l.To, l.Micros = "", "", 0
	b, err := json.Marshal(l)
	if err != nil {
		panic("audit: " + err.Error()) // it was JSON before
	}
	return string(b)
}

// Log proves a log of JSON lines, as bank/export writes, alone: entries, hashes,
// and money, as [Audit] does. Of opts it uses Head and Whole. What is wrong with
// the log is in the report; an error means that it could not be read, or that Head
// is no head.
func Log(r io.Reader, opts Options) (*Report, error) {
	if opts.Head != "" {
		if _, err := parseHead(opts.Head); err != nil {
			return nil, fmt.Errorf("audit log: %w", err)
		}
	}
	a := &auditor{opts: opts, chain: newChain(), books: newBooks()}
	a.expect(opts.Head, "the head given")
	in := bufio.NewScanner(r)
	in.Buffer(nil, maxLine)
	var lines []line
	for a.bad == nil && in.Scan() {
		var l line
		dec := json.NewDecoder(bytes.NewReader(in.Bytes()))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&l); err != nil || dec.More() {
			a.fail(a.chain.size+1, fmt.Sprintf("the line %.60q", in.Bytes()), "a JSON object of an entry")
			break
		}
		if len(lines) > 0 && l.Seq != lines[0].Seq {
			a.lines(lines)
			lines = lines[:0]
		}
		lines = append(lines, l)
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("audit log: %w", err)
	}
	if a.bad == nil && len(lines) > 0 {
		a.lines(lines)
	}
	a.finishHeads()
	report := a.report()
	report.Beyond = without(report.Beyond, lostTail, pebbleOwn)
	if opts.Head == "" {
		report.Beyond = append(report.Beyond, "entries cut off at the end of the log")
	}
	return report, nil
}

// lines checks the entry that stands in these.
func (a *auditor) lines(lines []line) {
	seq := a.chain.size + 1
	first := lines[0]
	kind := slices.Index([]string{issue: "issue", admit: "admit", reject: "reject", settle: "settle", penalty: "penalty", transfer: "transfer"}, first.Kind)
	hash, err := base64.StdEncoding.Strict().DecodeString(first.Hash)
	if kind < 1 || err != nil || len(hash) != sha256.Size || first.Seq < 0 {
		a.fail(seq, fmt.Sprintf("kind %q, hash %.60q", first.Kind, first.Hash), "a kind of entry and 44 characters of base64")
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
		if l.header() != first.header() {
			a.fail(seq, "lines of one entry that differ in more than their moves", "the same kind, time, contract, id, note and hash on each")
			return
		}
		name(l.From)
		name(l.To)
		b = binary.AppendUvarint(b, uint64(l.Micros))
	}
	a.entry(b, stored(b), hash)
	if a.passed(); a.bad == nil {
		a.bad = a.anew
	}
}
