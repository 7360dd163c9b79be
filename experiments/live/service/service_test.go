package service

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"bourse/hosts/link"
)

// TestInvitations checks that one certificate uses up an invitation within its validity and
// that invitations survive a restart. An invitation of a host that could not join must stay
// valid.
func TestInvitations(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open := func() *invitations {
		v, err := openInvitations(dir)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	joined := 0
	join := func(i *invitation) (string, error) {
		joined++
		return i.Name, nil
	}
	if err := open().add("secret", "h01", "user:me"); err != nil {
		t.Fatal(err)
	}
	refused := errors.New("there is one")
	if _, err := open().use("secret", "pin", func(*invitation) (string, error) { return "", refused }); !errors.Is(err, refused) {
		t.Errorf("a host that cannot join: %v", err)
	}
	for range 2 { // a repeated request gets the same answer
		if name, err := open().use("secret", "pin", join); name != "h01" || err != nil {
			t.Errorf("%q, %v", name, err)
		}
	}
	for _, c := range [][2]string{{"secret", "another"}, {"guess", "pin"}, {"", ""}} {
		if name, err := open().use(c[0], c[1], join); !errors.Is(err, link.ErrToken) {
			t.Errorf("%v: %q, %v", c, name, err)
		}
	}
	if joined != 1 {
		t.Errorf("joined %d times, want once", joined)
	}
	late := open()
	if err := late.add("late", "h02", "user:me"); err != nil {
		t.Fatal(err)
	}
	late.all[len(late.all)-1].Until = time.Now().Add(-time.Second)
	if _, err := late.use("late", "pin", join); !errors.Is(err, link.ErrToken) {
		t.Errorf("an hour later: %v", err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "invitations")); err != nil || len(text) == 0 {
		t.Errorf("kept: %v", err)
	}
}

// TestBlobs checks that a file can be found only by its hash and is removed when it is old.
func TestBlobs(t *testing.T) {
	t.Parallel()
	wanted := make(map[string]bool)
	b, err := openBlobs(t.TempDir(), mostBlob, func() map[string]bool { return wanted })
	if err != nil {
		t.Fatal(err)
	}
	sha, err := b.put([]byte("one"))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := b.put([]byte("one")); err != nil || again != sha {
		t.Errorf("%s, %v, want %s", again, err, sha)
	}
	if got, err := b.get(sha); err != nil || string(got) != "one" {
		t.Errorf("%q, %v", got, err)
	}
	for _, name := range []string{"", "../../etc/passwd", sha[:63], sha + "0", "00" + sha[2:]} {
		if got, err := b.get(name); !errors.Is(err, link.ErrUnknown) {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
	old := time.Now().Add(-keeps - time.Hour)
	if err := errors.Join(os.Chtimes(filepath.Join(b.dir, sha), old, old), b.sweep()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.get(sha); !errors.Is(err, link.ErrUnknown) {
		t.Errorf("an old file: %v", err)
	}
	if _, err := b.put(make([]byte, mostBlob+1)); err == nil {
		t.Error("a file that is too large is kept")
	}
}
