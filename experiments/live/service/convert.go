package service

import (
	"cmp"
	"encoding/json"
	"fmt"

	"bourse/bank"
	"bourse/experiments/live"
	"bourse/experiments/live/wire"
)

// each returns the results of f for every element of in.
func each[A, B any](in []A, f func(*A) B) []B {
	out := make([]B, len(in))
	for i := range in {
		out[i] = f(&in[i])
	}
	return out
}

// all returns the results of f for every element of in.
func all[A, B any](in []*A, f func(*A) B) []B {
	out := make([]B, len(in))
	for i := range in {
		out[i] = f(in[i])
	}
	return out
}

func fromPlace(p *live.Place) *wire.Place {
	return &wire.Place{Host: p.Host, Bid: p.Bid, Share: p.Share, Done: p.Done, Owed: p.Owed}
}

func toPlace(p *wire.Place) live.Place {
	return live.Place{Host: p.GetHost(), Bid: p.GetBid(), Share: p.GetShare(), Done: p.GetDone(), Owed: p.GetOwed()}
}

func fromEnd(e *live.End) *wire.End {
	return &wire.End{Node: e.Node, Host: e.Host, Task: e.Name, Why: e.Why.String(), Code: uint32(e.Code), Signal: e.Signal, Fault: e.Fault, OutOfMemory: e.OutOfMemory}
}

func toEnd(e *wire.End) live.End {
	out := live.End{Node: e.GetNode(), Host: e.GetHost(), Name: e.GetTask(), Code: uint8(e.GetCode()), Signal: e.GetSignal(), Fault: e.GetFault(), OutOfMemory: e.GetOutOfMemory()}
	if err := out.Why.UnmarshalText([]byte(e.GetWhy())); err != nil {
		out.Fault = fmt.Sprintf("ended as %q", e.GetWhy()) // the reason comes from a later version of the program
	}
	return out
}

func fromAnswer(a *live.Answer) *wire.Answer {
	return &wire.Answer{
		Contract: a.Contract, At: a.At, Verdict: a.Verdict, Reason: a.Reason, Decision: string(a.Decision),
		Places: each(a.Places, fromPlace), Receipt: a.Receipt, Why: a.Why, Least: a.Least, Left: a.Left,
	}
}

func toAnswer(a *wire.Answer) *live.Answer {
	return &live.Answer{
		Contract: a.GetContract(), At: a.GetAt(), Verdict: a.GetVerdict(), Reason: a.GetReason(), Decision: raw(a.GetDecision()),
		Places: all(a.GetPlaces(), toPlace), Receipt: a.GetReceipt(), Why: a.GetWhy(), Least: a.GetLeast(), Left: a.GetLeft(),
	}
}

// raw returns JSON that was sent as text. It returns nil if the text is invalid.
func raw(text string) json.RawMessage {
	if !json.Valid([]byte(text)) {
		return nil
	}
	return json.RawMessage(text)
}

func fromContract(c *live.Contract) *wire.Contract {
	return &wire.Contract{
		Contract: c.ID, Order: c.Order, Account: c.Account, State: c.State, Class: c.Class, Nodes: int32(c.Nodes), Cpus: c.CPUs,
		Work: c.Work, Deadline: c.Deadline, Budget: c.Budget.String(), Job: c.Job, Submitted: c.Submitted, Decision: string(c.Decision),
		Places: each(c.Places, fromPlace), Receipt: c.Receipt, Ends: each(c.Ends, fromEnd), Ended: c.Ended, Settled: c.Settled, Outcome: c.Outcome,
		Done: c.Done, Delay: c.Delay, Losses: int32(c.Losses), Paid: c.Paid.String(), Back: c.Back.String(), Penalty: c.Penalty.String(), Withheld: c.Withheld.String(), Settlement: c.Settlement,
		Unsettled: c.Unsettled, Deleted: each(c.Deleted, fromDeletion), Served: fromServed(c.Served), Held: c.Held, Name: c.Name, Project: c.Project,
		Memory: c.Memory, Disk: c.Disk, Bandwidth: c.Bandwidth, Counts: c.Counts, Licences: c.Licences, Charges: each(c.Charges, fromCharge),
	}
}

func fromLicence(l *live.Licence) *wire.Licence {
	return &wire.Licence{Licence: l.Name, Units: l.Units, Held: l.Held}
}

func toLicence(l *wire.Licence) live.Licence {
	return live.Licence{Name: l.GetLicence(), Units: l.GetUnits(), Held: l.GetHeld()}
}

func fromCharge(c *live.Charge) *wire.Charge {
	return &wire.Charge{Resource: c.Resource, Rate: c.Rate, Amount: c.Amount.String()}
}

func toCharges(all []*wire.Charge) (out []live.Charge, err error) {
	for _, c := range all {
		amount, err := bank.Parse(c.GetAmount())
		if err != nil {
			return nil, fmt.Errorf("charge for %s: %w", c.GetResource(), err)
		}
		out = append(out, live.Charge{Resource: c.GetResource(), Rate: c.GetRate(), Amount: amount})
	}
	return out, nil
}

func toContract(c *wire.Contract) (out live.Contract, err error) {
	out = live.Contract{
		ID: c.GetContract(), Order: c.GetOrder(), Account: c.GetAccount(), State: c.GetState(), Class: c.GetClass(), Nodes: int(c.GetNodes()), CPUs: c.GetCpus(),
		Work: c.GetWork(), Deadline: c.GetDeadline(), Job: c.GetJob(), Submitted: c.GetSubmitted(), Decision: raw(c.GetDecision()),
		Places: all(c.GetPlaces(), toPlace), Receipt: c.GetReceipt(), Ends: all(c.GetEnds(), toEnd), Ended: c.GetEnded(), Settled: c.GetSettled(), Outcome: c.GetOutcome(),
		Done: c.GetDone(), Delay: c.GetDelay(), Losses: int(c.GetLosses()), Settlement: c.GetSettlement(),
		Unsettled: c.GetUnsettled(), Deleted: all(c.GetDeleted(), toDeletion), Served: toServed(c.GetServed()), Held: c.GetHeld(), Name: c.GetName(), Project: c.GetProject(),
		Memory: c.GetMemory(), Disk: c.GetDisk(), Bandwidth: c.GetBandwidth(), Counts: c.GetCounts(), Licences: c.GetLicences(),
	}
	for _, m := range []struct {
		name, text string
		to         *bank.Amount
	}{{"budget", c.GetBudget(), &out.Budget}, {"paid", c.GetPaid(), &out.Paid}, {"back", c.GetBack(), &out.Back}, {"penalty", c.GetPenalty(), &out.Penalty}, {"withheld", cmp.Or(c.GetWithheld(), "0"), &out.Withheld}} {
		if *m.to, err = bank.Parse(m.text); err != nil {
			return out, fmt.Errorf("contract %d: %s: %w", out.ID, m.name, err)
		}
	}
	if out.Charges, err = toCharges(c.GetCharges()); err != nil {
		return out, fmt.Errorf("contract %d: %w", out.ID, err)
	}
	return out, nil
}

func fromServed(s *live.Served) *wire.Served {
	if s == nil {
		return nil
	}
	return &wire.Served{Entitled: s.Entitled, Asked: s.Asked, Received: s.Received, Away: s.Away, Cause: s.Cause, Owner: s.Owner}
}

func toServed(s *wire.Served) *live.Served {
	if s == nil {
		return nil
	}
	return &live.Served{
		Entitled: s.GetEntitled(), Asked: s.GetAsked(), Received: s.GetReceived(), Away: s.GetAway(), Cause: s.GetCause(), Owner: s.GetOwner(),
	}
}

func fromDeletion(d *live.Deletion) *wire.Deletion {
	return &wire.Deletion{Node: d.Node, Host: d.Host, Bytes: d.Bytes, Why: d.Why}
}

func toDeletion(d *wire.Deletion) live.Deletion {
	return live.Deletion{Node: d.GetNode(), Host: d.GetHost(), Bytes: d.GetBytes(), Why: d.GetWhy()}
}

func fromTask(t *live.HostTask) *wire.HostTask {
	return &wire.HostTask{Contract: t.Contract, Account: t.Account, Node: t.Node, Bid: t.Bid, Share: t.Share, Entitled: t.Entitled, Asked: t.Asked, Delivered: t.Delivered}
}

func toTask(t *wire.HostTask) live.HostTask {
	return live.HostTask{
		Contract: t.GetContract(), Account: t.GetAccount(), Node: t.GetNode(), Bid: t.GetBid(), Share: t.GetShare(),
		Entitled: t.GetEntitled(), Asked: t.GetAsked(), Delivered: t.GetDelivered(),
	}
}

func fromHost(h *live.Host) *wire.Host {
	return &wire.Host{
		Host: h.Name, State: h.State, Kind: h.Kind, Owner: h.Owner, Cpus: h.CPUs, Price: h.Price, Used: h.Used, Load: h.Load,
		Heard: h.Heard, Why: h.Why, Cut: int64(h.Cut), Contracts: each(h.Contracts, fromTask), Stored: h.Stored,
		Asked: h.Asked, Delivered: h.Delivered, ShareError: h.Off,
		Resources: each(h.Resources, func(r *live.Resource) *wire.HostResource {
			return &wire.HostResource{Resource: r.Name, Offered: r.Offered, Held: r.Held, Price: r.Price, Priced: r.Priced}
		}),
	}
}

func toHost(h *wire.Host) live.Host {
	return live.Host{
		Name: h.GetHost(), State: h.GetState(), Kind: h.GetKind(), Owner: h.GetOwner(), CPUs: h.GetCpus(), Price: h.GetPrice(), Used: h.GetUsed(), Load: h.GetLoad(),
		Heard: h.GetHeard(), Why: h.GetWhy(), Cut: int(h.GetCut()), Contracts: all(h.GetContracts(), toTask), Stored: h.GetStored(),
		Entitled: h.GetUsed(), Asked: h.GetAsked(), Delivered: h.GetDelivered(), Off: h.GetShareError(),
		Resources: all(h.GetResources(), func(r *wire.HostResource) live.Resource {
			return live.Resource{Name: r.GetResource(), Offered: r.GetOffered(), Held: r.GetHeld(), Price: r.GetPrice(), Priced: r.GetPriced()}
		}),
	}
}
