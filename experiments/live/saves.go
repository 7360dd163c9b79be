package live

import (
	"context"
	"fmt"
	"math"
	"slices"

	"bourse/contracts"
	"bourse/hosts/link"
	"bourse/hosts/remote"
)

// taskOf returns the task with the given name that a host runs or is ending. It also returns
// the contract of the task, if the contract is open.
func (k *core) taskOf(host string, name int64) (h *host, t task, c *Contract) {
	h, _ = k.host(host)
	if h == nil || h.removed {
		return h, t, nil
	}
	t, ok := h.tasks[name]
	if i := slices.IndexFunc(h.ending, func(e ending) bool { return e.name == name }); !ok && i >= 0 {
		t, ok = h.ending[i].task, true
	}
	if c = k.open[t.contract]; !ok || c == nil || c.Over() {
		return h, t, nil
	}
	return h, t, c
}

// saves records the last checkpoint of a node. If the host is lost, the work before the
// checkpoint remains. For an ending task, the amount of lost work is already determined, but
// the next attempt at the node receives the checkpoint.
func (k *core) saves(s *saving) error {
	h, t, c := k.taskOf(s.Host, s.Name)
	if c == nil {
		return fmt.Errorf("%w: task %d of host %s", link.ErrUnknown, s.Name, s.Host)
	}
	if c.saved == nil {
		c.saved = make(map[int32][]string)
	}
	c.saved[t.node] = s.Sums
	if unsaved, ok := h.machine.Unsaved(s.Name, s.Used); ok {
		k.broker.Keep(contracts.ID(c.ID), t.node, unsaved)
	}
	return nil
}

// MaySave returns an error unless the task of a host belongs to an open contract.
func (m *Market) MaySave(host string, name int64) error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if _, _, c := m.core.taskOf(host, name); c == nil {
		return fmt.Errorf("%w: task %d of host %s", link.ErrUnknown, name, host)
	}
	return nil
}

// Save makes the parts of c the last checkpoint of the node. The parts have the given total
// size in bytes.
func (m *Market) Save(ctx context.Context, host string, c *remote.Checkpoint, size int64) error {
	if most := m.conf.Limits.Checkpoint; float64(size) > most {
		return fmt.Errorf("%w: found a checkpoint of %d bytes, want at most %.0f (limits.checkpoint)", link.ErrUnknown, size, most)
	}
	if !(math.Abs(c.Used) <= mostTime) {
		return fmt.Errorf("host %s: found a checkpoint after %v s, want at most %.0f s", host, c.Used, mostTime)
	}
	_, err := m.ask(ctx, message{Saved: &saving{host, c.Name, c.Sums, micro(c.Used)}})
	return err
}
