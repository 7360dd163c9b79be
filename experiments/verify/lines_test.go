package verify

import (
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// texts returns the cells of r, which may be nil.
func texts(r *record) (cells []string) {
	for i := 0; r != nil && i < len(r.ends); i++ {
		cells = append(cells, string(r.cell(i)))
	}
	return cells
}

// TestLines checks that tables are read as encoding/csv reads them, errors and their lines
// included, wherever the first line is that is not plain.
func TestLines(t *testing.T) {
	t.Parallel()
	odd := []string{
		"1,2,3\n", "\"a,b\",2,3\n", "\"a\nb\",2,3\n", "1,2\n", "1,2,3,4\n", "\n", "1,2,3\r\n", "1,\"2,3\n", "1,a\"b,3\n", ",,\n", "1,2,3",
		"1,\r,3\n", strings.Repeat("x", 1<<17) + ",2,3\n", "",
	}
	for _, first := range odd {
		for _, second := range odd {
			for plain := range 3 {
				text := strings.Repeat("a,b,c\n", plain) + first + "p,q,r\n" + second
				want, got := csv.NewReader(strings.NewReader(text)), newLines(strings.NewReader(text))
				for {
					w, err := want.Read()
					if err != nil {
						w = nil // with a number of cells that is wrong they are returned
					}
					g, bad := got.next()
					if !slices.Equal(texts(g), w) || fmt.Sprint(bad) != fmt.Sprint(err) {
						t.Fatalf("%.80q: %.80q, %v, want %.80q, %v", text, texts(g), bad, w, err)
					}
					if err != nil {
						break
					}
				}
			}
		}
	}
}

// TestSkip checks that lines that begin as those of no interest do are left out, unless they
// are not plain.
func TestSkip(t *testing.T) {
	t.Parallel()
	in := newLines(strings.NewReader("a,b,1\na,b,2\na,bb,3\na,b,4\na,c,5\na,b,6\na,b,\"7\"\na,b,8\n"))
	var got []string
	for {
		record, err := in.next()
		if err != nil {
			break
		}
		if got = append(got, strings.Join(texts(record), "")); slices.Contains([]string{"ab1", "ac5"}, got[len(got)-1]) {
			in.skip(2)
		}
	}
	if want := []string{"ab1", "", "abb3", "", "ac5", "ab6", "ab7", "ab8"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
