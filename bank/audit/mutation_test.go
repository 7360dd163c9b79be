package audit_test

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/bank/audit"
	"bourse/bank/owners/ownerstest"
	"bourse/bank/store"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

var whole = flag.Bool("whole", false, "try ten thousand mutations")

// A mutation damages the ledger in fs. It returns the first bad entry, or the file, that an
// audit must name. It returns a negative entry number if the audit may name the leaf, and
// neither an entry nor a file if an audit cannot name them.
type mutation func(t testing.TB, fs vfs.FS, src *rand.Rand) (seq int64, file string)

// mutations are kinds of damage. Mutations of entries keep Pebble's checksums valid.
var mutations = map[string]mutation{
	"bit": func(t testing.TB, fs vfs.FS, src *rand.Rand) (int64, string) {
		return 0, onFile(t, fs, src, func(b []byte) []byte {
			b[src.IntN(len(b))] ^= 1 << src.IntN(8)
			return b
		})
	},
	"block": func(t testing.TB, fs vfs.FS, src *rand.Rand) (int64, string) {
		return 0, onFile(t, fs, src, func(b []byte) []byte {
			at := src.IntN(len(b))
			for b[at] == 0 { // find a byte that clearing changes
				at = src.IntN(len(b))
			}
			at = at / 512 * 512
			clear(b[at:min(at+512, len(b))])
			return b
		})
	},
	"truncation": func(t testing.TB, fs vfs.FS, src *rand.Rand) (int64, string) {
		return 0, onFile(t, fs, src, func(b []byte) []byte { return b[:src.IntN(len(b))] })
	},
	"field": func(t testing.TB, fs vfs.FS, src *rand.Rand) (int64, string) {
		return onGroup(t, fs, src, func(r *raw, i int) int {
			r.entries[i][src.IntN(len(r.entries[i]))] ^= 1 << src.IntN(8)
			return i
		}), ""
	},
	"removal": func(t testing.TB, fs vfs.FS, src *rand.Rand) (int64, string) {
		last := false
		seq := onGroup(t, fs, src, func(r *raw, i int) int {
			r.entries, r.checks = slices.Delete(r.entries, i, i+1), slices.Delete(r.checks, i, i+1)
			last = i == len(r.entries)
			return min(i, len(r.entries)-1)
		})
		if last { // only the root differs
			seq = -seq
		}
		return seq, ""
	},
	"insertion": func(t testing.TB, fs vfs.FS, src *rand.Rand) (int64, string) {
		return onGroup(t, fs, src, func(r *raw, i int) int {
			k := src.IntN(len(r.entries))
			r.entries, r.checks = slices.Insert(r.entries, i, r.entries[k]), slices.Insert(r.checks, i, r.checks[k])
			if k == i {
				return i + 1 // the second of the two entries is wrong
			}
			return i
		}), ""
	},
	"swap": func(t testing.TB, fs vfs.FS, src *rand.Rand) (int64, string) {
		return onGroup(t, fs, src, func(r *raw, i int) int {
			k := (i + 1 + src.IntN(len(r.entries)-1)) % len(r.entries)
			r.entries[i], r.entries[k] = r.entries[k], r.entries[i]
			r.checks[i], r.checks[k] = r.checks[k], r.checks[i]
			return min(i, k)
		}), ""
	},
	"forgery": func(t testing.TB, fs vfs.FS, src *rand.Rand) (int64, string) {
		return -onGroup(t, fs, src, func(r *raw, i int) int {
			forge(r, i, src)
			return i
		}), ""
	},
	"rebuild": func(t testing.TB, fs vfs.FS, src *rand.Rand) (int64, string) {
		rebuild(t, fs, src)
		return 0, ""
	},
}

// TestMutations checks that a single mutation of any kind is found, given one earlier receipt,
// and that the first bad entry or the file is named. Without a receipt, an open ledger that was
// rewritten completely passes, and the report must state that the audit cannot detect this.
// Rewriting an owned ledger would require the owners' keys.
func TestMutations(t *testing.T) {
	t.Parallel()
	each := 40
	if *whole {
		each = 1112
	}
	t.Run("open", func(t *testing.T) {
		t.Parallel()
		fs := vfs.NewMem()
		head, _ := makeLedger(t, fs, store.Options{BalancesEvery: 2}, 1, 5, 120)
		j, l, err := store.Open("ledger", store.Options{FS: fs}) // part of the data is then in tables
		check(t, err)
		trade(t, l, rand.New(rand.NewPCG(rand.Uint64(), 0)), 120)
		check(t, j.Close())
		mutate(t, fs, head, each, false)
	})
	t.Run("owned", func(t *testing.T) {
		t.Parallel()
		fs := vfs.NewMem()
		head := makeOwned(t, fs)
		mutate(t, fs, head, each/4, true)
	})
}

// makeOwned makes an owned ledger, closes and reopens it, and returns the head at the first
// closing.
func makeOwned(t testing.TB, fs vfs.FS) string {
	t.Helper()
	opts := store.Options{FS: fs, BalancesEvery: 2}
	j, err := store.Create("ledger", opts)
	check(t, err)
	l := bank.New(j)
	entries := ownerstest.Begin()
	for n := range int64(50) {
		id, user, contract := fmt.Sprint("o", n), fmt.Sprintf("user:%d", n%3), ownerstest.Contract(n)
		escrow := bank.EscrowName(contract)
		switch n % 5 {
		case 0:
			entries = append(entries, ownerstest.Mint(id, user, 1e6))
		case 1:
			entries = append(entries, ownerstest.Admit(id, user, contract, 1000, 900),
				ownerstest.Market(bank.Settle, "s"+id, contract, ownerstest.Move(escrow, "host:0", 300), ownerstest.Move(escrow, user, 600)))
		case 2:
			entries = append(entries, ownerstest.Says("operator", "right", id, "operator", "of", "host:"+id, "right", "payee", "market", "lab"))
		default:
			entries = append(entries, ownerstest.Transfer(id, user, "user:9", 1+n))
		}
	}
	head := ""
	for i := range entries {
		if check(t, l.Book(&entries[i])); i%20 == 19 {
			check(t, j.Flush())
		}
		if i == len(entries)/2 {
			head = j.Head().String()
			check(t, j.Close())
			j, l, err = store.Open("ledger", opts)
			check(t, err)
		}
	}
	check(t, j.Close())
	return head
}

// mutate damages copies of the ledger in fs, which had the given head, several times in each
// way.
func mutate(t *testing.T, fs vfs.FS, head string, each int, owned bool) {
	seed := rand.Uint64()
	src := rand.New(rand.NewPCG(seed, 0))
	if r := run(t, fs, audit.Options{Head: head}); !r.Clean() {
		t.Fatal(r.Findings)
	}
	for kind, harm := range mutations {
		for n := range each {
			harmed := clone(t, fs)
			seq, file := harm(t, harmed, src)
			got := run(t, harmed, audit.Options{Head: head})
			named := slices.ContainsFunc(got.Findings, func(f audit.Finding) bool {
				return f.File != "" && f.File == file || f.Seq != 0 && (f.Seq == seq || seq == 0 || seq < 0 && names(f, -seq))
			})
			switch {
			case got.Clean():
				t.Errorf("%s of %s, entry %d is not found (seed %d, case %d)", kind, file, seq, seed, n)
			case !named && kind != "rebuild", seq > 0 && (got.Findings[0].Seq != seq || got.Findings[0].To > 0), seq < 0 && !names(got.Findings[0], -seq):
				t.Errorf("%s of %q, entry %d (seed %d, case %d): %v", kind, file, seq, seed, n, got.Findings)
			}
			if alone := run(t, harmed, audit.Options{}); kind == "rebuild" && (alone.Clean() == owned || !owned && !strings.Contains(fmt.Sprint(alone.Beyond), "a completely rewritten ledger")) {
				t.Errorf("rebuilt (seed %d, case %d): %v, beyond %v", seed, n, alone.Findings, alone.Beyond)
			}
		}
	}
	if !t.Failed() {
		t.Logf("%d mutations of %d kinds, all found", each*len(mutations), len(mutations))
	}
}

// onFile damages a file that is not empty, and returns its name.
func onFile(t testing.TB, fs vfs.FS, src *rand.Rand, harm func([]byte) []byte) string {
	t.Helper()
	names, err := fs.List("ledger")
	check(t, err)
	slices.Sort(names)
	for {
		name := names[src.IntN(len(names))]
		if b := read(t, fs, "ledger/"+name); len(b) > 0 {
			was := string(b)
			if b = harm(b); string(b) == was {
				continue
			}
			write(t, fs, "ledger/"+name, b)
			return name
		}
	}
}

// onGroup damages a group through Pebble. The function harm receives the position of an entry
// in the group and returns the position of the first bad entry. onGroup returns the number of
// that entry.
func onGroup(t testing.TB, fs vfs.FS, src *rand.Rand, harm func(r *raw, i int) int) int64 {
	t.Helper()
	db, err := pebble.Open("ledger", &pebble.Options{FS: fs, FormatMajorVersion: pebble.FormatNewest, Logger: quiet{}})
	check(t, err)
	it, err := db.NewIter(&pebble.IterOptions{LowerBound: []byte("G"), UpperBound: []byte("H")})
	check(t, err)
	var keys, values [][]byte
	for ok := it.First(); ok; ok = it.Next() {
		keys, values = append(keys, slices.Clone(it.Key())), append(values, slices.Clone(it.Value()))
	}
	check(t, it.Close())
	g := src.IntN(len(keys))
	r := parse(t, keys[g], values[g])
	bad := harm(&r, src.IntN(len(r.entries)))
	check(t, db.Set(keys[g], r.bytes(), pebble.Sync))
	check(t, db.Close())
	return int64(binary.BigEndian.Uint64(keys[g][1:])) + int64(bad)
}

// rebuild writes the ledger again with the bank's own code, with one additional entry among the
// first 200.
func rebuild(t testing.TB, fs vfs.FS, src *rand.Rand) {
	t.Helper()
	r, err := store.OpenReader("ledger", store.Options{FS: fs})
	check(t, err)
	var entries []bank.Entry
	for e := range r.Entries() {
		c := *e
		c.Moves, c.Note = slices.Clone(e.Moves), slices.Clone(e.Note)
		entries = append(entries, c)
	}
	check(t, r.Err())
	check(t, r.Close())
	check(t, fs.RemoveAll("ledger"))
	j, err := store.Create("ledger", store.Options{FS: fs})
	check(t, err)
	l := bank.New(j)
	at := 1 + src.IntN(min(200, len(entries))-1)
	for i := range entries {
		if i == at {
			check(t, l.Reject(entries[i].Time, 1<<40, nil))
		}
		check(t, l.Book(&entries[i]))
	}
	check(t, j.Close())
}
