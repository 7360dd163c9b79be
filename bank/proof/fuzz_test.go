package proof

import (
	"bytes"
	"os"
	"regexp"
	"testing"
)

// FuzzCheckpoint checks that a key verifies only the text that it signed, and no other form of
// that text. A checkpoint read without verification is compared with a simple parser of five
// lines.
func FuzzCheckpoint(f *testing.F) {
	signed, err := os.ReadFile("../canonical/testdata/checkpoint")
	check(f, err)
	public, err := os.ReadFile("../canonical/testdata/key.pub")
	check(f, err)
	f.Add(signed)
	f.Add(bytes.Replace(signed, []byte("\n—"), []byte("\n— other AAAAAAAA\n—"), 1))
	form := regexp.MustCompile(`^([!-~]{1,128})\n(0|[1-9][0-9]{0,18})\n([A-Za-z0-9+/]{43}=)\n\n— [^ \n+]+ ([A-Za-z0-9+/]+=*)\n$`)
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, err := Open(text, string(public)); (err == nil) != bytes.Equal(text, signed) {
			t.Errorf("%q: %v", text, err)
		}
		c, err := Read(text)
		if err != nil {
			return
		}
		if m := form.FindSubmatch(text); m == nil || c.Origin != string(m[1]) || c.Head.String() != string(m[2])+":"+string(m[3]) {
			t.Errorf("%q is read as %v", text, c)
		}
	})
}
