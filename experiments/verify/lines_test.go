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

// TestLinesFar checks the same of tables of several buffers, with an odd line anywhere.
func TestLinesFar(t *testing.T) {
	t.Parallel()
	const n = 12000
	for i := range 40 {
		var b strings.Builder
		for k := range n {
			switch {
			case k != (2*i+1)*n/80:
				fmt.Fprintf(&b, "%d,%s\n", k, strings.Repeat("x", k%23))
			case i%2 == 0:
				fmt.Fprintf(&b, "%d,\"x\ny\"\n", k)
			default:
				fmt.Fprintf(&b, "%d,x\r\n", k)
			}
		}
		want, got := csv.NewReader(strings.NewReader(b.String())), newLines(strings.NewReader(b.String()))
		for k := range n {
			w, err := want.Read()
			g, bad := got.next()
			if !slices.Equal(texts(g), w) || bad != nil || err != nil {
				t.Fatalf("table %d, line %d: %q, %v, want %q, %v", i, k, texts(g), bad, w, err)
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

// TestWords checks that each row has its own words, however they change from row to row.
func TestWords(t *testing.T) {
	t.Parallel()
	const text = "configuration,admission,replication,job,user,arrival,work,nodes,value,deadline,bid,decision,reason,start,finish,share,work_done,paid,penalty,fulfilled\n" +
		"a,be,0,1,'x,0,1,1,1.000000,,,accept,,,,,,,,true\n" +
		"a,be,0,2,xy,0,1,1,1.000000,,,reject,no,,,,,,,\n" +
		"a,be,0,3,x,0,1,1,1.000000,,,accept,,,,,,,,false\n" +
		"a,be,1,1,,0,1,1,1.000000,,,accept,accept,,,,,,,true\n"
	runs, err := ReadJobs(strings.NewReader(text), func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, run := range []string{"a/be/0", "a/be/1"} {
		rows := runs[run]
		for _, j := range rows.all() {
			got = append(got, fmt.Sprintf("%s: %d %q %q %q %q", run, j.ID, j.User, j.Decision, j.Reason, j.Fulfilled))
		}
	}
	want := []string{
		`a/be/0: 1 "x" "accept" "" "true"`, `a/be/0: 2 "xy" "reject" "no" ""`, `a/be/0: 3 "x" "accept" "" "false"`, `a/be/1: 1 "" "accept" "accept" "true"`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
