package verify_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/contracts/admission/policytest"
	"bourse/contracts/policies"
	"bourse/experiments/verify"
)

// TestSoldFaults plants faults in the ledgers of real markets with clearings. On two hosts, job
// 3 interrupts job 1, and job 4 bids less than job 3 and waits. An audit must find each fault
// and name its entry. It must find nothing in a ledger without a fault.
func TestSoldFaults(t *testing.T) {
	t.Parallel()
	trades := []policytest.Trade{
		{ID: 1, Submit: 0, Nodes: 1, Runtime: 700, Deadline: 5000, Budget: 1e6},
		{ID: 2, Submit: 0, Nodes: 1, Runtime: 800, Deadline: 5000, Budget: 3e6},
		{ID: 3, Submit: 350, Nodes: 1, Runtime: 300, Deadline: 5000, Budget: 2e6},
		{ID: 4, Submit: 360, Nodes: 1, Runtime: 300, Deadline: 5000, Budget: 0.3e6},
	}
	replace := func(e *bank.Entry, old, with string) bool {
		text := string(e.Note)
		e.Note = []byte(strings.Replace(text, old, with, 1))
		return text != string(e.Note)
	}
	// A function in faults may change the entry that it receives. It reports whether it planted
	// the fault, and whether the entry is removed from the ledger.
	faults := map[string]func(e *bank.Entry) (faulty, dropped bool){
		"none": func(*bank.Entry) (bool, bool) { return false, false },
		"a price wrong by one nano-dollar": func(e *bank.Entry) (bool, bool) {
			if e.Kind != bank.Cleared || e.Time != 600 {
				return false, false
			}
			_, rest, _ := strings.Cut(string(e.Note), `"price":`)
			price := 0
			fmt.Sscan(rest[:strings.IndexByte(rest, ',')], &price)
			return replace(e, fmt.Sprintf(`"price":%d`, price), fmt.Sprintf(`"price":%d`, price+1)), false
		},
		"a unit less sold": func(e *bank.Entry) (bool, bool) {
			return e.Kind == bank.Cleared && e.Time == 600 && replace(e, `"units":2`, `"units":1`), false
		},
		"a loser served": func(e *bank.Entry) (bool, bool) {
			off := e.Kind == bank.Moved && e.Contract == 1 && strings.Contains(string(e.Note), "off")
			return off, off
		},
		"a rate that is not the price": func(e *bank.Entry) (bool, bool) {
			return e.Kind == bank.Moved && e.Contract == 1 && replace(e, `"on":[`, `"on":[1`), false
		},
		"an interrupted stay charged to the end": func(e *bank.Entry) (bool, bool) {
			if e.Kind != bank.Settle || e.Contract != 1 {
				return false, false
			}
			refund := slices.IndexFunc(e.Moves, func(m bank.Move) bool { return m.To == "user:0" })
			charge := slices.IndexFunc(e.Moves, func(m bank.Move) bool { return m.To != "user:0" })
			more := int64(e.Moves[charge].Amount.Micros() / 2)
			e.Moves[charge].Amount = bank.Micros(e.Moves[charge].Amount.Micros() + more)
			e.Moves[refund].Amount = bank.Micros(e.Moves[refund].Amount.Micros() - more)
			return true, false
		},
	}
	for _, market := range []string{"spot", "call", "spot on one host of two processors", "call on one host of two processors"} {
		policy, hosts, cpus := market[:4], 2, 1.0
		if market != policy {
			hosts, cpus = 1, 2
		}
		o := policytest.Options{"every": 300.0}
		sold := verify.Sold{Policy: policy, Every: 300, Losers: "wait", Interrupted: "resume", Asks: []float64{0.0001}, K: 0.5}
		if policy == "spot" {
			o["notice"], sold.Notice, sold.Reserve, sold.K, sold.Fill = 0.0, 0, 0.0001, 0, true
		}
		for name, fault := range faults {
			t.Run(market+"/"+name, func(t *testing.T) {
				t.Parallel()
				p, err := policies.Of(policy).New(o.Decode, nil, nil)
				check(t, err)
				m := policytest.Deal(t, hosts, cpus, p, "exclusive", "bid", trades)
				fs, at := planted(t, m, fault)
				r := runAudit(t, fs, dealt(t, m, trades, verify.Rules{
					Version: 2, Payment: "bid", Sharing: "exclusive", Hosts: hosts, CPUs: cpus, Cap: 1, Speeds: []float64{1}, Sold: &sold,
				}))
				if name == "none" {
					if m.Traded[1].Settled.Suspensions == 0 || !r.Clean() || r.Computed != 4 {
						t.Fatalf("%d computed, %v, of jobs in %v", r.Computed, r.Findings, m.Traded[1].Stays)
					}
					return
				}
				if at == 0 || r.Clean() || r.Findings[0].Seq != at {
					t.Errorf("entry %d is at fault, found %v", at, r.Findings)
				}
			})
		}
	}
}

// dealt returns the table of jobs for the trades in m.
func dealt(t *testing.T, m *policytest.Market, trades []policytest.Trade, rules verify.Rules) *verify.Run {
	t.Helper()
	_, table := small()
	table = table[:1]
	table[0] = append(table[0], "estimate", "deadline")
	for _, j := range trades {
		work, estimate := fmt.Sprint(j.Runtime*float64(j.Nodes)), fmt.Sprint(cmp.Or(j.Estimate, j.Runtime))
		row := []string{"small", "cac", "0", fmt.Sprint(j.ID), "0", fmt.Sprint(j.Submit), fmt.Sprint(j.Runtime), fmt.Sprint(j.Nodes), bank.Micros(j.Budget).String()}
		s := m.Traded[j.ID].Settled
		if s == nil {
			row = append(row, "reject", string(m.Traded[j.ID].Refused), "", "", work, "", "", "", "", estimate, fmt.Sprint(j.Submit+j.Deadline))
			table = append(table, row)
			continue
		}
		start := s.Admitted
		if s.Gang {
			start = s.Began
		}
		table = append(table, append(row,
			"accept", "", fmt.Sprint(start), fmt.Sprint(s.Ended), work, fmt.Sprint(s.ByDue), s.Paid.String(), s.Penalty.String(), fmt.Sprint(m.Traded[j.ID].State() == "fulfilled"), estimate, fmt.Sprint(j.Submit+j.Deadline),
		))
	}
	var csv strings.Builder
	for _, row := range table {
		csv.WriteString(strings.Join(row, ",") + "\n")
	}
	rows, err := verify.ReadJobs(strings.NewReader(csv.String()), func(string) bool { return true })
	check(t, err)
	return &verify.Run{Table: "jobs.csv", Rules: &rules, Jobs: rows["small/cac/0"]}
}
