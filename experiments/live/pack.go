package live

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"slices"
)

// A packer writes records, and reads them in the order in which they were written. Nearly all
// of a log is what hosts tell each second of tasks that go on as before, so that is written
// as what differs from what was to be expected, in microseconds: a byte or two a task. All
// else is JSON, as whole records were once, which are read, too.
//
// What is expected follows from what was read before, so one begins anew with a record that
// says so: that after each checkpoint, where reading may begin.
type packer struct {
	hosts []packedHost // in the order in which they told something
}

// A packedHost is what a host has told last.
type packedHost struct {
	told             // but for what follows
	deal, length, at int64
	names            []int64 // of the last span
	tasks            map[int64]*packedTask
}

// A packedTask is what a host has told of one.
type packedTask struct {
	used, rate int64 // µs, and of them a second
	times      int
	waited     int64 // ms
}

// How a record begins, but for '{', which is JSON; and kinds of messages in it.
const (
	packedOn    = 1
	packedAnew  = 2
	packedOther = 0
	packedTold  = 1
)

// Bits that say what of a told is not as it was.
const (
	newSession = 1 << iota // session, boot or after
	hasEnds
	hasWaited // some task has waited; without it, none has
)

// expect returns how much is to be told of t after so many microseconds more.
func (t *packedTask) expect(length int64) int64 { return t.used + t.rate*length/1e6 }

// saw notes what was told.
func (t *packedTask) saw(used, length int64) {
	if length > 0 && t.times > 0 { // what it had used before is told first
		rate := (used - t.used) * 1e6 / length
		t.rate += (rate - t.rate) / int64(min(t.times, 8))
	}
	t.used = used
	t.times++
}

// micros returns seconds in microseconds, if they are a number of these.
func micros(seconds float64) (int64, bool) {
	n := math.Round(seconds * 1e6)
	return int64(n), math.Abs(n) < 1<<40 && n/1e6 == seconds && !(n == 0 && math.Signbit(seconds))
}

func seconds(micros int64) float64 { return float64(micros) / 1e6 }

// small reports whether all in t can be told in microseconds.
func (t *told) small() bool {
	ok := func(x float64) bool { _, ok := micros(x); return ok }
	return !slices.ContainsFunc(t.Spans, func(s span) bool {
		return !ok(s.Length) || !ok(s.At) || slices.ContainsFunc(s.Used, func(u used) bool {
			_, ms := millis(u.Waited)
			return !ok(u.Seconds) || !ms
		})
	})
}

// millis returns seconds in milliseconds, if they are a number of these: agents tell so for how
// long tasks have waited.
func millis(seconds float64) (int64, bool) {
	n := math.Round(seconds * 1e3)
	return int64(n), math.Abs(n) < 1<<40 && n/1e3 == seconds && !(n == 0 && math.Signbit(seconds))
}

// waited reports whether any task has waited.
func (t *told) waited() bool {
	return slices.ContainsFunc(t.Spans, func(s span) bool {
		return slices.ContainsFunc(s.Used, func(u used) bool { return u.Waited != 0 })
	})
}

// write returns r as it is kept. A packer that has written nothing begins anew.
func (p *packer) write(r *record) ([]byte, error) {
	out := []byte{packedOn}
	if p.hosts == nil {
		out[0], p.hosts = packedAnew, []packedHost{}
	}
	out = binary.BigEndian.AppendUint64(out, math.Float64bits(r.Now))
	for i := range r.Messages {
		m := &r.Messages[i]
		if m.Told != nil && m.Told.small() {
			var err error
			if out, err = p.told(append(out, packedTold), m.Told); err != nil {
				return nil, err
			}
			continue
		}
		text, err := json.Marshal(m)
		if err != nil {
			return nil, err
		}
		out = appendText(append(out, packedOther), text)
	}
	return out, nil
}

func appendText(out, text []byte) []byte {
	return append(binary.AppendUvarint(out, uint64(len(text))), text...)
}

// told appends what a host has told.
func (p *packer) told(out []byte, t *told) ([]byte, error) {
	at := slices.IndexFunc(p.hosts, func(h packedHost) bool { return h.Host == t.Host })
	if at < 0 {
		out = appendText(binary.AppendUvarint(out, uint64(len(p.hosts))), []byte(t.Host))
		at = p.enter(t.Host)
	} else {
		out = binary.AppendUvarint(out, uint64(at))
	}
	h, bits := &p.hosts[at], byte(0)
	if t.Session != h.Session || t.Boot != h.Boot || t.After != h.After {
		bits |= newSession
	}
	if len(t.Ends) > 0 {
		bits |= hasEnds
	}
	if t.waited() {
		bits |= hasWaited
	}
	out = append(out, bits)
	if bits&newSession != 0 {
		out = binary.AppendVarint(out, t.Session)
		out = appendText(appendText(out, []byte(t.Boot)), []byte(t.After))
	}
	out = binary.AppendVarint(out, t.Seq-h.Seq)
	out = binary.AppendVarint(out, t.First-h.First)
	h.Session, h.Boot, h.After, h.Seq, h.First = t.Session, t.Boot, t.After, t.Seq, t.First
	out = binary.AppendUvarint(out, uint64(len(t.Spans)))
	for i := range t.Spans {
		if out = h.span(out, &t.Spans[i]); bits&hasWaited == 0 {
			continue
		}
		for _, u := range t.Spans[i].Used {
			n, _ := millis(u.Waited)
			t := h.task(u.Name)
			out, t.waited = binary.AppendVarint(out, n-t.waited), n
		}
	}
	if bits&hasEnds == 0 {
		return out, nil
	}
	text, err := json.Marshal(t.Ends)
	return appendText(out, text), err
}

// enter adds a host of that name, and returns its place.
func (p *packer) enter(name string) int {
	p.hosts = append(p.hosts, packedHost{told: told{Host: name}, tasks: make(map[int64]*packedTask)})
	return len(p.hosts) - 1
}

// span appends a span: its names, if they are not those of the last, and then what was used.
func (h *packedHost) span(out []byte, s *span) []byte {
	length, _ := micros(s.Length)
	at, _ := micros(s.At)
	out = binary.AppendVarint(out, s.Deal-h.deal)
	out = binary.AppendVarint(out, length-h.length)
	out = binary.AppendVarint(out, at-h.at-length)
	h.deal, h.length, h.at = s.Deal, length, at
	if slices.EqualFunc(s.Used, h.names, func(u used, name int64) bool { return u.Name == name }) {
		out = binary.AppendUvarint(out, 0)
	} else {
		out, h.names = binary.AppendUvarint(out, uint64(len(s.Used))+1), h.names[:0]
		last := int64(0)
		for _, u := range s.Used {
			out, last = binary.AppendVarint(out, u.Name-last), u.Name
			h.names = append(h.names, u.Name)
		}
	}
	for _, u := range s.Used {
		n, _ := micros(u.Seconds)
		t := h.task(u.Name)
		out = binary.AppendVarint(out, n-t.expect(length))
		t.saw(n, length)
	}
	return out
}

func (h *packedHost) task(name int64) *packedTask {
	t := h.tasks[name]
	if t == nil {
		t = new(packedTask)
		h.tasks[name] = t
	}
	return t
}

var errPacked = errors.New("it is damaged, or follows others that were not read")

// read reads a record that is kept as b.
func (p *packer) read(b []byte) (*record, error) {
	r := new(record)
	switch {
	case len(b) > 0 && b[0] == '{':
		return r, json.Unmarshal(b, r)
	case len(b) < 9 || b[0] != packedAnew && (b[0] != packedOn || p.hosts == nil):
		return nil, errPacked
	case b[0] == packedAnew:
		p.hosts = []packedHost{}
	}
	r.Now = math.Float64frombits(binary.BigEndian.Uint64(b[1:]))
	for in := (unpacker{b: b[9:]}); len(in.b) > 0; {
		var m message
		if in.byte() == packedTold {
			m.Told = p.untold(&in)
		} else {
			in.json(&m)
		}
		if in.bad {
			return nil, errPacked
		}
		r.Messages = append(r.Messages, m)
	}
	return r, nil
}

// untold reads what a host has told.
func (p *packer) untold(in *unpacker) *told {
	at := int(min(in.unsigned(), math.MaxInt32))
	if at > len(p.hosts) {
		in.bad = true
		return nil
	}
	if at == len(p.hosts) {
		p.enter(string(in.text()))
	}
	h, bits := &p.hosts[at], in.byte()
	if bits&newSession != 0 {
		h.Session, h.Boot, h.After = in.signed(), string(in.text()), string(in.text())
	}
	h.Seq += in.signed()
	h.First += in.signed()
	t := h.told
	for n := in.count(); n > 0 && !in.bad; n-- {
		s := h.unspan(in)
		for i := range s.Used {
			if u := &s.Used[i]; bits&hasWaited != 0 {
				t := h.task(u.Name)
				t.waited += in.signed()
				u.Waited = float64(t.waited) / 1e3
			}
		}
		t.Spans = append(t.Spans, s)
	}
	if bits&hasEnds != 0 {
		in.json(&t.Ends)
	}
	return &t
}

// unspan reads a span.
func (h *packedHost) unspan(in *unpacker) (s span) {
	h.deal += in.signed()
	h.length += in.signed()
	h.at += in.signed() + h.length
	s.Deal, s.Length, s.At = h.deal, seconds(h.length), seconds(h.at)
	if n := in.count(); n > 0 {
		h.names = h.names[:0]
		last := int64(0)
		for ; n > 1 && !in.bad; n-- {
			last += in.signed()
			h.names = append(h.names, last)
		}
	}
	for _, name := range h.names {
		t := h.task(name)
		n := t.expect(h.length) + in.signed()
		t.saw(n, h.length)
		s.Used = append(s.Used, used{Name: name, Seconds: seconds(n)})
	}
	return s
}

// An unpacker reads what is left of b.
type unpacker struct {
	b   []byte
	bad bool
}

func (in *unpacker) take(n int) (b []byte) {
	if n <= 0 || n > len(in.b) {
		in.b, in.bad = nil, in.bad || n != 0
		return nil
	}
	b, in.b = in.b[:n], in.b[n:]
	return b
}

func (in *unpacker) byte() byte {
	if b := in.take(1); b != nil {
		return b[0]
	}
	return 0
}

// signed undoes what binary.AppendVarint makes of a number.
func (in *unpacker) signed() int64 {
	x := in.unsigned()
	return int64(x>>1) ^ -int64(x&1)
}

func (in *unpacker) unsigned() uint64 {
	x, n := binary.Uvarint(in.b)
	if n <= 0 {
		n = -1
	}
	in.take(n)
	return x
}

// count reads how many follow, each of a byte at least but for one.
func (in *unpacker) count() int {
	n := in.unsigned()
	if in.bad = in.bad || n > uint64(len(in.b))+1; in.bad {
		return 0
	}
	return int(n)
}

func (in *unpacker) text() []byte {
	n := in.unsigned()
	if in.bad = in.bad || n > uint64(len(in.b)); in.bad || n == 0 {
		return nil
	}
	return in.take(int(n))
}

func (in *unpacker) json(v any) { in.bad = json.Unmarshal(in.text(), v) != nil || in.bad }
