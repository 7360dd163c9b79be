package bank_test

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"bourse/bank/overlaytest"
)

var plant = flag.Bool("faults", false, "plant each fault in the code and see the tests catch it")

// TestFaults first checks that the tests of each package pass without a fault. It then plants
// each fault and checks that the tests build and fail. Run it with -faults, and with -v to
// print the test that failed first. It takes ten minutes or more.
func TestFaults(t *testing.T) {
	if !*plant {
		t.Skipf("run with -faults to plant %d faults", len(faults))
	}
	t.Run("none", func(t *testing.T) {
		done := make(map[string]bool)
		for _, f := range faults {
			if done[f.room] {
				continue
			}
			done[f.room] = true
			t.Run(f.room, func(t *testing.T) {
				t.Parallel()
				if by, _ := runRoom(t, buildRoom(t, f.room, ""), f.room); by != "" {
					t.Fatalf("%s fails without a fault", by)
				}
			})
		}
	})
	if t.Failed() {
		t.Fatal("tests that fail without a fault catch none")
	}
	for _, f := range faults {
		t.Run(f.what, func(t *testing.T) {
			t.Parallel()
			by, out := runRoom(t, buildRoom(t, f.room, plantFault(t, f.file, f.right, f.wrong)), f.room)
			switch {
			case by != "":
				t.Logf("caught by %s", by)
			case bytes.Contains(out, []byte("no PostgreSQL")):
				t.Skip("there is no PostgreSQL to run the tests on")
			default:
				t.Error("not caught")
			}
		})
	}
}

// plantFault returns an overlay of the code with a fault.
func plantFault(t *testing.T, file, right, wrong string) string {
	t.Helper()
	file, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(code), right); n != 1 {
		t.Fatalf("%s has %q %d times, want once", file, right, n)
	}
	return overlaytest.Write(t, map[string]string{file: strings.Replace(string(code), right, wrong, 1)})
}

// buildRoom builds the tests of a package. A fault that does not compile does not count.
func buildRoom(t *testing.T, room, overlay string) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "room.test")
	args := []string{"test", "-c", "-o", program}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	if out, err := exec.Command("go", append(args, room)...).CombinedOutput(); err != nil {
		t.Fatalf("the tests do not build: %v: %s", err, out)
	}
	return program
}

// failedTest returns the first failure: a failing test, the tests that were running at a
// timeout, or the panic or fatal error that ended the process.
var failedTest = regexp.MustCompile(`--- FAIL: (\S+)|panic: test timed out after [^\n]*\n\s*running tests:\n((?:\s+\S+ \([^\n]*\n)+)|((?:panic|fatal error): [^\n]*)`)

// runRoom runs the tests of a package until one fails, and returns its name, or "" if none
// fails. A test that hangs fails at its timeout.
func runRoom(t *testing.T, program, room string) (by string, out []byte) {
	t.Helper()
	const limit = 150 * time.Second
	args := []string{"-test.v", "-test.timeout", limit.String()}
	if room == "." || room == "./opening" {
		args = append(args, "-rapid.nofailfile") // later failures add no information
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit+30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = room
	cmd.Env = append(os.Environ(), "TMPDIR="+openDir(t))
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	failed := false
	for lines := bufio.NewReader(pipe); ; {
		line, err := lines.ReadBytes('\n')
		out = append(out, line...)
		if !failed && bytes.Contains(line, []byte("--- FAIL: ")) {
			failed = true
			cmd.Process.Kill() // running the other tests would only take time
		}
		if err != nil {
			break
		}
	}
	if err := cmd.Wait(); err == nil {
		return "", out
	} else if m := failedTest.FindSubmatch(out); m == nil {
		return fmt.Sprintf("the tests' end (%v): %s", err, out[max(0, len(out)-300):]), out
	} else {
		by = string(bytes.Join(m[1:], nil))
		if m[2] != nil {
			by = strings.Join(strings.Fields(by), " ") + ", without end"
		}
		return by, out
	}
}

// openDir returns a temporary directory with a short name that any user may enter. It contains
// sockets of servers and files left by killed tests.
func openDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "fault")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
