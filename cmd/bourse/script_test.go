package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"bourse/bank/store/postgres/pgtest"
	"bourse/hosts/agent"
	"bourse/hosts/confine"

	"github.com/cockroachdb/pebble/v2"
	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the expected outputs of scripts")

// waiting is the number of parallel tests per processor. Many tests wait for disks, servers
// and leases most of their time.
const waiting = 3

func TestMain(m *testing.M) {
	agent.Main() // this program supervises the tasks of a lab
	confine.Main()
	if err := flag.Set("test.parallel", strconv.Itoa(waiting*runtime.GOMAXPROCS(0))); err != nil { // the flag -parallel overrides this value
		panic(err)
	}
	testscript.Main(m, map[string]func(){"bourse": checkedMain})
}

// TestScripts runs the scripts in testdata/script, which contain commands as a user types them,
// with their output and exit statuses. Scripts that read recorded logs under $TRACES are
// skipped if there are none.
func TestScripts(t *testing.T) {
	t.Parallel()
	traces, err := filepath.Abs("../../../shared/traces")
	source, wrong := filepath.Abs(".")
	if err := errors.Join(err, wrong); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("TRACES", traces)
			e.Setenv("POLICIES", filepath.Join(filepath.Dir(filepath.Dir(source)), "experiments", "examples", "policies"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status":  scriptStatus,
			"keep":    scriptKeep,
			"replace": scriptReplace,
			"ledger":  scriptLedger,
			"decided": scriptDecided,
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "machines":
				return os.Getenv("BOURSE_CI") != "", nil
			case "traces":
				_, err := os.Stat(traces)
				return err == nil, nil
			case "postgres":
				return pgtest.Found(), nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
	})
}

// scriptStatus, called as status N COMMAND..., runs a command that must fail with exit
// status N and at most three lines on standard error.
func scriptStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND...")
	}
	err := ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || fmt.Sprint(exit.ExitCode()) != args[0] {
		ts.Fatalf("%v: %v, want exit status %s", args[1:], err, args[0])
	}
	if errs := ts.ReadFile("stderr"); strings.Count(errs, "\n") > 3 || strings.Contains(errs, "goroutine ") {
		ts.Fatalf("%v: says too much on standard error", args[1:])
	}
}

// scriptLedger, called as ledger NAME, stores the URL of a ledger in a variable. The ledger
// does not exist yet, but its server is running.
func scriptLedger(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: ledger NAME")
	}
	u, drop, err := pgtest.New()
	ts.Check(err)
	ts.Defer(drop)
	ts.Setenv(args[0], u)
}

// scriptDecided, called as decided DIR FILE, changes the market in DIR, which must be
// stopped. Its log becomes that of a version that made every decision by the rules in FILE,
// and the rules in FILE become those of the market. This simulates two versions that decide
// differently under the same rules.
func scriptDecided(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: decided DIR FILE")
	}
	dir, rules := ts.MkAbs(args[0]), ts.ReadFile(args[1])
	ts.Check(os.WriteFile(filepath.Join(dir, "market.yaml"), []byte(rules), 0o600))
	db, err := pebble.Open(filepath.Join(dir, "log"), &pebble.Options{FormatMajorVersion: pebble.FormatValueSeparation, Logger: quiet{}})
	ts.Check(err)
	defer db.Close()
	key := []byte("N") // key of the parameters with which the market was created
	text, closer, err := db.Get(key)
	ts.Check(err)
	made := make(map[string]any)
	ts.Check(errors.Join(json.Unmarshal(text, &made), closer.Close()))
	made["config"] = rules
	text, err = json.Marshal(made)
	ts.Check(err)
	ts.Check(db.Set(key, text, pebble.Sync))
}

// A quiet is a Pebble logger that writes nothing.
type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(format string, args ...any) {
	panic(fmt.Sprintf(format, args...))
}

// scriptKeep, called as keep NAME FILE, stores the text of a file in a variable.
func scriptKeep(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: keep NAME FILE")
	}
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile(args[1])))
}

// scriptReplace, called as replace FILE OLD NEW OUT, writes a copy of a file in which the
// first OLD is replaced. OLD must occur.
func scriptReplace(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: replace FILE OLD NEW OUT")
	}
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s has no %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[3]), []byte(strings.Replace(text, args[1], args[2], 1)), 0o666))
}
