package author

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestAskGuarded checks that a policy that does not end is stopped while it answers a saved
// question, or while it is loaded. The error must contain the line of the script.
func TestAskGuarded(t *testing.T) {
	t.Parallel()
	slow := "l = list(range(1000000))\n%sfor i in range(1000):\n%s    x = -1 in l\n"
	body := strings.ReplaceAll(slow, "%s", "    ")
	for text, want := range map[string]string{
		"def decide(request, market):\n    " + body: "mine.star:4:16: interrupted",
		"def f():\n    " + body + "f()\n":           "mine.star:4:16: interrupted",
		"import sys, time\nsys.stdin.readline()\nprint('{\"hello\":\"bourse policy\",\"version\":1}', flush=True)\ntime.sleep(100)": "the program ended without an answer (signal: killed)",
	} {
		s := Source{File: filepath.Join(t.TempDir(), "mine.star")}
		if err := os.WriteFile(s.File, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(text, "import") {
			if _, err := exec.LookPath("python3"); err != nil {
				continue
			}
			s = Source{Command: []string{"python3", s.File}}
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		question := `{"ask":1,"now":0,"request":{"id":1,"nodes":1,"work":100,"deadline":100,"budget":1},"hosts":[{"id":0,"cpus":1,"speed":1}],"place":[]}`
		if _, err := Ask(ctx, s, []byte(question), func(string) {}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
