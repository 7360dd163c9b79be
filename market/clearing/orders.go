package clearing

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
	maxNumber = 32       // maximum characters in a rate
	maxName   = 128      // maximum bytes in the name of a bidder
	maxFile   = 64 << 20 // maximum bytes in a file of orders
)

// errOrders is wrapped by every error about the content of a file of orders.
var errOrders = errors.New("bad orders")

// ReadOrders reads CSV lines of the form bidder,rate. A header line of these two words may
// come first. A rate consists of digits with an optional decimal point and further digits, and
// has at most 32 characters. A name has at most 128 bytes, all visible characters or spaces;
// surrounding space is removed. Each bidder may appear only once.
//
// file is the name that error messages give to the input. An error about the content names the
// file, the line and the field, and states the text found and the form wanted.
func ReadOrders(file string, in io.Reader) ([]Order, error) {
	r := csv.NewReader(withoutMark(&bounded{in, maxFile}))
	r.FieldsPerRecord = -1
	r.ReuseRecord = true
	var orders []Order
	lines := map[string]int{} // the line number of each bidder
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

// decimal matches a rate. It excludes signs and exponents: rates are at least 0, and an exponent
// would let a short text denote a huge number.
var decimal = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`)

// parseRate parses text as a decimal number. It checks the length first, to limit the parsing time.
func parseRate(text string) (*big.Rat, bool) {
	if len(text) > maxNumber || !decimal.MatchString(text) {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

// isHeader reports whether record is the optional header line.
func isHeader(record []string) bool {
	return len(record) == 2 && !broken(record[0]) && !broken(record[1]) &&
		strings.EqualFold(strings.TrimSpace(record[0]), "bidder") &&
		strings.EqualFold(strings.TrimSpace(record[1]), "rate")
}

// isName reports whether s is a valid name of a bidder.
func isName(s string) bool {
	invisible := func(r rune) bool { return !unicode.IsGraphic(r) }
	return s != "" && len(s) <= maxName && utf8.ValidString(s) && !strings.ContainsFunc(s, invisible)
}

// broken reports whether a cell contains a line break. Such a cell is ambiguous, because some
// programs treat the break as part of the cell and others as a blank.
func broken(cell string) bool { return strings.ContainsAny(cell, "\r\n") }

// quote returns s quoted for a message. The result is on one line, and s is cut after 40
// bytes.
func quote(s string) string {
	if len(s) > 40 {
		return fmt.Sprintf("%q... (%d bytes)", s[:40], len(s))
	}
	return fmt.Sprintf("%q", s)
}

// withoutMark removes the byte order mark that some programs write before UTF-8 text.
func withoutMark(in io.Reader) io.Reader {
	b := bufio.NewReader(in)
	if head, err := b.Peek(3); err == nil && string(head) == "\uFEFF" {
		b.Discard(3)
	}
	return b
}

// A bounded is a reader that fails if more than left bytes are read.
type bounded struct {
	in   io.Reader
	left int
}

// Read implements [io.Reader].
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.in.Read(p[:min(len(p), b.left+1)])
	if b.left -= n; b.left < 0 {
		return 0, fmt.Errorf("%w: more than %d bytes", errOrders, maxFile)
	}
	return n, err
}
