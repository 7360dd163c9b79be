package audit

import (
	"strings"
	"testing"
)

// FuzzLog checks that no text crashes the audit of a log, and that a log that passes contains
// every entry of the report.
func FuzzLog(f *testing.F) {
	f.Add(`{"seq":1,"time":0,"kind":"issue","from":"mint","to":"user:a","micros":5,"hash":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}`)
	f.Add(`{"seq":1,"contract":-1,"kind":"admit"}`)
	f.Fuzz(func(t *testing.T, log string) {
		r, err := Log(strings.NewReader(log), Options{})
		if err == nil && r.Clean() && r.Entries == 0 && strings.TrimSpace(log) != "" {
			t.Errorf("%q passes, with no entries", log)
		}
	})
}

// FuzzEntry checks that arbitrary bytes do not crash the entry parser or the books.
func FuzzEntry(f *testing.F) {
	f.Add([]byte("\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x04mint\x06user:a\x05"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var e Entry
		err := e.parse(b)
		if err != nil {
			return
		}
		if len(e.ID) == 0 {
			e.ID = []byte("x")
		}
		answer(nil, &e, b, hash{})
		newBooks().book(&e)
	})
}

// FuzzRecords checks that arbitrary bytes do not crash the reader of damaged logs.
func FuzzRecords(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x03\x00\x01abc"))
	f.Fuzz(func(t *testing.T, b []byte) {
		a := &auditor{chain: newChain(), books: newBooks()}
		for _, r := range records(b) {
			a.batch(r)
		}
	})
}
