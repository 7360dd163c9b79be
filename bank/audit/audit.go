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

// Options configures an audit.
type Options struct {
	FS vfs.FS // file system of the ledger; nil means the disk

	// Head is the size and root of the ledger at an earlier time, as text ("118:BASE64"). The
	// head must come from a place that the ledger's operator cannot change. Entries may have
	// been added after that time. A receipt can also be used as Head. An empty Head means that
	// none is given.
	Head string

	// Whole requires that the ledger ends at Head, so that entries added later are errors.
	Whole bool

	// Follow returns a new Follower for one reading of the ledger. The ledger may be read more
	// than once. Nil means no follower.
	Follow func() Follower

	// Unfinished permits the audit of an incomplete copy. If it is false, [ErrUnfinished] is
	// returned for such a copy.
	Unfinished bool

	// Progress is called after each group with the number of entries read and the number known
	// to exist. It may be nil.
	Progress func(done, total int64)

	// Chance is a source of unpredictable secrets, such as crypto/rand.Reader. Without it, the
	// audit of a ledger whose entries have request ids takes ten times as long.
	Chance io.Reader

	// Keys are the public keys with which an owned ledger must have started. They are empty,
	// or the key of the operator, or the keys of the operator and of recovery.
	Keys []string

	// Spread calls do for each number below n, using all processors in parallel. The audit
	// uses it to parse lines and check signatures before their entries are processed. Nil
	// means sequentially.
	Spread func(n int, do func(i int))

	// Now is the time of the audit, in seconds like the times of entries. Entries dated more
	// than a minute later are reported. Zero means that the time is unknown, as for runs in
	// virtual time.
	Now float64

	// Seen lists cosignatures. Their times limit the possible times of entries.
	Seen []Seen

	// Fresh is the maximum age of the latest cosignature in Seen, in seconds before Now; 0
	// means any age.
	Fresh float64

	// Since excludes entries up to this number from the sums in the report. They are still
	// checked, and must exist.
	Since int64
}

// attempts is the maximum number of times that a ledger is read if it changes during the
// reading.
const attempts = 5

// ErrNone means that there is no ledger.
var ErrNone = errors.New("found no ledger")

// ErrUnfinished means that the ledger is an incomplete copy: the copying is in progress or was
// interrupted.
var ErrUnfinished = errors.New("an unfinished copy, not a bank: if no copy is running, remove it, then copy again")

const unfinishedFile = "UNFINISHED"

// ErrFormat means that the ledger has the previous format.
var ErrFormat = errors.New("ledger has format 1; this version reads format 2: use the version that wrote it")

// Audit verifies the ledger in dir. The report lists the errors in the ledger. An error means
// that the audit could not be made. The error is [ErrNone] if there is no ledger,
// [ErrUnfinished] if the copy is unfinished, and [ErrFormat] if the ledger has the previous
// format. Other errors mean that the directory or a file in it cannot be read, or that Head is
// malformed.
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
		names = after // the writer has created or removed files, so read the ledger again
	}
}

// audit reads the ledger once. If the stored requests may be wrong, it reads the ledger again
// to find the wrong ones.
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
	if !a.closed() { // another process may be writing the ledger
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

// secret returns a random secret, or nil if opts.Chance is nil.
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

// An auditor performs one reading of a ledger.
type auditor struct {
	dir  string
	opts Options

	chain     chain
	books     *books
	authority authority
	last      Entry // the last entry read
	times     times
	heads     []expectation // sorted by size
	next      int           // index of the next expected head to check
	acks      []ack
	head      *headText // nil if missing or unreadable

	follower Follower                   // may be nil
	holds    func(account string) Money // function books.holdsOf, for the follower
	requests *requests                  // nil unless the database is open
	doubt    bool                       // whether the stored requests, or entries before the bad entry, may be wrong
	restored int64                      // number of entries that only ACKS contains
	bad      *Finding                   // first bad entry, after which reading stops
	again    *Finding                   // request of an owned ledger that is stored although it repeats an earlier one
	anew     *Finding                   // head that the log does not contain, if no entry is bad
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

// closed reports whether the ledger was closed according to HEAD.
func (a *auditor) closed() bool { return a.head != nil && len(a.head.files) > 0 }

// An expectation is a head that the log must contain.
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

// must inserts h into the expected heads, which are sorted by size.
func (a *auditor) must(h expectation) {
	at := slices.IndexFunc(a.heads, func(x expectation) bool { return x.size > h.size })
	if at < 0 {
		at = len(a.heads)
	}
	a.heads = slices.Insert(a.heads, at, h)
}

// entry checks the next entry. Its encoding is b, its form in a leaf is stored, and its
// expected hash is hash, or nil. It reports whether b is an entry with the expected number,
// whether or not the entry is valid.
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
		if found != "" && a.authority.owned() && a.requests.at(e.ID) > seq { // the entry that repeats the order will be reported instead
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

// passed compares the log with the expected heads of its current size. A difference counts
// only if the group or the leaf, which ends later, is not found to be bad.
func (a *auditor) passed() {
	for ; a.next < len(a.heads) && a.heads[a.next].size <= a.chain.size; a.next++ {
		h := a.heads[a.next]
		if h.size < a.chain.size || a.anew != nil {
			continue
		}
		if root := a.chain.root(); root != h.root && a.chain.hash() != h.root {
			a.anew = &Finding{
				Found: fmt.Sprintf("entries 1 to %d, correctly linked, with root %s", h.size, root),
				Want:  fmt.Sprintf("root %s, of %s: the ledger was rewritten from an unknown entry on", h.root, h.from),
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

// firstLine returns the text of an error without Pebble's stack trace.
func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// finish checks for missing entries at the end. The argument err is the error that ended the
// reading.
func (a *auditor) finish(err error) {
	want := int64(0)
	for _, h := range a.heads {
		want = max(want, h.size)
	}
	if a.bad == nil && (err != nil || a.chain.size < want) {
		a.salvage()
	}
	if a.bad == nil && err != nil {
		a.fail(a.chain.size+1, err.Error(), "readable files")
	}
	a.finishEntries()
	a.checkFiles()
}

// finishEntries checks the conditions that must hold at the end of the log.
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

// finishHeads reports the heads that the log did not reach or does not contain.
func (a *auditor) finishHeads() {
	if a.bad == nil && a.opts.Since > a.chain.size {
		a.fail(a.chain.size+1, fmt.Sprintf("a ledger of %d entries", a.chain.size), fmt.Sprintf("at least %d", a.opts.Since))
	}
	for _, h := range a.heads {
		if none := (&chain{}).root(); a.bad == nil && h.size == 0 && h.root != none {
			a.fail(1, fmt.Sprintf("root %s of no entries, by %s", h.root, h.from), fmt.Sprintf("root %s, with which every ledger starts", none))
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
