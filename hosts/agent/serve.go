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

// A Market is the market to which an agent reports; see [link.Market].
type Market interface {
	Sync(ctx context.Context, host string, t *remote.Told) (*remote.Orders, error)
	Blob(ctx context.Context, host, sha string) ([]byte, error)
	PutLog(ctx context.Context, host string, l *remote.Log) error
	PutCheckpoint(ctx context.Context, host string, c *remote.Checkpoint) error
}

// These errors are the reasons why an agent ends by itself.
var (
	ErrSuperseded = errors.New("superseded: another agent stands for this host; what ran here was ended")
	ErrDrained    = errors.New("drained: nothing runs here any more, and nothing will")
)

const (
	lookEach  = time.Second
	syncLimit = 10 * time.Second // timeout of an answer
	leastWait = 50 * time.Millisecond
	mostWait  = 3 * time.Second // delay between failing calls

	// The market considers a host lost after this number of leases.
	lostByLease = 1.5
)

// A conversation is the exchange of messages between an agent and its market.
type conversation struct {
	*Agent
	market   Market
	host     string
	say      func(string)
	said     string    // last reported faults
	full     time.Time // last time at which the disk was full
	accepted bool      // whether the agent's session is the market's current session

	answers chan answer
	again   <-chan time.Time // fires when the next Sync is due; nil while one is pending
	wait    time.Duration    // delay before the next call; increases while calls fail
	began   time.Time        // start of the last Sync call
	stop    func()           // cancels the pending Sync
	hurries bool             // whether the call was cancelled to send an urgent report
	busy    bool             // whether blobs or logs are being transferred
	done    chan func() error
}

type answer struct {
	orders *remote.Orders
	seq    int64 // sequence number of the last report
	sent   float64
	err    error
}

// Serve connects a to its market until ctx is done. Running tasks then continue. One Sync call
// is always in progress. If Serve ends earlier, it returns ErrSuperseded, ErrDrained, or the
// market's permanent refusal.
func (a *Agent) Serve(ctx context.Context, m Market, host string, say func(string)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := &conversation{Agent: a, market: m, host: host, say: say, answers: make(chan answer, 1), done: make(chan func() error, 2)}
	tick := time.NewTicker(lookEach)
	defer tick.Stop()
	sweep := time.NewTicker(10 * time.Minute)
	defer sweep.Stop()
	ended := a.supervisors.ended()
	c.sync(ctx)
	for {
		var err error
		select {
		case <-ctx.Done():
			return nil
		case <-ended:
			err = c.hurry(ctx)
		case <-tick.C:
			err = a.Look()
			c.save(ctx)
		case <-sweep.C:
			err = a.sweepBlobs()
		case <-c.again:
			c.sync(ctx)
			continue
		case kept := <-c.done:
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

// diskFull is the reason for which a host accepts no tasks until writes have succeeded for
// some time.
const (
	diskFull = "the disk is full"
	tryAgain = 10 * time.Second
)

// complain reports a fault once. It reports the same fault again only after it was resolved.
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

// sync reports all changes to the market.
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

// hurry checks whether a task has ended. If so, it cancels the pending Sync call, whose answer
// the market delays, and reports the end immediately.
func (c *conversation) hurry(ctx context.Context) error {
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
	if over() > before {
		c.save(ctx)
	}
	if c.again == nil && over() > before && c.sending == nil {
		c.hurries = true
		c.stop()
	}
	return err
}

// take applies an answer and schedules the next call. The result over is the reason to stop,
// if there is one.
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
	// The market delays its answers. If the market answers immediately, the agent limits the
	// rate of its calls.
	c.wait = 0
	c.again = time.After(max(0, leastWait-time.Since(c.began)))
	o := r.orders
	if o.Session != c.session.Number || o.Boot != c.self {
		if c.accepted && o.Session >= c.session.Number {
			return errors.Join(ErrSuperseded, c.endAll()), nil
		}
		c.accepted = false // a market restored from a backup may not know the session
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

// follow makes this agent the successor of the agent that the market currently knows. If the
// market's agent is not the one that this agent expects to succeed, the market's agent may be
// running on another machine. The tasks of the market's agent end when it learns of its
// successor, or pause when its lease ends. Until then, this agent starts no task, so that no
// task runs twice.
func (c *conversation) follow(o *remote.Orders, sent float64) error {
	number, quiet := c.session.Number, c.session.Quiet
	if o.Boot != c.session.After {
		quiet = sent + lostByLease*o.Lease
	} else if number > o.Session {
		return nil // the market has not received this session yet
	}
	return c.begin(max(number, o.Session+1), quiet, o.Boot)
}

// idle reports whether no task is running and the market has acknowledged all ends.
func (a *Agent) idle() bool {
	for _, t := range a.tasks {
		if t.forgotten == 0 {
			return false
		}
	}
	return true
}

// endAll ends all running tasks immediately and reports those that could not be ended.
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

// work fetches a missing blob or, if there is none, uploads a requested log. It does one at a
// time, in parallel with the pending Sync call.
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
				c.busy = false
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
			c.done <- func() error {
				c.busy = false
				return err
			}
		}()
	}
}

// load returns the one-minute average of the number of processes that run or wait for a
// processor.
func load() (x float64) {
	text, err := os.ReadFile("/proc/loadavg")
	if err == nil {
		fmt.Sscan(string(text), &x)
	}
	return x
}

// leaving returns the request that the owner made with [Leave].
func (a *Agent) leaving() remote.Leaving {
	text, _ := os.ReadFile(a.path("leaving"))
	return remote.Leaving(max(0, slices.Index(leavings[:], strings.TrimSpace(string(text)))))
}
