package market

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/big"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxNumber = 32       // characters of a rate
	maxName   = 128      // bytes of a bidder's name
	maxFile   = 64 << 20 // bytes of a file of orders
)

// errOrders is wrapped by every error about the content of a file of orders.
var errOrders = errors.New("bad orders")

// ReadOrders reads lines of bidder,rate, as CSV, after an optional header of
// these two words. A rate is digits with an optional decimal point and more
// digits, at most 32 characters. A name is at most 128 bytes of visible characters
// and spaces; space around it is dropped. No bidder may come twice.
//
// file is the name that errors give to the input. An error about the content
// names file and line, the field, what was found and what was wanted.
func ReadOrders(file string, in io.Reader) ([]Order, error) {
	r := csv.NewReader(withoutMark(&bounded{in, maxFile}))
	r.FieldsPerRecord = -1
	r.ReuseRecord = true
	var orders []Order
	lines := map[string]int{} // where each bidder was found
	for first := true; ; first = false {
		record, err := r.Read()
		if err == io.EOF {
			break
		}
		var syntax *csv.ParseError
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("%s:%d: %w: %v", file, syntax.Line, errOrders, syntax.Err)
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		if first && isHeader(record) {
			continue
		}
		line, _ := r.FieldPos(0)
		bad := func(field, found, wanted string) error {
			return fmt.Errorf("%s:%d: %w: %s: found %s, want %s", file, line, errOrders, field, found, wanted)
		}
		if len(record) != 2 {
			return nil, bad("line", fmt.Sprintf("%d columns", len(record)), "2: bidder,rate")
		}
		bidder := strings.TrimSpace(record[0])
		if !isName(bidder) || broken(record[0]) {
			return nil, bad("bidder", quote(record[0]), fmt.Sprintf("a name of 1 to %d bytes, all visible characters or spaces", maxName))
		}
		if before, ok := lines[bidder]; ok {
			return nil, bad("bidder", quote(bidder)+" again", fmt.Sprintf("one line a bidder (the other is line %d)", before))
		}
		rate, ok := parseRate(strings.TrimSpace(record[1]))
		if !ok || broken(record[1]) {
			return nil, bad("rate", quote(record[1]), fmt.Sprintf("a decimal number such as 0.25, of at most %d characters", maxNumber))
		}
		bidder = strings.Clone(bidder)
		lines[bidder] = line
		orders = append(orders, Order{bidder, rate})
	}
	if len(orders) == 0 {
		return nil, fmt.Errorf("%s:1: %w: found none, want lines of bidder,rate", file, errOrders)
	}
	return orders, nil
}

var decimal = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`)

// parseRate returns the decimal number that text is. The bound comes first: what
// it lets through cannot take long.
func parseRate(text string) (*big.Rat, bool) {
	if len(text) > maxNumber || !decimal.MatchString(text) {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

func isHeader(record []string) bool {
	return len(record) == 2 && !broken(record[0]) && !broken(record[1]) &&
		strings.EqualFold(strings.TrimSpace(record[0]), "bidder") &&
		strings.EqualFold(strings.TrimSpace(record[1]), "rate")
}

func isName(s string) bool {
	invisible := func(r rune) bool { return !unicode.IsGraphic(r) }
	return s != "" && len(s) <= maxName && utf8.ValidString(s) && !strings.ContainsFunc(s, invisible)
}

// broken reports whether a cell runs over the end of its line: such a break is a part
// of the cell to some programs, and a blank to others.
func broken(cell string) bool { return strings.ContainsAny(cell, "\r\n") }

// quote returns s for a message: on one line, and not all of it if it is long.
func quote(s string) string {
	if len(s) > 40 {
		return fmt.Sprintf("%q... (%d bytes)", s[:40], len(s))
	}
	return fmt.Sprintf("%q", s)
}

// withoutMark drops the byte order mark that some programs put before UTF-8.
func withoutMark(in io.Reader) io.Reader {
	b := bufio.NewReader(in)
	if head, err := b.Peek(3); err == nil && string(head) == "\uFEFF" {
		b.Discard(3)
	}
	return b
}

// A bounded reader fails when more than left bytes are read.
type bounded struct {
	in   io.Reader
	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.in.Read(p[:min(len(p), b.left+1)])
	if b.left -= n; b.left < 0 {
		return 0, fmt.Errorf("%w: more than %d bytes", errOrders, maxFile)
	}
	return n, err
}
