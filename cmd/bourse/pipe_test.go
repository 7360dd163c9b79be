//go:build unix

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// reading lists the commands that read the file F, by their behaviour for a pipe: they wait
// until the user interrupts, or they reject it in one sentence.
var reading = []struct{ command, refuses string }{
	{"run F", ""},
	{"scenario check F", ""},
	{"scenario show F", ""},
	{"scenario check plan.yaml", "want a regular file"},
	{"scenario check swf.yaml", "want a regular file"},
	{"scenario check trace.yaml", "want a regular file"},
	{"scenario check model.yaml", "not a regular file"},
	{"run plan.yaml", "want a regular file"},
	{"run swf.yaml", "want a regular file"},
	{"run trace.yaml", "want a regular file"},
	{"run --preset librarisk-figure1 --trace F", "want a regular file"},
	{"run --preset volunteers-figure1 --availability F", "want a regular file"},
	{"workload describe F", ""},
	{"workload describe F.csv", ""},
	{"workload fit F", ""},
	{"workload compare F log.swf", ""},
	{"workload compare log.swf F", ""},
	{"workload table1 F", ""},
	{"workload table1 log.swf --models F", ""},
	{"workload generate F", ""},
	{"workload convert F", ""},
	{"workload convert F.csv", ""},
	{"reliability --availability F", ""},
	{"engine F", ""},
	{"market clear F --capacity 10", ""},
	{"bank import books F --id 9", ""},
	{"bank verify F", ""},
	{"bank audit F", "found no ledger"},
	{"bank balance F", "found no ledger"},
	{"ledger audit books --checkpoint F", ""},
	{"ledger audit books --checkpoint signed --public F", ""},
	{"ledger checkpoint books --key F", ""},
	{"ledger verify F", ""},
	{"ledger prove books --entry 1 --checkpoint F", ""},
	{"ledger audit F", "found no ledger"},
	{"ledger show F", "found no ledger"},
	{"ledger audit results", "named pipe, want a regular file"},
	{"ledger audit public", "named pipe, want a regular file"},
	{"ledger extends public --since signed", "named pipe, want a regular file"},
	{"ledger publish books --key key --out public", "named pipe, want a regular file"},
	{"claims results", "named pipe, want a regular file"},
	{"curve F", "not a results directory"},
}

// TestPipes checks that a single interruption ends every command that waits for a pipe to
// which nobody writes, both while opening and while reading it.
func TestPipes(t *testing.T) {
	t.Parallel()
	at := t.TempDir()
	do := func(args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if status := run(t.Context(), append([]string{"bourse"}, args...), strings.NewReader(""), &out, &errs); status != statusDone {
			t.Fatalf("%v: status %d: %s", args, status, &errs)
		}
		return out.String()
	}
	in := func(name string) string { return filepath.Join(at, name) }
	pipe := func(name string) {
		if err := syscall.Mkfifo(in(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write := func(name, text string) {
		if err := os.WriteFile(in(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(in("results"), 0o755); err != nil {
		t.Fatal(err)
	}
	pipe("results/manifest.json")
	if err := os.Mkdir(in("public"), 0o755); err != nil {
		t.Fatal(err)
	}
	pipe("public/checkpoint")
	do("workload", "generate", "lublin", "-n", "100", "--swf", in("log.swf"))
	do("bank", "init", in("books"))
	do("bank", "mint", in("books"), "user:a", "1", "--id", "1")
	do("key", "new", in("key"))
	write("signed", do("ledger", "checkpoint", in("books"), "--key", in("key")))
	const scenario = "name: s\nbase: {fleet: {hosts: 2, cpus: 1}, admission: [be], workload: "
	write("plan.yaml", scenario+"{plan: F.csv}}\nconfigurations: [{name: a}]\n")
	write("swf.yaml", scenario+"{swf: F}}\nconfigurations: [{name: a}]\n")
	write("model.yaml", scenario+"{model: {name: file, file: "+in("F")+"}}}\nconfigurations: [{name: a}]\n")
	write("trace.yaml", strings.Replace(scenario, "cpus: 1", "cpus: 1, availability: {file: F}", 1)+"{model: lublin}}\nconfigurations: [{name: a}]\n")

	for _, c := range reading {
		for _, opened := range []bool{false, true} {
			for _, name := range []string{"F", "F.csv"} { // processes other than the last command still wait for the pipe
				os.Remove(in(name))
				pipe(name)
			}
			args := []string{"bourse"}
			var waits string
			for _, w := range strings.Fields(c.command) {
				if _, err := os.Stat(in(w)); err == nil {
					w = in(w)
				}
				args = append(args, w)
				if strings.HasSuffix(w, "F.csv") || strings.HasSuffix(w, "plan.yaml") {
					waits = in("F.csv")
				}
			}
			if waits == "" {
				waits = in("F")
			}
			ctx, cancel := context.WithCancel(context.Background())
			var out, errs bytes.Buffer
			done, over := make(chan int, 1), make(chan bool)
			switch {
			case c.refuses != "":
			case opened: // interrupt the command when both ends of the pipe are open
				go func() {
					w, err := os.OpenFile(waits, os.O_WRONLY, 0)
					cancel()
					if err == nil {
						<-over
						w.Close()
					}
				}()
			default:
				cancel()
			}
			go func() { done <- run(ctx, args, strings.NewReader(""), &out, &errs) }()
			select {
			case status := <-done:
				close(over)
				want := statusInterrupted
				if c.refuses != "" {
					want = statusUsage
				}
				if status != want || !strings.Contains(errs.String(), c.refuses) {
					t.Errorf("%s: status %d, want %d, and %q in %s", c.command, status, want, c.refuses, &errs)
				}
			case <-time.After(30 * time.Second):
				t.Fatalf("%s: waits on, whoever interrupts; opened: %v", c.command, opened)
			}
			cancel()
		}
	}
}

// TestPipeWritten checks that a command that writes to a pipe without a reader ends when it
// is interrupted. A command that reads from and writes to pipes must do the same as with
// files.
func TestPipeWritten(t *testing.T) {
	t.Parallel()
	at := t.TempDir()
	from, to := filepath.Join(at, "from"), filepath.Join(at, "to")
	for _, name := range []string{from, to} {
		if err := syscall.Mkfifo(name, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, errs bytes.Buffer
	if status := run(ctx, []string{"bourse", "workload", "generate", "lublin", "-n", "5", "--swf", to}, nil, &out, &errs); status != statusInterrupted {
		t.Errorf("status %d, want %d: %s", status, statusInterrupted, &errs)
	}
	go func() {
		run(t.Context(), []string{"bourse", "workload", "generate", "lublin", "-n", "5", "--swf", from}, nil, new(bytes.Buffer), new(bytes.Buffer))
	}()
	errs.Reset()
	if status := run(t.Context(), []string{"bourse", "workload", "convert", from}, nil, &out, &errs); status != statusDone || strings.Count(out.String(), "\n") != 6 {
		t.Errorf("from a pipe: status %d: %s%s", status, &errs, &out)
	}
}
