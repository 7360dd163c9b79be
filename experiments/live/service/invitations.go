package service

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"time"

	"bourse/bank/whole"
	"bourse/hosts/link"
)

// invited is the validity of an invitation.
const invited = time.Hour

// An invitation permits one host to join.
type invitation struct {
	Hash   string    `json:"hash"`           // SHA-256 hash of the secret, in hexadecimal digits
	Name   string    `json:"name,omitempty"` // name of the host; if empty, the host chooses its name
	Owner  string    `json:"owner"`          // account that receives the charges for the host
	Until  time.Time `json:"until"`
	Pin    string    `json:"pin,omitempty"`    // pin of the host that has used the invitation
	Joined string    `json:"joined,omitempty"` // name under which the host has joined
}

// invitations are the invitations stored in a file.
type invitations struct {
	file string
	mu   sync.Mutex
	all  []invitation
}

func openInvitations(dir string) (*invitations, error) {
	v := &invitations{file: filepath.Join(dir, "invitations")}
	text, err := whole.Read(v.file, 1<<28)
	if errors.Is(err, fs.ErrNotExist) {
		return v, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &v.all)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", v.file, err)
	}
	return v, nil
}

func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// add stores an invitation. add stores an invitation. The holder of its secret may join.
func (v *invitations) add(secret, name, owner string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := time.Now()
	var kept []invitation
	for _, i := range v.all {
		if now.Before(i.Until) {
			kept = append(kept, i)
		}
	}
	v.all = append(kept, invitation{Hash: hashOf(secret), Name: name, Owner: owner, Until: now.Add(invited)})
	return v.save()
}

// use consumes the invitation with the given secret for the host with the given pin. It passes
// the invitation to join and returns the name under which the host has joined. If the host
// with the same pin uses the invitation again, use returns the same name.
func (v *invitations) use(secret, pin string, join func(*invitation) (string, error)) (string, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for n := range v.all {
		i := &v.all[n]
		switch {
		case i.Hash != hashOf(secret) || i.Pin != "" && i.Pin != pin:
		case i.Joined != "":
			return i.Joined, nil
		case time.Now().After(i.Until):
		default:
			name, err := join(i)
			if err != nil {
				return "", err
			}
			i.Pin, i.Joined = pin, name
			return name, v.save()
		}
	}
	return "", link.ErrToken
}

func (v *invitations) save() error {
	text, err := json.MarshalIndent(v.all, "", "  ")
	if err != nil {
		return err
	}
	return whole.Write(v.file, append(text, '\n'))
}
