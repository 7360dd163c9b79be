// Package csvtest is a second reader of tables, for tests: it shares no code with the
// readers that it is compared with, and refuses what two spreadsheets could take for
// different things.
//
// It knows rows, cells and decimal numbers, and not what any column is for.
package csvtest

import (
	"fmt"
	"math/big"
	"strings"
)

// Rows returns the rows of a text as RFC 4180 has them. Lines end with LF, CR LF or
// CR; empty lines and a byte order mark are passed over, and lines that begin with
// comment, unless that is 0. Rows of another length than the first, and quotes that do
// not enclose a whole cell, are errors, as is a line break in a cell.
func Rows(text string, comment byte) ([][]string, error) {
	text = strings.TrimPrefix(text, "\ufeff")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	var rows [][]string
	for n, line := range strings.Split(text, "\n") {
		if line == "" || comment != 0 && line[0] == comment {
			continue
		}
		cells, err := Cells(line)
		if err == nil && len(rows) > 0 && len(cells) != len(rows[0]) {
			err = fmt.Errorf("%d cells, want %d", len(cells), len(rows[0]))
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
		rows = append(rows, cells)
	}
	return rows, nil
}

// Cells returns the cells of one line.
func Cells(line string) ([]string, error) {
	var cells []string
	for {
		var cell string
		if !strings.HasPrefix(line, `"`) {
			end := strings.IndexByte(line, ',')
			if end < 0 {
				end = len(line)
			}
			cell, line = line[:end], line[end:]
			if strings.Contains(cell, `"`) {
				return nil, fmt.Errorf("a quote within %q", cell)
			}
		} else {
			line = line[1:]
			for {
				end := strings.IndexByte(line, '"')
				if end < 0 {
					return nil, fmt.Errorf("an unclosed quote before %q", line)
				}
				cell, line = cell+line[:end], line[end+1:]
				if !strings.HasPrefix(line, `"`) {
					break
				}
				cell, line = cell+`"`, line[1:]
			}
		}
		cells = append(cells, cell)
		if line == "" {
			return cells, nil
		}
		if line[0] != ',' {
			return nil, fmt.Errorf("%q after a quote", line)
		}
		line = line[1:]
	}
}

// Number returns the decimal number that a cell holds; false if it holds anything
// else, such as hexadecimal digits, an infinity, or a comma for the point.
func Number(cell string) (float64, bool) {
	digits := 0
	mantissa, exponent, scientific := strings.Cut(strings.ToLower(cell), "e")
	for i, c := range mantissa {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c == '.' && !strings.Contains(mantissa[:i], "."):
		case (c == '+' || c == '-') && i == 0:
		default:
			return 0, false
		}
	}
	if digits == 0 {
		return 0, false
	}
	if scientific {
		rest := strings.TrimPrefix(strings.TrimPrefix(exponent, "-"), "+")
		if rest == "" || strings.Trim(rest, "0123456789") != "" || len(exponent)-len(rest) > 1 {
			return 0, false
		}
		if rest = strings.TrimLeft(rest, "0"); len(rest) > 4 {
			return 0, strings.Trim(mantissa, "+-.0") == "" || strings.HasPrefix(exponent, "-")
		}
	}
	if !scientific {
		exponent = "0"
	}
	f, _, err := big.ParseFloat(mantissa+"e"+exponent, 10, 4000, big.ToNearestEven)
	if err != nil {
		return 0, false
	}
	x, _ := f.Float64()
	return x + 0, x-x == 0
}
