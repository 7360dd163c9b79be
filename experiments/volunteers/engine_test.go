package volunteers

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/admission/queue"
	"bourse/contracts/broker"
	"bourse/contracts/floor"
	"bourse/contracts/sharing"
	"bourse/experiments/des"
	"bourse/hosts"
	"bourse/hosts/availability"
	"bourse/hosts/availability/sched"
	"bourse/hosts/sim"
)

// engine does the same as Replay, but with the whole market: the policy queue, a broker,
// machines and a bank.
func engine(ctx context.Context, c Config) (*Outcome, error) {
	ledger := bank.New(nil)
	user, err := ledger.Account("user")
	if err != nil {
		return nil, err
	}
	provider, err := ledger.Account("provider")
	if err != nil {
		return nil, err
	}
	if err := ledger.Mint(0, user, bank.Micros(int64(len(c.Jobs)+1))); err != nil {
		return nil, err
	}
	var fleet []hosts.Machine
	var owners []bank.Account
	churn := &floor.Availability{Histories: c.Trace.Hosts}
	for i, h := range c.Trace.Hosts {
		spec := hosts.Spec{Name: fmt.Sprint(i), CPUs: 1, Speed: 1}
		if c.Speeds {
			spec.Speed = h.MIPS
		}
		owner, err := ledger.Account("host:" + spec.Name)
		if err != nil {
			return nil, err
		}
		fleet, owners = append(fleet, sim.New(spec)), append(owners, owner)
	}
	nothing := func(any) error { return nil }
	rng := rand.New(rand.NewPCG(0, 0))
	policy, err := queue.New(queue.Options{From: c.From, Interval: c.Interval, QueueOptions: c.Queue}, c.Matchmaker)
	if err != nil {
		return nil, err
	}
	share := "exclusive"
	if c.InTurn {
		share = "turns"
	}
	rule, err := sharing.Table().New(share, nothing)
	if err != nil {
		return nil, err
	}
	payment, err := broker.Payments().New("budget", nil)
	if err != nil {
		return nil, err
	}
	out := new(Outcome)
	log := &logger{Policy: policy, out: out, on: make(map[contracts.ID]hosts.ID)}
	b := broker.New(broker.Config{
		Fleet: fleet, Owners: owners, Provider: provider, Policy: log, Sharing: rule, Payment: payment,
		Window: 300, Teller: ledger, Ties: rng, Availability: churn,
	})
	horizon := math.Nextafter(c.To, 0)
	submit := &submissions{c: &c, b: b, owner: user, out: out}
	if err := des.Run(ctx, new(des.Virtual), horizon, b, submit, b.Late(nil)); err != nil {
		return nil, err
	}
	log.settle()
	told := len(out.Log)
	if err := b.Close(c.To); err != nil {
		return nil, err
	}
	out.Log = out.Log[:told]
	for _, k := range b.Ended() {
		out.Failed += k.Losses
		out.Wasted += k.Wasted
		switch {
		case k.Outcome == contracts.Unfinished && k.From == contracts.Waiting:
			out.Queued++
		case k.Outcome == contracts.Unfinished:
			out.Running++
			out.Unfinished += k.Done
		case k.Outcome == contracts.Fulfilled:
			out.Done++
			out.Useful += k.Work
			out.Makespans += k.Ended - k.Submit
		}
		if want := (k.Outcome == contracts.Fulfilled); want != (k.Paid.Sign() > 0) {
			return nil, fmt.Errorf("contract %d: %v, paid %v", k.ID, k.Outcome, k.Paid)
		}
	}
	out.Queued += b.Waiting()
	if balance := ledger.Balance(user); balance.Micros() != int64(len(c.Jobs)+1-out.Done) {
		return nil, fmt.Errorf("%d jobs are done, and %v is left of a micro-dollar each", out.Done, balance)
	}
	return out, nil
}

// TestEngineIsReplay checks that the market, with contracts, machines and a bank, makes
// exactly the same attempts as a replay, at the same times on the same hosts, for every
// model, matchmaker and option of the queue.
func TestEngineIsReplay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := Config{
			Trace: drawTrace(t), From: availability.Day, To: 3*availability.Day - float64(rapid.IntRange(90_000, 150_000).Draw(t, "early")),
			Interval: float64(rapid.SampledFrom([]int{30, 60, 77}).Draw(t, "interval")),
			Queue: sched.QueueOptions{
				Hold: 300, Mode: rapid.SampledFrom([]string{"skip", "block"}).Draw(t, "mode"),
				Resubmit: rapid.SampledFrom([]string{"tail", "head", "drop"}).Draw(t, "resubmit"),
			},
			InTurn: rapid.Bool().Draw(t, "in turn"), Log: true,
		}
		stream := week()
		stream.To, stream.Every = c.To, float64(rapid.IntRange(60, 600).Draw(t, "every"))
		var err error
		if c.Jobs, err = stream.Jobs(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "jobs"), 1))); err != nil {
			t.Fatal(err)
		}
		name := rapid.SampledFrom(sched.Table(nil).Names()).Draw(t, "matchmaker")
		pps := sched.DefaultPPS()
		pps.Load = rapid.SampledFrom([]string{"local", "local+grid", "binary"}).Draw(t, "load")
		pps.Tie = rapid.SampledFrom([]string{"index", "fewest", "rotate"}).Draw(t, "tie")
		decode := func(v any) error {
			if o, ok := v.(*sched.PPSOptions); ok {
				*o = pps
			}
			return nil
		}
		both := [2]*Outcome{}
		for i, run := range []func(context.Context, Config) (*Outcome, error){Replay, engine} {
			if c.Matchmaker, err = sched.Table(rand.New(rand.NewPCG(7, 7))).New(name, decode); err != nil {
				t.Fatal(err)
			}
			if both[i], err = run(context.Background(), c); err != nil {
				t.Fatal(err)
			}
		}
		want, got := both[0], both[1]
		tie(want.Log)
		tie(got.Log)
		for i := range max(len(want.Log), len(got.Log)) {
			if i >= len(want.Log) || i >= len(got.Log) {
				t.Fatalf("%d events, want %d", len(got.Log), len(want.Log))
			}
			g, w := got.Log[i], want.Log[i]
			if near := math.Abs(g.At-w.At) < 1e-4; !near || g.Kind != w.Kind || g.Job != w.Job || g.Host != w.Host {
				if w.Kind == Done && overtaken(got.Log[i:], w) {
					return
				}
				t.Fatalf("event %d is %v, want %v", i, g, w)
			}
		}
		if got.Done != want.Done || got.Failed != want.Failed || got.Queued != want.Queued || got.Running != want.Running {
			t.Fatalf("%+v, want %+v", got, want)
		}
		for _, x := range [][2]float64{{got.Useful, want.Useful}, {got.Wasted, want.Wasted}, {got.Makespans, want.Makespans}, {got.Unfinished, want.Unfinished}} {
			if !(math.Abs(x[0]-x[1]) <= 1e-3) {
				t.Fatalf("%+v, want %+v", got, want)
			}
		}
	})
}

// tie orders jobs that end at the same time, except for rounding, by host and number. Which
// of them is earlier by one unit in the last place has no meaning.
func tie(log []Event) {
	for i := 0; i < len(log); {
		j := i + 1
		for j < len(log) && log[i].Kind == Done && log[j].Kind == Done && log[j].At <= log[i].At+whole {
			j++
		}
		slices.SortFunc(log[i:j], func(a, b Event) int { return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Job, b.Job)) })
		i = j
	}
}

// overtaken reports whether log has ended as well, except for rounding, after the queue was
// processed at the same time. Thirds of a host add up to whole seconds in a replay but only
// nearly in the market, which then decides differently.
func overtaken(log []Event, done Event) bool {
	for _, e := range log {
		if e.At > done.At+whole {
			break
		}
		if e.Kind == Done && e.Job == done.Job && e.Host == done.Host {
			return e.At > done.At
		}
	}
	return false
}

// A logger is a policy that records the events of its jobs.
type logger struct {
	contracts.Policy
	out  *Outcome
	last []Event                   // events at the latest time
	on   map[contracts.ID]hosts.ID // hosts of the running jobs
}

// settle orders the jobs that ended at the same time by host, like a replay.
func (l *logger) settle() {
	slices.SortStableFunc(l.last, func(a, b Event) int { return cmp.Compare(a.Host, b.Host) })
	l.out.Log = append(l.out.Log, l.last...)
	l.last = l.last[:0]
}

// off records that a job has left its host, if it is on one.
func (l *logger) off(now float64, kind Kind, id contracts.ID) {
	h, runs := l.on[id]
	if !runs {
		return
	}
	delete(l.on, id)
	if n := len(l.last); n > 0 && l.last[n-1].At != now {
		l.settle()
	}
	l.last = append(l.last, Event{kind, now, int32(id), int32(h)})
}

func (l *logger) Handle(now float64, e contracts.Event, m contracts.Market) []contracts.Action {
	switch e.Kind {
	case contracts.Lost:
		l.off(now, Fail, m.Request(e.Contract).ID)
	case contracts.Over:
		l.off(now, Done, m.Request(e.Contract).ID)
	case contracts.Tick:
		l.settle()
	}
	out := l.Policy.Handle(now, e, m)
	if e.Kind == contracts.Tick {
		for _, a := range out {
			id, h := m.Request(a.Contract).ID, a.Decision.Placements[0].Host
			l.out.Log = append(l.out.Log, Event{Alloc, now, int32(id), int32(h)})
			l.on[id] = h
		}
		l.out.Placed += len(out)
	}
	return out
}

// A submissions is an event source that submits the jobs to the broker.
type submissions struct {
	c     *Config
	b     *broker.Broker
	owner bank.Account
	out   *Outcome
}

func (s *submissions) Next() float64 {
	if s.out.Submitted == len(s.c.Jobs) {
		return math.Inf(1)
	}
	return s.c.Jobs[s.out.Submitted].Submit
}

func (s *submissions) Advance(now float64) error {
	for ; s.Next() <= now; s.out.Submitted++ {
		j := s.c.Jobs[s.out.Submitted]
		r := contracts.Request{
			ID: contracts.ID(s.out.Submitted), Owner: s.owner, Submit: j.Submit, Work: j.Length, Nodes: 1, PerHost: true,
			SLA: contracts.SLA{Budget: bank.Micros(1), Deadline: 1e9},
		}
		if _, err := s.b.Submit(now, &r, hosts.Task{Work: j.Length}); err != nil {
			return err
		}
	}
	return nil
}
