package broker

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"

	"bourse/bank"
	"bourse/contracts"
	"bourse/hosts"
)

// promise makes the contract of a request that the planner has accepted: one task
// for all its nodes, which starts when the planner says.
func (b *Broker) promise(now float64, r *contracts.Request, task hosts.Task, d *contracts.Decision) error {
	if b.planned == nil {
		b.planned = make(map[contracts.ID]int32)
	}
	i := b.place()
	c := &b.contracts[i]
	c.Contract = contracts.Contract{
		Request: *r, Placements: c.Placements, Admitted: now, At: now,
		Price: r.SLA.Budget, Gang: true, Host: d.Placements[0].Host,
	}
	c.occupy(d.Placements)
	c.PerHost = true    // its one task is promised by itself
	c.SLA.RunsOn = true // only the planner ends it
	c.Placements[0].Left = true
	c.task, c.left, c.late, c.changed, c.cancelled, c.arrears = task, 0, false, false, false, c.arrears[:0]
	c.task.Key, c.task.Holds = int64(i), hosts.Resources{}
	c.task.Work *= float64(r.Nodes)
	if d.Priced {
		price, err := bank.Dollars(d.Ask)
		if err != nil {
			return fmt.Errorf("price of %d: %w", r.ID, err)
		}
		c.Price = price
	}
	b.planned[r.ID] = i
	b.change(i)
	steps, err := b.planner.Commit(now, b.steps[:0])
	if b.steps = steps; err != nil {
		return fmt.Errorf("admit %d: %w", r.ID, err)
	}
	return b.follow(now, steps)
}

// appendWindow appends what only a planner agrees to with r, and closes the object:
//
//	"opens":20,"nodes":3,"host":"h0"
//
// Opens is the instant before which it does not start.
func (b *Broker) appendWindow(note []byte, r *contracts.Request, d *contracts.Decision) []byte {
	note = strconv.AppendFloat(append(note, `,"opens":`...), r.Opens(), 'g', -1, 64)
	note = strconv.AppendInt(append(note, `,"nodes":`...), int64(r.Nodes), 10)
	name, err := json.Marshal(b.venues[d.Placements[0].Host].machine.Spec().Name)
	if err != nil {
		panic("broker: " + err.Error()) // a string has a JSON form
	}
	return append(append(append(note, `,"host":`...), name...), '}')
}

// follow does what the planner has decided.
func (b *Broker) follow(now float64, steps []contracts.Step) error {
	for _, s := range steps {
		i, ok := b.planned[s.ID]
		if !ok {
			panic(fmt.Sprintf("broker: the planner says %v of %d, which it does not have", s.Move, s.ID))
		}
		var err error
		switch c := &b.contracts[i]; s.Move {
		case contracts.Start:
			err = b.launch(now, i)
		case contracts.Pause:
			b.stop(now, i, 0)
			c.Paused = append(c.Paused, now)
			b.change(i)
		case contracts.End, contracts.Kill:
			c.Killed = s.Move == contracts.Kill
			delete(b.planned, s.ID)
			err = b.end(now, i)
		}
		if err != nil {
			return err
		}
	}
	b.deal(now)
	return nil
}

// launch gives contract i its nodes.
func (b *Broker) launch(now float64, i int32) error {
	c := &b.contracts[i]
	if c.Begun {
		c.Paused = append(c.Paused, now)
	} else {
		c.Begun, c.Began = true, now
	}
	c.Placements[0].Left = false
	c.left = 1
	b.change(i)
	if err := b.start(now, i, 0); err != nil {
		return fmt.Errorf("start %d on %s: %w", c.ID, b.venues[c.Host].machine.Spec().Name, err)
	}
	return nil
}

// undone returns the work that a gang still has to do. It is half the tolerance
// less than all, so that rounding cannot put its completion after the second at
// which it would be done: the planner would take it to have used up its estimate.
func (c *contract) undone() float64 {
	return max(0, c.task.Work*(1-contracts.Tolerance/2)-c.Placements[0].Done)
}

// ErrNoContract is the reason for which there is nothing to take back: a planner has
// no such contract, or not any more.
var ErrNoContract = errors.New("no such contract")

// Cancel takes back the contract of a planner for its owner, who pays the part of
// its price that the planner says is due. It returns an error wrapping ErrNoContract,
// and nothing has changed, if there is none. The broker has been advanced to now.
func (b *Broker) Cancel(now float64, id contracts.ID) error {
	i, ok := b.planned[id]
	if !ok {
		return fmt.Errorf("cancel %d: %w", id, ErrNoContract)
	}
	b.now = now
	due, steps, err := b.planner.Cancel(now, id, b.steps[:0])
	if b.steps = steps; err != nil {
		return fmt.Errorf("cancel %d: %w: %w", id, ErrNoContract, err)
	}
	c := &b.contracts[i]
	fee, err := bank.Dollars(c.Price.Float64() * math.Min(1, due))
	if err != nil {
		return fmt.Errorf("cancel %d: %w", id, err)
	}
	c.cancelled, c.Price = true, fee
	delete(b.planned, id)
	if err := b.end(now, i); err != nil {
		return err
	}
	return b.follow(now, steps)
}
