package client

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"testing"
)

// TestMain lets the test binary run as a client in its own process. The client submits a
// task.
func TestMain(m *testing.M) {
	if home := os.Getenv("BOURSE_TEST_HOME"); home != "" {
		c, err := Open(Home(home))
		if err == nil {
			_, err = c.Submit(context.Background(), plainTask())
		}
		if err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

// plainTask is a task without files, so its order is the first message that is sent.
func plainTask() *Task {
	t := task()
	t.Files = nil
	return t
}

// TestKilled kills a client process with SIGKILL before its order has reached the market,
// and while the market decides. The order must be stored and sent again unchanged.
func TestKilled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		at   string
		sent int // before it is sent again
	}{
		{"before it is sent", 0},
		{"while it is decided", 1},
	} {
		t.Run(c.at, func(t *testing.T) {
			t.Parallel()
			client := exec.Command("/proc/self/exe")
			started, dead := make(chan struct{}), make(chan struct{})
			kill := sync.OnceFunc(func() {
				<-started
				client.Process.Kill()
				<-dead
			})
			s := new(scribe)
			home, _ := userAt(t, s, func(server *httptest.Server) {
				if c.sent == 0 {
					var first sync.Once
					server.Config.ConnState = func(conn net.Conn, state http.ConnState) {
						if state == http.StateNew {
							first.Do(func() {
								kill()
								conn.Close() // with what the client may have written already
							})
						}
					}
				}
			})
			if c.sent > 0 {
				s.during = kill
			}
			client.Env, client.Stderr = append(os.Environ(), "BOURSE_TEST_HOME="+string(home)), os.Stderr
			if err := client.Start(); err != nil {
				t.Fatal(err)
			}
			close(started)
			err := client.Wait()
			close(dead)
			if s, ok := client.ProcessState.Sys().(syscall.WaitStatus); !ok || s.Signal() != syscall.SIGKILL {
				t.Fatalf("it was not killed: %v", err)
			}
			resumed(t, home)
			if sent := *s.orders.Load(); len(sent) != c.sent+1 || len(slices.Compact(sent)) != 1 {
				t.Errorf("%q were sent", sent)
			}
			if left, err := os.ReadDir(home.path("sent")); err != nil || len(left) > 0 {
				t.Errorf("left: %v, %v", left, err)
			}
		})
	}
}
