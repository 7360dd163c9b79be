package live

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"bourse/bank"
	bankorder "bourse/bank/order"
	"bourse/bank/owners/ownerstest"
	"bourse/contracts/order"
	"bourse/hosts"
	"bourse/hosts/remote"
)

var (
	conversations     = flag.Int("conversations", 4, "random conversations of TestConversations")
	firstConversation = flag.Uint64("conversations.first", 0, "seed of the first conversation of TestConversations")
)

// TestConversations sends random signed orders to markets: arrays, dependencies, projects,
// checkpoints, further attempts, memory and units that no host has, budgets of a micro-dollar,
// changed budgets, repeated ids with another text, and cancellations of contracts of other
// accounts. Hosts are lost and return. A market that is killed during the test must end in the
// same state as one that is not killed. A replay of the log must give the same decisions, and
// an audit of the ledger must have no findings. Each contract must end, the money must add up,
// and afterwards the market must serve all accounts as before.
func TestConversations(t *testing.T) {
	t.Parallel()
	for seed := range uint64(*conversations) {
		seed += *firstConversation
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			want, got := converse(t, seed, 0), converse(t, seed, 1+seed%13)
			if !t.Failed() && got != nil && want != nil && !reflect.DeepEqual(got, want) {
				t.Errorf("%d lines, want %d: %s", len(got), len(want), firstDifference(got, want))
			}
		})
	}
}

// A talker sends random orders to a market.
type talker struct {
	*town
	*rand.Rand
	n    int // number of messages
	sent []message
	ids  []int64

	projects, unkept bool // unkept: whether the bank refused an order, whose answer is not stored
}

// one returns a random element of all.
func one[T any](r *rand.Rand, all ...T) T { return all[r.IntN(len(all))] }

// rules returns random rules of a market.
func (r talker) rules() string {
	return strings.Join([]string{
		"name: lab",
		one(r.Rand, "admission: {name: class, default: be}", "admission: {name: class, default: cac}", "admission: be", "admission: cac"),
		"market: {bidding: " + one(r.Rand, "cheapest", "best-response") + ", payment: " + one(r.Rand, "spot", "usage", "bid", "scarce") + one(r.Rand, "", ", resources: [memory]", ", resources: [memory, gpu]", ", resources: [gpu]", ", resources: [disk, memory, bandwidth]") + "}",
		one(r.Rand, "", "floor_per_hour: {cpu: 0.9}", "floor_per_hour: {cpu: 0.04, gpu: 1.2}", "floor_per_hour: {memory: 0.005}"),
		"leaving: {rule: " + one(r.Rand, "resubmit", "lost", "suspend") + ", lost_work: " + one(r.Rand, "free", "charged") + "}",
		one(r.Rand, "", "promises: {cac: {penalty: 1, most: 1}, be: {penalty: 0.5, most: 0.2}}"),
		one(r.Rand, "", "quotas: [{who: 'user:1', running: 1}, {who: 'user:*', running: 4, cpus: 5, memory: 4e9, gpu: 2, submitted: 12}, {who: 'project:*', cpus: 2}]"),
		"limits: {checkpoint: 1000}",
	}, "\n")
}

// converse runs the conversation with the given seed. The market is killed at every n-th occasion;
// 0 means never. It returns the entries of the ledger and the contracts.
func converse(t *testing.T, seed, n uint64) []string {
	r := &talker{Rand: rand.New(rand.NewPCG(seed, 55))}
	file := r.rules()
	r.projects = seed%3 == 0
	if _, err := Parse("lab.yaml", []byte(file)); err != nil {
		t.Skip(err) // the market has a floor price for a resource without a price
	}
	r.town = newTown(t, file, 2)
	for i := range 2 {
		spec := hosts.Spec{Name: fmt.Sprint("big", i), CPUs: float64(2 + i*2), Speed: 1}
		if strings.Contains(file, "memory") {
			spec.Room.Memory = 3e9
		}
		if strings.Contains(file, "disk") {
			spec.Room.Disk, spec.Room.Bandwidth = 5e9, 1e8
		}
		if r.conf.counts() != nil {
			spec.Room.Counts[0] = int32(2 - i)
		}
		r.provide(spec)
	}
	must(r.bank.Do(t.Context(), ownerstest.Transfer("fund", "user:2", "project:film", 400_000)))
	must(r.bank.Do(t.Context(), ownerstest.Transfer("market", "user:2", "market:lab", 300_000)))
	must(r.bank.Do(t.Context(), ownerstest.Says("operator", "right", "spend", "operator", "of", "project:film", "right", "spend", "for", "user:0", "most", "0.200000", "refunds", "credited")))
	for _, a := range r.agents {
		a.Exits = func(contract int64) float64 { return float64(contract % 23) }
		a.Retries = func(contract int64, try int32) bool { return (contract+int64(try))%5 == 0 }
		a.Fails = func(contract int64) bool { return contract%7 == 3 }
		a.Serves = func(contract int64) (uses, waits float64) {
			switch contract % 6 {
			case 0:
				return 0, 0
			case 1:
				return 0.3, 0.7
			}
			return 1, 0
		}
	}
	if n > 0 {
		r.every = int64(3 + seed%5)
		r.market.every = r.every
		count := uint64(0)
		r.kill = func(string) bool {
			count++
			return count%(29+n) == 0
		}
	}
	for range 120 {
		var all []message
		for range 1 + r.IntN(4) {
			if m, ok := r.message(); ok {
				all = append(all, m)
			}
		}
		for _, x := range r.turn(all...) {
			r.unkept = r.unkept || x.answer != nil && x.answer.Why != ""
			if x.answer != nil && x.answer.Contract != 0 && !slices.Contains(r.ids, x.answer.Contract) {
				r.ids = append(r.ids, x.answer.Contract)
			}
		}
		if r.IntN(3) == 0 {
			r.pass(1 + r.IntN(9))
		}
	}
	for _, name := range r.names {
		r.turn(message{Came: name})
	}
	for range 60 {
		if len(must(r.market.List(Filter{}))) == 0 {
			break
		}
		for i, k := range must(r.market.List(Filter{})) {
			r.turn(message{Cancel: r.cancel(fmt.Sprint("end", r.n, "-", i), k.Account, k.ID)})
		}
		r.n++
		r.pass(10)
	}
	for _, k := range must(r.market.List(Filter{})) {
		t.Errorf("contract %d is still %s, %s", Short(k.ID), k.State, k.Held)
	}
	for _, k := range must(r.market.List(Filter{Ended: true})) {
		if sum, err := k.Paid.Add(k.Back); k.Settlement != "" && k.Withheld.Sign() == 0 && (err != nil || sum != k.Budget) {
			t.Errorf("contract %d paid %v and got back %v of %v", Short(k.ID), k.Paid, k.Back, k.Budget)
		}
		if k.Settlement != "" && has(must(r.bank.Balance(t.Context(), bank.EscrowName(k.ID)))) {
			t.Errorf("contract %d is settled, and its escrow has money", Short(k.ID))
		}
	}
	for i, a := range r.agents {
		a.Exits, a.Fails, a.Retries, a.Serves = nil, nil, nil, nil
		if a.Running() > 0 {
			t.Errorf("host %s runs %d tasks that nobody pays for", r.names[i], a.Running())
		}
	}
	for range 70 { // enough to remove the conversation from the price histories
		r.now += 10
		r.talk()
	}
	last := r.sign("honest", "user:1", r.now+5000, &order.Terms{Class: "be", Nodes: 1, CPUs: 1, Work: 3, Deadline: 30, Budget: bank.Micros(30_000)}, jobText)
	a := r.turn(message{Submit: &last})[0]
	r.pass(40)
	if k, err := r.market.Status(a.answer.Contract); err != nil || k.State != "fulfilled" {
		t.Errorf("an honest order afterwards: %+v, %s, %v", a.answer, k.State, err)
	}
	r.check(0)
	if n > 0 && r.kills == 0 {
		t.Error("the market was never killed")
	}
	if r.unkept { // after a kill, the repeated order gets a new number
		return nil
	}
	return append(r.entries(), listed(r.market)...)
}

func has(a bank.Amount) bool { return a.Sign() != 0 }

// message returns a random message that passes the checks of the calls, or false.
func (r *talker) message() (m message, ok bool) {
	r.n++
	account, id := fmt.Sprint("user:", r.IntN(3)), fmt.Sprint("m", r.n)
	if r.IntN(9) == 0 {
		id = fmt.Sprint("m", 1+r.IntN(r.n)) // this id may have been used before
	}
	contract := ownerstest.Contract(int64(r.IntN(200)))
	if len(r.ids) > 0 && r.IntN(8) > 0 {
		contract = r.ids[len(r.ids)-1-r.IntN(min(12, len(r.ids)))]
		if k, err := r.market.Status(contract); err == nil && r.IntN(4) > 0 {
			account = k.Account
		}
	}
	signed, kind := "", "order"
	switch x := r.IntN(24); {
	case x < 12:
		s, valid := r.order(id, account)
		if !valid {
			return m, false
		}
		m.Submit, signed = &s, s.Order
	case x < 15:
		m.Cancel, kind = r.cancel(id, account, contract), "cancel"
		signed = m.Cancel
	case x < 18:
		m.Bid, kind = r.bid(id, account, contract, one(r.Rand, 0.000001, 0.001, 0.01, 0.05, 0.3, 0.9, 5)), "bid"
		signed = m.Bid
	case x < 20 && len(r.sent) > 0:
		return one(r.Rand, r.sent...), true
	case x == 20:
		return message{Gone: one(r.Rand, r.names...)}, true
	case x == 21:
		return message{Came: one(r.Rand, r.names...)}, true
	case x == 22:
		return message{Saved: &saving{Host: one(r.Rand, r.names...), Name: int64(r.IntN(40)), Sums: []string{strings.Repeat("a", 64)}, Used: float64(r.IntN(9))}}, true
	default:
		return m, false
	}
	if _, err := r.market.check(r.t.Context(), []byte(signed), kind); err != nil {
		return m, false
	}
	r.sent = append(r.sent, m)
	return m, true
}

// order returns a random order, or false if it has no valid text.
func (r *talker) order(id, account string) (s submission, ok bool) {
	t := &order.Terms{
		Class: one(r.Rand, "be", "sac", "cac", "rac", "", "other"), Nodes: one(r.Rand, 1, 1, 1, 2, 3, 9), CPUs: one(r.Rand, 1, 1, 0.5, 2, 3, 64),
		Work: one(r.Rand, 0.001, 1, 5, 30, 1e7), Deadline: one(r.Rand, 0.5, 5, 30, 100, 1e5), Budget: bank.Micros(one[int64](r.Rand, 1, 500, 10_000, 40_000, 90_000, 1e12)),
		Memory: one[int64](r.Rand, 0, 0, 1e8, 1e9, 2e9, 1<<50), Warn: one(r.Rand, 0.0, 0, 3, 1e4), Checkpoint: one(r.Rand, 0.0, 0, 5), Requeue: one(r.Rand, 0, 0, 1, 3),
	}
	if r.IntN(4) == 0 {
		t.Disk, t.Bandwidth = one[int64](r.Rand, 0, 1e9, 3e9), one[int64](r.Rand, 0, 0, 1e7, 6e7)
	}
	if r.projects {
		t.Project = one(r.Rand, "", "", "", "film", "nobody")
	}
	if r.IntN(4) == 0 {
		t.Counts = map[string]int32{one(r.Rand, "gpu", "gpu", "fpga"): one(r.Rand, int32(1), 2, 3, math.MaxInt32)}
	}
	if r.IntN(4) == 0 {
		t.Array = order.Array{ID: one(r.Rand, "A", "B"), Index: r.IntN(4), Most: r.IntN(3)}
	}
	for on := range t.After {
		if r.IntN(6) == 0 {
			for range 1 + r.IntN(3) {
				t.After[on] = append(t.After[on], int64(1+r.IntN(len(r.ids)+4)))
			}
		}
	}
	job := order.Text(&remote.Job{Command: []string{"true"}, Limits: remote.Limits{Memory: one(r.Rand, int64(0), 0, 5e8)}})
	t.Job = order.Sum(job)
	o, err := t.Order(order.Head{Ledger: ownerstest.Ledger, Market: "lab", ID: id, Account: account, Expires: r.now + one(r.Rand, -400.0, 2, 60, 5000)})
	if err != nil {
		return s, false
	}
	text := must(bankorder.Sign([]byte(o.String()), ownerstest.Private(account)))
	if terms, err := order.Parse(o); err != nil || terms.Job != t.Job {
		return s, false
	}
	return *r.conf.submission(string(text), string(job), t, must(order.ParseJob(job)).Limits), true
}
