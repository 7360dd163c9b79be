package broker

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"bourse/bank"
	"bourse/contracts"
	"bourse/contracts/note"
	"bourse/hosts"
)

// submit runs the command "submit ID USER name=number... [soft] [per-host] [on-demand]
// [class=NAME]". Each name is a field of the request, or true-work.
func (c *conversation) submit(words []string) ([]string, error) {
	id, err := strconv.ParseInt(words[0], 10, 64)
	if err != nil {
		return nil, err
	}
	r := contracts.Request{ID: contracts.ID(id), Submit: c.now, Nodes: 1}
	r.SLA.Penalty.Max = math.Inf(1)
	owner, ok := c.ledger.Lookup("user:" + words[1])
	if !ok {
		return nil, fmt.Errorf("no user %q", words[1])
	}
	r.Owner = owner
	var numbers []string
	for _, w := range words[2:] {
		switch name, value, _ := strings.Cut(w, "="); name {
		case "soft":
			r.SLA.Soft = true
		case "per-host":
			r.PerHost = true
		case "on-demand":
			r.OnDemand = true
		case "class":
			r.Class = value
		case "budget":
			if r.SLA.Budget, err = bank.Parse(value); err != nil {
				return nil, err
			}
		default:
			numbers = append(numbers, w)
		}
	}
	truth := 0.0
	needs := &r.Needs
	if err := assign(numbers, map[string]func(float64){
		"work": into(&r.Work), "true-work": into(&truth), "deadline": into(&r.SLA.Deadline),
		"nodes": func(x float64) { r.Nodes = int(x) },
		"parts": func(x float64) { r.Parts = int(x) }, "lead": into(&r.Lead),
		"penalty": into(&r.SLA.Penalty.Rate), "max-penalty": into(&r.SLA.Penalty.Max),
		"min-cpu": into(&needs.Min.CPU), "max-cpu": into(&needs.Max.CPU),
		"min-memory": into(&needs.Min.Memory), "max-memory": into(&needs.Max.Memory),
		"min-disk": into(&needs.Min.Disk), "max-disk": into(&needs.Max.Disk),
		"min-bandwidth": into(&needs.Min.Bandwidth), "max-bandwidth": into(&needs.Max.Bandwidth),
	}); err != nil {
		return nil, err
	}
	if err := r.Validate(); err != nil {
		return []string{err.Error()}, nil
	}
	if truth == 0 {
		truth = r.Work
	}
	d, err := c.broker.Submit(c.now, &r, hosts.Task{Work: truth})
	if err != nil {
		return nil, err
	}
	return answer(*d), nil
}

// answer describes a decision and the numbers on which it is based.
func answer(d contracts.Decision) (answers []string) {
	head := d.Verdict.String()
	said := must(note.ParseAgreement(d.AppendJSON(nil)))
	if d.Reason != contracts.None {
		head += ": " + said.Reason
	}
	n := said.Numbers
	if id, ok := d.Numbers.Contract(); ok {
		head += fmt.Sprintf(" %d, which would get %v and needs %v", id, number(n["gets"]), number(n["want"]))
	}
	if d.Reason == contracts.Unfunded {
		var of struct{ Balance, Budget string }
		if err := json.Unmarshal(d.AppendJSON(nil), &of); err != nil {
			panic(err)
		}
		head += fmt.Sprintf(", has %v of %v", of.Balance, of.Budget)
	}
	for _, p := range d.Placements {
		if p.Nodes > 0 {
			head += fmt.Sprintf(", %d on h%d", p.Nodes, p.Host)
		} else {
			head += fmt.Sprintf(", %v $/s on h%d", p.Bid, p.Host)
		}
	}
	if said.Ask != nil {
		head += fmt.Sprintf(", asks %v", *said.Ask)
	}
	if n["completion"] > 0 {
		head += fmt.Sprintf(", from %v to %v", n["start"], n["completion"])
	}
	answers = append(answers, head)
	if n["spot_share"] > 0 {
		numbers := fmt.Sprintf("price %v, share %v", number(n["price"]), number(n["spot_share"]))
		if n["threshold"] > 0 {
			numbers += fmt.Sprintf("; percentile %v, share %v; threshold %v", number(n["percentile"]), number(n["share"]), number(n["threshold"]))
		}
		answers = append(answers, numbers)
	}
	return answers
}

func (c *conversation) show(words []string) ([]string, error) {
	switch words[0] {
	case "hosts":
		return c.showHosts(), nil
	case "balances":
		return c.showBalances(), nil
	case "contract":
		id, err := strconv.ParseInt(words[1], 10, 64)
		return c.showContract(contracts.ID(id)), err
	}
	return nil, fmt.Errorf("nothing to show")
}

func (c *conversation) showHosts() (answers []string) {
	v := view{c.broker}.Hosts()
	for h := range hosts.ID(v.Fleet()) {
		a := fmt.Sprintf("h%d: %v $/s", h, v.Price(h))
		if v.Unavailable(h) {
			a += ", away"
		}
		if !c.spec.Room.Zero() {
			r := v.Room(h)
			a += fmt.Sprintf(", room %v %v %v", number(r.Memory), number(r.Disk), number(r.Bandwidth))
		}
		for _, s := range v.On(h) {
			a += fmt.Sprintf("; %d bids %v, gets %v, pays %v", v.Contract(s.Contract).ID, s.Bid, number(s.Rate), number(s.Paying))
		}
		answers = append(answers, a)
	}
	return answers
}

func (c *conversation) showContract(id contracts.ID) []string {
	for i := range c.broker.contracts {
		k := &c.broker.contracts[i]
		if k.ID != id || k.phase == contracts.Asked || k.phase == contracts.Ended {
			continue
		}
		at, stands := c.broker.floor.Peek(k.run)
		if verb, off := map[contracts.Phase]string{contracts.Waiting: "waits", contracts.Paused: "pauses"}[k.phase]; off {
			return []string{fmt.Sprintf("%d: %s, looked at again at %v", id, verb, number(at))}
		}
		return []string{fmt.Sprintf("%d: gets %v, has %v of %v left, looked at again at %v",
			id, number(stands.Rate), number(stands.Remaining(c.now)), number(stands.Total()), number(at))}
	}
	return []string{fmt.Sprintf("%d: not active", id)}
}

func (c *conversation) showBalances() []string {
	var parts []string
	for name, a := range c.ledger.Balances() {
		parts = append(parts, name+" "+a.String())
	}
	return []string{strings.Join(parts, ", ")}
}

// number prints x with few enough digits that a reader can check them.
func number(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }
