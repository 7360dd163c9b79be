package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"bourse/contracts"
	"bourse/contracts/broker"
	"bourse/contracts/memo"
	"bourse/hosts"
	"bourse/hosts/remote"

	"github.com/cockroachdb/pebble/v2"
)

// A checkpoint is the complete state of a core. A market can resume from a checkpoint without
// the earlier records. A version of the program cannot read checkpoints of other versions.
type checkpoint struct {
	broker *broker.Memo
	state  state
	names  []string // names of accounts, by number
}

func (k *core) checkpoint() *checkpoint {
	return &checkpoint{memo.Copy(k.broker.Memo(), broker.Fixed()), k.state, k.calls.bank.Names()}
}

// stored returns the values that store the state of k after record seq, by key. The argument
// like is a new core.
func (k *core) stored(seq int64, like *core) (map[string][]byte, error) {
	whole, err := memo.Encode(k.checkpoint(), like.checkpoint())
	values := map[string][]byte{string(key(checkpointTable, seq)): whole}
	if err == nil && len(k.open) == 0 {
		values[string(key(restTable, seq))], err = json.Marshal(k.rest())
	}
	return values, err
}

// recall sets k, which must be a new core, to the state in the checkpoint.
func (k *core) recall(c *checkpoint) {
	k.called(c.names)
	k.state = c.state
	conf := k.config
	for _, h := range k.hosts {
		conf.Fleet, conf.Owners = append(conf.Fleet, h.machine), append(conf.Owners, k.calls.bank.Account(h.Owner))
	}
	k.broker.Recall(conf, memo.Copy(c.broker, broker.Fixed()))
	k.broker.Phase(0)
}

// sourceOf returns the hash of the script if p is a script policy, or an empty string.
func sourceOf(p contracts.Policy) string {
	if s, ok := p.(interface{ Source() string }); ok {
		return s.Source()
	}
	return ""
}

// called restores the numbers of the accounts.
func (k *core) called(names []string) {
	for _, name := range names {
		k.calls.bank.Account(name)
	}
}

// A rest is the state of a core without open contracts and without a price history. Unlike a
// checkpoint, it can be read by other versions: field names do not change, an absent field is
// 0, and unknown fields are ignored.
type rest struct {
	Now   float64    `json:"now"`
	Next  int64      `json:"next"`
	Hosts []restHost `json:"hosts"`
	Names []string   `json:"names"` // names of accounts, by number
}

// A restHost is a host in a rest. Its tasks are those whose ends the host has not reported.
type restHost struct {
	join
	Machine remote.Rest `json:"machine,omitzero"`
	Removed bool        `json:"removed,omitempty"`
	Gone    bool        `json:"gone,omitempty"`
	Closed  bool        `json:"closed,omitempty"`
	Drained bool        `json:"drained,omitempty"`
	Reach   reach       `json:"reach,omitzero"`
	Tasks   []restTask  `json:"tasks,omitempty"`
	Ending  []restTask  `json:"ending,omitempty"`
}

type restTask struct {
	Name     int64   `json:"name"`
	Contract int64   `json:"contract"`
	Node     int32   `json:"node,omitempty"`
	Until    float64 `json:"until,omitempty"` // time after which an ending task no longer runs
}

func (k *core) rest() *rest {
	r := &rest{k.now, k.next, nil, k.calls.bank.Names()}
	for _, h := range k.hosts {
		one := restHost{join: h.join, Machine: h.machine.Rest(), Removed: h.removed, Gone: h.gone, Closed: h.closed, Drained: h.drained, Reach: h.reach}
		for _, name := range slices.Sorted(maps.Keys(h.tasks)) {
			t := h.tasks[name]
			one.Tasks = append(one.Tasks, restTask{name, t.contract, t.node, 0})
		}
		for _, e := range h.ending {
			one.Ending = append(one.Ending, restTask{e.name, e.contract, e.node, e.until})
		}
		r.Hosts = append(r.Hosts, one)
	}
	return r
}

// host returns the host that r describes.
func (r *restHost) host(now float64) *host {
	h := &host{join: r.join, machine: remote.New(r.Spec), removed: r.Removed, gone: r.Gone, closed: r.Closed, drained: r.Drained, reach: r.Reach, tasks: make(map[int64]task)}
	h.machine.Resume(r.Machine)
	h.orders = h.machine.Orders(now, nil)
	for _, t := range r.Tasks {
		h.tasks[t.Name] = task{t.Contract, t.Node}
	}
	for _, t := range r.Ending {
		h.ending = append(h.ending, ending{task{t.Contract, t.Node}, t.Name, t.Until})
	}
	return h
}

// resume sets k, which must be a new core, to this state.
func (k *core) resume(r *rest) error {
	k.called(r.Names)
	k.now, k.next = r.Now, r.Next
	for i := range r.Hosts {
		k.hosts = append(k.hosts, r.Hosts[i].host(r.Now))
	}
	for i, h := range k.hosts {
		err := k.broker.Join(k.now, h.machine, k.calls.bank.Account(h.Owner))
		if err == nil && h.gone {
			err = k.broker.Gone(k.now, hosts.ID(i))
		}
		if err == nil && (h.closed || h.drained) {
			err = k.broker.Shut(k.now, hosts.ID(i), true)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// These constants determine when the market writes a checkpoint: after this number of records,
// or after this number of seconds if there is at least one new record. Repeating this many
// records takes one or two seconds.
const (
	perRecords = 5000
	perSeconds = 60
)

// A base is a checkpoint from which checks of the log can start. It is stored until all
// earlier records of the log have been deleted.
type base struct {
	Seq  int64   `json:"seq"`
	At   float64 `json:"at"`   // instant
	Next int64   `json:"next"` // number of the next contract
}

func (k *core) base(seq int64) base { return base{seq, k.now, k.number<<perMarket + k.next} }

// basesKept is the number of bases stored within the retention time of the log.
const basesKept = 30

// A saved describes the stored checkpoints.
type saved struct {
	before, seq int64   // record numbers of the last two checkpoints, or 0
	read        int64   // record number of the checkpoint from which the market resumed
	at          float64 // time of the last checkpoint
	bases       []base  // bases in the order of their records
}

func (s *saved) base(seq int64) bool {
	for _, b := range s.bases {
		if b.Seq == seq {
			return true
		}
	}
	return false
}

// keep writes a checkpoint at intervals without delaying the loop. A goroutine repeats the
// records since the last checkpoint on its own core and stores the state of that core.
func (m *Market) keep(now float64) error {
	select {
	case w := <-m.writing:
		if err := m.adopt(w); err != nil {
			return err
		}
	default:
	}
	if m.writing != nil || m.log.seq < m.saved.seq+m.every && now < m.saved.at+m.pause {
		return nil
	}
	done, l, was := make(chan written, 1), *m.log, m.saved
	m.writing, m.log.codec = done, codec{} // reading can start at the next record
	go func() {
		w, err := m.repeat(&l, was)
		w.err = err
		done <- w
	}()
	return nil
}

// A written is the result of writing a checkpoint.
type written struct {
	saved
	pruned bool // whether the records before the first base have been deleted
	err    error
}

// repeat advances a new core from the last checkpoint of l to its last record, compares each
// result with the log, and writes a checkpoint. It writes no checkpoint if the market stops in
// the meantime.
func (m *Market) repeat(l *log, was saved) (w written, err error) {
	w.saved = was
	k, err := m.apart()
	if err != nil {
		return w, err
	}
	from, err := l.recall(k, m.apart, 0)
	if err != nil {
		return w, err
	}
	whole := *l
	whole.seq++ // the step of the last record is complete, even if the log has no outcome for it
	for t := range whole.retold(k, from+1, &err) {
		if t.err != nil || t.seq == l.seq || m.ctx.Err() != nil {
			err = t.err
			break
		}
	}
	if err != nil || m.ctx.Err() != nil {
		return w, err
	}
	return m.store(l, k, was)
}

// apart returns the market's initial core, without access to its bank.
func (m *Market) apart() (*core, error) {
	as := made{Ledger: m.world.Ledger, Number: m.world.Number}
	return as.core(&m.conf)
}

// finish waits until the checkpoint in progress, if there is one, has been written.
func (m *Market) finish() error {
	if m.writing == nil {
		return nil
	}
	return m.adopt(<-m.writing)
}

// adopt updates the market after a checkpoint has been written.
func (m *Market) adopt(w written) error {
	m.writing, m.saved = nil, w.saved
	if w.err != nil || !w.pruned {
		return w.err
	}
	oldest := w.bases[0]
	m.log.first = oldest.Seq
	err := m.pruned()
	done := make(chan error, 1)
	m.pruned = func() error { return <-done }
	go func() { done <- m.log.prune(m.ctx, oldest) }()
	return err
}

// save writes a checkpoint immediately.
func (m *Market) save() error {
	if err := m.finish(); err != nil {
		return err
	}
	w, err := m.store(m.log, m.core, m.saved)
	m.log.codec = codec{} // reading can start at this record
	w.err = err
	return m.adopt(w)
}

// store writes the state of k, which includes the last record of l, as a checkpoint. It
// retains the previous checkpoint.
func (m *Market) store(l *log, k *core, was saved) (w written, err error) {
	w.saved = was
	like, err := m.apart()
	if err != nil {
		return w, err
	}
	seq, now := l.seq, k.now
	values, err := k.stored(seq, like)
	if err != nil {
		return w, err
	}
	b := l.db.NewBatch()
	defer b.Close()
	for key, text := range values {
		err = errors.Join(err, b.Set([]byte(key), text, nil))
	}
	if old := was.before; old > 0 && old != was.seq && !was.base(old) {
		err = errors.Join(err, b.Delete(key(checkpointTable, old), nil), b.Delete(key(restTable, old), nil))
	}
	bases, keep := was.bases, m.conf.Keep*86400
	if keep > 0 && (len(bases) == 0 || now >= bases[len(bases)-1].At+keep/basesKept) {
		bases = append(bases, k.base(seq))
		text, e := json.Marshal(bases[len(bases)-1])
		err = errors.Join(err, e, b.Set(key(baseTable, seq), text, nil))
		for len(bases) > 1 && bases[1].At <= now-keep {
			bases = bases[1:]
		}
	}
	if w.pruned = keep > 0 && len(bases) > 0 && bases[0].Seq > l.first && bases[0].At <= now-keep; w.pruned {
		for _, table := range []byte{recordTable, outcomeTable, begunTable, begunAgainTable, checkpointTable, restTable, baseTable} {
			err = errors.Join(err, b.DeleteRange(key(table, 0), key(table, bases[0].Seq), nil))
		}
	}
	if err = errors.Join(err, b.Commit(pebble.Sync)); err != nil {
		return w, err
	}
	w.before, w.seq, w.at, w.bases = was.seq, seq, now, bases
	return w, nil
}

// load restores the core from the last readable checkpoint. It returns the number of the last
// record in the checkpoint, or 0 if there is no checkpoint.
func (m *Market) load() (seq int64, err error) {
	for _, text := range m.log.each(baseTable, 0, &err) {
		var b base
		if err := json.Unmarshal(text, &b); err != nil {
			return 0, err
		}
		m.saved.bases = append(m.saved.bases, b)
	}
	for n := range m.log.back(checkpointTable, &err) {
		if m.saved.seq == 0 {
			m.saved.seq = n
		} else if m.saved.before == 0 {
			m.saved.before = n
		}
	}
	if err != nil {
		return 0, err
	}
	if seq, err = m.log.recall(m.core, m.fresh, 0); err == nil {
		m.saved.at, m.saved.read = m.core.now, seq
	}
	return seq, err
}

// recall restores k, which must be a new core, from a readable checkpoint. It returns the
// number of the last record in the checkpoint. If from is 0, recall uses the last checkpoint.
// Otherwise it uses the first checkpoint at or after record from. The function fresh returns a
// new core. If there is no checkpoint and no record is missing, recall returns 0.
func (l *log) recall(k *core, fresh func() (*core, error), from int64) (seq int64, err error) {
	all := l.back
	if from > 0 {
		all = func(table byte, err *error) iter.Seq2[int64, []byte] { return l.each(table, from, err) }
	}
	var other error
	for n, text := range all(checkpointTable, &err) {
		like, err := fresh()
		if err != nil {
			return 0, err
		}
		c, err := memo.Decode(text, like.checkpoint())
		if other = err; errors.Is(err, memo.ErrOther) {
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("checkpoint of record %d: %w", n, err)
		}
		k.recall(c)
		if was, is := sourceOf(k.broker.Policy), sourceOf(like.broker.Policy); was != is {
			return 0, fmt.Errorf("admission: the script has changed since the checkpoint of record %d, from sha256 %s to %s; restore it, and change it only while the market is stopped and has no open contract", n, was, is)
		}
		return n, nil
	}
	if err != nil {
		return 0, err
	}
	for n, text := range all(restTable, &err) {
		var r rest
		if json.Unmarshal(text, &r) != nil {
			continue // an earlier version wrote it in another format
		}
		return n, k.resume(&r)
	}
	if err != nil || from == 0 && l.first <= 1 {
		return 0, err
	}
	return 0, errors.Join(err, fmt.Errorf("records before %d were deleted or belong to another version, and the later checkpoints have %w; start the version that wrote them, and stop it while no contract is open", max(from, l.first), other))
}
