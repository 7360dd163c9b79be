package live

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"bourse/bank/overlaytest"
)

var removed = flag.Bool("guards", false, "TestGuards removes each guard and sees its test fail")

// guards lists the defences against the attacks in THREATS.md. Each element contains the test
// of a row, and a change that removes the defence: a file, and pairs of old and new text.
var guards = []struct {
	row, file string
	edits     []string
}{
	{"experiments/live TestRefused: by another", "experiments/live/ask.go", []string{`!s.By(key) || `, ``}},
	{"experiments/live TestRefused: for another budget", "experiments/live/ask.go", []string{`!s.By(key) || `, ``}},
	{"experiments/live TestRefused: for another market", "experiments/live/ask.go", []string{`s.Value("market") != m.conf.Name:`, `s.Value("market") == "":`}},
	{"experiments/live TestRefused: of another ledger", "experiments/live/ask.go", []string{`s.Value("ledger") != m.world.Ledger:`, `s.Value("ledger") == "":`}},
	{"experiments/live TestRefused: to read, as an order", "experiments/live/ask.go", []string{`case s.Kind != kind:`, `case s.Kind == "":`}},
	{"experiments/live TestRefused: that has expired", "experiments/live/ask.go", []string{`s.Expires()+slack < m.world.Clock.Now(), `, ``}},
	{"experiments/live TestRefused: to read for longer", "experiments/live/ask.go", []string{`s.Expires() > m.world.Clock.Now()+lasting:`, `s.Expires() > m.world.Clock.Now()+9*lasting:`}},
	{"experiments/live TestRefused: with another job", "experiments/live/ask.go", []string{`order.Sum(job) != terms.Job {`, `len(job) == 0 {`}},
	{"experiments/live TestRefused: another order under the id", "experiments/live/market.go", []string{"same := first[account+\"/\"+id]\n", "there = false\n\t\tsame := first[account+\"/\"+id]\n"}},
	{"experiments/live TestRefused: cancelled by another", "experiments/live/core.go", []string{`c == nil || c.Account != signed.Value("account") {`, `c == nil {`}},
	{"experiments/live TestRefused: read by", "experiments/live/logs.go", []string{`if c.Account != s.Value("account") {`, `if c.Account == "" {`}},
	{"experiments/live TestOnceForEver: no answer", "experiments/live/market.go", []string{"same := first[account+\"/\"+id]\n", "there = false\n\t\tsame := first[account+\"/\"+id]\n"}},
	{"experiments/live TestUnsettled", "experiments/live/calls.go", []string{`case store.Final(err):`, `case store.Final(err) && c.bank == nil:`}},
	{"experiments/live TestOwnHost: fails", "experiments/live/served.go", []string{`owed.Sign() == 0 || f.own {`, `owed.Sign() == 0 {`}},
	{"experiments/live TestForged", "experiments/live/check.go", []string{`!bytes.Equal(was, is) {`, `!bytes.Equal(was, is) && key[0] != answerTable {`}},
	{"experiments/live TestMayOwn: a host of no payee", "experiments/live/ask.go", []string{`if !is {`, `if !is && account == "" {`}},
	{"experiments/live TestCheck", "experiments/live/check.go", []string{`e = same(&t.outcome, k.outcome(t.results))`, `_ = same(&t.outcome, k.outcome(t.results))`, `!bytes.Equal(was, is) {`, `!bytes.Equal(was, is) && l == nil {`}},

	{"experiments/live/service TestDoor: no account", "experiments/live/service/server.go", []string{"if err := s.signed(ctx, &s.reads, r.GetOrder(), \"read\"); err != nil {\n\t\treturn nil, err\n\t}\n\tsha", "sha"}},
	{"experiments/live/service TestDoor: an order that another signed", "experiments/live/service/server.go", []string{`r.GetOrder(), "order"); err != nil {`, `r.GetOrder(), "order"); err != nil && r == nil {`}},
	{"experiments/live/service TestDoor: file %d", "experiments/live/service/server.go", []string{`if !b.Take(account, s.Now()) {`, `if !b.Take(account, s.Now()) && b == nil {`}},
	{"experiments/live/service TestDoor: in another's name", "experiments/live/service/server.go", []string{"account, err := s.Market.Signed(ctx, order, kind)\n", "if o, e := bankorder.Open(order); e == nil {\n\t\tb.Take(o.Value(\"account\"), s.Now())\n\t}\n\taccount, err := s.Market.Signed(ctx, order, kind)\n"}},
	{"experiments/live/service TestGuard: a large order", "experiments/live/service/server.go", []string{`http.MaxBytesReader(w, r.Body, mostCall)`, `http.MaxBytesReader(w, r.Body, mostCall<<20)`}},
	{"experiments/live/service TestGuard: Bearer guess", "experiments/live/service/server.go", []string{`[]byte("Bearer "+s.Admin)) == 1`, `[]byte("Bearer "+s.Admin)) >= 0`}},
	{"bank/owners TestAttacks: a project's budget over the limit", "bank/owners/door.go", []string{`e.Moves[0].Amount.Cmp(left) > 0 {`, `e.Moves[0].Amount.Cmp(left) > 1 {`}},
	{"experiments/live TestReach: what no host can mean", "experiments/live/ranks.go", []string{`if len(r.Address) > mostLetter || strings.ContainsFunc(r.Address, odd) {`, `if len(r.Address) > mostLetter {`}},
	{"experiments/live/service TestList: another's contracts", "experiments/live/logs.go", []string{`if !reads {`, `if !reads && by == "" {`}},
	{"experiments/live/service TestGuard: a page in a browser", "experiments/live/service/server.go", []string{`r.Header.Get("Origin") != "" {`, `r.Header.Get("Origin") == "null" {`}},
	{"experiments/live/service TestBlobsBound: the oldest is kept", "experiments/live/service/blobs.go", []string{`x.ModTime().Compare(y.ModTime())`, `y.ModTime().Compare(x.ModTime())`}},
	{"experiments/live/service TestBlobs: ../../etc/passwd", "experiments/live/service/blobs.go", []string{`err != nil || len(sum) != sha256.Size {`, `err != nil && len(sum) > sha256.Size {`}},
	{"experiments/live/service TestInvitations: another", "experiments/live/service/invitations.go", []string{` || i.Pin != "" && i.Pin != pin:`, `:`}},

	{"experiments/live/client TestUnpack: the link leads to /etc", "experiments/live/client/fetch.go", []string{`== tar.TypeSymlink && leaves(name, h.Linkname):`, `== tar.TypeSymlink && u.force && leaves(name, h.Linkname):`}},
	{"experiments/live/client TestUnpack: holes", "experiments/live/client/fetch.go", []string{`== tar.TypeReg && !sparse(h):`, `== tar.TypeReg && (true || !sparse(h)):`}},
	{"experiments/live/client TestUnpackAgain: mine", "experiments/live/client/fetch.go", []string{`case !u.force:`, `case u.root == nil:`}},

	{"hosts/link TestLink", "hosts/link/pins.go", []string{`if !slices.Contains(strings.Split(p.text, ","), Pin(c.Raw)) {`, `if pins := strings.Split(p.text, ","); !slices.Contains(pins, pins[0]) {`}},
	{"hosts/link TestRotation", "hosts/link/pins.go", []string{`if err == nil && answer.TLS != nil {`, `if err == nil && answer == nil {`}},
	{"hosts/link TestLink", "hosts/link/handler.go", []string{"host, err := s.market.Host(pin)\n", "host, err := s.market.Host(pin)\n\tif err != nil {\n\t\thost, err = \"h00\", nil\n\t}\n"}},
	{"hosts/agent TestSuperseded", "hosts/agent/serve.go", []string{`if c.accepted && o.Session >= c.session.Number {`, `if c.accepted && o.Session > c.session.Number+1e6 {`}},
	{"hosts/agent TestLying", "hosts/remote/hear.go", []string{`if x >= 0 && x <= most {`, `if x >= 0 {`}},
	{"hosts/remote TestHear", "hosts/remote/hear.go", []string{`if x >= 0 && x <= most {`, `if x >= 0 {`}},
	{"hosts/remote TestToldAgain", "hosts/remote/hear.go", []string{`n == m.session.ack+1 {`, `n > 0 {`}},
	{"hosts/agent TestArchive: outer/secret", "hosts/agent/archive.go", []string{
		"r := &archive{task: t, name: l.Archive, root: root,", "root, err = outer.OpenRoot(\".\")\n\tif err != nil {\n\t\treturn nil, err\n\t}\n\tr := &archive{task: t, name: l.Archive, root: root,"}},
	{"hosts/agent TestPack: its folder is a link outside", "hosts/agent/checkpoint.go", []string{`root, err := os.OpenRoot(filepath.Join(t.folder, "dir"))
	if err != nil {
		return nil, err
	}
	r :=`, `real, err := filepath.EvalSymlinks(filepath.Join(t.folder, "dir", "checkpoint"))
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(filepath.Dir(real))
	if err == nil {
		err = os.Symlink(filepath.Base(real), filepath.Join(filepath.Dir(real), "checkpoint"))
	}
	r :=`}},
	{"hosts/agent TestPack: a file removed meanwhile", "hosts/agent/archive.go", []string{`if errors.Is(err, fs.ErrNotExist) && r.name != checkpointName {`, `if errors.Is(err, fs.ErrNotExist) {`}},
	{"experiments/live TestSaves: a checkpoint above the limit", "experiments/live/saves.go", []string{`float64(size) > most {`, `float64(size) > 1e9*most {`}},
	{"hosts/agent TestUnpackCheckpoint", "hosts/agent/checkpoint.go", []string{`if f, err = root.OpenFile(name,`, `if f, err = os.OpenFile(filepath.Join(root.Name(), name),`, `!filepath.IsLocal(name) || `, ``}},
	{"hosts/agent TestPlace: a link outside", "hosts/agent/notice.go", []string{`root.OpenFile(beside, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)`, `os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_WRONLY, 0o644)`}},
	{"hosts/agent TestArchiveOpens: a pipe as a file", "hosts/agent/archive.go", []string{`if err != nil || !info.Mode().IsRegular() {`, `if err != nil {`}},
	{"hosts/agent TestArchiveParts: more than its limit", "hosts/agent/archive.go", []string{`r.room -= info.Size(); r.room < 0 {`, `r.room -= info.Size(); r.room < math.MinInt64/2 {`}},

	{"bank/peers TestCrowd", "bank/peers/room.go", []string{`if c == but || c.has[kind] == 0 || c.answers > 0 {`, `if c != nil {`}},
	{"bank/peers TestOneAddress", "bank/peers/room.go", []string{`(r.most[kind]+1)/2:`, `r.most[kind]:`, `p.has[kind] > most.has[kind]`, `p.has[kind] < most.has[kind]`}},
	{"bank/peers TestTimes: a slow body", "bank/peers/body.go", []string{`p.control.SetReadDeadline(due)`, `p.control.SetReadDeadline(due.Add(time.Hour))`}},
	{"bank/peers TestTimes: an answer that nobody reads", "bank/peers/peers.go", []string{`a.control.SetWriteDeadline(time.Now().Add(a.patience))`, `a.control.SetWriteDeadline(time.Now().Add(time.Hour))`}},

	{"bank/owners TestAttacks: an admission at another's cost", "bank/owners/door.go", []string{`e.Moves[0].From != a.Payer()`, `e.Moves[0].From == ""`}},
	{"bank/owners TestAttacks: a settlement to one who is no payee", "bank/owners/door.go", []string{`if m.To != owner && !o.of`, `if m.To == "" && !o.of`}},
}

// TestGuards checks that each row of THREATS.md has a guard here and that the guard's text
// is in the code. With -guards, it checks that the row's test fails without the guard.
func TestGuards(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("THREATS.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\|.*\| ((?:bank|hosts|experiments)/[^|]+) \|$`).FindAllStringSubmatch(string(text), -1)
	for _, row := range rows {
		if !strings.Contains(row[1], " Test") {
			t.Errorf("%q is no test", row[1])
		}
		found := false
		for _, g := range guards {
			found = found || g.row == row[1]
		}
		if !found {
			t.Errorf("no guard is known of %s", row[1])
		}
	}
	for i, g := range guards {
		name, err := filepath.Abs(filepath.Join("..", "..", g.file))
		if err != nil {
			t.Fatal(err)
		}
		code, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		without := string(code)
		for n := 0; n < len(g.edits); n += 2 {
			if strings.Count(without, g.edits[n]) != 1 {
				t.Errorf("%s has %q not once", g.file, g.edits[n])
			}
			without = strings.Replace(without, g.edits[n], g.edits[n+1], 1)
		}
		if *removed {
			t.Run(g.row, func(t *testing.T) { fails(t, guards[i].row, name, without) })
		}
	}
}

// fails checks that the test of a row passes, and that it fails with the changed text of a
// file.
func fails(t *testing.T, row, file, text string) {
	t.Helper()
	overlay := overlaytest.Write(t, map[string]string{file: text})
	where, test, _ := strings.Cut(row, " ")
	test, _, _ = strings.Cut(test, ":")
	run := func(args ...string) (string, error) {
		args = append([]string{"test", "-count", "1", "-timeout", "100s", "-run", "^" + test + "$"}, args...)
		c := exec.Command("go", append(args, "./"+where)...)
		c.Dir = filepath.Join("..", "..")
		out, err := c.CombinedOutput()
		return string(out), err
	}
	if out, err := run(); err != nil || strings.Contains(out, "no tests to run") {
		t.Fatalf("with its guard: %v: %s", err, out)
	}
	if out, err := run("-overlay", overlay); err == nil || !strings.Contains(out, "--- FAIL: "+test) && !strings.Contains(out, "test timed out") {
		t.Errorf("without its guard: %v: %s", err, out)
	}
}
