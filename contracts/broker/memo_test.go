package broker

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"bourse/contracts/memo"
	"bourse/contracts/policies"
)

const trials = 600 // trials is the number of trials of a test.

// undisturbed returns the result of a trial whose broker is never replaced.
var undisturbed = func() (of [trials]func() record) {
	for seed := range of {
		of[seed] = sync.OnceValue(func() record {
			r, _ := newMedley(uint64(seed), 25).run(nil)
			return r
		})
	}
	return of
}()

// TestRecall checks every policy under all options, sharing rules and rules for leaving hosts.
// At random times, the broker is replaced with one recalled from its memo. Decisions, prices,
// accounts and journal must be the same to the last bit. The data of the replaced broker, its
// policy and the memo are cleared, so that none of these data can still be in use. Scratch
// memory of the new broker contains garbage.
func TestRecall(t *testing.T) {
	t.Parallel()
	replaced := map[string]int{}
	for seed := range uint64(trials) {
		m, n, where := recalled(seed, nil)
		if replaced[m.policy] += n; where != "" {
			t.Fatalf("%v: %s", m, where)
		}
	}
	for _, name := range policies.Table(nil, nil).Names() {
		if replaced[name] < 30 {
			t.Errorf("%s: %d brokers were replaced: too few to tell", name, replaced[name])
		}
	}
}

// TestRecallBytes performs the check of TestRecall with memos that were encoded and decoded,
// except for policies that maintain books.
func TestRecallBytes(t *testing.T) {
	t.Parallel()
	replaced, size := 0, 0
	for seed := range uint64(trials / 4) {
		plain := newMedley(seed, 25)
		if policies.Of(plain.policy).Books || plain.policy == "queue" {
			continue
		}
		like := New(plain.open(false).config).Memo()
		m, n, where := recalled(seed, func(x *Memo) {
			b := must(memo.Encode(x, like))
			*x = *must(memo.Decode(b, like))
			size = max(size, len(b))
		})
		if replaced += n; where != "" {
			t.Fatalf("%v: %s", m, where)
		}
	}
	if replaced < 500 {
		t.Errorf("%d brokers were replaced: too few to tell", replaced)
	}
	t.Logf("%d brokers were replaced, by at most %d bytes", replaced, size)
}

// recalled runs a trial in which brokers are replaced. It returns the number of replacements
// and a description of the first difference in the result. If the function omit is not nil, it
// may damage the memos.
func recalled(seed uint64, omit func(*Memo)) (m *medley, replaced int, where string) {
	m = newMedley(seed, 25)
	rng, steps := rand.New(rand.NewPCG(seed, 11)), 0
	got, _ := m.run(func(w *world, b *Broker) *Broker {
		if steps++; steps > 2000 || rng.IntN(8) > 0 { // few brokers are replaced in a very long trial
			return b
		}
		replaced++
		return m.replace(w, b, omit)
	})
	return m, replaced, difference(got, undisturbed[seed]())
}

// replace returns the broker recalled from the memo of b, which omit may damage.
func (m *medley) replace(w *world, b *Broker, omit func(*Memo)) *Broker {
	copied := memo.Copy(b.Memo(), Fixed())
	wipe(reflect.ValueOf(&b.State).Elem(), 4)
	for _, part := range []any{&b.Policy, &b.Sharing, &b.Forecast} {
		if x := reflect.ValueOf(part).Elem().Elem(); x.Kind() == reflect.Pointer {
			wipe(x.Elem(), 0)
		}
	}
	if omit != nil {
		omit(copied)
	}
	c := w.config
	c.Policy, c.Sharing, c.Forecast, c.Ties = nil, nil, nil, nil
	next := new(Broker)
	next.Recall(c, memo.Copy(copied, Fixed()))
	wipe(reflect.ValueOf(copied).Elem(), 4)
	litter(reflect.ValueOf(&next.scratch).Elem())
	litter(open(reflect.ValueOf(&next.floor).Elem().FieldByName("scratch")))
	return next
}

// open returns v as a settable value, exported or not.
func open(v reflect.Value) reflect.Value {
	return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
}

// wipe clears the value in v, and the elements of its slices down to the given depth.
func wipe(v reflect.Value, levels int) {
	switch {
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			wipe(open(v.Field(i)), levels)
		}
	case v.Kind() == reflect.Slice && levels > 0:
		for i := range v.Len() {
			wipe(v.Index(i), levels-1)
		}
	}
	v.SetZero()
}

// litter puts a zero element in every list of v.
func litter(v reflect.Value) {
	for i := range v.NumField() {
		if f := open(v.Field(i)); f.Kind() == reflect.Slice {
			f.Set(reflect.MakeSlice(f.Type(), 1, 3))
		}
	}
}

// fields returns the paths of all fields of t and of the elements of its lists.
func fields(t reflect.Type, path string, depth int) (paths []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name := path + f.Name
		paths = append(paths, name)
		of := f.Type
		if of.Kind() == reflect.Slice {
			of = of.Elem()
		}
		if of.Kind() == reflect.Struct && depth > 0 && strings.HasPrefix(of.PkgPath(), "bourse/contracts/") {
			paths = append(paths, fields(of, name+".", depth-1)...)
		}
	}
	return paths
}

// leaveOut clears the named field of v.
func leaveOut(v reflect.Value, path string) {
	if v.Kind() == reflect.Slice {
		for i := range v.Len() {
			leaveOut(v.Index(i), path)
		}
		return
	}
	name, rest, deeper := strings.Cut(path, ".")
	if f := open(v.FieldByName(name)); deeper {
		leaveOut(f, rest)
	} else {
		f.SetZero()
	}
}

// idleFields are the fields that a memo may omit without any effect:
//   - that a host accepts no more tasks, because no market here sets it;
//   - marks of work in progress, because there is none when the memo is taken;
//   - marks whose absence only makes a policy read a host again, or is seen in too few trials;
//   - that there is room, which between two steps concerns only policies that keep books or
//     decide at times of their own;
//   - the work that is kept when a host is lost, because no market here stores checkpoints;
//     TestSaves of experiments/live notices it;
//   - the prices of hosts, which these markets do not record.
var idleFields = map[string]bool{
	"floor.hosts.touched":  true,
	"floor.hosts.shut":     true,
	"floor.runs.changed":   true,
	"broker.freed":         true,
	"floor.hosts.news":     true,
	"floor.news.old":       true,
	"floor.each":           true,
	"floor.runs.kept":      true,
	"floor.runs.kept.done": true,
	"floor.runs.kept.owed": true,
	"floor.runs.kept.from": true,
}

// TestOmissions checks that TestRecall would detect any field that a memo omits.
func TestOmissions(t *testing.T) {
	t.Parallel()
	all := fields(reflect.TypeFor[Memo](), "", 3)
	for _, path := range all {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			noticed, seeds := false, uint64(trials)
			if idleFields[path] {
				seeds = 60
			}
			for seed := uint64(0); seed < seeds && !noticed; seed++ {
				noticed = notices(seed, path)
			}
			if noticed == idleFields[path] {
				t.Errorf("left out: noticed is %v", noticed)
			}
		})
	}
	if len(all) < 40 {
		t.Errorf("%d fields", len(all))
	}
}

func notices(seed uint64, path string) (noticed bool) {
	defer func() {
		if recover() != nil {
			noticed = true
		}
	}()
	_, _, where := recalled(seed, func(memo *Memo) { leaveOut(reflect.ValueOf(memo).Elem(), path) })
	return where != ""
}
