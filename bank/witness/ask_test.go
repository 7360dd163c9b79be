package witness

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestAskAll checks that silent, slow or endless witnesses do not delay the other witnesses:
// all witnesses are asked concurrently, and each has a time limit.
func TestAskAll(t *testing.T) {
	t.Parallel()
	k := newKeeper(t, "lab")
	k.lines = []string{"one", "two"}
	honest, key := watch(t, t.TempDir(), k)
	deaf, err := net.Listen("tcp", "127.0.0.1:0") // accepts connections but never replies
	check(t, err)
	defer deaf.Close()
	answers := func(answer http.HandlerFunc) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, err := io.Copy(io.Discard, r.Body) // read the body, so that the server notices when the client disconnects
			check(t, err)
			answer(w, r)
		}))
		t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
		return s.URL
	}
	peers := []Peer{
		{"http://" + deaf.Addr().String(), key},
		{answers(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }), key},
		{answers(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusOK)
			check(t, http.NewResponseController(w).Flush())
			<-r.Context().Done()
		}), key},
		{answers(func(w http.ResponseWriter, _ *http.Request) {
			for block := make([]byte, 1<<16); ; {
				if _, err := w.Write(block); err != nil {
					return
				}
			}
		}), key},
		{honest, key},
	}
	began := time.Now()
	const patience = 2 * time.Second
	lines, errs := AskAll(t.Context(), patience, peers, k.shows(2), k.proof(2))
	if took := time.Since(began); took > 10*patience {
		t.Errorf("it took %v", took)
	}
	for i, want := range []string{"no answer within 2s", "no answer within 2s", "no answer within 2s", "more than 65536 bytes"} {
		if errs[i] == nil || lines[i] != nil || !strings.Contains(errs[i].Error(), want) {
			t.Errorf("witness %d: %q, %v; want %q", i, lines[i], errs[i], want)
		}
	}
	if errs[4] != nil || len(lines[4]) == 0 {
		t.Errorf("the one that answers: %q, %v", lines[4], errs[4])
	}
}
