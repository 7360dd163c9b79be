package client

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"bourse/bank"
	bankorder "bourse/bank/order"
	"bourse/bank/whole"
	"bourse/contracts/order"
	"bourse/experiments/live"
	"bourse/experiments/live/service"
	"bourse/hosts/remote"
)

const (
	lasts    = time.Hour        // validity of an order after it is signed
	holds    = 720 * time.Hour  // validity of an order that the market holds until other contracts have ended
	reads    = 30 * time.Second // validity of an order to read; it is short because anyone who obtains the order can use it
	patience = 30 * time.Second // maximum time to wait for a market that does not respond
)

// A Task is a request, with the files to copy to its folder, keyed by name.
type Task struct {
	Terms order.Terms // Job is filled in
	Job   remote.Job  // Files are
	Files map[string][]byte
	Valid time.Duration // validity of the order; 0 means an hour, or 30 days if the market may hold the order
}

// Submit signs an order for t, sends it and returns the decision. It stores the signed
// order until the market answers. If the market does not respond, the error is a
// [service.Away], and [Client.Resume] sends the order again.
func (c *Client) Submit(ctx context.Context, t *Task) (*live.Answer, error) {
	job, terms := t.Job, t.Terms
	job.Files = make(map[string]string, len(t.Files))
	for name, data := range t.Files {
		job.Files[name] = strings.TrimPrefix(order.Sum(data), "sha256:")
	}
	text := order.Text(&job)
	if _, err := order.ParseJob(text); err != nil {
		return nil, err
	}
	terms.Job = order.Sum(text)
	for name, data := range t.Files {
		if err := c.waitOut(ctx, func() error {
			signed, err := c.about("read", 0, reads)
			if err != nil {
				return err
			}
			return c.PutBlob(ctx, signed, data)
		}); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	valid := t.Valid
	switch {
	case valid > 0:
	case terms.Waits():
		valid = holds
	default:
		valid = lasts
	}
	var a *live.Answer
	err := c.signs(ctx, func() error {
		head := c.head(valid)
		o, err := terms.Order(head)
		if err != nil {
			return err
		}
		signed, err := bankorder.Sign([]byte(o.String()), c.key)
		if err != nil {
			return err
		}
		if err := c.keep(head.ID, signed, text); err != nil {
			return err
		}
		a, err = c.send(ctx, head.ID, signed, text)
		return err
	})
	return a, err
}

// head returns the head of an order signed at the current time.
func (c *Client) head(lasts time.Duration) order.Head {
	return order.Head{Ledger: c.Ledger, Market: c.Market, ID: ulid.Make().String(), Account: c.Account, Expires: c.now() + lasts.Seconds()}
}

// keep stores an order before it is sent.
func (c *Client) keep(id string, signed, job []byte) error {
	dir := c.home.path("sent")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return errors.Join(whole.Write(filepath.Join(dir, id+".job"), job), whole.Write(filepath.Join(dir, id+".order"), signed))
}

// send sends an order until the market answers and then deletes the stored order.
func (c *Client) send(ctx context.Context, id string, signed, job []byte) (*live.Answer, error) {
	for began := time.Now(); ; {
		a, err := c.Caller.Submit(ctx, signed, job)
		if !errors.As(err, new(*service.Away)) && ctx.Err() == nil {
			for _, end := range []string{".order", ".job"} {
				err := os.Remove(filepath.Join(c.home.path("sent"), id+end))
				if err != nil && !errors.Is(err, fs.ErrNotExist) { // another has asked again
					return nil, err
				}
			}
			return a, err
		}
		if time.Since(began) > patience {
			return nil, fmt.Errorf("order %s: %w; send it again with 'bourse job submit --resume'", id, err)
		}
		if err := service.Pause(ctx, time.Second/2); err != nil {
			return nil, &Unanswered{fmt.Sprintf("order %s was signed but not answered; send it again with 'bourse job submit --resume'", id), err}
		}
	}
}

// Unanswered means that the client sent a signed order but stopped before the market
// answered.
type Unanswered struct {
	left string
	err  error
}

// Error implements error.
func (u *Unanswered) Error() string { return u.left + ": " + u.err.Error() }

// Unwrap returns the error that stopped the client.
func (u *Unanswered) Unwrap() error { return u.err }

// Left describes the unanswered order and how to continue.
func (u *Unanswered) Left() string { return u.left }

// Resume sends the unanswered orders again, oldest first. It passes each decision, or the
// reason why there is no decision, to seen.
func (c *Client) Resume(ctx context.Context, seen func(id string, a *live.Answer, err error)) error {
	names, err := filepath.Glob(filepath.Join(c.home.path("sent"), "*.order"))
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		signed, err := whole.Read(name, 1<<20)
		job, wrong := whole.Read(strings.TrimSuffix(name, ".order")+".job", 1<<20)
		if err := errors.Join(err, wrong); errors.Is(err, fs.ErrNotExist) {
			continue // another client has already received the answer
		} else if err != nil {
			return err
		}
		id := strings.TrimSuffix(filepath.Base(name), ".order")
		a, err := c.send(ctx, id, signed, job)
		seen(id, a, err)
		if errors.As(err, new(*service.Away)) || ctx.Err() != nil {
			return err
		}
	}
	return nil
}

// about signs an order of kind cancel or read for a contract.
func (c *Client) about(kind string, id int64, lasts time.Duration) ([]byte, error) {
	o, err := order.About(c.head(lasts), kind, id)
	if err != nil {
		return nil, err
	}
	return bankorder.Sign([]byte(o.String()), c.key)
}

// waitOut repeats f until the market responds or the client's patience ends.
func (c *Client) waitOut(ctx context.Context, f func() error) error {
	for began := time.Now(); ; {
		err := c.signs(ctx, f)
		if !errors.As(err, new(*service.Away)) || time.Since(began) > patience {
			return err
		}
		if err := service.Pause(ctx, time.Second/2); err != nil {
			return err
		}
	}
}

// Cancel ends a contract. Cancel cancels a contract. The contract pays for its usage so far.
func (c *Client) Cancel(ctx context.Context, id int64) (a *live.Answer, err error) {
	err = c.signs(ctx, func() error {
		signed, err := c.about("cancel", id, lasts)
		if err == nil {
			a, err = c.Caller.Cancel(ctx, signed)
		}
		return err
	})
	if ctx.Err() != nil && err != nil {
		err = &Unanswered{fmt.Sprintf("the order to cancel contract %d was signed but not answered; check the outcome with 'bourse job status %d'", id, id), err}
	}
	return a, err
}

// Bid changes the budget of a contract, and its bids.
func (c *Client) Bid(ctx context.Context, id int64, budget bank.Amount) (a *live.Answer, err error) {
	err = c.signs(ctx, func() error {
		o, err := order.Bid(c.head(lasts), id, budget)
		if err != nil {
			return err
		}
		signed, err := bankorder.Sign([]byte(o.String()), c.key)
		if err == nil {
			a, err = c.Caller.Bid(ctx, signed)
		}
		return err
	})
	if ctx.Err() != nil && err != nil {
		err = &Unanswered{fmt.Sprintf("the order to change the budget of contract %d was signed but not answered; check the outcome with 'bourse job status %d'", id, id), err}
	}
	return a, err
}

// List returns contracts that the account may read.
func (c *Client) List(ctx context.Context, f live.Filter) (all []live.Contract, err error) {
	err = c.signs(ctx, func() error {
		signed, err := c.about("read", 0, reads)
		if err == nil {
			all, err = c.Caller.List(ctx, signed, "", f)
		}
		return err
	})
	return all, err
}

// Read returns the available part of a contract's log, as described at
// [service.Caller.Read].
func (c *Client) Read(ctx context.Context, id int64, l service.Log, from int64) (text []byte, size int64, ended bool, err error) {
	err = c.signs(ctx, func() error {
		signed, err := c.about("read", id, reads)
		if err == nil {
			text, size, ended, err = c.Caller.Read(ctx, signed, l, from)
		}
		return err
	})
	return text, size, ended, err
}
