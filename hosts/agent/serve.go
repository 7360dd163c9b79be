//go:build linux

package agent

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"bourse/hosts/link"
	"bourse/hosts/remote"
)

// A Market is what an agent talks to: see [link.Market].
type Market interface {
	Sync(ctx context.Context, host string, t *remote.Told) (*remote.Orders, error)
	Blob(ctx context.Context, host, sha string) ([]byte, error)
	PutLog(ctx context.Context, host string, l *remote.Log) error
}

// Why an agent ends by itself.
var (
	ErrSuperseded = errors.New("superseded: another agent stands for this host; what ran here was ended")
	ErrDrained    = errors.New("drained: nothing runs here any more, and nothing will")
)

const (
	lookEach  = time.Second
	syncLimit = 10 * time.Second // for an answer
	leastWait = 50 * time.Millisecond
	mostWait  = 3 * time.Second // between calls that fail

	// The market gives a host up after lost, half as long again as the lease.
	lostByLease = 1.5
)

// A conversation is an agent's with its market.
type conversation struct {
	*Agent
	market   Market
	host     string
	say      func(string)
	said     string    // last, of what failed
	full     time.Time // instant at which the disk was full last
	accepted bool      // its session is the market's

	answers chan answer
	again   <-chan time.Time // when the next Sync is due, if none is under way
	wait    time.Duration    // grows while calls fail
	began   time.Time        // of the last Sync
	stop    func()           // breaks it off
	hurries bool             // it was, for something that is not to wait
	busy    bool             // with blobs or logs
	done    chan func() error
}

type answer struct {
	orders *remote.Orders
	seq    int64 // of what it answers
	sent   float64
	err    error
}

// Serve keeps a up with its market until ctx ends, and what runs goes on then. There is
// always one Sync under way. Its error says why it has ended otherwise: ErrSuperseded,
// ErrDrained, or that the market refuses it for good.
func (a *Agent) Serve(ctx context.Context, m Market, host string, say func(string)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := &conversation{Agent: a, market: m, host: host, say: say, answers: make(chan answer, 1), done: make(chan func() error, 1)}
	tick := time.NewTicker(lookEach)
	defer tick.Stop()
	sweep := time.NewTicker(10 * time.Minute)
	defer sweep.Stop()
	ended := a.minders.ended()
	c.sync(ctx)
	for {
		var err error
		select {
		case <-ctx.Done():
			return nil
		case <-ended:
			err = c.hurry()
		case <-tick.C:
			err = a.Look()
		case <-sweep.C:
			err = a.sweepBlobs()
		case <-c.again:
			c.sync(ctx)
			continue
		case kept := <-c.done:
			c.busy = false
			err = errors.Join(kept(), a.Look())
		case r := <-c.answers:
			var over error
			if over, err = c.take(r); over != nil {
				return over
			}
			c.work(ctx, r.orders)
		}
		c.complain(err)
	}
}

// diskFull is why a host takes no more tasks until it could write for a while.
const (
	diskFull = "the disk is full"
	tryAgain = 10 * time.Second
)

// complain says what is wrong, once until it is well.
func (c *conversation) complain(err error) {
	if errors.Is(err, unix.ENOSPC) {
		if c.full = time.Now(); c.closed == "" {
			c.closed = diskFull
		}
		err = errors.Join(err, c.releaseReserve())
	}
	if err == nil || err.Error() == c.said {
		return
	}
	c.said = err.Error()
	c.say(c.said)
}

// sync tells the market all that is new.
func (c *conversation) sync(ctx context.Context) {
	told, err := c.Tell()
	c.complain(err)
	sent := c.Now()
	c.began, c.again, c.hurries = time.Now(), nil, false
	ctx, cancel := context.WithTimeout(ctx, syncLimit)
	c.stop = cancel
	go func() {
		defer cancel()
		o, err := c.market.Sync(ctx, c.host, told)
		c.answers <- answer{o, told.Seq, sent, err}
	}()
}

// hurry looks whether a task has ended, and tells so at once: it breaks off the Sync under
// way, which the market keeps waiting.
func (c *conversation) hurry() error {
	over := func() (n int) {
		for _, t := range c.tasks {
			if t.end != nil {
				n++
			}
		}
		return n
	}
	before := over()
	err := c.Look()
	if c.again == nil && over() > before {
		c.hurries = true
		c.stop()
	}
	return err
}

// take does as an answer says, and sets when to ask again. Over is why there is nothing
// more to be asked.
func (c *conversation) take(r answer) (over, err error) {
	if errors.Is(r.err, link.ErrUnknown) {
		return errors.Join(fmt.Errorf("the market has removed this host: %w", r.err), c.endAll()), nil
	}
	if errors.Is(r.err, link.ErrVersion) {
		return r.err, nil
	}
	if r.err != nil && c.hurries {
		c.again = time.After(0)
		return nil, nil
	}
	if r.err != nil {
		c.wait = min(mostWait, max(100*time.Millisecond, 2*c.wait))
		c.again = time.After(c.wait/2 + rand.N(c.wait))
		return nil, r.err
	}
	// The market keeps it waiting; one that does not is not asked without end.
	c.wait = 0
	c.again = time.After(max(0, leastWait-time.Since(c.began)))
	o := r.orders
	if o.Session != c.session.Number || o.Boot != c.self {
		if c.accepted && o.Session >= c.session.Number {
			return errors.Join(ErrSuperseded, c.endAll()), nil
		}
		c.accepted = false // or was it: a market that was restored has forgotten
		return nil, c.follow(o, r.sent)
	}
	if !c.accepted {
		if err := c.begin(c.session.Number, c.session.Quiet, c.self); err != nil {
			return nil, err
		}
		c.accepted = true
	}
	if err = c.Apply(o, r.seq, r.sent); err == nil {
		if c.said = ""; c.closed == diskFull && !c.scant && time.Since(c.full) > tryAgain {
			c.closed = ""
		}
	}
	if o.Drain && c.idle() {
		return ErrDrained, nil
	}
	return nil, err
}

// follow makes this agent the next after the one that its market listens to. If that is
// another than it takes itself to follow, it may be elsewhere: what it runs it ends when it
// hears of this one, or its lease ends it. Until then a task could run twice.
func (c *conversation) follow(o *remote.Orders, sent float64) error {
	number, quiet := c.session.Number, c.session.Quiet
	if o.Boot != c.session.After {
		quiet = sent + lostByLease*o.Lease
	} else if number > o.Session {
		return nil // the market has not come to hear it yet
	}
	return c.begin(max(number, o.Session+1), quiet, o.Boot)
}

// idle reports whether nothing runs, and the market knows.
func (a *Agent) idle() bool {
	for _, t := range a.tasks {
		if t.forgotten == 0 {
			return false
		}
	}
	return true
}

// endAll ends what runs, at once, and reports what could not be ended.
func (a *Agent) endAll() error {
	now := a.clock()
	a.heard, a.wanted = max(1, a.heard), nil
	var errs []error
	for _, t := range a.tasks {
		t.isWanted = false
		if t.runs() {
			o := t.orders
			o.KillAt = now
			errs = append(errs, a.command(t, o))
		}
	}
	for a.clock() < now+2*slack {
		errs = append(errs, a.Look())
		if len(a.shares()) == 0 {
			return nil
		}
		time.Sleep(look)
	}
	return errors.Join(append(errs, fmt.Errorf("%d tasks could not be ended", len(a.shares())))...)
}

// work fetches what is missing, or else puts a log that is asked for: one at a time,
// beside the Sync that is under way.
func (c *conversation) work(ctx context.Context, o *remote.Orders) {
	if c.busy {
		return
	}
	missing := c.missing()
	switch {
	case len(missing) > 0:
		sha := missing[0]
		c.busy = true
		go func() {
			data, err := c.market.Blob(ctx, c.host, sha)
			c.done <- func() error {
				if errors.Is(err, link.ErrUnknown) {
					c.bad[sha] = err
					return nil
				}
				if err != nil {
					return err
				}
				return c.keep(sha, data)
			}
		}()
	case o != nil && len(o.Logs) > 0:
		part := c.part(o.Logs[rand.N(len(o.Logs))])
		c.busy = true
		go func() {
			err := c.market.PutLog(ctx, c.host, &part)
			c.done <- func() error { return err }
		}()
	}
}

// load returns how many processes run or wait for a processor, on average of a minute.
func load() (x float64) {
	text, err := os.ReadFile("/proc/loadavg")
	if err == nil {
		fmt.Sscan(string(text), &x)
	}
	return x
}

// leaving returns what the owner of the host has asked for by [Leave].
func (a *Agent) leaving() remote.Leaving {
	text, _ := os.ReadFile(a.path("leaving"))
	return remote.Leaving(max(0, slices.Index(leavings[:], strings.TrimSpace(string(text)))))
}
