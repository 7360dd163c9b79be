package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"testing"
	"testing/iotest"
)

// TestPlainWriter checks that filtered text is ASCII however it is split, that JSON has the
// same meaning, and that data are unchanged.
func TestPlainWriter(t *testing.T) {
	t.Parallel()
	text := "α ± σ² – §5, 漢 🂡\n"
	packed := fmt.Sprintf("%q: %s", "α", `"漢 🂡 \n"`)
	for _, c := range []struct {
		convert    func(string) string
		text, want string
	}{
		{ASCII, text, "alpha +/- sigma^2 - section 5, ? ?\n"},
		{Escaped, "{" + packed + "}", ""},
		{nil, text, text},
	} {
		var out bytes.Buffer
		if _, err := io.Copy(&PlainWriter{Writer: &out, Convert: c.convert}, iotest.OneByteReader(bytes.NewReader([]byte(c.text)))); err != nil {
			t.Fatal(err)
		}
		if c.want == "" {
			var got, want map[string]string
			if err := json.Unmarshal(out.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(c.text), &want); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%q, %v, want %q", got, err, want)
			}
		} else if out.String() != c.want {
			t.Errorf("%q, want %q", out.String(), c.want)
		}
		if c.convert != nil && bytes.ContainsFunc(out.Bytes(), func(r rune) bool { return r > 127 }) {
			t.Errorf("%q is not ASCII", out.String())
		}
	}
}
