package client

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"bourse/bank"
	"bourse/experiments/live"
	"bourse/hosts"
)

// Decided formats an answer as one line without a line break.
func Decided(a *live.Answer) string {
	switch a.Verdict {
	case "accept":
		bid, share := 0.0, 0.0
		var where []string
		for _, p := range a.Places {
			where = append(where, p.Host)
			bid += p.Bid
			share += p.Share / float64(len(a.Places))
		}
		slices.Sort(where)
		return fmt.Sprintf("%d admitted   %s  bid %s $/s  share %.2f%s  receipt %s",
			live.Short(a.Contract), strings.Join(slices.Compact(where), ","), Rate(bid), share, numbers(a.Decision), a.Receipt)
	case "defer":
		return fmt.Sprintf("%d waiting%s", live.Short(a.Contract), numbers(a.Decision))
	case "held":
		return fmt.Sprintf("%d held       %s", live.Short(a.Contract), a.Reason)
	case "cancelled":
		return fmt.Sprintf("%d cancelled", live.Short(a.Contract))
	}
	text := fmt.Sprintf("%d refused    %s%s%s", live.Short(a.Contract), cmp.Or(a.Why, a.Reason), numbers(a.Decision), left(a.Left))
	if a.Least != "" {
		text += "  with a budget of $" + a.Least + " the request would be accepted now"
	}
	return text
}

// left formats the free resources that the message of a rejection mentions. For each, it is
// the largest amount that is free on one host. Each follows two spaces.
func left(amounts map[string]float64) (text string) {
	for _, name := range slices.Sorted(maps.Keys(amounts)) {
		text += "  " + name + " left " + Amount(name, amounts[name])
	}
	return text
}

// Amount formats an amount of a resource: bytes or bytes per second with a unit, or units.
func Amount(resource string, amount float64) string {
	switch resource {
	case hosts.Memory.Name(nil), hosts.Disk.Name(nil):
		return fmt.Sprintf("%.4g GB", amount/1e9)
	case hosts.Bandwidth.Name(nil):
		return fmt.Sprintf("%.4g MB/s", amount/1e6)
	}
	return strconv.FormatFloat(amount, 'f', -1, 64)
}

// Bids formats the answer to a changed budget as one line without a line break.
func Bids(a *live.Answer, budget string) string {
	if a.Verdict != "accept" {
		return fmt.Sprintf("%d unchanged  %s%s", live.Short(a.Contract), cmp.Or(a.Why, a.Reason), numbers(a.Decision))
	}
	bid, share := 0.0, 0.0
	for _, p := range a.Places {
		bid += p.Bid
		share += p.Share / float64(len(a.Places))
	}
	return fmt.Sprintf("%d bids       %s $/s  share %.2f  budget $%s%s  receipt %s", live.Short(a.Contract), Rate(bid), share, budget, numbers(a.Decision), a.Receipt)
}

// A Number is a named number in a decision, as in the ledger.
type Number struct{ Name, Value string }

// Numbers returns the numbers in a decision, in the policy's order.
func Numbers(decision json.RawMessage) (all []Number) {
	dec := json.NewDecoder(bytes.NewReader(decision))
	dec.UseNumber()
	var name string
	for {
		t, err := dec.Token()
		if err != nil {
			return all
		}
		switch x := t.(type) {
		case string:
			name = strings.ReplaceAll(x, "_", " ")
		case json.Number:
			all = append(all, Number{name, x.String()})
		}
	}
}

// numbers formats the numbers in a decision, each after two spaces.
func numbers(decision json.RawMessage) (text string) {
	for _, n := range Numbers(decision) {
		text += "  " + n.Name + " " + n.Value
	}
	return text
}

// Stands formats a contract's state or outcome as one line without a line break.
func Stands(k *live.Contract) string {
	if k.State == "refused" {
		var said struct{ Reason string }
		_ = json.Unmarshal(k.Decision, &said) // ignore the error, because the market itself wrote this text
		return fmt.Sprintf("%d refused    %s%s", live.Short(k.ID), said.Reason, numbers(k.Decision))
	}
	text := fmt.Sprintf("%d %-9s", live.Short(k.ID), k.State)
	if k.Held != "" {
		return text + "  " + k.Held
	}
	if k.Over() {
		text += fmt.Sprintf("  %s s", Brief(k.Ended-k.Submitted))
	}
	text += fmt.Sprintf("  work %s of %s", Brief(k.Done), Brief(k.Work*float64(k.Nodes)))
	if s := k.Served; s != nil && (!k.Over() || s.Cause != "") {
		text += "  " + s.String()
	}
	if k.Over() {
		text += fmt.Sprintf("  paid $%v  back $%v", k.Paid, k.Back)
	}
	text += Charges("charged", k.Charges)
	if k.Penalty.Sign() > 0 {
		text += fmt.Sprintf("  penalty $%v", k.Penalty)
	}
	if k.Unsettled != "" {
		text += "  not settled yet; the market sends the request to the bank again: " + k.Unsettled
	}
	if k.Served != nil && k.State == "violated" {
		text += because(k.Served)
	}
	for _, e := range k.Ends {
		text += ended(&e, k.Nodes)
	}
	for _, d := range k.Deleted {
		text += fmt.Sprintf("  deleted output of %d bytes on %s: %s", d.Bytes, d.Host, d.Why)
	}
	return text
}

// Charges formats charges by resource with their sum, after two spaces; "" if there are none.
func Charges(what string, all []live.Charge) string {
	if len(all) == 0 {
		return ""
	}
	sum, rate := bank.Amount{}, 0.0
	var parts []string
	for _, c := range all {
		sum, _ = sum.Add(c.Amount) // at most the budget
		rate += c.Rate
		parts = append(parts, fmt.Sprintf("%s $%v", c.Resource, c.Amount))
		if c.Rate > 0 {
			parts[len(parts)-1] += " at " + Rate(c.Rate) + " $/s"
		}
	}
	text := fmt.Sprintf("  %s $%v", what, sum)
	if rate > 0 {
		text += " at " + Rate(rate) + " $/s"
	}
	return text + " (" + strings.Join(parts, ", ") + ")"
}

// because formats the reason for a broken promise, after two spaces.
func because(s *live.Served) string {
	switch s.Cause {
	case "program":
		return "  the program failed"
	case "asked":
		return "  the program did not use the processor time to which it was entitled"
	case "price":
		return "  the bid was too low for the work"
	case "market":
		return "  the market promised more work than it delivered"
	case "host":
		return "  a host of " + s.Owner + " delivered too little"
	}
	return ""
}

// ended formats the exit status of a failed task, after two spaces.
func ended(e *live.End, nodes int) string {
	var how []string
	if e.Why != hosts.Exited && e.Why != hosts.Worked {
		how = append(how, e.Why.String())
	}
	if e.Code != 0 {
		how = append(how, fmt.Sprintf("status %d", e.Code))
	}
	if e.Signal != "" {
		how = append(how, e.Signal)
	}
	if e.OutOfMemory {
		how = append(how, "out of memory")
	}
	if e.Fault != "" {
		how = append(how, e.Fault)
	}
	if len(how) == 0 {
		return ""
	}
	text := "  "
	if nodes > 1 {
		text += fmt.Sprintf("node %d: ", e.Node)
	}
	return text + strings.Join(how, ", ")
}

// Rate formats a rate in dollars per second.
func Rate(x float64) string { return strconv.FormatFloat(x, 'g', 7, 64) }

// Brief formats an amount of work or a duration, in seconds.
func Brief(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }

// Instant formats a time, given in seconds after 2000-01-01 UTC.
func Instant(at float64) time.Time {
	return bank.Epoch.Add(time.Duration(at * float64(time.Second)))
}

// Cost formats a price as one line without a line break.
func Cost(p live.Price) string {
	return Instant(p.At).Format("2006-01-02T15:04:05Z") + "  $" + Rate(p.Price) + "/s"
}

// Top formats the hosts of a market as a table. The line above the table summarizes the hosts
// and states how many contracts the bank refuses to settle.
func Top(market string, all []live.Host, now float64, head string, unsettled int) string {
	price, active := 0.0, map[int64]bool{}
	for i := range all {
		price += all[i].Price / float64(len(all))
		for _, t := range all[i].Contracts {
			active[t.Contract] = true
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s  spot %s $/s  %d active  bank %.12s…", market, Instant(now).Format("15:04:05"), Rate(price), len(active), head)
	if unsettled > 0 {
		fmt.Fprintf(&b, "  %d unsettled", unsettled)
	}
	b.WriteByte('\n')
	return b.String() + HostTable(all)
}

// Licences formats the licences of a market as one line with a line break; "" if there are none.
func Licences(all []live.Licence) string {
	var text []string
	for _, l := range all {
		text = append(text, fmt.Sprintf("%s %d of %d", l.Name, l.Held, l.Units))
	}
	if len(text) == 0 {
		return ""
	}
	return " licences held: " + strings.Join(text, ", ") + "\n"
}

// Held formats the resources of a host that tasks hold, with their prices.
func Held(h *live.Host) string {
	var all []string
	for _, r := range h.Resources {
		text := fmt.Sprintf("%s %s of %s", r.Name, Amount(r.Name, r.Held), Amount(r.Name, r.Offered))
		if r.Priced {
			text += " at " + Rate(r.Price)
		}
		if !r.Enforced() {
			text += " (not enforced)"
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// HostTable formats hosts as a table. For each contract on a host, it shows the processors to
// which the tasks are entitled, and those that they recently requested and received. If hosts
// offer other resources, it shows the amounts held, with their prices in $/s.
func HostTable(all []live.Host) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	held := slices.ContainsFunc(all, func(h live.Host) bool { return len(h.Resources) > 0 })
	column := func(text string) string {
		if !held {
			return ""
		}
		return text + "\t"
	}
	fmt.Fprintf(w, " host\tstate\tkind\tcpus\tentitled\tasked\treceived\tprice\t%scontracts\n", column("held"))
	for i := range all {
		h := &all[i]
		var who []string
		for _, t := range h.Contracts {
			who = append(who, fmt.Sprintf("%d (%s) %.2f/%.2f/%.2f", live.Short(t.Contract), strings.TrimPrefix(t.Account, "user:"), t.Entitled, t.Asked, t.Delivered))
		}
		state := h.State
		if h.Why != "" {
			state += " (" + h.Why + ")"
		}
		fmt.Fprintf(w, " %s\t%s\t%s\t%.1f\t%.2f\t%.2f\t%.2f\t%s\t%s%s\n", h.Name, state, h.Kind, h.CPUs, h.Entitled, h.Asked, h.Delivered, Rate(h.Price), column(Held(h)), strings.Join(who, "  "))
	}
	w.Flush()
	if slices.ContainsFunc(all, func(h live.Host) bool { return h.Kind == "slurm" }) {
		fmt.Fprintf(&b, " hosts of kind slurm: %s\n", live.WholeCores)
	}
	return b.String()
}
