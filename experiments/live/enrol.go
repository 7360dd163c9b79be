package live

import (
	"context"
	"errors"
	"fmt"

	"bourse/bank"
	"bourse/contracts/order"
	"bourse/hosts"
	"bourse/hosts/link"
	"bourse/hosts/remote"
)

// lastsFor is for how long an invitation may be used, s.
const lastsFor = 3600

// An invite is who may enrol a host, once.
type invite struct {
	Sum     string  `json:"sum"`            // of its secret
	Name    string  `json:"name,omitempty"` // that the host is to have
	Owner   string  `json:"owner,omitempty"`
	Expires float64 `json:"expires"`

	pin, host string // of who has used it
}

// An enrolment is who would use an invitation.
type enrolment struct {
	Sum  string     `json:"sum"`
	Pin  string     `json:"pin"`
	Spec hosts.Spec `json:"spec"`
}

// InviteHost lets the host that has the secret enrol within an hour, under a name, or any
// that is free. Charges of that host go to owner, or to account host:NAME, which must be a
// payee of this market.
func (m *Market) InviteHost(ctx context.Context, secret, name, owner string) error {
	if name != "" && bank.CheckName("host:"+name) != nil {
		return fmt.Errorf("found %q, want a name such as h00", name)
	}
	_, err := m.ask(ctx, message{Invite: &invite{Sum: order.Sum([]byte(secret)), Name: name, Owner: owner, Expires: m.world.Clock.Now() + lastsFor}})
	return err
}

// Enrol implements [link.Market].
func (m *Market) Enrol(ctx context.Context, e link.Enrolment) (host string, err error) {
	spec := hosts.Spec{Name: e.Name, CPUs: e.Offer.CPUs, Speed: 1, Room: hosts.Resources{Memory: e.Offer.Memory, Disk: e.Offer.Disk}}
	if !(spec.CPUs > 0 && spec.CPUs <= 1e6 && spec.Room.Memory >= 0 && spec.Room.Disk >= 0) {
		return "", fmt.Errorf("found an offer of %+v, want processors above 0", e.Offer)
	}
	r, err := m.ask(ctx, message{Enrol: &enrolment{order.Sum([]byte(e.Secret)), e.Pin, spec}})
	if err != nil {
		return "", err
	}
	return r.host, nil
}

// invited notes an invitation, and forgets those that nobody has used.
func (k *core) invited(i *invite) {
	for sum, old := range k.invites {
		if old.Expires < k.now {
			delete(k.invites, sum)
		}
	}
	one := *i
	k.invites[i.Sum] = &one
}

// enrol adds the host that uses an invitation.
func (k *core) enrol(e *enrolment, out *result) error {
	i := k.invites[e.Sum]
	if i == nil || i.Expires < k.now || i.pin != "" && i.pin != e.Pin {
		out.err = link.ErrToken
		return nil
	}
	if out.host = i.host; i.pin != "" {
		return nil
	}
	j := &join{Spec: e.Spec, Owner: i.Owner, Pin: e.Pin}
	if i.Name != "" {
		j.Spec.Name = i.Name
	}
	taken := func() bool { h, _ := k.host(j.Spec.Name); return h != nil }
	for n := 0; j.Spec.Name == "" || bank.CheckName("host:"+j.Spec.Name) != nil || taken(); n++ {
		if i.Name != "" {
			out.err = fmt.Errorf("host %s is there already: %w", i.Name, link.ErrToken)
			return nil
		}
		j.Spec.Name = fmt.Sprintf("h%02d", n)
	}
	if j.Owner == "" {
		j.Owner = "host:" + j.Spec.Name
	}
	i.pin, i.host = e.Pin, j.Spec.Name
	out.host = j.Spec.Name
	return k.join(j, out)
}

// Host returns the name of the host whose certificate has a pin.
func (m *Market) Host(pin string) (string, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for _, h := range m.core.hosts {
		if h.Pin == pin && pin != "" && !h.removed {
			return h.Spec.Name, nil
		}
	}
	return "", link.ErrUnknown
}

// mostBlob is the most bytes of a file that a job has.
const mostBlob = 64 << 20

// errSize means that a file is too large.
var errSize = errors.New("the file is too large")

// PutBlob keeps a file that a job has, and returns its SHA-256 in hexadecimal digits.
func (m *Market) PutBlob(data []byte) (sha string, err error) {
	sha = order.Sum(data)[len("sha256:"):]
	if len(data) > mostBlob {
		return "", fmt.Errorf("%w: found %d bytes, want at most %d", errSize, len(data), mostBlob)
	}
	if there, err := m.log.has(blobKey(sha)); there || err != nil {
		return sha, err
	}
	return sha, m.log.put(blobKey(sha), data)
}

// files tells whether all files of a job are there.
func (m *Market) files(j *remote.Job) error {
	for name, sha := range j.Files {
		if there, err := m.log.has(blobKey(sha)); err != nil || !there {
			return errors.Join(err, fmt.Errorf("%w: its file %s, %s, is not there: put it first", ErrOrder, name, sha))
		}
	}
	return nil
}

// Blob implements [link.Market].
func (m *Market) Blob(_ context.Context, host, sha string) ([]byte, error) {
	job, file := m.wanted(host, sha)
	if job == "" && !file {
		return nil, fmt.Errorf("%w: %s on %s", link.ErrUnknown, sha, host)
	}
	if job != "" {
		return []byte(job), nil
	}
	return m.log.blob(blobKey(sha))
}

// wanted returns the text of the job that has a sum, if it is wanted on a host, or tells
// whether that is of a file of one.
func (m *Market) wanted(host, sha string) (job string, file bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	h, _ := m.core.host(host)
	if h == nil {
		return "", false
	}
	for i := range h.orders.Wanted {
		w := &h.orders.Wanted[i]
		c := m.core.open[w.Contract]
		if c == nil {
			continue
		}
		if w.Job == sha {
			return c.job, false
		}
		if j, err := order.ParseJob([]byte(c.job)); err == nil {
			for _, of := range j.Files {
				file = file || of == sha
			}
		}
	}
	return "", file
}
