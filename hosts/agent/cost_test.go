//go:build linux

package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkCost measures the processor time of an agent with 100 sleeping tasks that reports
// every second, and of its supervisors, and compares it with the goal (live.md §18).
func BenchmarkCost(b *testing.B) {
	if os.Getenv("BOURSE_CI") == "" {
		b.Skip("it runs programs on this machine, which others may be using: BOURSE_CI=1")
	}
	const tasks, seconds = 100, 10
	for _, kind := range []string{"cgroup2", "cgroup1", "signals"} {
		b.Run(kind, func(b *testing.B) {
			w := newBench(b, kind)
			for i := range tasks {
				w.want(fmt.Sprintf("%d.0.%d", i+1, i+1), "sleep 1000", nil)
			}
			w.until("all run", func() bool { return len(w.shares()) == tasks && len(w.supervising()) == tasks })
			for range 8 { // wait until each task has had a first time slice
				time.Sleep(time.Second)
				w.apply()
			}
			for b.Loop() {
				supervisors := w.supervising()
				before := spent(supervisors)
				own := ownTime(b)
				for range seconds {
					time.Sleep(time.Second)
					w.apply()
				}
				agent, all := (ownTime(b)-own)/seconds, (spent(supervisors)-before)/seconds
				b.Logf("agent with %d tasks   %5.2f %% of a core, goal 1   %.2f of it", tasks, 100*agent, 100*agent)
				b.Logf("their supervisors          %5.2f %% of a core, %.3f each", 100*all, 100*all/tasks)
				b.ReportMetric(1e3*agent, "ms/s")
				b.ReportMetric(1e3*all, "minders-ms/s")
			}
		})
	}
}

// supervising returns the supervisor processes of b's tasks.
func (b *bench) supervising() (all []string) {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range lines {
		text, _ := os.ReadFile(name)
		if strings.HasPrefix(string(text), "bourse\x00"+supervisorRole+"\x00"+b.Dir+"/") {
			all = append(all, filepath.Dir(name))
		}
	}
	return all
}

// spent returns the processor time used by processes, in seconds.
func spent(all []string) (seconds float64) {
	for _, dir := range all {
		threads, _ := filepath.Glob(dir + "/task/*/schedstat")
		for _, name := range threads {
			var ns float64
			if text, err := os.ReadFile(name); err == nil {
				fmt.Sscan(string(text), &ns)
			}
			seconds += ns / 1e9
		}
	}
	return seconds
}

// ownTime returns the processor time used by this process, in seconds.
func ownTime(b *testing.B) float64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
