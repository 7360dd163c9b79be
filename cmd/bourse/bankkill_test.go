//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"bourse/bank/store"
	"bourse/bank/store/postgres/pgtest"
)

// bankAlone runs a bank command in its own process and returns the output and the exit
// status.
func bankAlone(t *testing.T, in string, args ...string) (out, errs string, status int) {
	t.Helper()
	cmd := exec.Command("bourse", append([]string{"bank"}, args...)...)
	var o, e bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(in), &o, &e
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

// applying starts 'bank apply' in its own process.
func applying(t *testing.T, dir string) (cmd *exec.Cmd, in io.WriteCloser, out *bufio.Scanner, errs io.Reader) {
	t.Helper()
	cmd = exec.Command("bourse", "bank", "apply", dir, "--parallel", "16")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if errs, err = cmd.StderrPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, in, bufio.NewScanner(stdout), errs
}

// TestApplyKilled checks 'bank apply' when it is killed under load. No answered request is
// lost, no request is applied twice, and a repeated id gets the same receipt.
func TestApplyKilled(t *testing.T) {
	t.Parallel()
	applyKilled(t, filepath.Join(t.TempDir(), "bank"), 6)
}

// TestApplyKilledOnServer checks the same as TestApplyKilled with a ledger in PostgreSQL.
// There, the next process that opens the bank waits three seconds for a sign of life from the
// killed process.
func TestApplyKilledOnServer(t *testing.T) {
	t.Parallel()
	applyKilled(t, pgtest.URL(t), 2)
}

func applyKilled(t *testing.T, dir string, kills int) {
	seed := rand.Uint64()
	src := rand.New(rand.NewPCG(seed, 1))
	if _, errs, status := bankAlone(t, "", "init", dir); status != statusDone {
		t.Fatal(errs)
	}
	const orders = 3000
	order := func(n int) string {
		if n < 5 {
			return fmt.Sprintf(`{"id":"r%d","from":"mint","to":"user:%d","amount":1000}`+"\n", n, n)
		}
		return fmt.Sprintf(`{"id":"r%d","from":"user:%d","to":"user:%d","amount":"0.01"}`+"\n", n, n%5, (n+1)%5)
	}
	answers := make(map[string]store.Outcome)
	answered := func(line []byte) {
		var o store.Outcome
		if json.Unmarshal(line, &o) != nil { // the kill truncated this line
			return
		}
		if was, ok := answers[o.ID]; o.Error != "" || ok && was != o {
			t.Errorf("seed %d: %s was answered %+v, then %+v", seed, o.ID, was, o)
		}
		answers[o.ID] = o
	}
	mints := ""
	for n := range 5 {
		mints += order(n)
	}
	out, errs, status := bankAlone(t, mints, "apply", dir)
	if status != statusDone {
		t.Fatal(errs)
	}
	for line := range strings.Lines(out) {
		answered([]byte(line))
	}
	for range kills {
		cmd, in, out, _ := applying(t, dir)
		from := 5 + src.IntN(orders/2) // some of these orders were sent before
		go func() {
			for n := from; n < orders; n++ {
				if _, err := io.WriteString(in, order(n)); err != nil {
					return
				}
			}
		}()
		for range 1 + src.IntN(500) {
			if !out.Scan() {
				break
			}
			answered(out.Bytes())
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for out.Scan() {
			answered(out.Bytes())
		}
		cmd.Wait()
	}
	killed := len(answers)
	all := ""
	for n := range orders {
		all += order(n)
	}
	if out, errs, status = bankAlone(t, all, "apply", dir); status != statusDone {
		t.Fatalf("seed %d: %s", seed, errs)
	}
	for line := range strings.Lines(out) {
		answered([]byte(line))
	}
	log, errs, status := bankAlone(t, "", "log", dir)
	if status != statusDone {
		t.Fatalf("seed %d: %s", seed, errs)
	}
	booked := make(map[string]bool)
	for line := range strings.Lines(log) {
		var o struct {
			ID, Hash string
			Seq      int64
		}
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatal(err)
		}
		if a := answers[o.ID]; booked[o.ID] || a.Seq != o.Seq || a.Hash != o.Hash {
			t.Errorf("seed %d: %s is booked as %d:%s, twice %v; answered %+v", seed, o.ID, o.Seq, o.Hash, booked[o.ID], a)
		}
		booked[o.ID] = true
	}
	if len(booked) != orders || len(answers) != orders {
		t.Errorf("seed %d: %d entries, %d answers, want %d", seed, len(booked), len(answers), orders)
	}
	last := answers[fmt.Sprintf("r%d", orders-1)]
	receipt := fmt.Sprintf("%d:%s", last.Seq, last.Hash)
	if out, _, status = bankAlone(t, "", "audit", dir, "--receipt", receipt); status != statusDone {
		t.Errorf("seed %d: audit: %s", seed, out)
	}
	if out, _, status = bankAlone(t, log, "verify", "-", "--receipt", receipt); status != statusDone {
		t.Errorf("seed %d: verify: %s", seed, out)
	}
	t.Logf("%d kills, %d answers by then, %d entries", kills, killed, len(booked))
}

// TestSecondProcess checks that a second writer of a bank in use gets an error in one
// sentence, and that reading and auditing still work. It also checks that an interruption
// reports the state of the work although standard input is open.
func TestSecondProcess(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "bank")
	if _, errs, status := bankAlone(t, "", "init", dir); status != statusDone {
		t.Fatal(errs)
	}
	cmd, in, out, errs := applying(t, dir)
	defer func() {
		cmd.Process.Kill()
		cmd.Wait()
	}()
	if _, err := io.WriteString(in, `{"id":"1","from":"mint","to":"user:ann","amount":5}`+"\n"); err != nil || !out.Scan() {
		t.Fatal(err)
	}
	for _, args := range []string{"mint DIR user:ann 1 --id 2", "transfer DIR user:ann user:bob 1 --id 2", "apply DIR"} {
		_, told, status := bankAlone(t, "", strings.Fields(strings.Replace(args, "DIR", dir, 1))...)
		if status != 5 || strings.Count(told, "\n") != 2 || !strings.Contains(told, dir+": another process has the ledger open") {
			t.Errorf("%s: exit status %d, %q", args, status, told)
		}
	}
	if got, told, _ := bankAlone(t, "", "balance", dir); got != "user:ann 5.000000\n" {
		t.Errorf("balance: %q, %s", got, told)
	}
	if got, _, status := bankAlone(t, "", "audit", dir); status != statusDone {
		t.Errorf("audit: %s", got)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	told, err := io.ReadAll(errs)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != statusInterrupted || string(told) != "bourse: interrupted; lines with an answer have been booked; send the other lines again\n" {
		t.Errorf("interrupted: exit status %d, %q", got, told)
	}
}
