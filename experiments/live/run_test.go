package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"bourse/bank"
	bankorder "bourse/bank/order"
	"bourse/bank/owners/ownerstest"
	"bourse/contracts/order"
	"bourse/hosts/remote"
)

// A ticking is a [Clock] that returns the time of a synctest bubble.
type ticking struct{ begun time.Time }

func (c ticking) Now() float64 { return 100 + time.Since(c.begun).Seconds() }

func (ticking) Reach(float64) {}

// A square is a town whose market runs continuously and is reopened after each kill.
type square struct {
	*town
	mu   sync.Mutex
	stop func()

	leaving [2]atomic.Uint32 // whether and how each host asks to leave
}

// serve runs the market and an agent for each host.
func (w *town) serve() *square {
	ctx, cancel := context.WithCancel(context.Background())
	s := &square{town: w}
	w.clock = ticking{time.Now()}
	w.market.world.Clock = w.clock
	var all sync.WaitGroup
	s.stop = func() {
		cancel()
		all.Wait()
	}
	all.Go(func() {
		for ctx.Err() == nil {
			if err := s.now().Run(ctx); errors.Is(err, errKilled) {
				s.mu.Lock()
				w.crash()
				s.mu.Unlock()
			} else if err != nil {
				w.t.Error(err)
				return
			}
		}
	})
	for i, a := range w.agents {
		all.Go(func() {
			for ctx.Err() == nil {
				told := a.Tell(w.clock.Now())
				told.Have, told.Leaving = a.Deal(), remote.Leaving(s.leaving[i].Load())
				if o, err := s.now().Sync(ctx, w.names[i], told); err == nil {
					a.Obey(w.clock.Now(), o)
				} else {
					time.Sleep(time.Second)
				}
			}
		})
	}
	return s
}

func (s *square) now() *Market {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.market
}

// submit sends a request until there is an answer.
func (s *square) submit(one submission) *Answer {
	for range 100 {
		a, err := s.now().Submit(context.Background(), []byte(one.Order), []byte(one.Job))
		if err == nil {
			return a
		}
		if !errors.Is(err, ErrStopped) {
			s.t.Error(err)
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	s.t.Error("no answer")
	return nil
}

// TestOnceForEver checks orders that many clients send at the same time while the market is
// killed and reopened. Each must result in one contract and one answer.
func TestOnceForEver(t *testing.T) {
	for seed := range uint64(4) {
		synctest.Test(t, func(t *testing.T) {
			w := newTown(t, file, 2)
			rng, killed := rand.New(rand.NewPCG(seed, 1)), 0
			w.kill = func(string) bool {
				kill := killed < 6 && rng.IntN(5) == 0
				if kill {
					killed++
				}
				return kill
			}
			s := w.serve()
			var mu sync.Mutex
			answers := map[string]bool{}
			var all sync.WaitGroup
			for _, id := range []string{"a", "b", "c"} {
				one := w.order(id, "user:0", "be", 1, 5, 20, 0.1)
				for range 64 {
					all.Go(func() {
						if a := s.submit(one); a != nil {
							text, _ := json.Marshal(a)
							mu.Lock()
							defer mu.Unlock()
							answers[id+string(text)] = true
						}
					})
				}
			}
			all.Wait()
			time.Sleep(40 * time.Second)
			s.stop()
			w.check(6)
			list, err := w.market.List(Filter{Ended: true})
			if err != nil || len(list) != 3 || len(answers) != 3 || killed == 0 {
				t.Fatalf("%d contracts with %d answers after %d kills, %v", len(list), len(answers), killed, err)
			}
			for _, c := range list {
				if c.State != "fulfilled" {
					t.Errorf("%+v", c)
				}
			}
		})
	}
}

// TestRefused checks which orders are refused without booking an entry.
func TestRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, file, 1)
		s := w.serve()
		time.Sleep((slack + 1) * time.Second)
		booked := len(w.entries())
		good := w.order("a", "user:0", "be", 1, 5, 20, 0.2)
		forge := func(from, to string) submission {
			return submission{Order: strings.Replace(good.Order, from, to, 1), Job: good.Job}
		}
		short := good.Order[:strings.LastIndex(good.Order, " ")]
		for name, c := range map[string]struct {
			order submission
			want  error
		}{
			"by another":         {submission{Order: strings.Replace(w.order("a", "user:1", "be", 1, 5, 20, 0.2).Order, "user:1", "user:0", 1), Job: good.Job}, ErrSigned},
			"of another ledger":  {forge("ledger 5", "ledger 6"), ErrOrder},
			"for another market": {forge("market lab", "market other"), ErrOrder},
			"for another budget": {forge("0.200000", "0.300000"), ErrSigned},
			"that has expired":   {w.orderUntil("a", "user:0", "be", 1, 5, 20, 0.2, 99), ErrOrder},
			"until another time": {forge("2000-01-01T02:30", "2000-01-01T02:31"), ErrSigned},
			"without signature":  {submission{Order: short, Job: good.Job}, ErrOrder},
			"with another job":   {submission{Order: good.Order, Job: string(order.Text(&remote.Job{Command: []string{"false"}}))}, ErrOrder},
			"to cancel":          {submission{Order: w.cancel("a", "user:0", 7), Job: good.Job}, ErrOrder},
		} {
			if _, err := s.now().Submit(t.Context(), []byte(c.order.Order), []byte(c.order.Job)); !errors.Is(err, c.want) {
				t.Errorf("%s: %v, want %v", name, err, c.want)
			}
		}
		if now := len(w.entries()); now != booked {
			t.Errorf("%d entries were booked", now-booked)
		}
		s.submit(good)
		other := w.order("a", "user:0", "be", 1, 6, 20, 0.2)
		if _, err := s.now().Submit(t.Context(), []byte(other.Order), []byte(other.Job)); !errors.Is(err, ErrUsed) {
			t.Errorf("another order under the id: %v", err)
		}
		if _, err := s.now().Cancel(t.Context(), []byte(w.cancel("x", "user:1", ownerstest.Contract(1)))); !errors.Is(err, ErrNoContract) {
			t.Errorf("cancelled by another: %v", err)
		}
		for i, want := range []error{nil, ErrNoContract} {
			head := order.Head{Ledger: ownerstest.Ledger, Market: "lab", ID: "r", Account: fmt.Sprintf("user:%d", i), Expires: 460}
			o := must(order.About(head, "read", ownerstest.Contract(1)))
			signed := must(bankorder.Sign([]byte(o.String()), ownerstest.Private(head.Account)))
			if id, err := s.now().MayRead(t.Context(), signed); !errors.Is(err, want) || err == nil && id != ownerstest.Contract(1) {
				t.Errorf("read by %s: %v, want %v", head.Account, err, want)
			}
			if _, err := s.now().Signed(t.Context(), signed, "order"); !errors.Is(err, ErrOrder) {
				t.Errorf("to read, as an order: %v", err)
			}
		}
		o := must(order.About(order.Head{Ledger: ownerstest.Ledger, Market: "lab", ID: "r", Account: "user:0", Expires: 500}, "read", ownerstest.Contract(1)))
		if _, err := s.now().MayRead(t.Context(), must(bankorder.Sign([]byte(o.String()), ownerstest.Private("user:0")))); !errors.Is(err, ErrOrder) {
			t.Errorf("to read for longer than a minute: %v", err)
		}
		s.stop()
	})
}

// TestQuote checks that the quoted lowest budget is accepted, that one micro-dollar less is
// rejected, and that the rejection states this budget. A quote must not change the market.
func TestQuote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, file, 2)
		s := w.serve()
		s.submit(w.order("first", "user:1", "cac", 2, 30, 60, 0.3))
		time.Sleep(3 * time.Second)
		terms := order.Terms{Class: "cac", Nodes: 2, CPUs: 1, Work: 10, Deadline: 50, Job: order.Sum(jobText)}
		least, _, ok, err := s.now().Quote(t.Context(), terms)
		if err != nil || !ok || least.Micros() < 10 {
			t.Fatalf("%v, %v, %v", least, ok, err)
		}
		if again, _, _, _ := s.now().Quote(t.Context(), terms); again != least {
			t.Errorf("%v, then %v", least, again)
		}
		budget := func(a bank.Amount) float64 { return a.Float64() }
		less := bank.Micros(least.Micros() - 1)
		a := s.submit(w.order("less", "user:0", "cac", 2, 10, 50, budget(less)))
		if a.Verdict != "reject" || a.Least != least.String() {
			t.Errorf("with %v: %+v, want a rejection that says %v", less, a, least)
		}
		if a := s.submit(w.order("least", "user:0", "cac", 2, 10, 50, budget(least))); a.Verdict != "accept" {
			t.Errorf("with %v: %+v", least, a)
		}
		terms.Nodes = 3
		if least, _, ok, err := s.now().Quote(t.Context(), terms); ok || err != nil {
			t.Errorf("on more hosts than there are: %v, %v", least, err)
		}
		s.stop()
		w.check(3)
	})
}

// TestSilent checks that a host that is silent for too long is lost, that its contract
// continues on another host, and that the host is present again after its next report.
func TestSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, file, 2)
		deaf := w.agents[1]
		w.agents = w.agents[:1]
		s := w.serve()
		a := s.submit(w.order("a", "user:0", "be", 1, 30, 200, 0.3))
		b := s.submit(w.order("b", "user:0", "be", 1, 30, 200, 0.3))
		time.Sleep(29 * time.Second)
		hosts := func() (all []string) {
			for _, h := range s.now().Hosts() {
				all = append(all, h.Name+" "+h.State)
			}
			return all
		}
		if got := strings.Join(hosts(), ", "); got != "h00 here, h01 here" {
			t.Error(got)
		}
		time.Sleep(4 * time.Second)
		if got := strings.Join(hosts(), ", "); got != "h00 here, h01 away" {
			t.Error(got)
		}
		for _, one := range []*Answer{a, b} {
			c, err := s.now().Status(one.Contract)
			if err != nil || len(c.Places) != 1 || c.Places[0].Host != "h00" {
				t.Errorf("%+v, %v", c, err)
			}
		}
		if _, err := s.now().Sync(t.Context(), "h01", deaf.Tell(w.clock.Now())); err != nil {
			t.Error(err)
		}
		if got := strings.Join(hosts(), ", "); got != "h00 here, h01 here" {
			t.Error(got)
		}
		events, err := s.now().Events(t.Context(), 0)
		if err != nil || len(events) < 4 {
			t.Errorf("%+v, %v", events, err)
		}
		s.stop()
		w.check(2)
	})
}

// TestClosed checks that a closed or drained host accepts no more tasks and completes those
// it has. A drained host without tasks must be ordered to leave, and may return.
func TestClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, file, 2)
		s := w.serve()
		m := s.now()
		where := func(a *Answer) string {
			if len(a.Places) != 1 {
				t.Fatalf("%+v", a)
			}
			return a.Places[0].Host
		}
		first := where(s.submit(w.order("a", "user:0", "be", 1, 5, 20, 0.2)))
		if err := m.Drain(t.Context(), first, true); err != nil {
			t.Fatal(err)
		}
		second := where(s.submit(w.order("b", "user:0", "be", 1, 5, 60, 0.2)))
		third := where(s.submit(w.order("c", "user:0", "be", 1, 5, 60, 0.2)))
		if second == first || third == first {
			t.Errorf("on %s, which is drained: %s, %s", first, second, third)
		}
		h := 0
		if first == "h01" {
			h = 1
		}
		told := func() *remote.Orders {
			o, err := m.Sync(t.Context(), first, &remote.Told{Session: 1, First: 1, Have: 1 << 40})
			if err != nil {
				t.Fatal(err)
			}
			return o
		}
		if o := told(); o.Drain || len(o.Wanted) != 1 || m.Hosts()[h].State != "draining" {
			t.Errorf("%+v, %+v", o, m.Hosts())
		}
		time.Sleep(25 * time.Second)
		if o := told(); !o.Drain || len(o.Wanted) != 0 {
			t.Errorf("%+v", o)
		}
		if c, err := m.Status(ownerstest.Contract(1)); err != nil || c.State != "fulfilled" {
			t.Errorf("%+v, %v", c, err)
		}
		if err := m.Drain(t.Context(), first, false); err != nil {
			t.Fatal(err)
		}
		if at := where(s.submit(w.order("d", "user:0", "be", 1, 5, 60, 0.2))); at != first {
			t.Errorf("on %s, want %s", at, first)
		}
		for i, want := range []string{"closed", "removed"} {
			s.leaving[h].Store(uint32([]remote.Leaving{remote.WhenDone, remote.AtOnce}[i]))
			time.Sleep(2 * time.Second)
			if h := m.Hosts()[h]; h.State != want {
				t.Errorf("%+v, want it %s", h, want)
			}
		}
		s.stop()
		w.check(5)
	})
}

// TestAway checks the market while the bank does not respond. The answer to a new order must
// state that nothing was booked, or that the client should send the order again. Hosts must get
// replies, so that tasks continue. Afterwards, each request must be decided once.
func TestAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, file, 2)
		s := w.serve()
		m := s.now()
		s.submit(w.order("a", "user:0", "be", 1, 5, 200, 0.2))
		time.Sleep(3 * time.Second)
		booked := len(w.entries())
		w.bank.away.Store(true)
		one, two := w.order("b", "user:0", "be", 1, 5, 60, 0.2), w.order("c", "user:0", "be", 1, 5, 60, 0.2)
		var all sync.WaitGroup
		for _, c := range []struct {
			order submission
			want  error
			wait  time.Duration
		}{{one, ErrPending, 0}, {two, ErrAway, time.Second}} {
			all.Go(func() {
				time.Sleep(c.wait)
				begun := time.Now()
				_, err := m.Submit(t.Context(), []byte(c.order.Order), []byte(c.order.Job))
				if took := time.Since(begun); !errors.Is(err, c.want) || took > 3*time.Second {
					t.Errorf("%v after %v, want %v", err, took, c.want)
				}
			})
		}
		all.Wait()
		begun := time.Now()
		told := w.agents[0].Tell(w.clock.Now())
		told.Have = w.agents[0].Deal()
		if o, err := m.Sync(t.Context(), "h00", told); err != nil || o.Lease == 0 || o.Ack != told.First-1 || time.Since(begun) > 1500*time.Millisecond {
			t.Errorf("%+v after %v, %v", o, time.Since(begun), err)
		}
		if c, err := m.Status(ownerstest.Contract(1)); err != nil || c.State != "running" {
			t.Errorf("%+v, %v", c, err)
		}
		time.Sleep(time.Minute)
		if now := len(w.entries()); now != booked {
			t.Errorf("%d entries were booked", now-booked)
		}
		w.bank.away.Store(false)
		if a, b := s.submit(one), s.submit(two); a.Verdict != "accept" || b.Verdict != "accept" {
			t.Errorf("%+v, %+v", a, b)
		}
		for _, h := range m.Hosts() {
			if h.State != "here" {
				t.Errorf("%+v", h)
			}
		}
		s.stop()
		w.check(3)
	})
}

// TestSuperseded checks that the market informs an agent that has a successor and ignores its
// reports. Such reports must not prevent the loss of its host.
func TestSuperseded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, file, 1)
		w.agents = nil
		s := w.serve()
		m := s.now()
		say := func(session int64, boot, after string) *remote.Orders {
			o, err := m.Sync(t.Context(), "h00", &remote.Told{Session: session, Boot: boot, After: after, First: 1, Have: 1 << 40})
			if err != nil {
				t.Fatal(err)
			}
			return o
		}
		for _, c := range []struct {
			session           int64
			boot, after, want string
		}{{1, "a", "", "a"}, {2, "b", "a", "b"}, {1, "a", "", "b"}, {2, "c", "", "b"}, {3, "c", "", "b"}, {3, "c", "b", "c"}} {
			if o := say(c.session, c.boot, c.after); o.Boot != c.want {
				t.Errorf("%+v: the market listens to %q", c, o.Boot)
			}
		}
		for range 40 {
			say(2, "b", "a")
			time.Sleep(time.Second)
		}
		if h := m.Hosts()[0]; h.State != "away" {
			t.Errorf("%+v", h)
		}
		if say(3, "c", "b"); m.Hosts()[0].State != "here" {
			t.Errorf("%+v", m.Hosts()[0])
		}
		s.stop()
		w.check(0)
	})
}

// TestUrged checks that a host gets an immediate reply while there is another order for the
// host, and otherwise a reply after an interval.
func TestUrged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t, file, 1)
		s := w.serve()
		time.Sleep(3 * time.Second)
		m := s.now()
		took := func() time.Duration {
			began := time.Now()
			if _, err := m.Sync(t.Context(), "h00", &remote.Told{Session: 1, First: 1, Have: m.seen.of("h00").orders.Deal}); err != nil {
				t.Fatal(err)
			}
			return time.Since(began)
		}
		if got := took(); got != time.Second {
			t.Errorf("answered after %v, want 1s", got)
		}
		time.AfterFunc(time.Second/4, func() { m.Urge("h00", true) })
		if got := took(); got != time.Second/4 {
			t.Errorf("urged meanwhile: after %v, want 250ms", got)
		}
		if got := took(); got != 0 {
			t.Errorf("urged still: after %v, want at once", got)
		}
		m.Urge("h00", false)
		if got := took(); got != time.Second {
			t.Errorf("urged no more: after %v, want 1s", got)
		}
		s.stop()
	})
}
