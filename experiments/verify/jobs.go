package verify

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"bourse/bank/audit"
)

// A Job is a row of the table of jobs. An empty cell is NaN, -1 or an empty string, depending
// on its type.
type Job struct {
	Row  int // row number in the file; the header is row 1
	ID   int64
	User string

	Arrival, Work        float64
	Estimate             float64 // estimated runtime
	Nodes                int
	Value                audit.Money
	Decision, Reason     string
	Old                  bool // whether the table lacks the columns deadline, bid and share
	Deadline, Bid, Share float64
	Start, End, WorkDone float64
	Paid, Penalty, Owed  audit.Money // Owed is a penalty
	OwedKnown            bool        // whether the table has the column of Owed
	Fulfilled            string      // true, false, or empty
}

// none represents an empty cell in a column of money.
const none audit.Money = -1

// ReadJobs reads a table of jobs in the format of jobs.csv. It returns the rows of each
// run, keyed by "configuration/admission/replication". It stores only the runs for which
// keep returns true. Errors state the row and the column.
func ReadJobs(r io.Reader, keep func(run string) bool) (map[string]Rows, error) {
	in := csv.NewReader(bufio.NewReaderSize(r, 1<<16))
	in.ReuseRecord = true
	header, err := in.Read()
	if err != nil {
		return nil, fmt.Errorf("jobs, row 1: %w", err)
	}
	c := cells{at: make(map[string]int), words: make(map[string]string)}
	for i, name := range header {
		c.at[strings.Clone(name)] = i
	}
	if end, ok := c.at["end"]; ok && !c.has("finish") { // older tables have this column
		c.at["finish"] = end
	}
	for _, name := range columns {
		if !c.has(name) && slices.Contains(since2, name) {
			c.old = true
		} else if !c.has(name) {
			return nil, fmt.Errorf("jobs, row 1: no column %s", name)
		}
	}
	owed := c.has("penalty_owed") // tables have this column since version 2 of the rules
	runs := make(map[string]Rows)
	var last [3]string
	var rows Rows // rows of the current run
	run, kept := "", false
	for row := 2; ; row++ {
		record, err := in.Read()
		if err == io.EOF {
			if kept {
				runs[run] = rows
			}
			return runs, nil
		}
		if err != nil {
			return nil, fmt.Errorf("jobs, row %d: %w", row, err)
		}
		c.record = record
		if of := [3]string{c.text("configuration"), c.text("admission"), c.text("replication")}; row == 2 || of != last {
			if kept {
				runs[run] = rows
			}
			last, run = of, of[0]+"/"+of[1]+"/"+of[2]
			kept, rows = keep(run), runs[run]
		}
		if !kept {
			continue
		}
		*rows.add() = Job{
			Row: row, Old: c.old, ID: c.int("job"), User: c.text("user"), Arrival: c.number("arrival"), Work: c.number("work"),
			Nodes: int(c.int("nodes")), Value: c.money("value"), Deadline: c.number("deadline"), Bid: c.number("bid"),
			Decision: c.text("decision"), Reason: c.text("reason"), Start: c.number("start"), End: c.number("finish"), Share: c.number("share"),
			WorkDone: c.number("work_done"), Paid: c.money("paid"), Penalty: c.money("penalty"), Owed: c.money("penalty_owed"), OwedKnown: owed,
			Fulfilled: c.text("fulfilled"),
		}
		at := rows.at(rows.n - 1)
		if at.Estimate = c.number("estimate"); math.IsNaN(at.Estimate) {
			at.Estimate = c.number("runtime")
		}
		if c.err != nil {
			return nil, fmt.Errorf("jobs, row %d, %w", row, c.err)
		}
	}
}

// columns must be in every table, except the columns in since2, which older tables lack.
var (
	columns = []string{
		"configuration", "admission", "replication", "job", "user", "arrival", "work", "nodes", "value", "deadline", "bid", "decision", "reason",
		"start", "finish", "share", "work_done", "paid", "penalty", "fulfilled",
	}
	since2 = []string{"deadline", "bid", "share"}
)

// cells provides access to the cells of a row by column name. The field err is the first
// error.
type cells struct {
	record []string
	at     map[string]int    // position of each column in a record
	old    bool              // whether some columns of since2 are missing
	words  map[string]string // interned text of cells
	err    error
}

// has reports whether the table has the column.
func (c *cells) has(name string) bool {
	_, ok := c.at[name]
	return ok
}

// cell returns the text in a column, or an empty string if the table does not have the
// column.
func (c *cells) cell(name string) string {
	if i, ok := c.at[name]; ok {
		return c.record[i]
	}
	return ""
}

// text returns the text of a cell. It removes the apostrophe that prevents spreadsheets
// from reading the text as a formula. Equal strings share memory.
func (c *cells) text(name string) string {
	s := strings.TrimPrefix(c.cell(name), "'")
	word, ok := c.words[s]
	if !ok {
		word = strings.Clone(s)
		c.words[word] = word
	}
	return word
}

func (c *cells) bad(name string, err error) {
	if c.err == nil && err != nil {
		c.err = fmt.Errorf("column %s: %w", name, err)
	}
}

func (c *cells) int(name string) int64 {
	n, err := strconv.ParseInt(c.cell(name), 10, 64)
	if err != nil {
		c.bad(name, fmt.Errorf("%.40q, want an integer", c.cell(name)))
	}
	return n
}

func (c *cells) number(name string) float64 {
	s := c.cell(name)
	if s == "" {
		return math.NaN()
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		c.bad(name, fmt.Errorf("%.40q, want a finite number", s))
	}
	return x
}

func (c *cells) money(name string) audit.Money {
	s := c.cell(name)
	if s == "" {
		return none
	}
	m, err := parseMoney(s)
	c.bad(name, err)
	return m
}

var errMoney = errors.New("want dollars with six decimals, at least 0")

// parseMoney reads a non-negative amount of at most 20 characters in the format of
// [audit.Money.String]. Leading zeros are allowed.
func parseMoney(s string) (audit.Money, error) {
	if dollars, micros, ok := strings.Cut(s, "."); ok && len(s) <= 20 && dollars != "" && len(micros) == 6 {
		if sum, err := strconv.ParseUint(dollars+micros, 10, 63); err == nil {
			return audit.Money(sum), nil
		}
	}
	return 0, fmt.Errorf("%.40q: %w", s, errMoney)
}
