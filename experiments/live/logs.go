package live

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"bourse/contracts/order"
)

// HostOf returns the host that joined with the given certificate pin.
func (m *Market) HostOf(pin string) (string, bool) {
	s := &m.seen
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, p := range s.hosts {
		if pin != "" && p.pin == pin && !p.removed {
			return name, true
		}
	}
	return "", false
}

// MayRead returns the contract that a signed order may read.
func (m *Market) MayRead(ctx context.Context, signed []byte) (int64, error) {
	s, err := m.check(ctx, signed, "read")
	if err != nil {
		return 0, err
	}
	id, err := order.Contract(s.Order)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrOrder, err)
	}
	c, err := m.Status(id)
	if err != nil {
		return 0, err
	}
	if c.Account != s.Value("account") {
		return 0, fmt.Errorf("%w: %d of %s", ErrNoContract, id, s.Value("account"))
	}
	return c.ID, nil
}

// ErrReader means that an account may not read the contracts of another account.
var ErrReader = errors.New("may not read the contracts of other accounts")

// MayList checks whether the signer of an order to read may list the contracts of an account,
// or of all accounts if account is empty. If not, it returns an error. The owner of the
// account may list them, and so may the operator and each account that may read the bank's
// whole ledger.
func (m *Market) MayList(ctx context.Context, signed []byte, account string) error {
	by, err := m.Signed(ctx, signed, "read")
	if err != nil || by == account || by == operator {
		return err
	}
	reads := false
	if m.world.Reads != nil {
		if reads, err = m.world.Reads(ctx, by); err != nil {
			return err
		}
	}
	if !reads {
		return fmt.Errorf("%s %w; use --dir with the market's folder, or ask the bank's operator for the right read", by, ErrReader)
	}
	return nil
}

// operator is the account of the bank's operator.
const operator = "operator"

// Signed returns the account that signed an order of the given kind. The order must be
// valid for this market at the current time.
func (m *Market) Signed(ctx context.Context, signed []byte, kind string) (account string, err error) {
	s, err := m.check(ctx, signed, kind)
	if err != nil {
		return "", err
	}
	return s.Value("account"), nil
}

// Wanted returns the SHA-256 hashes of the jobs of open contracts and of the files of these
// jobs, in hexadecimal digits.
func (m *Market) Wanted() map[string]bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	all := make(map[string]bool)
	for _, c := range m.core.open {
		all[strings.TrimPrefix(c.Job, "sha256:")] = true
		for _, sums := range c.saved {
			for _, sum := range sums {
				all[sum] = true
			}
		}
		if job, err := order.ParseJob([]byte(c.job)); err == nil {
			for _, sum := range job.Files {
				all[sum] = true
			}
		}
	}
	return all
}

// Task returns the host on which a node of a contract runs or last ran, and the task's name
// on that host.
func (m *Market) Task(id int64, node int32) (host string, name int64, ended bool, err error) {
	c, err := m.Status(id)
	if err != nil {
		return "", 0, false, err
	}
	for _, t := range c.Tasks {
		if t.Node == node {
			host, name = t.Host, t.Name
		}
	}
	if host == "" {
		return "", 0, false, fmt.Errorf("%w: contract %d has not run node %d", ErrNotFound, id, node)
	}
	return host, name, c.Over(), nil
}
