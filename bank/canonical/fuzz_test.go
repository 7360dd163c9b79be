package canonical_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"bourse/bank/audit"
	"bourse/bank/canonical"
	"bourse/bank/proof"
)

// unambiguous returns an error unless b is one JSON value in which no object has a key twice,
// ignoring case. All readers then interpret it identically.
func unambiguous(b []byte) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	if err := one(dec); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return fmt.Errorf("something follows: %v", err)
	}
	return nil
}

func one(dec *json.Decoder) error {
	t, err := dec.Token()
	if err != nil {
		return err
	}
	var keys []string
	for object := t == json.Delim('{'); (object || t == json.Delim('[')) && dec.More(); {
		if object {
			key, err := dec.Token()
			if err != nil {
				return err
			}
			name := key.(string)
			if slices.ContainsFunc(keys, func(k string) bool { return strings.EqualFold(k, name) }) {
				return fmt.Errorf("key %q twice", name)
			}
			keys = append(keys, name)
		}
		if err := one(dec); err != nil {
			return err
		}
	}
	if _, nested := t.(json.Delim); nested {
		_, err = dec.Token()
	}
	return err
}

// FuzzLog checks that all JSON readers interpret a clean log identically, and that a log that
// passes contains every entry of the report.
func FuzzLog(f *testing.F) {
	for _, name := range []string{"small.log", "all.log"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
		f.Add(string(b[:bytes.IndexByte(b, '\n')+1]))
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := audit.Log(strings.NewReader(text), audit.Options{})
		if err != nil || !r.Clean() || text == "" {
			return
		}
		last := 0.0
		for line := range strings.Lines(text) {
			var m map[string]any
			if err := unambiguous([]byte(line)); err != nil || json.Unmarshal([]byte(line), &m) != nil {
				t.Errorf("it is clean, and %q is ambiguous: %v", line, err)
				continue
			}
			seq, _ := m["seq"].(float64)
			if seq != last && seq != last+1 {
				t.Errorf("it is clean, and entry %v follows %v", seq, last)
			}
			last = seq
		}
		if int64(last) != r.Entries {
			t.Errorf("it is clean with %d entries, and ends with entry %v", r.Entries, last)
		}
	})
}

// FuzzInclusion checks that all JSON readers interpret a valid proof identically.
func FuzzInclusion(f *testing.F) {
	names, err := filepath.Glob("testdata/proof*")
	if err != nil || names == nil {
		f.Fatal(names, err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := proof.ParseInclusion([]byte(text))
		if err != nil {
			return
		}
		var m map[string]any
		if err := unambiguous([]byte(text)); err != nil || json.Unmarshal([]byte(text), &m) != nil {
			t.Errorf("%q is read, and ambiguous: %v", text, err)
			return
		}
		if m["head"] != p.Head.String() || m["entry"] != float64(p.Seq) || m["before"] != p.Before.String() || len(m["path"].([]any)) != len(p.Path) {
			t.Errorf("%q is read as %+v", text, p)
		}
		if e, _, err := p.Verify(); err == nil && e.Seq != p.Seq {
			t.Errorf("%q proves entry %d", text, e.Seq)
		}
	})
}

// FuzzFields checks that the values read from an object equal those of encoding/json, and are
// the same for all readers.
func FuzzFields(f *testing.F) {
	f.Add(`{"id":"x","from":[1,{"id":"y"}]}`)
	f.Add(`{"id":1,"ID":2}`)
	f.Add(`{"id":null}{}`)
	f.Fuzz(func(t *testing.T, text string) {
		fields, err := canonical.Fields([]byte(text), "id", "from")
		if err != nil {
			return
		}
		var m map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &m); err != nil || len(m) != len(fields) {
			t.Fatalf("%q is read as %v, by encoding/json as %v, %v", text, fields, m, err)
		}
		for key, value := range fields {
			if key != "id" && key != "from" || !reflect.DeepEqual(value, m[key]) {
				t.Errorf("%q: %s is %s, to encoding/json %s", text, key, value, m[key])
			}
		}
	})
}
