package recovered

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A slow is a computation that records why it was canceled.
type slow struct{ reason string }

func (s *slow) Cancel(reason string) { s.reason = reason }

// A timed is a computation with its own time limit.
type timed struct{ slow }

func (*timed) Timed() bool { return true }

// A checked is a computation with the method CheckOften.
type checked struct {
	slow
	check func()
}

func (c *checked) CheckOften(check func()) { c.check = check }

// TestLarge checks that a computation whose memory grows is asked to check itself, and that a check
// cancels it. It is not parallel, because all tests share the memory.
func TestLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c checked
		done := Guard(t.Context())(&c)
		time.Sleep(every)
		synctest.Wait()
		small := make([]byte, 2*growth/64)
		time.Sleep(every)
		synctest.Wait()
		if c.check == nil {
			t.Fatal("it was not asked to check itself")
		}
		large := make([]byte, 2*growth)
		if c.check(); !strings.Contains(c.reason, "memory grew by more than 256 MiB") {
			t.Errorf("it was canceled because of %q", c.reason)
		}
		done()
		runtime.KeepAlive(small)
		runtime.KeepAlive(large)
	})
}

// TestGuard checks that a computation is canceled after 10 s unless it has a time limit of its
// own, and that one that goes on is reported.
func TestGuard(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		after          time.Duration
		canceled, ends bool
	}{{9 * time.Second, false, false}, {12 * time.Second, true, false}, {16 * time.Second, true, true}} {
		synctest.Test(t, func(t *testing.T) {
			ended := false
			var s slow
			var u timed
			done := guard(t.Context(), func() { ended = true })(&s)
			also := Guard(t.Context())(&u) // without this guard, the test would not end
			time.Sleep(c.after)
			done()
			also()
			synctest.Wait()
			if strings.Contains(s.reason, "more than 10s") != c.canceled || ended != c.ends || u.reason != "" {
				t.Errorf("after %v: %q, %q, the end %v", c.after, s.reason, u.reason, ended)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		ended := false
		var s slow
		done := guard(ctx, func() { ended = true })(&s)
		time.Sleep(time.Second)
		stop()
		time.Sleep(grace / 20)
		synctest.Wait()
		if s.reason != "interrupted" || ended {
			t.Errorf("interrupted: %q, the end %v", s.reason, ended)
		}
		time.Sleep(grace / 10)
		done()
		synctest.Wait()
		if !ended {
			t.Error("it goes on")
		}
	})
}
