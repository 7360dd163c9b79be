package bank_test

// What the whole of the bank's tests has come to, by the commands of .ci/nightly:
//
//	TestPowerCut     50,203 power cuts: 5,038 in recovery, 23,735 while a request sent twice was in flight
//	TestDiskErrors   2,422 disks that fail, by lack of room (940), I/O error (566), size (457), short write (459)
//	TestKill         500 kills of a process under load, 114,358 answers: none lost, none twice
//	TestMutations    10,008 mutations of 9 kinds, given one receipt: all found, and named
//	TestCrashDamage  10,028 mutations after a power cut: 8,338 noticed, 114 made good, 5 of a table that the cut left
//	                 unfinished, 1,571 removals of what Pebble removes itself
//	TestModel        1,028,414 steps of contracts' lives beside a plain model
//	TestReaders      1,000,000 transfers of 400 clients under the race detector, 956,928 booked in 2,666 groups, 50,166 reads: each saw all the money
//	TestFaults       83 faults planted one at a time in one run, 12 of them in PostgreSQL's room: all caught; 1 more since, caught

// faults are mistakes that a change could make, one at a time: a file, what stands
// there, and the mistake. The tests of the room named must fail with it.
var faults = []struct{ what, file, right, wrong, room string }{
	{"money is made of a move", "ledger.go", "to.balance += p.Amount.micros\n", "to.balance += p.Amount.micros + p.Amount.micros>>40\n", "."},
	{"an account may be overdrawn by a micro-dollar", "ledger.go", "p.Amount.micros > from.balance:", "p.Amount.micros > from.balance+1:", "."},
	{"a refused entry is half undone", "ledger.go", "l.undo(i)", "l.undo(i-1)", "."},
	{"an entry that was not written stays booked", "ledger.go", "l.undo(len(l.booking))", "l.undo(0)", "."},
	{"more money than can be told is issued", "ledger.go", "> math.MaxInt64+from.balance", "> math.MaxInt64", "."},
	{"time may run back", "ledger.go", "!(now >= l.now) ||", "now != now ||", "."},
	{"an escrow is lost when another is settled", "escrows.go", "(i-home)&last >= (i-gap)&last", "(i-home)&last > (i-gap)&last", "."},
	{"a contract is admitted twice", "escrow.go", "if l.admitted.has(contract) {\n\t\treturn ErrUsed", "if _, open := l.escrows.row(contract); open {\n\t\treturn ErrUsed", "."},
	{"escrow stays after settlement", "escrow.go", "return Amount{}, err\n\t}\n\tl.drop(contract, escrow)", "return Amount{}, err\n\t}", "."},
	{"the rest of a budget is kept", "escrow.go", "if rest > 0 {", "if rest > 1e6 {", "."},
	{"payments are held against the budget one by one", "escrow.go", "p.Amount.micros > rest:", "p.Amount.micros > row.balance:", "."},
	{"an escrow pays for another", "book.go", "m.From != l.called(escrow)", "false", "."},
	{"a charge is rounded in binary", "amount.go", "if n := math.Round(m); n/perDollar == x {", "if n := math.Round(m); math.Abs(n/perDollar-x) < 1e-6 {", "."},
	{"a half is rounded as float64 has it", "amount.go", "f > 1e-3 && f < 1-1e-3", "f >= 0 && f <= 1", "."},
	{"an exponent is read", "amount.go", "if !isAmount(s) {", "if !isAmount(s) && !isAmount(s[:1]) {", "."},

	{"a group is not synced", "store/directory.go", "sync := pebble.Sync", "sync := pebble.NoSync", "./store"},
	{"an answer comes before its sync", "store/sequencer.go", "s.now = s.gather()\n", "s.now = s.gather()\n\t\tclose(s.now.done)\n\t\ts.now.done = make(chan struct{})\n", "./store"},
	{"a request is forgotten", "store/open.go", "j.standing.add(e, &g.tree)", "e.ID = \"\"\n\t\t\tj.standing.add(e, &g.tree)", "./store"},
	{"a request's body is not compared", "store/sequencer.go", "ok && a.body != digest(e)", "ok && a.Seq < 0", "./store"},
	{"a request's time is part of its body", "store/request.go", "body.Seq, body.Time = 0, 0", "body.Seq = 0", "./store"},
	{"who gave up is served", "store/sequencer.go", "if r.taken.CompareAndSwap(false, true) {\n\t\t\t\t\ts.apply", "if r.taken.Store(true); true {\n\t\t\t\t\ts.apply", "./store"},
	{"who gave up is forgotten before the loop has seen it", "store/sequencer.go", "return Receipt{}, fmt.Errorf(\"request", "*r = request{}\n\t\ts.spare.Put(r)\n\t\treturn Receipt{}, fmt.Errorf(\"request", "./store"},
	{"what was fetched is forgotten", "store/fetch.go", "values[string(key)] = value", "values[string(key)] = nil", "./store"},
	{"nobody is told of a group that failed", "store/sequencer.go", "close(r.done)\n\t}\n\tclose(s.stopped)", "}\n\tclose(s.stopped)", "./store"},
	{"who may have been applied is told that he was not", "store/sequencer.go", "i < r.looked {", "i < 0 {", "./store"},
	{"a round ends with requests that were not looked at", "store/queue.go", "if r.looked < len(r.requests) {", "if r.looked < 0 {", "./store"},
	{"a round takes more than a group", "store/queue.go", "len(q.next.requests) == GroupSize {", "len(q.next.requests) > GroupSize {", "./store"},
	{"who waits for room waits for ever", "store/queue.go", "close(q.room)\n", "", "./store"},
	{"a lost answer is taken for a refusal", "store/sequencer.go", "if a.lost, a.err = true, ErrClosed; i < r.looked {\n\t\t\t\ta.err = ErrUnknown", "if a.lost, a.err = true, ErrClosed; i < r.looked {\n\t\t\t\ta.lost, a.err = false, bank.ErrInsufficientFunds", "./store"},
	{"balances stand for a group too many", "store/standing.go", "uint64(j.tree.size)", "uint64(j.tree.size-1)", "./store"},
	{"a leaf does not commit to the one before", "store/tree.go", "t.before = t.leaf.Hash()\n", "t.before = t.leaf.Hash()\n\t\tt.before = Genesis()\n", "./store"},
	{"what comes after a receipt is not hashed", "store/leaf.go", "l.digest.Write(l.b[l.hashed:])", "l.digest.Write(l.b[l.hashed:max(l.hashed, len(l.b)-1)])", "./store"},
	{"a leaf is not restored", "store/tree.go", "if size%LeafSize > 0 && d.err == nil {", "if size%LeafSize > LeafSize/2 && d.err == nil {", "./store"},
	{"an entry's checksum is not checked by the bank", "store/tree.go", "BigEndian.Uint32(sum) != check(entry) {", "BigEndian.Uint32(sum) == 0 {", "./store"},
	{"a bank does not compare the root after a group", "store/group.go", "string(d.b) != string(root[:]) {", "len(d.b) != len(root) {", "./store"},
	{"HEAD is written before the group", "store/directory.go", "d := b.d\n", "d := b.d\n\t(&seal{head: head}).write(d.opts.FS, d.dir)\n", "./store"},
	{"what is acknowledged is not synced", "store/acks.go", "return k.file.SyncData()", "return nil", "./store"},
	{"one copy is kept of what is acknowledged", "store/acks.go", "range regions(area) {", "range regions(area) {\n\t\tif region >= 2*acksRegion {\n\t\t\tbreak\n\t\t}", "./store"},
	{"what was acknowledged is not restored", "store/directory.go", "a.first != size+1 {", "a.first > 0 {", "./store"},
	{"what was acknowledged is not missed", "store/directory.go", "return damaged(fmt.Errorf(\"entries", "continue\n\t\t\treturn damaged(fmt.Errorf(\"entries", "./store"},
	{"an audit does not miss what was acknowledged", "audit/acks.go", "range a.acks {\n\t\ta.must", "range a.acks[:0] {\n\t\ta.must", "./store"},
	{"a group is acknowledged that the database may lose", "store/directory.go", "d.acks.holds(len(b.ack.value)) {", "d.acks.holds(len(b.ack.value)/2) {", "./store"},
	{"a seal is not checked", "store/directory.go", "if len(s.files) > 0 {", "if len(s.files) > 1e6 {", "./store"},
	{"a log that lost its end is opened", "store/open.go", "if g.tree.size < head.Size {", "if g.tree.size < 0 {", "./store"},
	{"the marker outlives its manifest", "store/fs.go", `"marker."`, `"nothing."`, "./store"},
	{"a second process is let in by another path", "store/lock_unix.go", "syscall.LOCK_EX|syscall.LOCK_NB", "syscall.LOCK_UN", "./store"},
	{"a failed write ends in a trace", "store/fs.go", "if err != nil {\n\t\tfs.fatal(err)", "if err == errHead {\n\t\tfs.fatal(err)", "./store"},
	{"the clock gets into the files", "store/journal.go", "reproducibleMemory   = 2 << 30", "reproducibleMemory   = 1 << 20", "./store"},

	{"who was taken for dead writes on", "store/postgres/batch.go", "if err == nil && rows != 1 {", "if err == nil && rows > 1 {", "./store/postgres"},
	{"a living writer is taken for dead", "store/postgres/lease.go", "was.writer != \"\" && time.Since(since)", "was.writer == \"*\" && time.Since(since)", "./store/postgres"},
	{"a writer shows no sign of life", "store/postgres/lease.go", "case <-tick.C:\n\t\t\t\tk.sign()", "case <-tick.C:", "./store/postgres"},
	{"the end of the groups is not kept", "store/postgres/batch.go", "set beat = beat + 1, head = $1 where writer = $2 returning 1", "set beat = beat + 1 where writer = $2 or writer = $1 returning 1", "./store/postgres"},
	{"what was not fetched is taken for new", "store/postgres/values.go", "values[string(r.key)] = r.value", "values[string(r.key)] = nil", "./store/postgres"},
	{"the server may answer before it is durable", "store/postgres/keep.go", "if commit != nil && *commit == \"off\" {", "if commit == nil {", "./store/postgres"},
	{"a silent server is waited for", "store/postgres/session.go", "context.WithTimeout(context.Background(), t.answer)", "context.WithTimeout(context.Background(), 60*t.answer)", "./store/postgres"},
	{"a transaction that is asked for again is not sent again", "store/postgres/session.go", "if !isCode(err, again, deadlock) ||", "if !isCode(err, again, deadlock) || true ||", "./store/postgres"},
	{"a deadlock is the end", "store/postgres/session.go", "if !isCode(err, again, deadlock) ||", "if !isCode(err, again) ||", "./store/postgres"},
	{"a server that asks for ever is not told of", "store/postgres/session.go", "time.Now().After(end)", "time.Now().After(end.Add(time.Minute))", "./store/postgres"},
	{"a lost answer is taken for yes", "store/postgres/batch.go", "k.lost = plain(err)\n\t\treturn k.lost", "k.lost = plain(err)\n\t\treturn nil", "./store/postgres"},
	{"a scan ends with its first page", "store/postgres/values.go", "if len(page) < size {", "if len(page) <= size {", "./store/postgres"},

	{"an entry's checksum is not checked", "audit/group.go", "case check(b) != sum:", "case check(b) != sum && seq < 0:", "./audit"},
	{"what was kept after a leaf is not compared", "audit/group.go", "if string(start) == string(c.leaf) {", "if string(start[:1]) == string(c.leaf[:1]) {", "./audit"},
	{"what was kept after a group is not compared", "audit/group.go", "if string(root) == string(is[:]) {", "if len(root) == len(is) {", "./audit"},
	{"who is hit by a forgery is taken for the forged", "audit/group.go", "a.entry(b, stored, nil) && a.bad != nil", "a.entry(b, stored, nil) && a.bad == nil", "./audit"},
	{"a line's hash is not checked", "audit/chain.go", "string(h[:]) != string(hash) {", "string(h[:1]) == string(hash[1:]) {", "./audit"},
	{"requests are counted and not compared", "audit/read.go", "t.n != r.seen.n || t.sum != r.seen.sum", "t.n != r.seen.n", "./audit"},
	{"a head is not compared", "audit/audit.go", "root != h.root && a.chain.hash() != h.root", "root != h.root && a.chain.hash() == h.root", "./audit"},
	{"a lost end passes", "audit/audit.go", "if a.bad == nil && h.size > a.chain.size {", "if a.bad != nil && h.size > a.chain.size {", "./audit"},
	{"an overdraft passes", "audit/books.go", "case from != b.mint && micros > from.holds:", "case false:", "./audit"},
	{"an overdraft passes among usual transfers", "audit/usual.go", "Money(micros) > from.holds:", "Money(micros) < 0:", "./audit"},
	{"a usual entry's checksum is not checked", "audit/usual.go", "!= crc32.Checksum(in[1:1+size], b.table) {", "!= crc32.Checksum(in[1:1+size], b.table) && size < 0 {", "./audit"},
	{"a head among usual transfers is not looked at", "audit/group.go", "a.heads[a.next].size >= last", "a.heads[a.next].size >= 0", "./audit"},
	{"a settlement may leave a rest", "audit/books.go", "if esc.holds != 0 {", "if esc.holds < 0 {", "./audit"},
	{"a log that is used again is not copied", "pinned/pinned.go", "if isTable(name) {", "if isTable(name) || path.Ext(name) == \".log\" {", "./pinned"},
	{"copies of what was acknowledged are not compared", "audit/acks.go", "if bytes.Equal(one, two) {", "if true {", "./store"},
	{"a log that is done with is not read", "audit/unused.go", "a.closedLog(name, n)", "_ = n", "./store"},
	{"a table that is done with is not read", "audit/unused.go", "a.oldTable(name)", "_ = n", "./store"},
	{"options are not compared", "audit/unused.go", "found != want {", "found == \"\" && found != want {", "./store"},
	{"a kept balance is not compared", "audit/read.go", "!ok || want != value {", "!ok {", "./audit"},
	{"a file of a closed ledger is not compared", "audit/head.go", "found != want {", "found == \"\" && found != want {", "./audit"},
	{"a spreadsheet computes a cell", "export/lines.go", "cells[i] = \"'\" + s", "cells[i] = s", "./export"},
	{"an account stands twice in an opening balance", "opening/opening.go", "; ok {", "; ok && was == n {", "./opening"},
	{"a proof of another entry holds", "proof/proof.go", "if l.Hash != is {", "if l.Seq < 0 {", "./proof"},
	{"a proof may leave out the end of a leaf", "proof/proof.go", "if seq != end {", "if seq > end {", "./proof"},
}
