package page

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"bourse/experiments/live"
)

const (
	mostWatchers = 256              // streams at once
	heartbeat    = 15 * time.Second // time without events after which the stream reports that the market is alive
)

// events streams server-sent events, starting after the last event that the browser has
// received. The browser states that event in the header Last-Event-ID, or by the number in the
// page. Events that are no longer stored are skipped. In that case, the page shows the current
// state.
func (s *server) events(w http.ResponseWriter, r *http.Request) {
	after := s.Market.LastEvent()
	for _, said := range []string{r.Header.Get("Last-Event-ID"), r.URL.Query().Get("after")} {
		if said == "" {
			continue
		}
		n, err := strconv.ParseInt(said, 10, 64)
		if err != nil || n < 0 {
			http.Error(w, fmt.Sprintf("Last-Event-ID: found %.40q, want the number of an event", said), http.StatusBadRequest)
			return
		}
		after = n
		break
	}
	if s.watchers.Add(1) > mostWatchers {
		s.watchers.Add(-1)
		http.Error(w, "too many watch", http.StatusServiceUnavailable)
		return
	}
	defer s.watchers.Add(-1)
	w.Header().Set("Content-Type", "text/event-stream")
	stream := http.NewResponseController(w)
	fmt.Fprintf(w, "retry: 1000\nid: %d\nevent: begin\ndata: {}\n\n", after)
	for stream.Flush() == nil {
		ctx, cancel := context.WithTimeout(r.Context(), heartbeat)
		all, err := s.Market.Events(ctx, after)
		cancel()
		if r.Context().Err() != nil {
			return
		}
		if err != nil {
			fmt.Fprint(w, ": here\n\n")
			continue
		}
		for i := range all {
			text, err := s.encoded.text(&all[i])
			if err != nil {
				return
			}
			after = all[i].Seq
			w.Write(text)
		}
	}
}

// An encoded stores encoded events. All streams share it, so each event is encoded only once.
type encoded struct {
	mu    sync.Mutex
	texts map[int64][]byte // by number
}

const mostEncoded = 1024 // events that are kept

// text returns the encoding of an event.
func (c *encoded) text(e *live.Event) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if text, ok := c.texts[e.Seq]; ok {
		return text, nil
	}
	data, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	if len(c.texts) >= mostEncoded || c.texts == nil {
		c.texts = make(map[int64][]byte)
	}
	text := fmt.Appendf(nil, "id: %d\nevent: %s\ndata: %s\n\n", e.Seq, e.Kind, data)
	c.texts[e.Seq] = text
	return text, nil
}
