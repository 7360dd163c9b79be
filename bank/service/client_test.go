package service

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestEndlessAnswer checks that the client limits how much it reads of an endless reply.
func TestEndlessAnswer(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		check(t, err)
		w.Header().Set("Content-Type", r.Header.Get("Content-Type"))
		for block := make([]byte, 1<<12); err == nil; {
			_, err = w.Write(block)
		}
	}))
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	defer s.Close()
	c, err := newClient(Dial{Addresses: []string{s.URL}, Now: clock}, 1<<16)
	check(t, err)
	defer c.Close()
	c.patience = time.Second // the excess is received, too, and discarded
	if _, err := c.KeyOf(t.Context(), "user:1"); err == nil || !strings.Contains(err.Error(), "larger than configured max 65536") {
		t.Errorf("found %v, want an answer that is too large", err)
	}
}
