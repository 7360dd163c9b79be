package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"bourse/hosts"
	"bourse/hosts/agent"
	"bourse/hosts/link"
	"bourse/hosts/remote"
)

// An emptyMarket is a fake market. It admits the host with its secret, gives the host no tasks,
// and lets the host leave.
type emptyMarket struct {
	mu      sync.Mutex
	machine *remote.Machine
	secret  string
	pin     string
	told    *remote.Told
}

func (m *emptyMarket) Enrol(_ context.Context, e link.Enrolment) (host, market string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e.Secret != m.secret || m.pin != "" && m.pin != e.Pin {
		return "", "", link.ErrToken
	}
	m.pin = e.Pin
	return e.Name, "lab", nil
}

func (m *emptyMarket) Host(pin string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if pin != m.pin {
		return "", link.ErrUnknown
	}
	return "box", nil
}

func (m *emptyMarket) Sync(_ context.Context, _ string, t *remote.Told) (*remote.Orders, error) {
	time.Sleep(10 * time.Millisecond)
	m.mu.Lock()
	defer m.mu.Unlock()
	known, _ := m.machine.Hear(float64(time.Now().UnixNano())/1e9, t)
	m.machine.Deal()
	o := m.machine.Orders(0, known)
	o.Lease, o.Drain, m.told = 20, t.Leaving == remote.WhenDone, t
	return &o, nil
}

func (m *emptyMarket) Blob(context.Context, string, string) ([]byte, error) {
	return nil, link.ErrUnknown
}

func (m *emptyMarket) PutCheckpoint(context.Context, string, *remote.Checkpoint) error { return nil }

func (m *emptyMarket) PutLog(context.Context, string, *remote.Log) error { return nil }

// TestAgent checks that an agent joins with a token, describes this machine to the market,
// sends reports, can return without the token, and ends when it is drained. The test also
// checks which flags and folders the agent refuses.
func TestAgent(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	own, err := link.Identity(filepath.Join(t.TempDir(), "market.pem"), "market")
	if err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", link.ServerTLS(own))
	if err != nil {
		t.Fatal(err)
	}
	token := link.NewToken(l.Addr().String(), link.Pin(own.Leaf.Raw))
	m := &emptyMarket{machine: remote.New(hosts.Spec{Name: "box", CPUs: 1, Speed: 1}), secret: token.Secret}
	mux := http.NewServeMux()
	mux.Handle(link.Handler(m))
	server := &http.Server{Handler: mux, ErrorLog: log.New(io.Discard, "", 0)}
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })

	dir := filepath.Join(t.TempDir(), "agent")
	for _, c := range []struct{ args, says string }{
		{"agent " + dir, "use --join TOKEN"},
		{"agent " + dir + " --join x", "no token"},
		{"agent drain " + dir, "want --when-done, --now or --stay"},
		{"agent drain " + dir + " --now --stay", "want only one"},
		{"agent " + dir + " --kind signals --join " + token.String(), "--trust ACCOUNT"},
	} {
		if status, _, errs := bourse(t, ctx, strings.Fields(c.args)...); status != statusUsage || !strings.Contains(errs, c.says) {
			t.Errorf("%s: exit status %d, %q", c.args, status, errs)
		}
	}
	wrong := token
	wrong.Secret = link.NewToken("", "").Secret
	if status, _, errs := bourse(t, ctx, "agent", dir, "--kind", "signals", "--trust", "user:ann", "--join", wrong.String()); status != statusFailed || !strings.Contains(errs, "token is used up") {
		t.Errorf("a wrong token: exit status %d, %q", status, errs)
	}

	var printed bytes.Buffer
	first, stop := context.WithCancel(ctx)
	done := make(chan int)
	go func() {
		args := []string{"bourse", "agent", dir, "--name", "box", "--trust", "user:ann", "--cpus", "0.5", "--kind", "signals", "--join", token.String()}
		done <- run(first, args, nil, io.Discard, &printed)
	}()
	tells := func() *remote.Told {
		t.Helper()
		for range 500 {
			m.mu.Lock()
			told := m.told
			m.told = nil
			m.mu.Unlock()
			if told != nil {
				return told
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Fatal("it tells nothing")
		return nil
	}
	told := tells()
	if o := told.Offer; o.Kind != "signals" || o.CPUs != 0.5 || o.Apart || o.Memory < 1e6 || o.Disk < 1e6 || len(o.Trust) != 1 {
		t.Errorf("it offers %+v", o)
	}
	if status, _, errs := bourse(t, ctx, "agent", dir); status != statusFailed || !strings.Contains(errs, "another agent uses it") {
		t.Errorf("two in one folder: exit status %d, %q", status, errs)
	}
	stop()
	<-done
	if want := "host box of the market at " + token.Address + ": 0.5 processors, shares by signals; users are not isolated, so this host runs jobs only for user:ann"; !strings.HasPrefix(printed.String(), want) {
		t.Errorf("it prints %s, want %s", printed.String(), want)
	}
	status, out, errs := bourse(t, ctx, "agent", "show", dir, "--json")
	var s agent.Status
	if err := json.Unmarshal([]byte(out), &s); err != nil || s.Host != "box" || s.Market != token.Address || s.Kind != "signals" || len(s.Tasks) > 0 {
		t.Errorf("it shows %s: %d, %s, %v", out, status, errs, err)
	}
	if status, _, errs := bourse(t, ctx, "agent", "drain", dir, "--when-done"); status != statusDone {
		t.Errorf("drain: exit status %d, %q", status, errs)
	}
	if status, _, errs := bourse(t, ctx, "agent", dir); status != statusDone || !strings.Contains(errs, "drained") {
		t.Errorf("drained: exit status %d, %q", status, errs)
	}
	if again := tells(); again.Session != told.Session+1 || again.After != told.Boot || again.Offer.CPUs != 0.5 {
		t.Errorf("the next agent is session %d after %q: %+v", again.Session, again.After, again.Offer)
	}
	other := link.NewToken("127.0.0.1:9", strings.Repeat("A", 43))
	if status, _, errs := bourse(t, ctx, "agent", dir, "--join", other.String()); status != statusFailed || !strings.Contains(errs, "another market needs a folder of its own") {
		t.Errorf("another market: exit status %d, %q", status, errs)
	}
	if info, err := os.Stat(filepath.Join(dir, "host.pem")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its key: %v, %v", info, err)
	}
}
