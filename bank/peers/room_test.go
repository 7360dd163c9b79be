package peers

import (
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// crowded returns a room for two bodies per address, and n connections of one address.
func crowded(t *testing.T, n int) (*room, []*conn) {
	t.Helper()
	r := &room{most: [kinds]int{2 * n, 2 * n, 4, 4}, turns: make(chan struct{}, 1), queue: make(chan struct{}, 1), peers: make(map[string]*peer), dropped: func(string) {}}
	all := make([]*conn, n)
	for i := range all {
		c, other := net.Pipe()
		t.Cleanup(func() { other.Close() })
		all[i] = &conn{Conn: c, room: r, address: "one"}
		if !r.take(all[i], connections) {
			t.Fatal("no connection")
		}
	}
	return r, all
}

// TestBodiesQueue checks that bodies displace other bodies only one after another: a hundred
// bodies that arrive at once displace at most one body per interval until their time limit.
func TestBodiesQueue(t *testing.T) {
	t.Parallel()
	r, all := crowded(t, 100)
	var ended atomic.Int64
	r.dropped = func(string) { ended.Add(1) }
	const patience = 5 * interval
	begun := time.Now()
	var group sync.WaitGroup
	for _, c := range all {
		group.Go(func() { r.place(t.Context(), c, bodies, patience) })
	}
	group.Wait()
	if took, n := time.Since(begun), int(ended.Load()); n == 0 || n > int(took/interval)+1 {
		t.Errorf("%d bodies were displaced in %v, want one per %v", n, took, interval)
	}
}

// TestTurns checks that calls that arrive with the end of the last reply wait for a turn, and
// that other calls do not.
func TestTurns(t *testing.T) {
	t.Parallel()
	r, all := crowded(t, 2)
	q := &http.Request{ProtoMajor: 1}
	r.turns <- struct{}{} // the only turn is taken
	for _, c := range all {
		c.known, c.last = true, time.Now()
	}
	if _, ok := r.turn(all[0], q, 5*time.Millisecond); ok {
		t.Error("a call at the moment of the last reply does not wait")
	}
	all[1].last = time.Now().Add(-2 * rest)
	if _, ok := r.turn(all[1], q, 5*time.Millisecond); !ok {
		t.Error("a call after a pause waits")
	}
}
