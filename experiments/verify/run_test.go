package verify_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/bank/audit"
	"bourse/bank/store"
	"bourse/experiments/verify"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A step is an entry of the ledger of a small run.
type step struct {
	kind     string
	at       float64
	contract int64
	amount   float64 // amount in dollars held, or paid to the host h00
	note     string
}

// terms is the note of an admission with a bid in nano-dollars per second.
func terms(bid int, more string) string {
	return fmt.Sprintf(`{"decision":"accept","submit":0,"deadline":200%s,"on":[%d,"h00"]}`, more, bid)
}

const done = `{"state":"fulfilled","work":100,"work_done":100}`

// small is payment-usage.script of contracts/broker, where the charges are computed by
// hand. Three contracts on a host with 2 CPUs bid 0.01, 0.03 and 0.02 and need 100 CPU s
// each. A fourth is refused.
func small() (steps []step, table [][]string) {
	third := 400.0 / 3
	end := 500.0 / 3
	steps = []step{
		{"hold", 0, 1, 2, terms(10000000, "")},
		{"hold", 0, 2, 6, terms(30000000, "")},
		{"hold", 0, 3, 4, terms(20000000, "")},
		{"reject", 0, 4, 0, `{"decision":"reject","reason":"would violate","violates":2,"gets":1,"want":2}`},
		{"settle", 100, 2, 3, done},
		{"settle", third, 3, 2.5, done},
		{"settle", end, 1, 1.5, done},
	}
	table = [][]string{
		{"configuration", "admission", "replication", "job", "user", "arrival", "runtime", "nodes", "value", "decision", "reason", "start", "finish", "work", "work_done", "paid", "penalty", "fulfilled"},
		{"small", "cac", "0", "1", "ann", "0", "100", "1", "2.000000", "accept", "", "0", fmt.Sprint(end), "100", "100", "1.500000", "0.000000", "true"},
		{"small", "cac", "0", "2", "ann", "0", "100", "1", "6.000000", "accept", "", "0", "100", "100", "100", "3.000000", "0.000000", "true"},
		{"small", "cac", "0", "3", "ann", "0", "100", "1", "4.000000", "accept", "", "0", fmt.Sprint(third), "100", "100", "2.500000", "0.000000", "true"},
		{"small", "cac", "0", "4", "ann", "0", "100", "1", "1.000000", "reject", "would violate 2", "", "", "100", "", "", "", ""},
	}
	return steps, table
}

var usage = verify.Rules{Payment: "usage", Sharing: "auction", CPUs: 2, Cap: 1, Speeds: []float64{1}}

// held audits a ledger made of steps, which begins with two issues, against table.
func held(t *testing.T, steps []step, table [][]string, rules verify.Rules, prices ...float64) *audit.Report {
	t.Helper()
	return heldApart(t, steps, 0, table, rules, prices...)
}

// heldApart is like held, but host h01 receives the given part of each charge.
func heldApart(t *testing.T, steps []step, other float64, table [][]string, rules verify.Rules, prices ...float64) *audit.Report {
	t.Helper()
	fs := vfs.NewMem()
	j, err := store.Create("ledger", store.Options{FS: fs, Reproducible: true})
	check(t, err)
	l := bank.New(j)
	account := func(name string) bank.Account {
		a, err := l.Account(name)
		check(t, err)
		return a
	}
	dollars := func(x float64) bank.Amount {
		a, err := bank.Nearest(x)
		check(t, err)
		return a
	}
	ann, host, provider := account("user:ann"), account("host:h00"), account("provider")
	second := host
	if other > 0 {
		second = account("host:h01")
	}
	check(t, l.Mint(0, ann, dollars(100)))
	check(t, l.Mint(0, provider, dollars(5)))
	for _, s := range steps {
		switch s.kind {
		case "hold":
			check(t, l.Hold(s.at, s.contract, ann, dollars(s.amount), []byte(s.note)))
		case "issue":
			check(t, l.Mint(s.at, ann, dollars(s.amount)))
		case "transfer":
			check(t, l.Post(s.at, nil, bank.Posting{From: ann, To: host, Amount: dollars(s.amount)}))
		case "reject":
			check(t, l.Reject(s.at, s.contract, []byte(s.note)))
		case "settle":
			pay := []bank.Payment{{To: host, Amount: dollars(s.amount - other)}, {To: second, Amount: dollars(other)}}
			_, err := l.Settle(s.at, s.contract, pay, []byte(s.note))
			check(t, err)
		case "adjust":
			check(t, l.Adjust(s.at, s.contract, dollars(s.amount), []byte(s.note)))
		case "recourse":
			_, err := l.Penalty(s.at, s.contract, []bank.Debit{{From: host, Most: dollars(s.amount)}}, ann, nil)
			check(t, err)
		case "penalty":
			_, err := l.Penalty(s.at, s.contract, []bank.Debit{{From: provider, Most: dollars(s.amount)}}, ann, nil)
			check(t, err)
		}
	}
	check(t, j.Close())
	var csv strings.Builder
	for _, row := range table {
		csv.WriteString(strings.Join(row, ",") + "\n")
	}
	run := verify.Run{Table: "jobs.csv", Rules: &rules, Prices: prices}
	rows, err := verify.ReadJobs(strings.NewReader(csv.String()), func(string) bool { return true })
	if run.Jobs = rows["small/cac/0"]; err != nil {
		run.Unread = []audit.Finding{{File: "jobs.csv", Found: err.Error()}}
	}
	return runAudit(t, fs, &run)
}

func runAudit(t *testing.T, fs vfs.FS, published *verify.Run) *audit.Report {
	t.Helper()
	return run(t, fs, audit.Options{Follow: verify.Follow(published)})
}

// TestRun checks that a run with hand-computed charges is clean and that all charges were
// recomputed.
func TestRun(t *testing.T) {
	t.Parallel()
	steps, table := small()
	if r := held(t, steps, table, usage); !r.Clean() || r.Computed != 3 {
		t.Errorf("%d computed, %v", r.Computed, r.Findings)
	}
}

// TestInstant checks that the price at an admission may or may not include the bid of a task
// that ended at exactly that time, because runs process both events in either order.
func TestInstant(t *testing.T) {
	t.Parallel()
	_, table := small()
	row := func(id, start, end string) []string {
		return []string{"small", "cac", "0", id, "ann", "0", "100", "1", "2.000000", "accept", "", start, end, "100", "100", "0.500000", "0.000000", "true"}
	}
	table = [][]string{table[0], row("1", "0", "100"), row("2", "100", "200")}
	for price, clean := range map[string]bool{"0": true, "0.01": true, "0.011": false, "0.02": false} {
		steps := []step{
			{"hold", 0, 1, 2, terms(10000000, `,"per_host":true`)},
			{"hold", 100, 2, 2, terms(10000000, `,"per_host":true,"price":`+price)},
			{"settle", 100, 1, 0.5, done},
			{"settle", 200, 2, 0.5, done},
		}
		if r := held(t, steps, table, usage); r.Clean() != clean {
			t.Errorf("price %s: %v", price, r.Findings)
		}
	}
}

// TestTakenBack checks that a cancelled contract is charged what it has accrued, 50 CPU s at
// $0.01/s. Its work and its deadline show that it must have been open, and no penalty is owed.
func TestTakenBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		end, charge float64
		done        float64
		more, deal  string
		clean       bool
	}{
		{"half way", 50, 0.25, 50, "", "", true},
		{"for less", 50, 0.2, 50, "", "", false},
		{"for more", 50, 0.5, 50, "", "", false},
		{"with less work", 50, 0.25, 40, "", "", false},
		{"with all done", 100, 0.5, 100, "", "", false},
		{"with a penalty", 50, 0.25, 50, `,"penalty_owed":"1.000000"`, "", false},
		{"at its deadline", 60, 0.3, 60, "", `,"deadline":60`, false},
		{"after its deadline", 70, 0.35, 60, "", `,"deadline":60`, false},
		{"after a deadline that it may overrun", 70, 0.35, 60, "", `,"deadline":60,"runs_on":true`, true},
	} {
		_, table := small()
		table = [][]string{table[0], {"small", "cac", "0", "1", "ann", "0", "100", "1", "2.000000", "accept", "", "0", fmt.Sprint(c.end), "100", fmt.Sprint(c.done), fmt.Sprintf("%.6f", c.charge), "0.000000", "false"}}
		verdict := fmt.Sprintf(`{"state":"cancelled","work":100,"work_done":%v%s}`, c.done, c.more)
		note := `{"decision":"accept","submit":0,"deadline":200,"on":[10000000,"h00"]}`
		if c.deal != "" {
			note = strings.Replace(note, `,"deadline":200`, c.deal, 1)
		}
		r := held(t, []step{{"hold", 0, 1, 2, note}, {"settle", c.end, 1, c.charge, verdict}}, table, usage)
		if r.Clean() != c.clean || c.clean && r.Computed != 1 {
			t.Errorf("%s: %d computed, %v", c.name, r.Computed, r.Findings)
		}
	}
}

// TestHorizon checks that contracts open when the market closes may be cancelled without a
// charge. At any other time, a cancelled contract pays for its usage.
func TestHorizon(t *testing.T) {
	t.Parallel()
	_, table := small()
	table = [][]string{table[0], {"small", "cac", "0", "1", "ann", "0", "100", "1", "2.000000", "accept", "", "0", "50", "100", "50", "0.000000", "0.000000", "false"}}
	const cancelled = `{"state":"cancelled","work":100,"work_done":50}`
	for _, c := range []struct {
		horizon, charge float64
		clean           bool
	}{{50, 0, true}, {50, 0.25, false}, {60, 0, false}, {0, 0, false}} {
		rules := usage
		rules.Horizon = c.horizon
		table[1][15] = fmt.Sprintf("%.6f", c.charge)
		r := held(t, []step{{"hold", 0, 1, 2, terms(10000000, "")}, {"settle", 50, 1, c.charge, cancelled}}, table, rules)
		if r.Clean() != c.clean || r.Clean() && r.Computed != 1 {
			t.Errorf("%+v: %d computed, %v", c, r.Computed, r.Findings)
		}
	}
}

// TestOddRuns checks runs that mix features of different markets: a metered contract
// without a deadline, and a contract in a planned run that is not planned.
func TestOddRuns(t *testing.T) {
	t.Parallel()
	_, table := small()
	table = [][]string{table[0], {"small", "cac", "0", "1", "ann", "0", "100", "1", "2.000000", "accept", "", "0", "100", "100", "100", "0.500000", "0.000000", "true"}}
	for _, c := range []struct {
		sharing, more string
		computed      int64
	}{{"auction", "", 1}, {"auction", `,"on_demand":true`, 1}, {"planned", "", 0}} {
		rules := usage
		rules.Sharing = c.sharing
		r := held(t, []step{{"hold", 0, 1, 2, terms(10000000, c.more)}, {"settle", 100, 1, 0.5, done}}, table, rules)
		if !r.Clean() || r.Computed != c.computed {
			t.Errorf("%+v: %d computed, %v", c, r.Computed, r.Findings)
		}
	}
}

// TestPrices compares the mean price of two hosts, one of them idle, with a value computed by
// hand. The bids are 0.06 $/s until 100 s, 0.03 until 133.333 s and 0.01 until 166.667 s.
func TestPrices(t *testing.T) {
	t.Parallel()
	steps, table := small()
	rules := usage
	rules.Hosts = 2
	mean := (0.06*100 + 0.03*100/3 + 0.01*100/3) / (500.0 / 3) / 2
	if r := held(t, steps, table, rules, mean); !r.Clean() {
		t.Error(r.Findings)
	}
	for _, prices := range [][]float64{{mean + 1e-7}, {mean + 1e-10}, {mean, 0}} {
		if r := held(t, steps, table, rules, prices...); len(r.Findings) != 1 || !strings.HasPrefix(r.Findings[0].File, "prices.parquet") {
			t.Errorf("prices %v: %v", prices, r.Findings)
		}
	}
}

// TestCells checks that any cell in the table of jobs that contradicts the ledger is found,
// with its row and column.
func TestCells(t *testing.T) {
	t.Parallel()
	_, table := small()
	unheld := []string{"runtime"} // no entry states the runtime
	for row := 1; row < len(table); row++ {
		for col := 3; col < len(table[0]); col++ {
			name := table[0][col]
			if slices.Contains(unheld, name) || table[row][9] == "reject" && slices.Contains([]string{"user", "arrival", "nodes", "value", "work"}, name) {
				continue
			}
			steps, table := small()
			cell := &table[row][col]
			switch name {
			case "job":
				*cell = "77"
			case "decision":
				*cell = map[string]string{"accept": "reject", "reject": "accept"}[*cell]
			case "fulfilled":
				*cell = "false"
			case "value", "paid", "penalty":
				*cell = "1.500001"
			case "arrival", "start", "finish", "work", "work_done":
				*cell = "0.5"
			case "nodes":
				*cell = "2"
			default:
				*cell = "bob"
			}
			r := held(t, steps, table, usage)
			at := fmt.Sprintf("jobs.csv, row %d, column %s", row+1, name)
			if name == "job" {
				at = "jobs.csv"
			}
			if !slices.ContainsFunc(r.Findings, func(f audit.Finding) bool {
				return f.File == at || name == "work" && f.Seq > 0 || f.Seq > 0 && name == "nodes"
			}) {
				t.Errorf("%s = %q: %v", at, *cell, r.Findings)
			}
		}
	}
	steps, table := small()
	table[2][15] = "three"
	if r := held(t, steps, table, usage); r.Clean() || !strings.Contains(r.Findings[0].String(), "row 3, column paid") {
		t.Errorf("a cell that is no amount: %v", r.Findings)
	}
	table = table[:4]
	table[2][15] = "3.000000"
	if r := held(t, steps, table, usage); len(r.Findings) != 1 || r.Findings[0].Found != "no row" {
		t.Errorf("a row that is gone: %v", r.Findings)
	}
}

// TestEntriesOfRun checks that a rewritten ledger with another amount, time, bid, verdict
// or decision is found by recomputation even if the table was adapted, and that the first
// bad entry is named.
func TestEntriesOfRun(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(steps []step, table [][]string) []step
		seq    int64
	}{
		{"a micro-dollar more charged", func(s []step, w [][]string) []step {
			s[4].amount, w[2][15] = 3.000001, "3.000001"
			return s
		}, 7},
		{"a micro-dollar less charged", func(s []step, w [][]string) []step {
			s[6].amount, w[1][15] = 1.499999, "1.499999"
			return s
		}, 9},
		{"a lower bid", func(s []step, _ [][]string) []step {
			s[0].note = terms(9000000, "")
			return s
		}, 7},
		{"a bid above the budget", func(s []step, _ [][]string) []step {
			s[0].note = terms(11000000, "")
			return s
		}, 3},
		{"another price", func(s []step, _ [][]string) []step {
			s[1].note = terms(30000000, `,"price":0.02`)
			return s
		}, 4},
		{"the price met", func(s []step, _ [][]string) []step {
			s[1].note = terms(30000000, `,"price":0.01`)
			return s
		}, 0},
		{"an earlier end", func(s []step, w [][]string) []step {
			s[4] = step{"settle", 90, 2, 2.7, `{"state":"violated","work":100,"work_done":90}`}
			copy(w[2][12:], []string{"90", "100", "90", "2.700000", "0.000000", "false"})
			return s
		}, 7},
		{"an end after the work was done", func(s []step, w [][]string) []step {
			s[6].at, w[1][12] = 180, "180"
			s[6].amount, w[1][15] = 1.566667, "1.566667"
			return s
		}, 9},
		{"an end after the deadline", func(s []step, _ [][]string) []step {
			s[4].at, s[1].note = 100, strings.Replace(terms(30000000, ""), "200", "90", 1)
			return s
		}, 7},
		{"a promise said to be kept", func(s []step, w [][]string) []step {
			s[1].note = strings.Replace(terms(30000000, ""), "200", "90", 1)
			s[4].at, w[2][12] = 90, "90"
			s[4].amount, w[2][15] = 2.7, "2.700000"
			return s
		}, 7},
		{"another verdict", func(s []step, w [][]string) []step {
			s[6].note, w[1][17] = strings.Replace(done, "fulfilled", "violated", 1), "false"
			return s
		}, 9},
		{"other work", func(s []step, w [][]string) []step {
			s[6].note, w[1][14] = strings.Replace(done, `"work_done":100`, `"work_done":99`, 1), "99"
			return s
		}, 9},
		{"a penalty that is not owed", func(s []step, w [][]string) []step {
			w[1][16] = "0.500000"
			return append(s, step{"penalty", 170, 1, 0.5, ""})
		}, 10},
		{"a rejection that was copied", func(s []step, _ [][]string) []step {
			return slices.Insert(s, 4, s[3])
		}, 7},
		{"a rejection before its request", func(s []step, w [][]string) []step {
			w[4][5] = "10"
			return s
		}, 6},
		{"money issued twice", func(s []step, _ [][]string) []step {
			return slices.Insert(s, 4, step{"issue", 0, 0, 1, ""})
		}, 7},
		{"a transfer", func(s []step, _ [][]string) []step {
			return slices.Insert(s, 4, step{"transfer", 0, 0, 1, ""})
		}, 7},
		{"a decision", func(s []step, w [][]string) []step {
			w[4][9], w[4][10] = "accept", ""
			s[3] = step{"hold", 0, 4, 1, terms(5000000, "")}
			return s
		}, 7},
	} {
		steps, table := small()
		steps = c.change(steps, table)
		r := held(t, steps, table, usage)
		if c.seq == 0 && r.Clean() {
			continue
		}
		if r.Clean() || r.Findings[0].Seq != c.seq || c.seq == 0 {
			t.Errorf("%s: %v, want entry %d named", c.name, r.Findings, c.seq)
		}
	}
}

// TestBriefPrices checks that the price of a contract that runs for a microsecond, at the
// end of an equally short interval, is checked with the precision of its times.
func TestBriefPrices(t *testing.T) {
	t.Parallel()
	rules := verify.Rules{Payment: "bid", Sharing: "auction", CPUs: 2, Cap: 1, Speeds: []float64{1}, Hosts: 1}
	const start = 299.7
	end := start + 1e-6
	steps := []step{
		{"hold", start, 1, 2, strings.Replace(terms(10000000, ""), `"submit":0`, `"submit":299.7`, 1)},
		{"settle", end, 1, 0, strings.ReplaceAll(done, "100", fmt.Sprint(end-start))},
	}
	_, table := small()
	table = table[:2]
	copy(table[1][5:], []string{"299.7", "100", "1", "2.000000", "accept", "", "299.7", fmt.Sprint(end), fmt.Sprint(end - start), fmt.Sprint(end - start), "0.000000", "0.000000", "true"})
	price := 0.01 * (end - start) / end
	for off, clean := range map[float64]bool{1: true, 1 + 1e-8: true, 1.001: false, 0: false} {
		if r := held(t, steps, table, rules, off*price); r.Clean() != clean {
			t.Errorf("%v times the price: %v", off, r.Findings)
		}
	}
}

// TestPenalties compares penalties with values computed by hand, for a contract that needs 100
// CPU s as the only contract on 1 CPU, has 80 s, and promises 0.01 $/s of delay. The delay is
// 20 s if the work continues, and 20/100 of the deadline, 16 s, if it stops.
func TestPenalties(t *testing.T) {
	t.Parallel()
	bid := verify.Rules{Payment: "bid", Sharing: "auction", CPUs: 2, Cap: 1, Speeds: []float64{1}}
	for _, c := range []struct {
		name, more string
		end, paid  float64
		owed       string
		penalty    float64
		wantSeq    int64
	}{
		{"goes on", `,"runs_on":true,"penalty_rate":0.01`, 100, 0.8, "0.200000", 0.2, 0},
		{"goes on, bounded", `,"runs_on":true,"penalty_rate":0.01,"penalty_max":0.05`, 100, 0.8, "0.050000", 0.05, 0},
		{"goes on, bounded by nothing", `,"runs_on":true,"penalty_rate":0.01,"penalty_max":0`, 100, 0.8, "0.000000", 0, 0},
		{"stops", `,"penalty_rate":0.01`, 80, 0.8, "0.160000", 0.16, 0},
		{"more owed", `,"penalty_rate":0.01`, 80, 0.8, "0.160001", 0.160001, 4},
		{"less paid", `,"penalty_rate":0.01`, 80, 0.8, "0.160000", 0.159999, 5},
		{"not paid", `,"penalty_rate":0.01`, 80, 0.8, "0.160000", 0, 5},
		{"as the provider can", `,"penalty_rate":10`, 80, 0.8, "160.000000", 5, 0},
	} {
		steps := []step{
			{"hold", 0, 1, 0.8, strings.Replace(terms(10000000, c.more), `"deadline":200`, `"deadline":80`, 1)},
			{"settle", c.end, 1, c.paid, fmt.Sprintf(`{"state":"violated","work":100,"work_done":80,"penalty_owed":%q}`, c.owed)},
		}
		if c.penalty > 0 {
			steps = append(steps, step{"penalty", c.end, 1, c.penalty, ""})
		}
		_, table := small()
		table = table[:2]
		copy(table[1][8:], []string{"0.800000", "accept", "", "0", fmt.Sprint(c.end), "100", "80", fmt.Sprintf("%.6f", c.paid), fmt.Sprintf("%.6f", c.penalty), "false"})
		r := held(t, steps, table, bid)
		if c.wantSeq == 0 && (!r.Clean() || r.Computed != 1) || c.wantSeq > 0 && (r.Clean() || r.Findings[0].Seq != c.wantSeq) {
			t.Errorf("%s: %v, want entry %d named", c.name, r.Findings, c.wantSeq)
		}
	}
}

// TestPenaltyPayers checks who pays a penalty. In version 1 of the rules, it is the
// provider. Since version 2, it is the host, from the $0.80 that it earned.
func TestPenaltyPayers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		version int
		payer   string
		wantSeq int64
	}{{1, "penalty", 0}, {1, "recourse", 5}, {2, "penalty", 5}, {2, "recourse", 0}} {
		rules := verify.Rules{Version: c.version, Payment: "bid", Sharing: "auction", CPUs: 2, Cap: 1, Speeds: []float64{1}}
		steps := []step{
			{"hold", 0, 1, 0.8, strings.Replace(terms(10000000, `,"penalty_rate":0.01`), `"deadline":200`, `"deadline":80`, 1)},
			{"settle", 80, 1, 0.8, `{"state":"violated","work":100,"work_done":80,"penalty_owed":"0.160000"}`},
			{c.payer, 80, 1, 0.16, ""},
		}
		_, table := small()
		table = table[:2]
		copy(table[1][8:], []string{"0.800000", "accept", "", "0", "80", "100", "80", "0.800000", "0.160000", "false"})
		r := held(t, steps, table, rules)
		if c.wantSeq == 0 && (!r.Clean() || r.Computed != 1) || c.wantSeq > 0 && (r.Clean() || r.Findings[0].Seq != c.wantSeq) {
			t.Errorf("version %d, %s: %v, want entry %d named", c.version, c.payer, r.Findings, c.wantSeq)
		}
	}
}

// TestReservations checks charges and penalties of reservations. The price is the value unless
// another was agreed, minus 0.01 $/s of delay after a deadline of 90 s. A killed reservation
// pays nothing and counts as late by the whole 90 s. A cancelled reservation pays at most the
// price.
func TestReservations(t *testing.T) {
	t.Parallel()
	const asked, due = `,"ask":0.6`, `,"runs_on":true,"penalty_rate":0.01`
	for _, c := range []struct {
		name, more, verdict string
		end, paid, penalty  float64
		wantSeq             int64
	}{
		{"kept", due, `"fulfilled","work":100,"work_done":100`, 80, 0.8, 0, 0},
		{"kept at another charge", due, `"fulfilled","work":100,"work_done":100`, 80, 0.7, 0, 4},
		{"at the price agreed", asked + due, `"fulfilled","work":100,"work_done":100`, 80, 0.6, 0, 0},
		{"cut off", `,"ask":0.40559999999999996` + due, `"fulfilled","work":100,"work_done":100`, 80, 0.405599, 0, 0},
		{"rounded up", `,"ask":0.40559999999999996` + due, `"fulfilled","work":100,"work_done":100`, 80, 0.4056, 0, 4},
		{"at no price", `,"ask":-0.1` + due, `"fulfilled","work":100,"work_done":100`, 80, 0.8, 0, 4},
		{"at the value, not the price", asked + due, `"fulfilled","work":100,"work_done":100`, 80, 0.8, 0, 4},
		{"for more than the value", `,"ask":0.9` + due, `"fulfilled","work":100,"work_done":100`, 80, 0.8, 0, 4},
		{"late", due, `"violated","work":100,"work_done":100`, 100, 0.7, 0, 0},
		{"late at the whole price", due, `"violated","work":100,"work_done":100`, 100, 0.8, 0, 4},
		{"late by all of the price", due, `"violated","work":100,"work_done":100`, 170, 0, 0, 0},
		{"late by less, and unpaid", due, `"violated","work":100,"work_done":100`, 169, 0, 0, 4},
		{"late by more, and not owed", due, `"violated","work":100,"work_done":100`, 171, 0, 0, 4},
		{"killed", due, `"violated","work":100,"work_done":50,"killed":true,"penalty_owed":"0.900000"`, 80, 0, 0.9, 0},
		{"killed for less", due, `"violated","work":100,"work_done":50,"killed":true,"penalty_owed":"0.100000"`, 80, 0, 0.1, 4},
		{"on demand", `,"on_demand":true` + due, `"fulfilled","work":100,"work_done":100`, 500, 0.8, 0, 0},
		{"taken back", asked + due, `"cancelled","work":100,"work_done":0`, 10, 0.06, 0, 0},
		{"taken back for more", asked + due, `"cancelled","work":100,"work_done":0`, 10, 0.7, 0, 4},
	} {
		note := `{"decision":"accept","start":0,"submit":0,"deadline":90` + c.more + `,"opens":0,"nodes":1,"host":"h00"}`
		steps := []step{{"hold", 0, 1, 0.8, note}, {"settle", c.end, 1, c.paid, `{"state":` + c.verdict + `}`}}
		if c.penalty > 0 {
			steps = append(steps, step{"penalty", c.end, 1, c.penalty, ""})
		}
		_, table := small()
		table = table[:2]
		var v struct {
			State string
			Done  float64 `json:"work_done"`
		}
		check(t, json.Unmarshal([]byte(steps[1].note), &v))
		copy(table[1][8:], []string{
			"0.800000", "accept", "", "0", fmt.Sprint(c.end), "100", fmt.Sprint(v.Done),
			fmt.Sprintf("%.6f", c.paid), fmt.Sprintf("%.6f", c.penalty), fmt.Sprint(v.State == "fulfilled"),
		})
		r := held(t, steps, table, verify.Rules{Payment: "budget", Sharing: "planned"})
		if c.wantSeq == 0 && (!r.Clean() || r.Computed != 1) || c.wantSeq > 0 && (r.Clean() || r.Findings[0].Seq != c.wantSeq) {
			t.Errorf("%s: %v, want entry %d named", c.name, r.Findings, c.wantSeq)
		}
	}
}

// TestParts checks the audit of a contract in parts with three nodes for $0.8. Each host
// must be paid for its nodes, to the micro-dollar. The note must list different hosts that
// have all the nodes in the row. Since version 2 of the rules, the remaining micro-dollar
// goes to the largest remainder, not to the first nodes.
func TestParts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		parts   string
		other   float64
		seq     int64
		found   string
		version int
	}{
		{`"parts":[2,"h00",1,"h01"]`, 0.266667, 0, "", 2},
		{`"parts":[2,"h00",1,"h01"]`, 0.266666, 4, "a charge of 0.533334 by host:h00", 2},
		{`"parts":[1,"h00",2,"h01"]`, 0.533333, 0, "", 2},
		{`"parts":[2,"h00",1,"h01"]`, 0.266666, 0, "", 1},
		{`"parts":[2,"h00",1,"h01"]`, 0.266667, 4, "a charge of 0.533333 by host:h00", 1},
		{`"parts":[1,"h00",2,"h01"]`, 0.533333, 0, "", 2},
		{`"parts":[1,"h00",2,"h01"]`, 0.4, 4, "a charge of 0.400000 by host:h00", 2},
		{`"parts":[1,"h00",1,"h01"]`, 0.4, 3, "3", 2}, // column nodes of the row
		{`"parts":[1,"h00",2,"h00"]`, 0.4, 3, "a contract in parts [1 h00 2 h00]", 2},
		{`"parts":[1.5,"h00",1.5,"h01"]`, 0.4, 3, "a contract in parts", 2},
		{`"parts":[3,"h00"]`, 0.4, 3, "a contract in parts", 2},
		{`"parts":[2,"h00",1]`, 0.4, 3, "a contract in parts", 2},
		{`"parts":["h00",2,"h01",1]`, 0.4, 3, "a contract in parts", 2},
		{`"host":"","parts":[2,"h00",1,"h01"]`, 0.266667, 0, "", 2},
		{`"host":"h00","parts":[2,"h00",1,"h01"]`, 0.4, 3, "a contract in parts", 2},
		{`"parts":[1,"h00",1,"h01",1,"h02"]`, 0.266667, 3, "a contract on 3 hosts", 2},
	} {
		note := `{"decision":"accept","start":0,"submit":0,"deadline":90,"runs_on":true,"opens":0,"nodes":3,` + c.parts + `}`
		steps := []step{{"hold", 0, 1, 0.8, note}, {"settle", 80, 1, 0.8, `{"state":"fulfilled","work":300,"work_done":300}`}}
		_, table := small()
		table = table[:2]
		copy(table[1][6:], []string{"100", "3", "0.800000", "accept", "", "0", "80", "300", "300", "0.800000", "0.000000", "true"})
		r := heldApart(t, steps, c.other, table, verify.Rules{Version: c.version, Payment: "budget", Sharing: "planned", Hosts: 2})
		if c.seq == 0 && (!r.Clean() || r.Computed != 1) {
			t.Errorf("%s: %v, want it clean", c.parts, r.Findings)
		}
		if c.seq > 0 && (r.Clean() || r.Findings[0].Seq != c.seq || !strings.Contains(r.Findings[0].Found, c.found)) {
			t.Errorf("%s: %v, want entry %d named, with %q", c.parts, r.Findings, c.seq, c.found)
		}
	}
	for _, c := range []struct {
		fee, other float64
		clean      bool
	}{{0.06, 0.02, true}, {0.06, 0.03, false}, {0.07, 0.023333, true}} { // cancelled
		note := `{"decision":"accept","submit":0,"deadline":90,"runs_on":true,"opens":0,"nodes":3,"parts":[2,"h00",1,"h01"]}`
		steps := []step{{"hold", 0, 1, 0.8, note}, {"settle", 10, 1, c.fee, `{"state":"cancelled","work":300,"work_done":0}`}}
		_, table := small()
		table = table[:2]
		copy(table[1][6:], []string{"100", "3", "0.800000", "accept", "", "", "10", "300", "0", fmt.Sprintf("%.6f", c.fee), "0.000000", "false"})
		if r := heldApart(t, steps, c.other, table, verify.Rules{Payment: "budget", Sharing: "planned", Hosts: 2}); r.Clean() != c.clean {
			t.Errorf("taken back for %v, with %v to the second: %v", c.fee, c.other, r.Findings)
		}
	}
	steps := []step{{"hold", 0, 1, 0.8, `{"decision":"accept","submit":0,"deadline":90,"runs_on":true,"opens":0,"nodes":3}`}}
	_, table := small()
	copy(table[1][6:], []string{"100", "3", "0.800000", "accept", "", "", "", "300", "", "", "", ""})
	r := held(t, steps, table[:2], verify.Rules{Payment: "budget", Sharing: "planned", Hosts: 2})
	if want := "entry 3 on, because the note of the entry does not name the hosts of the contract"; !r.Clean() || !strings.Contains(strings.Join(r.Beyond, ";"), want) {
		t.Errorf("too many hosts for a note: %v, %v, want %q", r.Findings, r.Beyond, want)
	}
}

// TestProportion checks the audit of a contract that owes $1 on each of two hosts and has a
// budget of $1. Both hosts must be paid the same amount. In version 1 of the rules, the first
// host was paid in full.
func TestProportion(t *testing.T) {
	t.Parallel()
	note := `{"decision":"accept","submit":0,"deadline":50,"runs_on":true,"on":[10000000,"h00","h01"]}`
	for _, c := range []struct {
		paid, other float64
		version     int
		clean       bool
	}{
		{1, 0.5, 2, true}, {1, 0.500002, 2, false}, {1, 0.499998, 2, false}, {0.999999, 0.5, 2, false}, {1, 0.5, 1, false},
	} {
		steps := []step{{"hold", 0, 1, 1, note}, {"settle", 100, 1, c.paid, `{"state":"violated","work":200,"work_done":100}`}}
		_, table := small()
		table = table[:2]
		copy(table[1][6:], []string{"100", "2", "1.000000", "accept", "", "0", "100", "200", "100", fmt.Sprintf("%.6f", c.paid), "0.000000", "false"})
		bid := verify.Rules{Version: c.version, Payment: "bid", Sharing: "auction", CPUs: 1, Cap: 1, Speeds: []float64{1}, Hosts: 2}
		if r := heldApart(t, steps, c.other, table, bid); r.Clean() != c.clean {
			t.Errorf("%v, of which %v to the second, by version %d: %v", c.paid, c.other, c.version, r.Findings)
		}
	}
}

// TestSpent checks the audit of contracts that have spent their budgets, with bids of 0.01 and
// 0.009 on a host with one processor. The first has spent its $1 at 100, when 1000/19 of its
// 100 CPU s are done. The other then has the host until its $9 are spent at 1000, when 900 +
// 900/19 of its 1000 CPU s are done. With equal halves of the host, the contracts then complete
// their remaining work at 1000 + 1800/19 and 1100. In version 1 of the rules, the first kept
// its weight until it was done at 190.
func TestSpent(t *testing.T) {
	t.Parallel()
	spent, kept := 1000+1800/19.0, 190.0
	for _, c := range []struct {
		end     float64 // end of the first contract
		byDue   float64 // work of the other contract by its deadline
		version int
		clean   bool
	}{
		{spent, 900 + 900/19.0, 2, true}, {kept, 900, 2, false}, {spent - 0.001, 900 + 900/19.0, 2, false}, {spent, 900, 2, false},
		{kept, 900, 1, true}, {spent, 900 + 900/19.0, 1, false},
	} {
		verdict := func(work, done float64) string {
			return fmt.Sprintf(`{"state":"violated","work":%v,"work_done":%v}`, work, done)
		}
		steps := []step{
			{"hold", 0, 1, 1, `{"decision":"accept","submit":0,"deadline":100,"runs_on":true,"on":[10000000,"h00"]}`},
			{"hold", 0, 2, 9, `{"decision":"accept","submit":0,"deadline":1000,"runs_on":true,"on":[9000000,"h00"]}`},
			{"settle", c.end, 1, 1, verdict(100, 1000/19.0)}, {"settle", 1100, 2, 9, verdict(1000, c.byDue)},
		}
		_, table := small()
		table = table[:3]
		copy(table[1][6:], []string{"100", "1", "1.000000", "accept", "", "0", fmt.Sprint(c.end), "100", fmt.Sprint(1000 / 19.0), "1.000000", "0.000000", "false"})
		copy(table[2][6:], []string{"1000", "1", "9.000000", "accept", "", "0", "1100", "1000", fmt.Sprint(c.byDue), "9.000000", "0.000000", "false"})
		bid := verify.Rules{Version: c.version, Payment: "bid", Sharing: "auction", CPUs: 1, Cap: 1, Speeds: []float64{1}, Hosts: 1}
		if r := held(t, steps, table, bid); r.Clean() != c.clean || c.clean && r.Computed != 2 {
			t.Errorf("the first until %v, by version %d: %v, %d computed", c.end, c.version, r.Findings, r.Computed)
		}
	}
}

// TestSoldBeyond checks that a report names the results of a clearing that cannot be
// recomputed: the winners, if not all bids are known.
func TestSoldBeyond(t *testing.T) {
	t.Parallel()
	rules := verify.Rules{Payment: "bid", Sharing: "exclusive", CPUs: 1, Cap: 1, Speeds: []float64{1}, Hosts: 1}
	for _, c := range []struct {
		sold verify.Sold
		want string
	}{
		{verify.Sold{Policy: "spot", Every: 300}, ""},
		{verify.Sold{Policy: "spot", Every: 300, OnDemand: 0.01}, "the winners and the exact price of each clearing"},
		{verify.Sold{Policy: "call", Every: 300, Drawn: true}, "the winners and the exact price of each clearing"},
		{verify.Sold{Policy: "spot", Every: 300, OnDemand: 0.01, Buyers: true}, "which price the contracts paid"},
	} {
		r := rules
		r.Sold = &c.sold
		_, table := small()
		got := strings.Join(held(t, nil, table[:1], r).Beyond, ";")
		if named := strings.Contains(got, "clearing"); named != (c.want != "") || !strings.Contains(got, c.want) {
			t.Errorf("%+v: beyond is %q, want it to contain %q", c.sold, got, c.want)
		}
	}
}

// TestBeyond checks that a report names the values that were not recomputed, and the reason.
func TestBeyond(t *testing.T) {
	t.Parallel()
	deadline := usage
	deadline.Sharing = "deadline"
	steps, table := small()
	if r := held(t, steps, table, deadline); !r.Clean() || r.Computed != 0 || !strings.Contains(strings.Join(r.Beyond, ";"), "sharing deadline uses estimates") {
		t.Errorf("%v, %v", r.Findings, r.Beyond)
	}
	steps[1].note = `{"decision":"accept","submit":0,"deadline":200}`
	if r := held(t, steps, table, usage); !r.Clean() || r.Computed != 0 || !strings.Contains(strings.Join(r.Beyond, ";"), "entry 4 on, because the note of the entry does not name the hosts of the contract") {
		t.Errorf("%v, %v", r.Findings, r.Beyond)
	}
	table[1][15] = "1.600000"
	if r := held(t, steps, table, usage); len(r.Findings) != 1 || r.Findings[0].File != "jobs.csv, row 2, column paid" {
		t.Errorf("a cell, charges not computed: %v", r.Findings)
	}
}

// TestPayees checks that a charge by a host on which the contract did not run is a finding,
// even if charges are not recomputed because hosts may leave.
func TestPayees(t *testing.T) {
	t.Parallel()
	steps, table := small()
	rules := usage
	rules.Leave = true
	if r := held(t, steps, table, rules); !r.Clean() {
		t.Fatalf("a run in which hosts may leave: %v", r.Findings)
	}
	r := heldApart(t, steps, 0.5, table, rules)
	if want := "charges only by hosts on which the contract ran"; r.Clean() || r.Findings[0].Seq != 7 || r.Findings[0].Want != want {
		t.Errorf("a part of a charge goes to another host: %v, want entry 7 named", r.Findings)
	}
}
