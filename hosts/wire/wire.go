// Package wire defines the messages between a host and its market in their network form, and
// converts them to and from the messages of [remote]. It is independent of money and of the
// transport.
package wire

//go:generate go run github.com/bufbuild/buf/cmd/buf@v1.61.0 generate

import (
	"fmt"
	"math"
	"slices"

	"bourse/hosts"
	"bourse/hosts/remote"
)

// FromTold converts t to its network form.
func FromTold(t *remote.Told) *SyncRequest {
	r := &SyncRequest{
		Session: t.Session, Boot: t.Boot, After: t.After, Seq: t.Seq, Have: t.Have, First: t.First,
		Offer: FromOffer(&t.Offer), Load: t.Load, Closed: t.Closed, Leaving: Leaving(t.Leaving), Stored: t.Stored,
	}
	for _, d := range t.Deleted {
		r.Deleted = append(r.Deleted, &Deleted{Name: d.Name, Bytes: d.Bytes, Why: d.Why})
	}
	for _, s := range t.Spans {
		w := &Span{Deal: s.Deal, Length: s.Length, At: s.At}
		for _, u := range s.Used {
			w.Names, w.Seconds, w.Waited = append(w.Names, u.Name), append(w.Seconds, u.Seconds), append(w.Waited, u.Waited)
		}
		if !slices.ContainsFunc(s.Used, func(u remote.Used) bool { return u.Waited != 0 }) {
			w.Waited = nil
		}
		r.Spans = append(r.Spans, w)
	}
	for _, e := range t.Ends {
		r.Ends = append(r.Ends, &End{
			Name: e.Name, Why: Why(e.Why), Code: uint32(e.Code), Signal: e.Signal, Fault: e.Fault,
			OutOfMemory: e.OutOfMemory, Lacks: e.Lacks,
		})
	}
	return r
}

// ToTold converts r from its network form. It returns an error if a field of r is invalid.
func ToTold(r *SyncRequest) (*remote.Told, error) {
	t := &remote.Told{
		Session: r.Session, Boot: r.Boot, After: r.After, Seq: r.Seq, Have: r.Have, First: r.First,
		Offer: ToOffer(r.Offer), Load: r.Load, Closed: r.Closed, Leaving: remote.Leaving(r.Leaving), Stored: r.Stored,
	}
	for _, d := range r.Deleted {
		t.Deleted = append(t.Deleted, remote.Deleted{Name: d.GetName(), Bytes: d.GetBytes(), Why: d.GetWhy()})
	}
	if r.Leaving < 0 || t.Leaving > remote.AtOnce {
		return nil, fmt.Errorf("leaving: no such as %d", r.Leaving)
	}
	for i, s := range r.Spans {
		if s == nil || len(s.Names) != len(s.Seconds) || len(s.Waited) > 0 && len(s.Waited) != len(s.Names) {
			return nil, fmt.Errorf("span %d: want as many names as seconds", i)
		}
		span := remote.Span{Deal: s.Deal, Length: s.Length, At: s.At}
		for k, name := range s.Names {
			one := remote.Used{Name: name, Seconds: s.Seconds[k]}
			if len(s.Waited) > 0 {
				one.Waited = s.Waited[k]
			}
			span.Used = append(span.Used, one)
		}
		t.Spans = append(t.Spans, span)
	}
	for i, e := range r.Ends {
		if e == nil || e.Why < 0 || hosts.End(e.Why) > hosts.Lost || e.Code > math.MaxUint8 {
			return nil, fmt.Errorf("end %d: no such as %v with %d", i, e.GetWhy(), e.GetCode())
		}
		t.Ends = append(t.Ends, remote.End{
			Name: e.Name, Why: hosts.End(e.Why), Code: uint8(e.Code), Signal: e.Signal, Fault: e.Fault,
			OutOfMemory: e.OutOfMemory, Lacks: e.Lacks,
		})
	}
	return t, nil
}

// FromOffer converts o to its network form.
func FromOffer(o *remote.Offer) *Offer {
	return &Offer{Kind: o.Kind, Cpus: o.CPUs, Memory: o.Memory, Disk: o.Disk, Apart: o.Apart, Trust: o.Trust,
		Address: o.Address, FirstPort: o.Ports[0], LastPort: o.Ports[1], BusyPorts: o.Busy, Counts: o.Counts, Bandwidth: o.Bandwidth}
}

// ToOffer converts o from its network form.
func ToOffer(o *Offer) remote.Offer {
	return remote.Offer{
		Kind: o.GetKind(), CPUs: o.GetCpus(), Memory: o.GetMemory(), Disk: o.GetDisk(), Apart: o.GetApart(), Trust: o.GetTrust(),
		Address: o.GetAddress(), Ports: [2]int32{o.GetFirstPort(), o.GetLastPort()}, Busy: o.GetBusyPorts(),
		Counts: o.GetCounts(), Bandwidth: o.GetBandwidth(),
	}
}

// FromOrders converts o to its network form.
func FromOrders(o *remote.Orders) *SyncResponse {
	r := &SyncResponse{Session: o.Session, Boot: o.Boot, Ack: o.Ack, Known: o.Known, Deal: o.Deal, Lease: o.Lease, Drain: o.Drain, Moved: o.Moved}
	for i := range o.Wanted {
		w := &o.Wanted[i]
		r.Wanted = append(r.Wanted, &Wanted{
			Name: w.Name, Contract: w.Contract, Node: w.Node, Nodes: w.Nodes,
			Weight: w.Weight, Limit: w.Limit, Left: w.Left, Job: w.Job, Account: w.Account,
			Try: w.Try, Warn: w.Warn, Asked: w.Asked,
			Checkpoint: w.Checkpoint, Most: w.Most, Saved: w.Saved, Peers: w.Peers, Port: w.Port,
			Memory: w.Memory, Disk: w.Disk, Bandwidth: w.Bandwidth, Counts: w.Counts,
		})
	}
	for i := range o.Logs {
		r.Logs = append(r.Logs, FromLog(&o.Logs[i]))
	}
	return r
}

// ToOrders converts r from its network form. The work of the wanted tasks is unset, because
// only the host's market knows it.
func ToOrders(r *SyncResponse) *remote.Orders {
	o := &remote.Orders{Session: r.Session, Boot: r.Boot, Ack: r.Ack, Known: r.Known, Deal: r.Deal, Lease: r.Lease, Drain: r.Drain, Moved: r.Moved}
	for _, w := range r.Wanted {
		o.Wanted = append(o.Wanted, remote.Wanted{
			Name: w.GetName(), Contract: w.GetContract(), Node: w.GetNode(), Nodes: w.GetNodes(),
			Weight: w.GetWeight(), Limit: w.GetLimit(), Left: w.GetLeft(), Job: w.GetJob(), Account: w.GetAccount(), Work: math.Inf(1),
			Try: w.GetTry(), Warn: w.GetWarn(), Asked: w.GetAsked(),
			Checkpoint: w.GetCheckpoint(), Most: w.GetMost(), Saved: w.GetSaved(), Peers: w.GetPeers(), Port: w.GetPort(),
			Memory: w.GetMemory(), Disk: w.GetDisk(), Bandwidth: w.GetBandwidth(), Counts: w.GetCounts(),
		})
	}
	for _, l := range r.Logs {
		o.Logs = append(o.Logs, *ToLog(l))
	}
	return o
}

// FromLog converts l to its network form.
func FromLog(l *remote.Log) *Log {
	return &Log{Name: l.Name, Errors: l.Errors, From: l.From, Text: l.Text, Size: l.Size, Fault: l.Fault, Archive: l.Archive, Paths: l.Paths, Last: l.Last}
}

// ToLog converts l from its network form.
func ToLog(l *Log) *remote.Log {
	return &remote.Log{
		Name: l.GetName(), Errors: l.GetErrors(), From: l.GetFrom(), Text: l.GetText(), Size: l.GetSize(), Fault: l.GetFault(),
		Archive: l.GetArchive(), Paths: l.GetPaths(), Last: l.GetLast(),
	}
}
