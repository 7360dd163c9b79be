package audit

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"bourse/bank/pinned"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Options say what a ledger is held against.
type Options struct {
	FS vfs.FS // nil means the disk

	// Head is the size and root that the ledger had at some time, as text
	// ("118:BASE64"), from a place that its keeper could not change. Entries may
	// have been added since. A receipt serves as well. Empty means none was kept.
	Head string

	// Whole says that Head is of the ledger's end: nothing may have been added.
	Whole bool

	// Follow makes who follows a reading of the ledger; nil: nobody. A ledger may be
	// read more than once.
	Follow func() Follower

	// Unfinished says that the ledger is a copy that is being made, of which another
	// audit says that it is none.
	Unfinished bool

	// Progress is told, group by group, how many entries were read, and how many are
	// known to be there; nil means nobody asks.
	Progress func(done, total int64)

	// Chance is where secrets are read from that nobody can predict: crypto/rand.Reader.
	// Without it a ledger whose entries have requests takes ten times as long.
	Chance io.Reader

	// Keys are the public keys, of the operator and of recovery, that an owned ledger must
	// have begun with: none, the first, or both.
	Keys []string

	// Spread calls do for each number below n, as many at once as there are processors: so
	// lines are read and signatures are checked, ahead of their entries. Nil means one after
	// another.
	Spread func(n int, do func(i int))

	// Now is the time of the audit, in seconds as entries have them. Entries dated more than a
	// minute later are found. Zero: it is not known, as of runs in virtual time.
	Now float64

	// Seen are cosignatures, whose times bound those of entries.
	Seen []Seen

	// Fresh is by how many seconds the last of Seen may be older than Now; 0 is any.
	Fresh float64

	// Since leaves entries up to this one out of the report's sums. They are
	// checked as all are, and must be there.
	Since int64
}

// attempts is how often a ledger is read that changes while it is.
const attempts = 5

// ErrNone means that no ledger is there.
var ErrNone = errors.New("no ledger is there")

// ErrUnfinished means that a ledger is a copy that was cut short, or is being made.
var ErrUnfinished = errors.New("a copy that is not finished, and no bank: if nobody is making it, remove it, then copy again")

const unfinishedFile = "UNFINISHED"

// ErrFormat means that a ledger is of the format before this.
var ErrFormat = errors.New("ledger is of format 1, which only the bourse that wrote it reads; this one reads format 2")

// Audit proves the ledger in dir. What is wrong with the ledger is in the report;
// an error means that there is none, which wraps [ErrNone], that it is of another
// format, [ErrFormat], that the directory or a file in it cannot be read, or that Head
// is no head.
func Audit(dir string, opts Options) (*Report, error) {
	if opts.FS == nil {
		opts.FS = pinned.Disk()
	}
	if opts.Head != "" {
		if _, err := parseHead(opts.Head); err != nil {
			return nil, fmt.Errorf("audit %s: %w", dir, err)
		}
	}
	if isOld(opts.FS, dir) {
		return nil, fmt.Errorf("audit %s: %w", dir, ErrFormat)
	}
	names, err := opts.FS.List(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || err == nil && !slices.Contains(names, headFile) && !slices.ContainsFunc(names, isPebble) {
		err = ErrNone
	}
	if err == nil && slices.Contains(names, unfinishedFile) && !opts.Unfinished {
		err = ErrUnfinished
	}
	if err != nil {
		return nil, fmt.Errorf("audit %s: %w", dir, err)
	}
	unread := newUnread()
	opts.FS = watchedFS{opts.FS, unread}
	for attempt := 1; ; attempt++ {
		r := audit(dir, opts)
		if err := unread.err(); err != nil {
			return nil, fmt.Errorf("audit %s: %w", dir, err)
		}
		after, err := opts.FS.List(dir)
		if err != nil {
			return nil, fmt.Errorf("audit %s: %w", dir, err)
		}
		slices.Sort(names)
		slices.Sort(after)
		if r.Clean() || slices.Equal(names, after) || attempt == attempts {
			return r, nil
		}
		names = after // files come and go in a ledger in use: look again
	}
}

// audit reads the ledger once, or, if its requests may be amiss, once more to see which.
func audit(dir string, opts Options) *Report {
	r, doubt := read(dir, opts)
	if doubt {
		opts.Chance = nil
		r, _ = read(dir, opts)
	}
	return r
}

func read(dir string, opts Options) (r *Report, doubt bool) {
	a := newAuditor(opts)
	a.dir = dir
	a.checkHead()
	if !a.closed() { // somebody may be writing it
		if p, err := pinned.Pin(opts.FS, dir); err == nil {
			defer p.Close()
			a.opts.FS = p
		}
	}
	err := a.readPebble()
	if err == nil {
		a.readAcked()
	}
	a.finish(err)
	return a.report(), a.doubt
}

// secret returns a secret, nil if there is no chance.
func (a *auditor) secret() []byte {
	if a.opts.Chance == nil {
		return nil
	}
	b := make([]byte, sha256.Size)
	if _, err := io.ReadFull(a.opts.Chance, b); err != nil {
		return nil
	}
	return b
}

// An auditor is one reading of a ledger.
type auditor struct {
	dir  string
	opts Options

	chain     chain
	books     *books
	authority authority
	last      Entry // that was read
	times     times
	heads     []expectation // by size
	next      int           // of those
	acks      []ack
	head      *headText // nil if it is gone or unreadable

	follower Follower                   // or nil
	holds    func(account string) Money // of books, for the follower
	requests *requests                  // while Pebble is open, else nil
	doubt    bool                       // requests may be amiss, or come before what is bad
	restored int64                      // entries that stand in ACKS alone
	bad      *Finding                   // the first bad entry; nothing is read after it
	again    *Finding                   // a request of an owned ledger that is kept as if it came again
	anew     *Finding                   // a head that the log did not pass through, for want of a bad entry
	files    []Finding
}

func newAuditor(opts Options) *auditor {
	a := &auditor{opts: opts, chain: newChain(), books: newBooks(), authority: authority{pinned: opts.Keys}, times: newTimes(opts)}
	for _, s := range a.times.seen {
		a.must(expectation{s.size, s.root, "the checkpoint that " + s.By + " cosigned"})
	}
	if opts.Follow != nil {
		a.follower, a.holds = opts.Follow(), a.books.holdsOf
	}
	return a
}

// closed tells whether HEAD says that the ledger was closed.
func (a *auditor) closed() bool { return a.head != nil && len(a.head.files) > 0 }

// An expectation is a head that the log must pass through.
type expectation struct {
	size int64
	root hash
	from string
}

func (a *auditor) expect(text, from string) {
	if h, err := parseHead(text); err == nil {
		a.must(expectation{h.size, h.root, from})
	}
}

// must adds h to the heads, which stand by size.
func (a *auditor) must(h expectation) {
	at := slices.IndexFunc(a.heads, func(x expectation) bool { return x.size > h.size })
	if at < 0 {
		at = len(a.heads)
	}
	a.heads = slices.Insert(a.heads, at, h)
}

// entry checks the next entry, whose encoding is b and which stands in its leaf as
// stored. A hash that it should have may be given. It tells whether the entry is one
// of its place, good or not.
func (a *auditor) entry(b, stored, hash []byte) bool {
	seq := a.chain.size + 1
	e := &a.last
	err := e.parse(b)
	switch {
	case err != nil:
		a.fail(seq, err.Error(), "an entry in canonical form")
		return false
	case e.Seq != seq:
		a.fail(seq, fmt.Sprintf("entry %d", e.Seq), fmt.Sprintf("entry %d", seq))
		return false
	}
	a.chain.put(stored)
	found, want := "", ""
	if hash != nil {
		found, want = a.chain.differs(hash)
	}
	if found == "" {
		found, want = a.authority.check(e, a.books)
	}
	if found == "" {
		found, want = a.books.book(e)
	}
	if found == "" {
		found, want = a.times.entry(e)
	}
	if found == "" && a.requests != nil && len(e.ID) > 0 {
		found, want = a.requests.answered(e, b, a.chain.hash())
		if found != "" && a.authority.owned() && a.requests.at(e.ID) > seq { // an entry that uses its order again will be named
			if a.again == nil {
				a.again = &Finding{Seq: seq, Found: found, Want: want}
			}
			found = ""
		}
	}
	if f := a.follower; found == "" && f != nil && (e.Contract >= 0 || f.Each()) {
		if a.authority.owned() {
			e.Note = a.authority.rest
		}
		found, want = f.Entry(e, a.holds)
	}
	if found != "" {
		a.chain.drop(len(stored))
		a.fail(seq, found, want)
		return true
	}
	a.chain.pass()
	if seq == a.opts.Since {
		a.books.sumAnew()
	}
	return true
}

// passed holds the log against the heads of its present size. What it finds counts
// unless a group or leaf, which ends later, is found to be bad.
func (a *auditor) passed() {
	for ; a.next < len(a.heads) && a.heads[a.next].size <= a.chain.size; a.next++ {
		h := a.heads[a.next]
		if h.size < a.chain.size || a.anew != nil {
			continue
		}
		if root := a.chain.root(); root != h.root && a.chain.hash() != h.root {
			a.anew = &Finding{
				Found: fmt.Sprintf("entries 1 to %d, each following from the one before, with root %s", h.size, root),
				Want:  fmt.Sprintf("root %s, of %s: the ledger was made anew, from which entry on cannot be known", h.root, h.from),
			}
		}
	}
}

func (a *auditor) fail(seq int64, found, want string) {
	if a.bad == nil {
		a.bad = &Finding{Seq: seq, Found: firstLine(found), Want: want}
	}
}

func (a *auditor) fileFinding(file, found, want string) {
	a.files = append(a.files, Finding{File: file, Found: firstLine(found), Want: want})
}

// firstLine returns what an error of Pebble's says, without the trace that may follow.
func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// finish looks for what is missing at the end, given how reading ended.
func (a *auditor) finish(err error) {
	want := int64(0)
	for _, h := range a.heads {
		want = max(want, h.size)
	}
	if a.bad == nil && (err != nil || a.chain.size < want) {
		a.salvage()
	}
	if a.bad == nil && err != nil {
		a.fail(a.chain.size+1, err.Error(), "files that can be read")
	}
	a.finishEntries()
	a.checkFiles()
}

// finishEntries looks for what does not go with the end of the log.
func (a *auditor) finishEntries() {
	if a.bad == nil {
		a.bad = a.again
	}
	a.finishHeads()
	a.finishOwners()
	a.files = append(a.files, a.times.findings(a.chain.size)...)
	if a.follower != nil && a.bad == nil {
		a.bad = a.follower.End(a.chain.size)
	}
}

// finishHeads looks for heads that the log did not come to, or went past.
func (a *auditor) finishHeads() {
	if a.bad == nil && a.opts.Since > a.chain.size {
		a.fail(a.chain.size+1, fmt.Sprintf("a ledger of %d entries", a.chain.size), fmt.Sprintf("%d and what came since", a.opts.Since))
	}
	for _, h := range a.heads {
		if none := (&chain{}).root(); a.bad == nil && h.size == 0 && h.root != none {
			a.fail(1, fmt.Sprintf("root %s of no entries, by %s", h.root, h.from), fmt.Sprintf("root %s, which all ledgers begin with", none))
		}
		if a.bad == nil && h.size > a.chain.size {
			a.fail(a.chain.size+1, fmt.Sprintf("a ledger of %d entries", a.chain.size), fmt.Sprintf("%d, by %s", h.size, h.from))
		}
	}
	if a.bad == nil && a.opts.Whole {
		if h, err := parseHead(a.opts.Head); err == nil && h.size < a.chain.size {
			a.fail(h.size+1, fmt.Sprintf("%d entries", a.chain.size), fmt.Sprintf("%d, by the head given", h.size))
		}
	}
}
