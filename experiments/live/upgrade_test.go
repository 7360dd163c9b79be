package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"bourse/hosts/remote"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// others lists lines for a market's file that change its decisions. To a market with one of
// these lines, a log written with another counts as the log of another version.
var others = []string{
	"market: {bidding: cheapest, payment: usage}\n",
	"admission: {name: class, default: be, cac: {guarantee: 0.999}}\n",
	"market: {bidding: best-response}\n",
	"leaving: {rule: lost}\n",
	"link: {patience: 25}\n",
}

// versionFile returns a market's file with additional lines.
func versionFile(own string) string {
	all := "name: lab\n"
	for line := range strings.Lines(file[1:]) {
		if field, _, _ := strings.Cut(line, ":"); field != "name" && !strings.Contains(own, field+":") {
			all += line
		}
	}
	return all + own
}

// upgrade changes the log as if another version with the rules in file had written it.
func (w *town) upgrade(file string) {
	w.t.Helper()
	w.disk = w.disk.CrashClone(vfs.CrashCloneCfg{})
	l := must(openLog("market", w.disk, false, nil))
	var as made
	must(l.get([]byte{madeTable}, &as))
	as.Config = file
	if err := l.set(map[string]any{string(madeTable): as}); err != nil {
		w.t.Fatal(err)
	}
	if err := l.db.Close(); err != nil {
		w.t.Fatal(err)
	}
	w.conf, w.version = must(Parse("lab.yaml", []byte(file))), "2"
}

// crowd submits contracts of all kinds while hosts leave and return.
func (w *town) crowd(rng *rand.Rand, seconds int) {
	w.t.Helper()
	for range seconds {
		if rng.IntN(3) == 0 {
			account := fmt.Sprintf("user:%d", rng.IntN(3))
			work := 1 + 20*rng.Float64()
			s := w.order(fmt.Sprintf("at%v", w.now), account, []string{"be", "cac"}[rng.IntN(2)], 1+rng.IntN(2), work, work*(1+3*rng.Float64()), 0.2+rng.Float64())
			r := w.turn(message{Submit: &s})
			if a := r[0].answer; a != nil && rng.IntN(8) == 0 {
				w.turn(message{Cancel: w.cancel(fmt.Sprintf("no%v", w.now), account, a.Contract)})
			}
		}
		if rng.IntN(40) == 0 {
			h := w.names[rng.IntN(len(w.names))]
			w.turn(message{Gone: h})
			w.turn(message{Came: h})
		}
		w.pass(1)
	}
}

// runs returns the running tasks by contract and node, with their owners.
func (w *town) runs() map[string]int64 {
	all := make(map[string]int64)
	for _, h := range w.market.core.hosts {
		for name, t := range h.tasks {
			all[fmt.Sprintf("%d.%d.%d on %s", t.contract, t.node, name, h.Spec.Name)] = t.contract
		}
	}
	return all
}

// TestUpgrade checks that a market resumes from the checkpoint of another version that makes
// other decisions, if that version was stopped. Tasks keep running, and a new log starts at the
// checkpoint. If the other version was killed, the market does not open, and the error states
// the remedy. After the remedy, the market opens.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	differed := 0
	for i, other := range others {
		for seed := range uint64(4) {
			differed += testUpgrade(t, other, uint64(i)*4+seed, seed%2 == 1)
		}
	}
	if differed < 3 {
		t.Errorf("%d logs come out otherwise: too few", differed)
	}
}

func testUpgrade(t *testing.T, other string, seed uint64, killed bool) (differed int) {
	rng := rand.New(rand.NewPCG(seed, 1))
	w := newTown(t, versionFile(""), 3)
	w.crowd(rng, 60+rng.IntN(60))
	if strings.Contains(other, "best-response") { // checkpoints of this strategy have other fields
		killed = false
		w.pass(200)
	}
	ran, records := w.runs(), w.market.log.seq
	old, conf := w.market, w.conf
	defer func() {
		if killed {
			old.Close()
		}
	}()
	if !killed {
		if err := old.Close(); err != nil {
			t.Fatal(err)
		}
	}
	disk := w.disk.CrashClone(vfs.CrashCloneCfg{})
	w.disk, w.market = disk, nil
	w.upgrade(versionFile(other))
	m, err := Open("market", w.conf, w.world())
	if killed && err != nil {
		if !strings.Contains(err.Error(), "start and stop the version that wrote the log") {
			t.Fatalf("seed %d: %v", seed, err)
		}
		differed = 1
		was := *w
		was.disk, was.conf, was.version = disk, conf, ""
		first := must(Open("market", conf, was.world()))
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		w.disk = disk
		w.upgrade(versionFile(other))
		m, err = Open("market", w.conf, w.world())
	}
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	w.market = m
	m.step, m.pause = w.at, math.Inf(1)
	if got := w.runs(); !reflect.DeepEqual(got, ran) {
		t.Errorf("seed %d: %v run, want %v", seed, got, ran)
	}
	w.crowd(rng, 20)
	w.crash()
	w.crowd(rng, 5)
	w.pass(150)
	for _, c := range must(w.market.List(Filter{Ended: true})) {
		if sum := must(c.Paid.Add(c.Back)); !c.Over() || c.State != "refused" && c.Outcome != "" && sum != c.Budget {
			t.Errorf("seed %d: contract %d is %s, paid %v and got back %v of %v", seed, c.ID, c.State, c.Paid, c.Back, c.Budget)
		}
	}
	if c := w.check(1); c.First != records+1 {
		t.Errorf("seed %d: checked from record %d, want %d", seed, c.First, records+1)
	}
	return differed
}

// earlier changes the records, from the given one on, to those of a version with another
// format.
func (w *town) earlier(from int64) {
	w.t.Helper()
	w.disk = w.disk.CrashClone(vfs.CrashCloneCfg{})
	l := must(openLog("market", w.disk, false, nil))
	for n := from; n <= l.seq; n++ {
		must(0, l.db.Set(key(recordTable, n), []byte(`{"now":1}`), nil))
	}
	must(0, l.set(map[string]any{string(versionTable): w.version}))
	must(0, l.db.Close())
}

// TestUpgradeOfFormat checks a log whose records have an earlier format. The error must
// refer the user to the version that wrote it. If that version was stopped, the market
// resumes from its checkpoint and begins a new log. If it was killed, the market does not
// open.
func TestUpgradeOfFormat(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 1))
	w := newTown(t, file, 2)
	w.crowd(rng, 60)
	ran, records := w.runs(), w.market.log.seq
	killed, saved := w.disk.CrashClone(vfs.CrashCloneCfg{}), w.market.saved.seq
	must(0, w.market.Close())
	w.market = nil
	w.earlier(1)
	for what, read := range map[string]func() error{
		"check":  func() error { _, err := Check("market", w.disk, nil); return err },
		"export": func() error { _, err := Export("market", w.disk); return err },
	} {
		if err := read(); !errors.Is(err, errFormat) || !strings.Contains(err.Error(), "with that version") {
			t.Errorf("%s: %v", what, err)
		}
	}
	m, err := Open("market", w.conf, w.world())
	if err != nil {
		t.Fatal(err)
	}
	w.market = m
	m.step, m.pause = w.at, math.Inf(1)
	if got := w.runs(); len(ran) == 0 || !reflect.DeepEqual(got, ran) {
		t.Errorf("%v run, want %v", got, ran)
	}
	w.crowd(rng, 20)
	w.crash()
	w.pass(150)
	if c := w.check(1); c.First != records+1 {
		t.Errorf("checked from record %d, want %d", c.First, records+1)
	}
	if _, err := Export("market", w.disk.CrashClone(vfs.CrashCloneCfg{})); err != nil {
		t.Errorf("export: %v", err)
	}
	w.disk = killed
	w.earlier(saved + 1)
	if m, err := Open("market", w.conf, w.world()); err == nil {
		m.Close()
		t.Error("a market was opened whose last records cannot be read")
	} else if !errors.Is(err, errFormat) || !strings.Contains(err.Error(), "start and stop the version that wrote the log") {
		t.Error(err)
	}
}

// TestRest checks the stored state of a market without open contracts. A market that resumes from it
// stores the same state. A state of a version without some fields, or with others, is read. The names
// of the fields are fixed, because other versions read them.
func TestRest(t *testing.T) {
	t.Parallel()
	w := newTown(t, file, 3)
	w.crowd(rand.New(rand.NewPCG(3, 1)), 60)
	w.pass(300)
	w.turn(message{Shut: &shutting{Host: "h01", Shut: true}}, message{Remove: "h02"})
	resumed := func(text string) string {
		t.Helper()
		var r rest
		must(0, json.Unmarshal([]byte(text), &r))
		k := must(w.market.fresh())
		if err := k.resume(&r); err != nil {
			t.Fatal(err)
		}
		again := k.rest()
		for i := range again.Hosts {
			if got, least := &again.Hosts[i].Machine.Number, r.Hosts[i].Machine.Number; *got < least {
				t.Errorf("host %d: allocation %d, want at least %d", i, *got, least)
			} else {
				*got = least // the next smaller value
			}
		}
		return string(must(json.Marshal(again)))
	}
	was := string(must(json.Marshal(w.market.core.rest())))
	if got := resumed(was); got != was || !strings.Contains(was, `"names":`) || len(was) > 3000 {
		t.Errorf("%d bytes: got\n%s\nwant\n%s", len(was), got, was)
	}
	const host = `"spec":{"Name":"h00","CPUs":1,"Speed":1},"owner":"host:h00"`
	const all = `{"now":7,"next":5,"hosts":[{` + host + `,"pin":"p","machine":{"names":4,"number":9,"session":2,"boot":"b","ack":3,"now":6,"cut":1,"begun":1,"told":2,"until":3},"removed":true,"gone":true,"closed":true,"drained":true,"reach":{"host":"h00","address":"a","ports":[1,2]},"tasks":[{"name":4,"contract":4,"node":1}],"ending":[{"name":3,"contract":3,"node":2,"until":9}]}],"names":["market:lab","host:h00"]}`
	for _, text := range []string{all, `{"now":7,"next":5,"hosts":[{` + host + `}],"names":[]}`, `{"now":7,"next":5,"later":{"x":1},"hosts":[{` + host + `,"later":[2]}],"names":[]}`} {
		got := resumed(text)
		var a, b rest
		must(0, json.Unmarshal([]byte(text), &a))
		must(0, json.Unmarshal([]byte(got), &b))
		if a.Names = b.Names; !reflect.DeepEqual(a, b) {
			t.Errorf("%s is read as %s", text, got)
		}
	}
	for _, typ := range []reflect.Type{reflect.TypeFor[rest](), reflect.TypeFor[restHost](), reflect.TypeFor[remote.Rest](), reflect.TypeFor[restTask]()} {
		for i := range typ.NumField() {
			if name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ","); name != "" && !strings.Contains(all, `"`+name+`":`) {
				t.Errorf("%v: field %s is not in the test's state", typ, name)
			}
		}
	}
}
