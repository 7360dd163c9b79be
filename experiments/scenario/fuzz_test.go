package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// FuzzParse checks that whatever is read is refused with an Error or printed
// and read again, the same, by another reader of YAML too.
func FuzzParse(f *testing.F) {
	f.Add([]byte(small), "replications=3")
	f.Add([]byte(swept), "sweep.hosts.values=[2, 3]")
	f.Add([]byte("preset: paper\nconfigurations: [low]\n"), "configurations.low.admission.be.x=1")
	files, err := filepath.Glob("testdata/broken/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, s := range append(overrides(string(data)), "base.market.forecaster={name: normal}") {
			f.Add(data, s)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, override string) {
		hang := time.AfterFunc(10*time.Second, func() { panic(fmt.Sprintf("%q with %q takes for ever", data, override)) })
		defer hang.Stop()
		known := names()
		known.Presets = presets()
		e, err := Parse("fuzz.yaml", data, known, override)
		var mistake *Error
		if errors.As(err, &mistake) {
			return
		}
		if err != nil {
			t.Fatalf("error = %v, want an Error", err)
		}
		text := write(t, e)
		again, err := Parse("again.yaml", text, names())
		if err != nil {
			t.Fatalf("%v, of\n%s", err, text)
		}
		if got := write(t, again); !bytes.Equal(got, text) {
			t.Fatalf("printed again: %s\nwant %s", got, text)
		}
		n, err := read("again.yaml", text)
		if err != nil {
			t.Fatal(err)
		}
		if difference := unlike(n, text); difference != "" {
			t.Errorf("printed %s: %s", text, difference)
		}
	})
}

// FuzzRead checks that whatever text is read as YAML means the same to another
// reader, or is refused with an Error that says where.
func FuzzRead(f *testing.F) {
	for _, text := range readings(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		hang := time.AfterFunc(10*time.Second, func() { panic(fmt.Sprintf("%q takes for ever", text)) })
		defer hang.Stop()
		n, err := read("fuzz.yaml", text)
		var mistake *Error
		if errors.As(err, &mistake) {
			return
		}
		if err != nil {
			t.Fatalf("error = %v, want an Error", err)
		}
		if unclear(n, "") != nil {
			return
		}
		if difference := unlike(n, text); difference != "" {
			t.Errorf("%q: %s", text, difference)
		}
	})
}

// readings returns texts to start from: scenario files, and what has more than
// one meaning.
func readings(t testing.TB) [][]byte {
	out := [][]byte{[]byte(small), []byte(swept)}
	for _, pattern := range []string{"testdata/*.yaml", "testdata/broken/*.yaml", "../papers/*.yaml", "../papers/*/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, path := range files {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, data)
		}
	}
	for _, s := range differing {
		out = append(out, []byte("a: "+s+"\n"), []byte("- "+s), []byte(s), []byte("{"+s+": 1}"))
	}
	return out
}

// differing are scalars and texts that readers differ on.
var differing = []string{
	"yes", "No", "on", "OFF", "y", "N", "True", "FALSE", "~", "Null", "<<", "=", "0o17", "017", "08", "0x10", "0b11", "1_000", "1_0.5",
	"1:30", "190:20:30.15", "2001-12-14", "2001-12-14t21:59:43.10-05:00", "1e400", "1e3", "+1", "-.5", "1.", ".", "+", "-0", "-0.0",
	".inf", "-.INF", ".NaN", "1,5", "9223372036854775808", "18446744073709551616", "123456789012345678901234567890",
	"|\n  x\n", ">-\n  x\n  y\n", "'it''s'", `"\u0041\x41\/\e"`, "a\n  b", "'a\n\n  b'", "? a", "a #b", "a#b", "[a, b,]", "{a: 1, a: 2}", "{a, b: c}", "[a: 1]",
	"\tx", "x\ty", "x\r\nb: 1", "x\rb: 1", "\u00a0x", "\ufeffx", "x\u0085y", "&a x", "*a", "!!str 1", "@x", "`x", "%x", "--- x\n...\n", "x\n--- y", "x\n---\n",
}
