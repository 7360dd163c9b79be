package verify

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

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
	Start, End, WorkDone float64
	Paid, Penalty        audit.Money
	Fulfilled            string // true, false, or empty
}

// none stands for an empty cell of money.
const none audit.Money = -1

// ReadJobs reads a table of jobs, as jobs.csv has it, and returns its rows by run:
// "configuration/admission/replication". It keeps the runs that keep tells. Errors
// name row and column.
func ReadJobs(r io.Reader, keep func(run string) bool) (map[string][]Job, error) {
	in := csv.NewReader(r)
	in.ReuseRecord = true
	header, err := in.Read()
	if err != nil {
		return nil, fmt.Errorf("jobs, row 1: %w", err)
	}
	column := make(map[string]int)
	for i, name := range header {
		column[name] = i
	}
	for _, name := range [...]string{"configuration", "admission", "replication", "job", "user", "arrival", "nodes", "value", "decision",
		"reason", "start", "end", "work", "work_done", "paid", "penalty", "fulfilled"} {
		if _, ok := column[name]; !ok {
			return nil, fmt.Errorf("jobs, row 1: no column %s", name)
		}
	}
	runs := make(map[string][]Job)
	for row := 2; ; row++ {
		record, err := in.Read()
		if err == io.EOF {
			return runs, nil
		}
		if err != nil {
			return nil, fmt.Errorf("jobs, row %d: %w", row, err)
		}
		c := cells{record: record, column: column}
		run := c.text("configuration") + "/" + c.text("admission") + "/" + c.text("replication")
		if !keep(run) {
			continue
		}
		j := Job{
			Row: row, ID: c.int("job"), User: c.text("user"), Arrival: c.number("arrival"), Work: c.number("work"),
			Nodes: int(c.int("nodes")), Value: c.money("value"), Decision: c.text("decision"), Reason: c.text("reason"),
			Start: c.number("start"), End: c.number("end"), WorkDone: c.number("work_done"),
			Paid: c.money("paid"), Penalty: c.money("penalty"), Fulfilled: c.text("fulfilled"),
		}
		if c.err != nil {
			return nil, fmt.Errorf("jobs, row %d, %w", row, c.err)
		}
		runs[run] = append(runs[run], j)
	}
}

// cells are those of a row; err is of the first that was not as it should be.
type cells struct {
	record []string
	column map[string]int
	err    error
}

// text returns a cell without the apostrophe that keeps it from being a formula.
func (c *cells) text(name string) string {
	return strings.Clone(strings.TrimPrefix(c.record[c.column[name]], "'"))
}

func (c *cells) bad(name string, err error) {
	if c.err == nil && err != nil {
		c.err = fmt.Errorf("column %s: %w", name, err)
	}
}

func (c *cells) int(name string) int64 {
	s := c.record[c.column[name]]
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		c.bad(name, fmt.Errorf("%.40q, want an integer", s))
	}
	return n
}

func (c *cells) number(name string) float64 {
	s := c.record[c.column[name]]
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
	s := c.record[c.column[name]]
	if s == "" {
		return none
	}
	m, err := parseMoney(s)
	c.bad(name, err)
	return m
}

var errMoney = errors.New("want dollars with six decimals, 0 or more")

// parseMoney reads what [audit.Money.String] writes of an amount that is not negative.
func parseMoney(s string) (audit.Money, error) {
	whole, part, ok := strings.Cut(s, ".")
	if !ok || len(part) != 6 || len(s) > 20 || whole == "" {
		return 0, fmt.Errorf("%.40q: %w", s, errMoney)
	}
	u, err := strconv.ParseUint(whole+part, 10, 63)
	if err != nil {
		return 0, fmt.Errorf("%.40q: %w", s, errMoney)
	}
	return audit.Money(u), nil
}
