//go:build linux

package linux

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// waits measures how long a group was ready but waited for a processor, from its threads. In
// each interval, only the longest wait of a thread counts, as in the pressure of a group that
// the kernel reports. The sum over threads could exceed the interval, because threads of one
// program wait for each other.
type waits struct {
	total   float64         // s
	threads map[int]float64 // seconds that each thread had waited when it was last measured
	at      time.Time       // time of the last measurement
}

// measureEach is the interval between two measurements of threads, which cost 10 µs per thread.
const measureEach = 400 * time.Millisecond

// due reports whether it is time for the next measurement.
func (w *waits) due(now time.Time) bool { return now.Sub(w.at) >= measureEach }

// add measures the threads of processes and returns the increase of the total.
func (w *waits) add(processes []int, now time.Time) float64 {
	seen, most := make(map[int]float64, len(w.threads)), 0.0
	for _, pid := range processes {
		threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
		for _, t := range threads {
			tid, err := strconv.Atoi(t.Name())
			if err != nil {
				continue
			}
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/schedstat", pid, tid))
			if f := bytes.Fields(text); err == nil && len(f) > 1 {
				ns, _ := strconv.ParseFloat(string(f[1]), 64)
				seen[tid] = ns / 1e9
				most = max(most, seen[tid]-w.threads[tid])
			}
		}
	}
	if !w.at.IsZero() {
		most = min(most, now.Sub(w.at).Seconds())
	}
	w.threads, w.at = seen, now
	w.total += most
	return most
}

// stalled returns the microseconds for which a process of the group waited, from its pressure.
func stalled(text []byte) (int64, error) {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	_, total, ok := bytes.Cut(line, []byte("total="))
	if !ok || !bytes.HasPrefix(line, []byte("some ")) {
		return 0, fmt.Errorf("found pressure %.60q, want a line some … total=N", text)
	}
	return strconv.ParseInt(string(bytes.TrimSpace(total)), 10, 64)
}

// wait accounts for a time slice of dt seconds: a stopped process counts as waiting if it would
// run.
func (t *tree) wait(dt float64) {
	if t.frozen || t.share.Weight == 0 {
		return
	}
	if t.stands {
		if t.hungry {
			t.waits.total += dt
		}
		return
	}
	all := make([]int, len(t.seen))
	for i, r := range t.seen {
		all[i] = r.pid
	}
	t.hungry = t.waits.add(all, time.Now())+t.claim.used > dt/2
}
