// Package csvtest provides a second reader of tables for tests. It shares no code with the
// readers that it is compared with, and rejects tables that two spreadsheets could interpret
// differently.
//
// It reads rows, cells and decimal numbers, and is independent of the meaning of columns.
package csvtest

import (
	"fmt"
	"math/big"
	"strings"
)

// Rows returns the rows of a text in the format of RFC 4180. Lines end with LF, CR LF or CR.
// Rows skips empty lines, a byte order mark and, unless comment is 0, lines that begin with
// comment. It returns an error if a row and the first row differ in length, if quotes do not
// enclose a whole cell, or if a cell contains a line break.
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

// Number returns the decimal number in a cell. It returns false if the cell contains anything
// else, such as hexadecimal digits, an infinity, or a comma in place of the point.
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
