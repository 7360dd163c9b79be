package availability

import (
	"strings"
	"testing"
)

// fuzz checks what every reader promises of any text: no panic, and lines that
// add up.
func fuzz(f *testing.F, read func(string) (*Accounting, error), seeds ...string) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		acc, err := read(text)
		if err != nil {
			if strings.HasPrefix(text, "\x1f\x8b") {
				return // a broken gzip
			}
			t.Fatal(err)
		}
		lines := strings.Count(text, "\n")
		if text != "" && !strings.HasSuffix(text, "\n") {
			lines++
		}
		if strings.HasPrefix(text, "\x1f\x8b") || strings.HasPrefix(text, "\ufeff") {
			lines = -1
		}
		checkAccounting(t, "fuzz", acc, lines)
	})
}

func FuzzReadCSV(f *testing.F) {
	fuzz(f, func(s string) (*Accounting, error) {
		_, a, err := ReadCSV(strings.NewReader(s), Gap)
		return a, err
	}, columns+"\na,0,10,A,0.5,1\nb,5,9,U\na,8,12,P,2,2\n", "a,1e300,2,A\na,-5,-6,A,nan\n\"", "\x1f\x8b\x08")
}

func FuzzReadUCB(f *testing.F) {
	fuzz(f, func(s string) (*Accounting, error) {
		_, a, err := ReadUCB([]File{{"h", strings.NewReader(s)}}, 0, Gap)
		return a, err
	}, "1000 100\n1060 50\n1120 -1\n1180 100\n1300 0\n", "1 nan\n1 1\n1 2\n-1e12 5 5\n")
}

func FuzzReadFTA(f *testing.F) {
	fuzz(f, func(s string) (*Accounting, error) {
		_, a, err := ReadFTA(strings.NewReader(s), Gap)
		return a, err
	}, "# c\n0 0 7 1 n7 1 1000 2000 0\n0 0 7 1 n7 0 1500 2500 4\n", "0 0 7 1 n7 5 1 0 x x\n")
}

func FuzzReadLoad(f *testing.F) {
	fuzz(f, func(s string) (*Accounting, error) {
		_, a, err := ReadLoad(strings.NewReader(s), LoadConfig{Threshold: 0.1, MinDays: 2, Gap: Gap})
		return a, err
	}, "20110303\ta\t1 2 99 101 -4 x\n20110304\ta\t5\n", "20110303\ta\t\n20110303\ta\t1\n2011\tb\t1\n")
}
