package pgtest

import (
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Work returns the processor time used so far by all processes of a ledger's server. It
// returns 0 if the time is unknown because the server runs elsewhere.
func Work(ledgerURL string) time.Duration {
	u, err := url.Parse(ledgerURL)
	if err != nil {
		return 0
	}
	text, err := os.ReadFile(filepath.Join(u.Query().Get("host"), "data", "postmaster.pid"))
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), "\n")
	ticks := 0
	processes, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range processes {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // the process has ended
		}
		_, rest, _ := strings.Cut(string(b), ") ")
		f := strings.Fields(rest) // starting at the third field of proc(5)
		if len(f) < 15 || f[1] != first && filepath.Base(filepath.Dir(name)) != first {
			continue
		}
		spent := f[11:13] // utime and stime; for the first process, also those of its children that have ended
		if f[1] != first {
			spent = f[11:15]
		}
		for _, s := range spent {
			n, _ := strconv.Atoi(s)
			ticks += n
		}
	}
	return time.Duration(ticks) * time.Second / 100
}
