package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the expected outputs of scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"bourse": func() { os.Exit(run(context.Background(), os.Args, os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// TestScripts runs the conversations in testdata/script: commands as a user
// types them, with what they print and their exit statuses. Those that read
// recorded logs, under $TRACES, skip where there are none.
func TestScripts(t *testing.T) {
	t.Parallel()
	traces, err := filepath.Abs("../../../shared/traces")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("TRACES", traces)
			return nil
		},
		Condition: func(cond string) (bool, error) {
			if cond != "traces" {
				return false, fmt.Errorf("unknown condition %q", cond)
			}
			_, err := os.Stat(traces)
			return err == nil, nil
		},
	})
}
