package export

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"bourse/bank"
	"bourse/bank/canonical"

	"golang.org/x/mod/sumdb/tlog"
)

// A Line is one move of an entry, or an entry without moves. A Line is written as one line of
// JSON or, with the amount in dollars, as one row of CSV.
type Line struct {
	Seq      int64     `json:"seq"`
	Time     float64   `json:"time" doc:"seconds since the origin of the run"`
	ID       string    `json:"id,omitempty"`
	Kind     bank.Kind `json:"kind"`
	Contract *int64    `json:"contract,omitempty"`
	From     string    `json:"from,omitempty"`
	To       string    `json:"to,omitempty"`
	Micros   int64     `json:"micros,omitempty"`
	Note     string    `json:"note,omitempty"`
	Note64   []byte    `json:"note64,omitempty" doc:"note that is not UTF-8, in base64"`
	Hash     tlog.Hash `json:"hash" doc:"hash of the entry"`
}

// Lines returns the lines of e, at least one.
func Lines(e *bank.Entry, hash tlog.Hash) []Line {
	first := Line{Seq: e.Seq, Time: e.Time, ID: e.ID, Kind: e.Kind, Hash: hash}
	if e.Contract != bank.NoContract {
		contract := e.Contract
		first.Contract = &contract
	}
	if utf8.Valid(e.Note) {
		first.Note = string(e.Note)
	} else {
		first.Note64 = e.Note
	}
	if len(e.Moves) == 0 {
		return []Line{first}
	}
	lines := make([]Line, len(e.Moves))
	for i, m := range e.Moves {
		lines[i] = first
		lines[i].From, lines[i].To, lines[i].Micros = m.From, m.To, m.Amount.Micros()
	}
	return lines
}

type jsonLines struct {
	*printer
	enc *json.Encoder
}

func newJSON(p *printer) writer {
	return jsonLines{p, canonical.NewEncoder(p)}
}

func (j jsonLines) entry(e *bank.Entry, hash tlog.Hash) {
	for _, l := range Lines(e, hash) {
		if err := j.enc.Encode(l); err != nil && j.err == nil {
			j.err = err
		}
	}
}

func (jsonLines) end() {}

type csvRows struct {
	*printer
	rows *csv.Writer
}

func newCSV(p *printer) writer {
	c := csvRows{p, csv.NewWriter(p)}
	c.write("seq", "time", "kind", "contract", "id", "from", "to", "amount", "note", "receipt")
	return c
}

func (c csvRows) write(cells ...string) {
	for i, s := range cells {
		if s != "" && strings.Contains("=+-@\t\r'", s[:1]) {
			cells[i] = "'" + s // without this, a spreadsheet would evaluate the cell
		}
	}
	if err := c.rows.Write(cells); err != nil && c.err == nil {
		c.err = err
	}
}

func (c csvRows) entry(e *bank.Entry, hash tlog.Hash) {
	for _, l := range Lines(e, hash) {
		contract, amount := "", ""
		if l.Contract != nil {
			contract = strconv.FormatInt(*l.Contract, 10)
		}
		if l.Micros > 0 {
			amount = bank.Micros(l.Micros).String()
		}
		c.write(strconv.FormatInt(l.Seq, 10), seconds(l.Time), l.Kind.String(), contract, l.ID, l.From, l.To, amount,
			printable(e.Note), fmt.Sprintf("%d:%v", l.Seq, l.Hash))
	}
}

func (c csvRows) end() {
	c.rows.Flush()
	if err := c.rows.Error(); err != nil && c.err == nil {
		c.err = err
	}
}

// A text is a writer for people: it writes each entry with its moves and its note.
type text struct{ *printer }

func newText(p *printer) writer { return text{p} }

func (t text) entry(e *bank.Entry, _ tlog.Hash) {
	t.printf("%6d  %12s s  %-8v", e.Seq, seconds(e.Time), e.Kind)
	if e.Contract != bank.NoContract {
		t.printf("  contract %d", e.Contract)
	}
	if e.ID != "" {
		t.printf("  id %s", e.ID)
	}
	t.printf("\n")
	for _, m := range e.Moves {
		t.printf("        %20v  %s -> %s\n", m.Amount, m.From, m.To)
	}
	if len(e.Note) > 0 {
		t.printf("        %s\n", printable(e.Note))
	}
}

func (text) end() {}

// printable returns a note unchanged unless it contains characters that could control a
// terminal.
func printable(note []byte) string {
	if s := string(note); utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return s
	}
	return strconv.Quote(string(note))
}

// Entry returns the entry and the hash for which [Lines] would return these lines. It returns
// an error if Lines would write the entry differently.
func Entry(lines []Line) (*bank.Entry, tlog.Hash, error) {
	if len(lines) == 0 {
		return nil, tlog.Hash{}, fmt.Errorf("found an entry without lines")
	}
	first := lines[0]
	e := &bank.Entry{Seq: first.Seq, Time: first.Time, Kind: first.Kind, Contract: bank.NoContract, ID: first.ID, Note: append([]byte(first.Note), first.Note64...)}
	if first.Contract != nil {
		e.Contract = *first.Contract
	}
	for _, l := range lines {
		if l.From == "" && l.To == "" && l.Micros == 0 && len(lines) == 1 {
			break
		}
		for _, name := range [...]string{l.From, l.To} {
			if name == "" || bank.IsEscrow(name) && name != bank.EscrowName(e.Contract) {
				return nil, tlog.Hash{}, fmt.Errorf("entry %d: found account %q, want a named account or the contract's escrow", e.Seq, name)
			}
		}
		if l.Micros <= 0 {
			return nil, tlog.Hash{}, fmt.Errorf("entry %d: found %d micros, want more than 0", e.Seq, l.Micros)
		}
		e.Moves = append(e.Moves, bank.Move{From: l.From, To: l.To, Amount: bank.Micros(l.Micros)})
	}
	if !slices.EqualFunc(Lines(e, first.Hash), lines, Line.equal) {
		return nil, tlog.Hash{}, fmt.Errorf("entry %d: found lines of different entries, want the same kind, time, contract, id, note and hash on each line", e.Seq)
	}
	return e, first.Hash, nil
}

// equal reports whether two lines are written identically.
func (l Line) equal(o Line) bool {
	contract := l.Contract == o.Contract || l.Contract != nil && o.Contract != nil && *l.Contract == *o.Contract
	return contract && l.Seq == o.Seq && math.Float64bits(l.Time) == math.Float64bits(o.Time) && l.ID == o.ID && l.Kind == o.Kind &&
		l.From == o.From && l.To == o.To && l.Micros == o.Micros && l.Note == o.Note && bytes.Equal(l.Note64, o.Note64) && l.Hash == o.Hash
}
