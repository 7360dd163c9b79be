package report

import (
	"strings"
	"testing"
)

// TestOutput checks the forms of JSON. An object begins with its version. A list has no version
// and is never null. An object in JSON lines has no version.
func TestOutput(t *testing.T) {
	t.Parallel()
	type a struct {
		B Maybe `json:"b"`
	}
	for _, c := range []struct {
		of   Output
		v    any
		want string
	}{
		{JSON[a](), a{1}, "{\n  \"version\": 1,\n  \"b\": 1\n}\n"},
		{JSON[[]a](), []a{{1}}, "[\n  {\n    \"b\": 1\n  }\n]\n"},
		{JSON[[]a](), []a(nil), "[]\n"},
		{JSONLines[a](), a{1}, "{\"b\":1}\n"},
		{JSON[Maybe](), Maybe(1), "1\n"},
	} {
		var b strings.Builder
		if err := c.of.Write(&b, c.v); err != nil || b.String() != c.want {
			t.Errorf("%v: %q, %v, want %q", c.v, &b, err, c.want)
		}
	}
}

// TestOutputOther checks that a value of another type than the schema's is not printed.
func TestOutputOther(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("found a text printed, want a panic")
		}
	}()
	_ = JSON[int]().Write(new(strings.Builder), "1")
}
