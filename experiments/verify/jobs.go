package verify

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"bourse/bank/audit"
)

// A Job is a row of the table of jobs. What is empty there is NaN, -1, or empty.
type Job struct {
	Row  int // of the file; the header is row 1
	ID   int64
	User string

	Arrival, Work        float64
	Nodes                int
	Value                audit.Money
	Decision, Reason     string
	Old                  bool // its table has no deadline, bid and share
	Deadline, Bid, Share float64
	Start, End, WorkDone float64
	Paid, Penalty, Owed  audit.Money // Owed is of a penalty
	OwedKnown            bool        // its table has that
	Fulfilled            string      // true, false, or empty
}

// none stands for an empty cell of money.
const none audit.Money = -1

// ReadJobs reads a table of jobs, as jobs.csv has it, and returns its rows by run:
// "configuration/admission/replication". It keeps the runs that keep tells. Errors
// name row and column.
func ReadJobs(r io.Reader, keep func(run string) bool) (map[string]Rows, error) {
	in := newLines(r)
	header, err := in.next()
	if err != nil {
		return nil, fmt.Errorf("jobs, row 1: %w", err)
	}
	c := cells{words: make(map[string]string)}
	for i, name := range columns {
		c.at[i] = header.index(name)
		if c.at[i] < 0 && name == "finish" {
			c.at[i] = header.index("end") // of older tables
		}
		if c.at[i] < 0 && slices.Contains(since2, name) {
			c.old = true
		} else if c.at[i] < 0 && name != "penalty_owed" { // which tables have by the rules of version 2
			return nil, fmt.Errorf("jobs, row 1: no column %s", name)
		}
	}
	runs := make(map[string]Rows)
	var last of
	var rows Rows // of run
	run, kept := "", false
	for row := 2; ; row++ {
		record, err := in.next()
		if err == io.EOF {
			if kept {
				runs[run] = rows
			}
			return runs, nil
		}
		if record == nil && err == nil {
			continue // of the run of the row before
		}
		if err != nil {
			return nil, fmt.Errorf("jobs, row %d: %w", row, err)
		}
		c.record, c.next = record, 0
		c.configuration, c.admission, c.replication = c.text("configuration"), c.text("admission"), c.text("replication")
		if row == 2 || c.of != last {
			if kept {
				runs[run] = rows
			}
			last, run = c.of, c.configuration+"/"+c.admission+"/"+c.replication
			if kept = keep(run); !kept && slices.Equal(c.at[:3], []int{0, 1, 2}) {
				in.skip(3)
			}
			rows = runs[run]
		}
		if !kept {
			continue
		}
		j := rows.add()
		j.Row, j.Old = row, c.old
		j.ID, j.User, j.Arrival, j.Work = c.int("job"), c.text("user"), c.number("arrival"), c.number("work")
		j.Nodes, j.Value, j.Deadline, j.Bid = int(c.int("nodes")), c.money("value"), c.number("deadline"), c.number("bid")
		j.Decision, j.Reason = c.text("decision"), c.text("reason")
		j.Start, j.End, j.Share, j.WorkDone = c.number("start"), c.number("finish"), c.number("share"), c.number("work_done")
		j.Paid, j.Penalty, j.Owed = c.money("paid"), c.money("penalty"), c.money("penalty_owed")
		j.OwedKnown = c.at[c.next-1] >= 0
		j.Fulfilled = c.text("fulfilled")
		if c.err != nil {
			return nil, fmt.Errorf("jobs, row %d, %w", row, c.err)
		}
	}
}

// columns are those that are read, in that order.
var columns = [...]string{
	"configuration", "admission", "replication", "job", "user", "arrival", "work", "nodes", "value", "deadline", "bid", "decision", "reason",
	"start", "finish", "share", "work_done", "paid", "penalty", "penalty_owed", "fulfilled",
}

// since2 are columns that older tables have not.
var since2 = []string{"deadline", "bid", "share"}

// An of is whose a row is.
type of struct{ configuration, admission, replication string }

// cells are those of a row; err is of the first that was not as it should be.
type cells struct {
	of
	record *record
	at     [len(columns)]int    // in a record
	next   int                  // of columns
	old    bool                 // some of since2 are missing
	words  map[string]string    // what cells say, each kept once
	said   [len(columns)]string // what a column of words said last
	err    error
}

// cell returns what stands in a column, which is the next of columns.
func (c *cells) cell(name string) []byte {
	if columns[c.next] != name {
		panic("verify: column " + name + " out of turn")
	}
	if c.next++; c.at[c.next-1] < 0 {
		return nil
	}
	return c.record.cell(c.at[c.next-1])
}

// text returns a cell without the apostrophe that keeps it from being a formula, each word
// once in memory.
func (c *cells) text(name string) string {
	s := bytes.TrimPrefix(c.cell(name), []byte{'\''})
	said := &c.said[c.next-1]
	if *said == string(s) { // as mostly
		return *said
	}
	word, ok := c.words[string(s)]
	if !ok {
		word = string(s)
		c.words[word] = word
	}
	*said = word
	return word
}

func (c *cells) bad(name string, err error) {
	if c.err == nil && err != nil {
		c.err = fmt.Errorf("column %s: %w", name, err)
	}
}

func (c *cells) int(name string) int64 {
	s := c.cell(name)
	if all, n := digits(s, 0); n == len(s) && n > 0 && n < len(tens)-1 {
		return int64(all)
	}
	n, err := strconv.ParseInt(string(s), 10, 64)
	if err != nil {
		c.bad(name, fmt.Errorf("%.40q, want an integer", s))
	}
	return n
}

func (c *cells) number(name string) float64 {
	s := c.cell(name)
	if len(s) == 0 {
		return math.NaN()
	}
	if x, n := decimal(s); n == len(s) {
		return x
	}
	x, err := strconv.ParseFloat(string(s), 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		c.bad(name, fmt.Errorf("%.40q, want a finite number", s))
	}
	return x
}

func (c *cells) money(name string) audit.Money {
	s := c.cell(name)
	if len(s) == 0 {
		return none
	}
	m, err := parseMoney(s)
	c.bad(name, err)
	return m
}

var errMoney = errors.New("want dollars with six decimals, 0 or more")

// parseMoney reads what [audit.Money.String] writes of an amount that is not negative, or
// that with zeros before it, in up to 20 characters.
func parseMoney[S string | []byte](s S) (audit.Money, error) {
	const decimals = 6
	if point := len(s) - decimals - 1; point >= 1 && len(s) <= 20 && s[point] == '.' {
		whole, n := digits(s[:point], 0)
		sum, more := digits(s[point+1:], whole) // 19 digits at most, for which there is room
		if n == point && more == decimals && sum <= math.MaxInt64 {
			return audit.Money(sum), nil
		}
	}
	return 0, fmt.Errorf("%.40q: %w", s, errMoney)
}
