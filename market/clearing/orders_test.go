package clearing

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// TestReadOrders checks the orders that ReadOrders returns for valid input.
func TestReadOrders(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		"ann,0.25\nbob,3\n",
		"bidder,rate\nann,0.25\nbob,3",
		"\uFEFFBidder, Rate\r\n\"ann\", 0.25 \r\n\r\nbob,3.0\r\n",
		" ann ,00.250\nbob,3",
	} {
		got, err := ReadOrders("bids.csv", strings.NewReader(in))
		if err != nil {
			t.Errorf("%q: %v", in, err)
			continue
		}
		if len(got) != 2 || got[0].Bidder != "ann" || got[0].Rate.RatString() != "1/4" || got[1].Bidder != "bob" || got[1].Rate.RatString() != "3" {
			t.Errorf("%q: orders = %v, want ann 1/4 and bob 3", in, got)
		}
	}
	name := strings.Repeat("n", maxName)
	if got, err := ReadOrders("bids.csv", strings.NewReader(name+",1")); err != nil || got[0].Bidder != name {
		t.Errorf("a name of %d bytes: %v, %v", maxName, got, err)
	}
	longest := strings.Repeat("1", maxNumber)
	if got, err := ReadOrders("bids.csv", strings.NewReader("ann,"+longest)); err != nil || got[0].Rate.RatString() != longest {
		t.Errorf("a rate of %d digits: %v, %v", maxNumber, got, err)
	}
	got, err := ReadOrders("bids.csv", strings.NewReader("\"a,\"\"b\"\"\",1\n"))
	if err != nil || got[0].Bidder != `a,"b"` {
		t.Errorf("quoted name: %v, %v", got, err)
	}
}

// TestReadOrdersRefuses checks that an error about bad input names the file, the line and the
// field, and states the text found and the form wanted.
func TestReadOrdersRefuses(t *testing.T) {
	t.Parallel()
	const (
		rate   = "a decimal number such as 0.25, of at most 32 characters"
		bidder = "a name of 1 to 128 bytes, all visible characters or spaces"
	)
	for in, want := range map[string]string{
		"ann,1\nbob,NaN":                     `bids.csv:2: bad orders: rate: found "NaN", want ` + rate,
		"ann,inf":                            `bids.csv:1: bad orders: rate: found "inf", want ` + rate,
		"ann,1e1000000000":                   `bids.csv:1: bad orders: rate: found "1e1000000000", want ` + rate,
		"ann,-1":                             `bids.csv:1: bad orders: rate: found "-1", want ` + rate,
		"ann,1/3":                            `bids.csv:1: bad orders: rate: found "1/3", want ` + rate,
		"ann,0x10":                           `bids.csv:1: bad orders: rate: found "0x10", want ` + rate,
		"ann,1_000":                          `bids.csv:1: bad orders: rate: found "1_000", want ` + rate,
		"ann,":                               `bids.csv:1: bad orders: rate: found "", want ` + rate,
		"ann," + strings.Repeat("9", 33):     `bids.csv:1: bad orders: rate: found "` + strings.Repeat("9", 33) + `", want ` + rate,
		"ann," + strings.Repeat("9", 1<<20):  `bids.csv:1: bad orders: rate: found "` + strings.Repeat("9", 40) + `"... (1048576 bytes), want ` + rate,
		"bidder,rate\nann,1\nbob,2\nann,3\n": `bids.csv:4: bad orders: bidder: found "ann" again, want one line a bidder (the other is line 2)`,
		"ann,1\n\nbob\n":                     `bids.csv:3: bad orders: line: found 1 columns, want 2: bidder,rate`,
		"ann,1,2\n":                          `bids.csv:1: bad orders: line: found 3 columns, want 2: bidder,rate`,
		"\"a\x07nn\",1":                      `bids.csv:1: bad orders: bidder: found "a\ann", want ` + bidder,
		"ann,1\n\"b\nob\",2":                 `bids.csv:2: bad orders: bidder: found "b\nob", want ` + bidder,
		"\"\nbob\",2":                        `bids.csv:1: bad orders: bidder: found "\nbob", want ` + bidder,
		"bob,\"2\n\"":                        `bids.csv:1: bad orders: rate: found "2\n", want ` + rate,
		"bob,2\r,\n":                         `bids.csv:1: bad orders: line: found 3 columns, want 2: bidder,rate`,
		"ann,1\nbob,2\r\r\n":                 `bids.csv:2: bad orders: rate: found "2\r", want ` + rate,
		"bidder,\"rate\n\"\nann,1":           `bids.csv:1: bad orders: rate: found "rate\n", want ` + rate,
		"\xff,1":                             `bids.csv:1: bad orders: bidder: found "\xff", want ` + bidder,
		"a\u202enn,1":                        `bids.csv:1: bad orders: bidder: found "a\u202enn", want ` + bidder,
		" ,1":                                `bids.csv:1: bad orders: bidder: found " ", want ` + bidder,
		"ann,1\nbo\"b,2":                     `bids.csv:2: bad orders: bare " in non-quoted-field`,
		"":                                   `bids.csv:1: bad orders: found none, want lines of bidder,rate`,
		"bidder,rate\n":                      `bids.csv:1: bad orders: found none, want lines of bidder,rate`,
	} {
		got, err := ReadOrders("bids.csv", strings.NewReader(in))
		if !errors.Is(err, errOrders) || err.Error() != want {
			t.Errorf("%.60q: %v, %v,\nwant %s", in, got, err, want)
		}
	}
}

// An endless is a reader that never reports the end of its input.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
}

// TestReadOrdersIsBounded checks that ReadOrders rejects an endless file and an endless line,
// and returns the error of a reader that fails.
func TestReadOrdersIsBounded(t *testing.T) {
	t.Parallel()
	if _, err := ReadOrders("bids.csv", endless{}); !errors.Is(err, errOrders) {
		t.Errorf("endless file: %v, want %v", err, errOrders)
	}
	_, err := ReadOrders("bids.csv", io.MultiReader(strings.NewReader("ann,1\n"), failing{}))
	if !errors.Is(err, io.ErrClosedPipe) || errors.Is(err, errOrders) {
		t.Errorf("failing reader: %v, want %v", err, io.ErrClosedPipe)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }

// TestBounded checks that a bounded reader returns as many bytes as are allowed, and fails if
// one more byte is read.
func TestBounded(t *testing.T) {
	t.Parallel()
	for text, ok := range map[string]bool{"": true, "1234": true, "12345": true, "123456": false} {
		got, err := io.ReadAll(&bounded{strings.NewReader(text), 5})
		if ok && (err != nil || string(got) != text) || !ok && !errors.Is(err, errOrders) {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

// TestQuote checks that quote shortens texts of more than 40 bytes and quotes shorter texts in
// full.
func TestQuote(t *testing.T) {
	t.Parallel()
	x := strings.Repeat("x", 40)
	for s, want := range map[string]string{"a\n": `"a\n"`, x: `"` + x + `"`, x + "y": `"` + x + `"... (41 bytes)`} {
		if got := quote(s); got != want {
			t.Errorf("%q is shown as %s, want %s", s, got, want)
		}
	}
}
