package audit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"bourse/bank/audit"
	"bourse/bank/export"
	"bourse/bank/store"

	"github.com/cockroachdb/pebble/v2/vfs"
)

func jsonLog(t testing.TB, fs vfs.FS) []byte {
	t.Helper()
	r, err := store.OpenReader("ledger", store.Options{FS: fs})
	check(t, err)
	defer r.Close()
	var b bytes.Buffer
	check(t, export.Write(&b, "json", r.Entries(), export.Options{}))
	check(t, r.Err())
	return b.Bytes()
}

// TestLog checks that the audit of a ledger's log has the same result as the audit of the
// ledger, and that a changed, removed, repeated, moved or garbled line is found and its entry
// named.
func TestLog(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	src := rand.New(rand.NewPCG(seed, 0))
	fs := vfs.NewMem()
	head, l := makeLedger(t, fs, store.Options{}, 1, 3, 60)
	log := jsonLog(t, fs)
	r, err := audit.Log(bytes.NewReader(log), audit.Options{Head: head, Whole: true})
	check(t, err)
	want := run(t, fs, audit.Options{})
	if !r.Clean() || r.Head != head || r.Entries != l.Entries() || fmt.Sprint(r.Balances) != fmt.Sprint(want.Balances) || len(r.Beyond) > 0 {
		t.Fatalf("log: %v, %s, beyond %v", r.Findings, r.Head, r.Beyond)
	}
	lines := bytes.SplitAfter(bytes.TrimSuffix(log, []byte("\n")), []byte("\n"))
	seqOf := func(line []byte) int64 {
		var l export.Line
		check(t, json.Unmarshal(line, &l))
		return l.Seq
	}
	for n := range 300 {
		harmed := slices.Clone(lines)
		i := src.IntN(len(lines) - 2)
		seq := seqOf(lines[i])
		kinds := []string{"removed", "moved", "amount", "account", "time", "hash", "note", "garbled", "cut", "twice"}
		what := kinds[n%len(kinds)]
		change := func(f func(*export.Line)) {
			var l export.Line
			check(t, json.Unmarshal(harmed[i], &l))
			f(&l)
			b, err := json.Marshal(l)
			check(t, err)
			harmed[i] = append(b, '\n')
		}
		switch what {
		case "removed":
			harmed = slices.Delete(harmed, i, i+1)
		case "moved":
			harmed[i], harmed[i+1] = harmed[i+1], harmed[i]
		case "amount":
			change(func(l *export.Line) { l.Micros++ })
		case "account":
			change(func(l *export.Line) { l.To += "x" })
		case "time":
			change(func(l *export.Line) { l.Time += 1e-9 * (1 + l.Time) })
		case "hash":
			change(func(l *export.Line) { l.Hash[src.IntN(32)] ^= 1 })
		case "note":
			change(func(l *export.Line) { l.Note += " " })
		case "garbled":
			harmed[i] = []byte("what is this?\n")
		case "cut":
			harmed[i] = append(bytes.Clone(harmed[i][:src.IntN(len(harmed[i])-2)]), '\n')
		case "twice":
			harmed[i] = bytes.Replace(harmed[i], []byte(`,"kind":`), []byte(`,"Time":0,"kind":`), 1)
		}
		r, err := audit.Log(bytes.NewReader(bytes.Join(harmed, nil)), audit.Options{})
		check(t, err)
		if r.Clean() || r.Findings[0].Seq != seq {
			t.Errorf("line %d %s (seed %d, case %d): %v, want entry %d", i+1, what, seed, n, r.Findings, seq)
		}
	}
	for _, bad := range []string{"{", "[]", `{"seq":1,"extra":2}`, `{"seq":1}{}`, "", "null"} {
		r, err := audit.Log(strings.NewReader(bad+"\n"), audit.Options{})
		check(t, err)
		if r.Clean() || r.Findings[0].Seq != 1 || !strings.Contains(r.Findings[0].Found, "line 1: ") {
			t.Errorf("%s: %v, want entry 1 and line 1", bad, r.Findings)
		}
	}
	if r, err := audit.Log(bytes.NewReader(bytes.Join(lines[:20], nil)), audit.Options{Head: head}); err != nil || r.Clean() {
		t.Errorf("a log that was cut: %v, %v", r, err)
	}
}
