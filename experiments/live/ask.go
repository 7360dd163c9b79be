package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"bourse/bank"
	bankorder "bourse/bank/order"
	"bourse/contracts"
	"bourse/contracts/order"
	"bourse/hosts"
	"bourse/hosts/remote"
)

// The reasons for which the market rejects a request without booking an entry.
var (
	ErrBusy   = errors.New("the market is overloaded: send the order again")
	ErrAway   = errors.New("the bank does not respond; nothing was booked")
	ErrOrder  = errors.New("the order is for another market")
	ErrSigned = errors.New("the order is not signed with its account's key")

	// ErrPending means that the market has received the request but the bank does not respond.
	// The client should send the same order again.
	ErrPending = errors.New("the bank does not respond; send the same order again: the bank books it only once")
)

const (
	lasting = 60  // maximum validity of an order to read, in seconds; the bank uses the same limit
	slack   = 300 // time in seconds after its expiry for which an order, except an order to read, is still accepted; the bank uses the same limit
	patient = 2 * time.Second
)

// check parses a signed order and verifies that it has the given kind and is addressed to this
// market.
func (m *Market) check(ctx context.Context, text []byte, kind string) (*bankorder.Signed, error) {
	s, err := bankorder.Open(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrOrder, err)
	}
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%w: found "+format, append([]any{ErrOrder}, args...)...)
	}
	switch {
	case s.Kind != kind:
		return nil, wrong("kind %s, want %s", s.Kind, kind)
	case len(s.Rest) > 0:
		return nil, wrong("%.40q behind the signature", s.Rest)
	case s.Value("ledger") != m.world.Ledger:
		return nil, wrong("ledger %s, want %s", s.Value("ledger"), m.world.Ledger)
	case s.Value("market") != m.conf.Name:
		return nil, wrong("market %s, want %s", s.Value("market"), m.conf.Name)
	case s.Expires()+slack < m.world.Clock.Now(), kind == "read" && s.Expires() < m.world.Clock.Now():
		return nil, wrong("an order that expired at %s, want one that is valid at %s, the time of the market's clock", s.Value("expires"), bank.Instant(m.world.Clock.Now()))
	case kind == "read" && s.Expires() > m.world.Clock.Now()+lasting:
		return nil, wrong("a read request that is valid until %s, want one that is valid for at most %d s; the market's clock shows %s", s.Value("expires"), lasting, bank.Instant(m.world.Clock.Now()))
	}
	key, err := m.world.KeyOf(ctx, s.Value("account"))
	if err != nil {
		return nil, err
	}
	if key == "" {
		return nil, fmt.Errorf("%w: %s has no key at the bank, because the key was revoked or never enrolled", ErrSigned, s.Value("account"))
	}
	if !s.By(key) || s.Signatures() != 1 {
		return nil, fmt.Errorf("%w: %s", ErrSigned, s.Value("account"))
	}
	return s, nil
}

// Submit requests a contract. Its arguments are a signed order and the text of the job. The
// order contains the hash of that text. The market decides each order only once, so the same
// order always gets the same answer.
func (m *Market) Submit(ctx context.Context, signed, job []byte) (*Answer, error) {
	s, err := m.check(ctx, signed, "order")
	if err != nil {
		return nil, err
	}
	terms, err := order.Parse(s.Order)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrOrder, err)
	}
	if order.Sum(job) != terms.Job {
		return nil, fmt.Errorf("%w: found a file with the hash %s, want %s", ErrOrder, order.Sum(job), terms.Job)
	}
	j, err := order.ParseJob(job)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrOrder, err)
	} else if _, is := j.Files[remote.HostsFile]; is && terms.Nodes > 1 {
		return nil, fmt.Errorf("%w: found a file %s, but the market writes this file for a contract of several nodes; want a different file name", ErrOrder, remote.HostsFile)
	} else if j.GPUs > 0 {
		return nil, fmt.Errorf("%w: found %d GPUs in the job, want also count gpu %[2]d in the order", ErrOrder, j.GPUs)
	}
	if err := m.trusted(s.Value("account")); err != nil {
		return nil, err
	}
	r, err := m.ask(ctx, message{Submit: m.conf.submission(string(signed), string(job), terms, j.Limits)})
	if err != nil {
		return nil, err
	}
	a := *r.answer
	if a.Verdict == contracts.Reject.String() && a.Why == "" && len(a.Decision) > 0 { // a policy has decided
		ctx, cancel := context.WithTimeout(ctx, patient) // limit the time, because a quote takes as long as fifty decisions and other callers also need quotes
		defer cancel()
		if least, _, ok, err := m.Quote(ctx, *terms); ok && err == nil {
			// Omit the quote if the account cannot afford it.
			if has, err := m.world.Bank.Balance(ctx, s.Payer()); err != nil || has.Cmp(least) >= 0 {
				a.Least = least.String()
			}
		}
	}
	return &a, nil
}

// trusted returns an error unless every host that is present runs jobs of the account.
func (m *Market) trusted(account string) error {
	s := &m.seen
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, p := range s.hosts {
		if o := &p.told.Offer; p.here && !o.Apart && len(o.Trust) > 0 && !slices.Contains(o.Trust, account) {
			return fmt.Errorf("%w: host %s does not isolate users and runs only jobs of %v", ErrOrder, name, o.Trust)
		}
	}
	return nil
}

// Cancel cancels a contract with a signed order of its owner. The contract pays the charges
// accrued so far.
func (m *Market) Cancel(ctx context.Context, signed []byte) (*Answer, error) {
	s, err := m.check(ctx, signed, "cancel")
	if err != nil {
		return nil, err
	}
	if _, err := order.Contract(s.Order); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrOrder, err)
	}
	r, err := m.ask(ctx, message{Cancel: string(signed)})
	if err != nil {
		return nil, err
	}
	return r.answer, nil
}

// ErrPayee means that the bank does not allow payments from this market to the account.
var ErrPayee = errors.New("is not a payee of the market")

// MayOwn checks whether an account may own hosts. If the account may not own hosts, it could
// not be paid for them, and the error wraps [ErrPayee].
func (m *Market) MayOwn(ctx context.Context, account string) error {
	if m.world.Payee == nil {
		return nil
	}
	is, err := m.world.Payee(ctx, account)
	if err != nil {
		return fmt.Errorf("owner %s: %w", account, err)
	}
	if !is {
		return fmt.Errorf("owner %s %w: the bank must grant that right with 'bourse bank right BANK %s payee --market %s --key OPERATOR'",
			account, ErrPayee, account, m.conf.Name)
	}
	return nil
}

// Join registers a host whose charges are paid to an account. The account must be a payee of
// this market. The argument pin is the pin of the host's certificate, or empty if the host has
// no certificate. A known host receives the same answer even if its owner is no longer a
// payee. The charges of its tasks are then settled later.
func (m *Market) Join(ctx context.Context, spec hosts.Spec, owner, pin string) error {
	m.mu.RLock()
	known, _ := m.core.host(spec.Name)
	owned := known != nil && known.Owner == owner
	m.mu.RUnlock()
	if !owned {
		if err := m.MayOwn(ctx, owner); err != nil {
			return err
		}
	}
	_, err := m.ask(ctx, message{Join: &join{spec, owner, pin}})
	return err
}

// Drain makes a host stop accepting tasks. When the host's tasks have ended, its agent leaves
// and the market removes the host. If drain is false, the host accepts tasks again.
func (m *Market) Drain(ctx context.Context, host string, drain bool) error {
	_, err := m.ask(ctx, message{Shut: &shutting{Host: host, Shut: drain, Operator: true}})
	return err
}

// Remove removes a host permanently. Its tasks are treated as if the host had been lost.
func (m *Market) Remove(ctx context.Context, host string) error {
	_, err := m.ask(ctx, message{Remove: host})
	return err
}

// ask sends a message to the loop and waits for the result.
func (m *Market) ask(ctx context.Context, one message) (*result, error) {
	l, err := m.mail.put(one)
	if err != nil {
		return nil, err
	}
	again := time.NewTicker(patient)
	defer again.Stop()
	for {
		select {
		case <-l.done:
			return &l.result, l.err
		case <-again.C:
			if !m.core.calls.bank.Away() {
				continue
			}
			if m.mail.back(l) {
				return nil, ErrAway
			}
			return nil, ErrPending
		case <-ctx.Done():
			if m.mail.back(l) {
				return nil, ctx.Err()
			}
			return nil, fmt.Errorf("%w: %w", ErrPending, ctx.Err())
		}
	}
}

// Status returns the current state of a contract. The argument can also be the contract's
// number within the market.
func (m *Market) Status(id int64) (*Contract, error) {
	id = whole(m.world.Number, id)
	m.mu.RLock()
	c := m.core.open[id]
	if c != nil {
		copied := *c
		copied.look(m.core)
		m.mu.RUnlock()
		m.seen.deletions(&copied)
		return &copied, nil
	}
	m.mu.RUnlock()
	out := new(Contract)
	there, err := m.log.get(key(contractTable, id), out)
	if err == nil && !there {
		err = fmt.Errorf("%w: %d", ErrNotFound, id)
	}
	m.seen.deletions(out)
	return out, err
}

// deletions records which output of c the hosts have deleted.
func (s *seen) deletions(c *Contract) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.Deleted = nil
	for _, t := range c.Tasks {
		p := s.hosts[t.Host]
		if p == nil {
			continue
		}
		for _, d := range p.told.Deleted {
			if d.Name == t.Name {
				c.Deleted = append(c.Deleted, Deletion{t.Node, t.Host, d.Bytes, d.Why})
			}
		}
	}
}

// ErrNotFound means that no contract has the given number.
var ErrNotFound = errors.New("no such contract")

// A Filter selects the contracts to list.
type Filter struct {
	Account string // empty means all accounts
	Ended   bool   // whether to include contracts that have ended
	From    int64  // number of the first contract
	Last    int    // maximum number of contracts to return, the newest first; 0 means all. Older contracts are not searched
	Most    int    // maximum number of contracts to return; 0 means all
}

// List returns the selected contracts in order of their numbers.
func (m *Market) List(f Filter) (out []Contract, err error) {
	m.mu.RLock()
	k := m.core
	from := f.From
	if f.Last > 0 {
		from = max(from, k.number<<perMarket+k.next-int64(f.Last))
	}
	take := func(c *Contract) bool {
		return (f.Account == "" || c.Account == f.Account || c.payer() == f.Account) && c.ID >= from
	}
	for _, id := range slices.Sorted(maps.Keys(k.open)) {
		if c := k.open[id]; take(c) && (f.Most == 0 || len(out) < f.Most) {
			copied := *c
			copied.look(k)
			out = append(out, copied)
		}
	}
	m.mu.RUnlock()
	if f.Ended {
		for _, text := range m.log.each(contractTable, from, &err) {
			var c Contract
			if err := json.Unmarshal(text, &c); err != nil {
				return nil, err
			}
			if take(&c) {
				if out = append(out, c); f.Most > 0 && len(out) >= 2*f.Most {
					break // enough contracts have been found
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b Contract) int { return int(a.ID - b.ID) })
	out = slices.CompactFunc(out, func(a, b Contract) bool { return a.ID == b.ID }) // a contract may have ended in the meantime
	if f.Most > 0 && len(out) > f.Most {
		out = out[:f.Most]
	}
	return out, err
}

// A Host is the current state of a host.
type Host struct {
	Name      string     `json:"host"`
	State     string     `json:"state" doc:"state of the host: here, closed, draining, away or removed"`
	Kind      string     `json:"kind,omitempty" doc:"mechanism that enforces the shares of the host's processors"`
	Owner     string     `json:"owner" doc:"account that receives the charges for the host"`
	CPUs      float64    `json:"cpus"`
	Price     float64    `json:"price" doc:"$/s"`
	Used      float64    `json:"used" doc:"deprecated name of entitled"`
	Entitled  float64    `json:"entitled" doc:"number of processors to which the host's tasks are entitled"`
	Asked     float64    `json:"asked" doc:"number of processors that the host's tasks recently used, or waited for although entitled to them"`
	Delivered float64    `json:"delivered" doc:"number of processors that the host's tasks recently used, as measured by the kernel"`
	Off       float64    `json:"share_error" doc:"largest fraction of an entitlement that a task waited for but did not receive, from 0 to 1"`
	Load      float64    `json:"load"`
	Heard     float64    `json:"heard" doc:"time of the last message from the host"`
	Why       string     `json:"why,omitempty" doc:"reason why the host is closed"`
	Stored    int64      `json:"stored" doc:"size of the output of ended tasks that the host stores, in bytes"`
	Resources []Resource `json:"resources,omitempty" doc:"resources other than processors that the host's tasks hold"`
	Cut       int        `json:"cut,omitempty" doc:"number of usage reports that exceeded the possible maximum"`
	Contracts []HostTask `json:"contracts"`
}

// A HostTask is a node of a contract that runs on a host.
type HostTask struct {
	Contract int64   `json:"contract"`
	Account  string  `json:"account"`
	Node     int32   `json:"node"`
	Bid      float64 `json:"bid" doc:"$/s"`
	Share    float64 `json:"share"`

	Entitled  float64 `json:"entitled" doc:"processors"`
	Asked     float64 `json:"asked" doc:"number of processors that the task recently used, or waited for although entitled to them"`
	Delivered float64 `json:"delivered" doc:"number of processors that the task recently used, as measured by the kernel"`
}

// Hosts returns the hosts in the order in which they joined.
func (m *Market) Hosts() []Host {
	m.mu.RLock()
	defer m.mu.RUnlock()
	k, now := m.core, m.world.Clock.Now()
	v := k.broker.View()
	out := []Host{}
	m.seen.mu.Lock()
	defer m.seen.mu.Unlock()
	for i, h := range k.hosts {
		p := m.seen.hosts[h.Spec.Name]
		one := Host{
			Name: h.Spec.Name, State: "here", Kind: p.told.Offer.Kind, Owner: h.Owner, CPUs: h.Spec.CPUs, Price: v.Price(hosts.ID(i)).Float64(),
			Load: p.told.Load, Heard: p.heard, Why: p.told.Closed, Stored: p.told.Stored, Cut: h.machine.Cut(), Off: p.delivered.off(), Contracts: []HostTask{},
			Resources: k.resources(i),
		}
		switch {
		case h.removed:
			one.State = "removed"
		case h.gone:
			one.State = "away"
		case h.drained:
			one.State = "draining"
		case h.closed:
			one.State = "closed"
		}
		for _, a := range v.On(hosts.ID(i)) {
			t := HostTask{Contract: int64(v.Contract(a.Contract).ID), Node: a.Node, Bid: a.Bid.Float64(), Share: a.Rate / h.Spec.Capacity()}
			if c := k.open[t.Contract]; c != nil {
				t.Account = c.Account
			}
			t.Entitled = a.Rate / h.Spec.Speed
			if at := slices.IndexFunc(h.orders.Wanted, func(w remote.Wanted) bool { return w.Contract == t.Contract && w.Node == t.Node }); at >= 0 {
				t.Asked, t.Delivered = p.lately(h.orders.Wanted[at].Name, t.Entitled, now)
			}
			one.Entitled, one.Asked, one.Delivered = one.Entitled+t.Entitled, one.Asked+t.Asked, one.Delivered+t.Delivered
			one.Used = one.Entitled
			one.Contracts = append(one.Contracts, t)
		}
		out = append(out, one)
	}
	return out
}
