package live

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"bourse/bank"
	"bourse/bank/owners/ownerstest"
	"bourse/bank/store"
	"bourse/contracts/order"
	"bourse/hosts"
	"bourse/hosts/remote"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

const forgedFile = `
name: lab
admission: {name: class, default: be}
market: {bidding: cheapest, resources: [memory, gpu], licences: {cad: 2}}
promises: {cac: {penalty: 1, most: 0.5}}
floor_per_hour: {cpu: 0.36}
quotas: [{who: 'user:2', running: 1}]
limits: {checkpoint: 1000}
`

// allKinds returns a market whose log contains each kind of message, call, answer and stored
// state.
func allKinds(t *testing.T) *town {
	w := newTown(t, forgedFile, 1)
	w.every, w.market.every = 9, 9
	for i := range 2 {
		spec := hosts.Spec{Name: fmt.Sprint("big", i), CPUs: 2, Speed: 1, Room: hosts.Resources{Memory: 6e9}}
		spec.Room.Counts[0] = 2
		w.provide(spec)
	}
	must(w.bank.Do(t.Context(), ownerstest.Transfer("fund", "user:1", "market:lab", 20_000)))
	n := 0
	submit := func(account string, terms order.Terms) *Answer {
		t.Helper()
		n++
		terms.Nodes, terms.CPUs, terms.Budget = max(1, terms.Nodes), 1, must(bank.Dollars(0.1))
		s := w.sign(fmt.Sprint("o", n), account, w.now+5000, &terms, jobText)
		s.Memory = w.conf.amountsOf(&terms, remote.Limits{}).Memory
		a := w.turn(message{Submit: &s})[0].answer
		w.pass(1)
		return a
	}
	payee := func(kind, id string) {
		must(w.bank.Do(t.Context(), ownerstest.Says("operator", kind, id, "operator", "of", "host:h00", "right", "payee", "market", "lab")))
	}
	starved := submit("user:0", order.Terms{Class: "cac", Work: 20, Deadline: 25, Counts: map[string]int32{"gpu": 1}, Checkpoint: 5})
	for _, a := range w.agents {
		a.Serves = func(contract int64) (float64, float64) {
			if contract == starved.Contract {
				return 0.5, 0.5
			}
			return 1, 0
		}
		a.Exits = func(contract int64) float64 {
			if contract == starved.Contract+1 {
				return 4
			}
			return 30
		}
	}
	twice := submit("user:1", order.Terms{Class: "be", Nodes: 2, Work: 10, Deadline: 60, Licences: map[string]int32{"cad": 1}, Requeue: 1})
	late := submit("user:0", order.Terms{Class: "be", Work: 500, Deadline: 30, Array: order.Array{ID: "A", Most: 1}})
	submit("user:0", order.Terms{Class: "be", Work: 5, Deadline: 30, Array: order.Array{ID: "A", Index: 1, Most: 1}}) // held
	after := order.Terms{Class: "be", Work: 5, Deadline: 60}
	after.After[0] = []int64{Short(twice.Contract)}
	submit("user:1", after)
	submit("user:2", order.Terms{Class: "be", Work: 15, Deadline: 60})
	held := submit("user:2", order.Terms{Class: "be", Work: 15, Deadline: 60}) // beyond the quota
	submit("user:1", order.Terms{Class: "be", Work: 1, Deadline: 60, Counts: map[string]int32{"gpu": 7}})
	submit("user:1", order.Terms{Class: "be", Work: 1, Deadline: 60, Licences: map[string]int32{"cad": 7}})
	dear := w.order("dear", "user:1", "be", 1, 1, 60, 500)
	w.turn(message{Submit: &dear})
	for i, b := range []float64{0.15, 0.08, 1e-6} {
		w.turn(message{Bid: w.bid(fmt.Sprint("b", i), "user:1", twice.Contract, b)})
	}
	w.turn(message{Cancel: w.cancel("c", "user:2", held.Contract)}, message{Cancel: w.cancel("c", "user:0", late.Contract)}, message{Bid: w.bid("none", "user:2", late.Contract, 1)})
	for _, name := range w.names {
		w.turn(message{Reach: &reach{Host: name, Address: "10.0.0.1", Ports: [2]int32{2000, 3000}, Busy: []int32{2002}}})
		w.turn(message{Saved: &saving{Host: name, Name: 1, Sums: []string{strings.Repeat("a", 64)}, Used: 0.5}})
	}
	w.pass(5)
	w.turn(message{Gone: "big1"})
	w.pass(3)
	w.turn(message{Came: "big1"})
	w.turn(message{Shut: &shutting{Host: "big1", Shut: true}}, message{Shut: &shutting{Host: "big1"}}, message{Shut: &shutting{Host: "h00", Shut: true, Operator: true}})
	payee("revoke", "no-payee")
	w.pass(30)
	payee("right", "payee-again")
	w.pass(300)
	if len(w.market.core.open) > 0 {
		t.Fatalf("%d contracts are open", len(w.market.core.open))
	}
	w.turn(message{Remove: "h00"}, message{Orphan: &orphan{Contract: ownerstest.Contract(90), Owner: "user:0", Amount: bank.Micros(5)}})
	w.names, w.agents = w.names[1:], w.agents[1:]
	submit("user:0", order.Terms{Class: "be", Work: 500, Deadline: 600})
	must(0, w.market.save())
	return w
}

// A leaf is a value in a JSON text.
type leaf struct {
	path     string // with * for elements of lists
	from, to int    // position in the text
}

// leaves returns the numbers, texts and booleans in a JSON text, and their names.
func leaves(text []byte) (all []leaf) {
	d := json.NewDecoder(bytes.NewReader(text))
	type level struct {
		list bool
		key  string // next, in an object
		at   bool   // whether a key was read
	}
	var in []level
	for {
		before := int(d.InputOffset())
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		must(0, err)
		to := int(d.InputOffset())
		from := to - len(bytes.TrimLeft(text[before:to], " \n\t,:"))
		top := len(in) - 1
		if delim, is := token.(json.Delim); is {
			if delim == '{' || delim == '[' {
				in = append(in, level{list: delim == '['})
				continue
			}
			in = in[:top]
			if top > 0 {
				in[top-1].at = false
			}
			continue
		}
		if top >= 0 && !in[top].list && !in[top].at {
			in[top].key, in[top].at = token.(string), true
			continue
		}
		path := ""
		for _, l := range in {
			path += "." + cmp.Or(l.key, "*")
		}
		if token != nil {
			all = append(all, leaf{path, from, to})
		}
		if top >= 0 {
			in[top].at = false
		}
	}
}

// changes returns values with which to replace the JSON value in text.
func changes(text string) []string {
	switch {
	case text == "true":
		return []string{"false"}
	case text == "false":
		return []string{"true"}
	case text == `""`:
		return []string{`"x"`}
	case text[0] == '"':
		return []string{text[:len(text)-1] + `x"`, `""`, `"` + text[2:]}
	}
	return []string{text + "1", "-3", "0", "1e18", "7"}
}

// unseen are the fields of which a change may have no effect on any stored value, with the reason.
var unseen = map[string]string{
	"V":                 "the version of the program can be any text",
	"O.calls.*.refused": "the market stores the reason of a refused settlement only until it is booked",

	"L.Messages.*.report.Seq":                   "the next report replaces it",
	"L.Messages.*.report.After":                 "it matters only when an agent starts again",
	"L.Messages.*.report.Spans.*.Deal":          "it matters only if a task reports usage",
	"L.Messages.*.report.Spans.*.Length":        "likewise",
	"L.Messages.*.report.Spans.*.At":            "likewise",
	"L.Messages.*.report.Spans.*.Used.*.Waited": "it matters only for broken promises",
	"L.Messages.*.reach.host":                   "the next report of the host replaces its address",
	"L.Messages.*.reach.address":                "likewise",
	"L.Messages.*.reach.ports.*":                "likewise",
	"L.Messages.*.reach.busy.*":                 "likewise",
	"L.Messages.*.saved.host":                   "the task may be unknown, so that the message has no effect",
	"L.Messages.*.saved.name":                   "likewise",
	"L.Messages.*.saved.sums.*":                 "the market stores them only until the contract ends",
	"L.Messages.*.saved.used":                   "it matters only if the host is lost",
	"L.Messages.*.submit.memory":                "it matters only if the order is admitted",
}

var everyForgery = flag.Bool("forged", false, "TestForged tries several changes at several places")

// TestForged changes each field of each kind of value in a log. A check must report the
// change and name its record, and it must not panic or run for long.
func TestForged(t *testing.T) {
	t.Parallel()
	w := allKinds(t)
	books := w.vault.CrashClone(vfs.CrashCloneCfg{})
	entries := func(yield func(*bank.Entry) bool) {
		r := must(store.OpenReader("books", store.Options{FS: books.CrashClone(vfs.CrashCloneCfg{})}))
		defer r.Close()
		for e := range r.Entries() {
			if !yield(e) {
				return
			}
		}
	}
	if c, err := Check("market", w.disk.CrashClone(vfs.CrashCloneCfg{}), entries); err != nil || len(c.Differences) > 0 {
		t.Fatalf("unchanged: %.2000v, %v", c, err)
	}
	l := must(openLog("market", w.disk.CrashClone(vfs.CrashCloneCfg{}), true, nil))
	defer l.db.Close()
	var err error
	var records []*record
	for _, r := range l.records(1, &err) {
		records = append(records, r)
	}
	must(0, err)
	type place struct {
		key  string
		text []byte // JSON; nil for a checkpoint
		leaf
	}
	places := make(map[string][]place)
	it := must(l.db.NewIter(nil))
	for ok := it.First(); ok; ok = it.Next() {
		key, text := string(it.Key()), bytes.Clone(it.Value())
		switch key[0] {
		case recordTable:
			seq := int(binary.BigEndian.Uint64([]byte(key[1:])))
			text = must(json.Marshal(records[seq-1]))
		case checkpointTable:
			for i := range 20 {
				at := i * len(text) / 20
				places[fmt.Sprint("K byte ", i)] = append(places[fmt.Sprint("K byte ", i)], place{key, nil, leaf{"", at, at + 1}})
			}
			continue
		}
		for _, one := range leaves(text) {
			name := key[:1] + one.path
			places[name] = append(places[name], place{key, text, one})
		}
	}
	must(0, it.Close())
	kinds := make(map[byte]bool)
	tried, clean := 0, make(map[string][]string)
	try := func(name string, p place, value string) {
		disk := w.disk.CrashClone(vfs.CrashCloneCfg{})
		l := must(openLog("market", disk, false, nil))
		set := func(key, text []byte) { must(0, l.db.Set(key, text, nil)) }
		switch {
		case p.text == nil:
			text := must(l.raw([]byte(p.key)))
			text[p.from] ^= 0x55
			set([]byte(p.key), text)
		case p.key[0] == recordTable:
			r := new(record)
			if json.Unmarshal([]byte(value), r) != nil { // of another type, which no log can contain
				must(0, l.db.Close())
				return
			}
			seq, same := int(binary.BigEndian.Uint64([]byte(p.key[1:]))), true
			var was codec
			for i, one := range records {
				text := must(was.encode(one))
				if i == seq-1 {
					one = r
				}
				is := must(l.codec.encode(one))
				same = same && bytes.Equal(is, text)
				set(key(recordTable, int64(i+1)), is)
			}
			if same { // records do not store the field
				must(0, l.db.Close())
				return
			}
		default:
			set([]byte(p.key), []byte(value))
		}
		must(0, l.db.Close())
		tried++
		begun := time.Now()
		var c *Checked
		var err error
		func() {
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("%s, changed to %.300s: a panic: %v", name, value, p)
				}
			}()
			c, err = Check("market", disk, iter.Seq[*bank.Entry](entries))
		}()
		if took := time.Since(begun); took > 20*time.Second {
			t.Errorf("%s, changed to %.300s: %v", name, value, took)
		}
		text := ""
		if err != nil {
			text = err.Error()
		} else if c != nil {
			text = strings.Join(c.Differences, "\n")
		}
		if text == "" && c != nil {
			clean[name] = append(clean[name], value[max(0, p.from-20):min(len(value), p.from+20)])
		} else if p.key[0] != madeTable && !regexp.MustCompile(`(record|outcome|entry|checkpoint|answer to order|contract|ledger contains no \w+|version)\b`).MatchString(text) {
			t.Errorf("%s: %.300s does not name a record", name, text)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(places)) {
		all := places[name]
		kinds[all[0].key[0]] = true
		some := []place{all[len(all)/2]}
		if *everyForgery {
			some = append(some, all[0], all[len(all)-1])
		}
		for _, p := range some {
			if p.text == nil {
				try(name, p, "")
				continue
			}
			was := string(p.text)
			for i, v := range changes(was[p.from:p.to]) {
				if !*everyForgery && i > 0 {
					break
				}
				if v == was[p.from:p.to] {
					continue
				}
				try(name, p, was[:p.from]+v+was[p.to:])
			}
		}
	}
	for name, values := range clean {
		if unseen[name] == "" {
			t.Errorf("%s: %d changes are not found, such as %.80s", name, len(values), values[0])
		}
	}
	for _, table := range "NLOJKQBTRV" {
		if !kinds[byte(table)] {
			t.Errorf("the log has no value of table %c", table)
		}
	}
	if t.Logf("%d changes of %d fields", tried, len(places)); tried < 200 {
		t.Errorf("only %d changes were tried", tried)
	}
}

// TestForgedKeys adds and removes values of a log. A check must report each. A log without its
// last checkpoint or without its bases is complete, because it can be read from its first record.
func TestForgedKeys(t *testing.T) {
	t.Parallel()
	w := allKinds(t)
	l := must(openLog("market", w.disk.CrashClone(vfs.CrashCloneCfg{}), true, nil))
	defer l.db.Close()
	last := make(map[byte]string) // key of each table
	it := must(l.db.NewIter(nil))
	for ok := it.First(); ok; ok = it.Next() {
		last[it.Key()[0]] = string(it.Key())
	}
	must(0, it.Close())
	try := func(what string, change func(*pebble.DB) error) {
		disk := w.disk.CrashClone(vfs.CrashCloneCfg{})
		l := must(openLog("market", disk, false, nil))
		must(0, errors.Join(change(l.db), l.db.Close()))
		if c, err := Check("market", disk, nil); err == nil && len(c.Differences) == 0 {
			t.Errorf("%s: clean", what)
		}
	}
	for _, table := range "OJTRKQB" {
		name := last[byte(table)]
		value := must(l.raw([]byte(name)))
		if table != 'K' && table != 'B' {
			try("without "+name, func(db *pebble.DB) error { return db.Delete([]byte(name), nil) })
		}
		for what, key := range map[string][]byte{
			"after the last":   key(byte(table), l.seq+1),
			"of record 1":      key(byte(table), 1),
			"of no contract":   key(byte(table), ownerstest.Contract(1<<20)),
			"with a short key": {byte(table), 'x'},
		} {
			if must(l.raw(key)) == nil {
				try(string(table)+" "+what, func(db *pebble.DB) error { return db.Set(key, value, nil) })
			}
		}
	}
	for _, key := range []string{"x", "L", "La", "Lxxxxxxxxxxxxxxxxx", "R", "Z12345678", "N2", "V2"} {
		try("key "+key, func(db *pebble.DB) error { return db.Set([]byte(key), []byte("{}"), nil) })
	}
}
