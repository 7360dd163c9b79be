package live

import (
	"encoding/json"
	"fmt"
	"math"

	"bourse/bank"
	"bourse/hosts"
	"bourse/hosts/remote"
	"bourse/market"
)

// A record is one turn of the loop, logged before anything of it is done.
type record struct {
	Now      float64   `json:"now"` // instant
	Messages []message `json:"messages,omitempty"`
}

// A message is one thing that is said to the market. One field is set.
type message struct {
	Submit *submission `json:"submit,omitempty"`
	Cancel string      `json:"cancel,omitempty"` // signed order
	Told   *told       `json:"told,omitempty"`
	Join   *join       `json:"join,omitempty"`
	Came   string      `json:"came,omitempty"` // host
	Gone   string      `json:"gone,omitempty"` // host that is silent, or leaves
	Remove string      `json:"remove,omitempty"`
	Shut   *shutting   `json:"shut,omitempty"`
	Orphan *orphan     `json:"orphan,omitempty"`
}

// order returns the signed order that m is, if it is one.
func (m *message) order() string {
	if m.Submit != nil {
		return m.Submit.Order
	}
	return m.Cancel
}

// A submission is a signed order and the text of the job that it has the sum of.
type submission struct {
	Order string `json:"order"`
	Job   string `json:"job"`
}

// A join is a host that is new.
type join struct {
	Spec  hosts.Spec `json:"spec"`
	Owner string     `json:"owner"` // account that its charges go to
	Pin   string     `json:"pin,omitempty"`
}

// An orphan is what the bank holds for a contract of which the market knows nothing: it was
// restored from before.
type orphan struct {
	Contract int64       `json:"contract"`
	Owner    string      `json:"owner"`
	Amount   bank.Amount `json:"amount"`
}

// A shutting is a host that takes no more tasks, or takes them again: so says its agent, or
// the operator, who wants it to leave when what runs there is done.
type shutting struct {
	Host     string `json:"host"`
	Shut     bool   `json:"shut"`
	Operator bool   `json:"operator,omitempty"`
}

// A told is what a host has told, as far as anything comes of it.
type told struct {
	Host    string `json:"host"`
	Session int64  `json:"session"`
	Boot    string `json:"boot,omitempty"`
	After   string `json:"after,omitempty"`
	Seq     int64  `json:"seq,omitempty"`
	First   int64  `json:"first,omitempty"`
	Spans   []span `json:"spans,omitempty"`
	Ends    []end  `json:"ends,omitempty"`
}

type span struct {
	Deal   int64   `json:"deal"`
	Length float64 `json:"s"`
	At     float64 `json:"at,omitempty"`
	Used   []used  `json:"used,omitempty"`
}

type used struct {
	Name    int64   `json:"n"`
	Seconds float64 `json:"s"`
	Waited  float64 `json:"w,omitempty"`
}

type end struct {
	Name        int64     `json:"n"`
	Why         hosts.End `json:"why"`
	Code        uint8     `json:"code,omitempty"`
	Signal      string    `json:"signal,omitempty"`
	Fault       string    `json:"fault,omitempty"`
	OutOfMemory bool      `json:"out_of_memory,omitempty"`
}

// newTold returns what is to be logged of t, to the microsecond, or an error if it holds
// what is no number.
func newTold(host string, t *remote.Told) (*told, error) {
	out := &told{Host: host, Session: t.Session, Boot: t.Boot, After: t.After, Seq: t.Seq, First: t.First}
	finite := func(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
	for i := range t.Spans {
		s := &t.Spans[i]
		one := span{Deal: s.Deal, Length: micro(s.Length), At: micro(s.At)}
		ok := finite(s.Length) && finite(s.At)
		for _, u := range s.Used {
			ok = ok && finite(u.Seconds) && finite(u.Waited)
			one.Used = append(one.Used, used{u.Name, micro(u.Seconds), micro(u.Waited)})
		}
		if !ok {
			return nil, fmt.Errorf("host %s: span %d: want numbers", host, t.First+int64(i))
		}
		out.Spans = append(out.Spans, one)
	}
	for _, e := range t.Ends {
		out.Ends = append(out.Ends, end{e.Name, e.Why, e.Code, e.Signal, e.Fault, e.OutOfMemory})
	}
	return out, nil
}

// micro returns seconds to the microsecond: what hosts measure is no better, and half of a
// log would be digits.
func micro(seconds float64) float64 { return math.Round(seconds*1e6) / 1e6 }

// told returns what a machine is to hear.
func (t *told) told() *remote.Told {
	out := &remote.Told{Session: t.Session, Boot: t.Boot, After: t.After, Seq: t.Seq, First: t.First}
	for _, s := range t.Spans {
		one := remote.Span{Deal: s.Deal, Length: s.Length, At: s.At}
		for _, u := range s.Used {
			one.Used = append(one.Used, remote.Used(u))
		}
		out.Spans = append(out.Spans, one)
	}
	for _, e := range t.Ends {
		out.Ends = append(out.Ends, remote.End{Name: e.Name, Why: e.Why, Code: e.Code, Signal: e.Signal, Fault: e.Fault, OutOfMemory: e.OutOfMemory})
	}
	return out
}

// An outcome is what came of a turn: what the bank was asked, and answered; and what those
// were answered who asked for a contract, or to have one cancelled.
type outcome struct {
	Calls   []call   `json:"calls,omitempty"`
	Answers []Answer `json:"answers,omitempty"`
}

// A begun is a task that a host was told to begin, and what it bids there.
type begun struct {
	Task
	Contract int64       `json:"contract"`
	Bid      market.Rate `json:"bid"`
}

// encode returns x as it is logged.
func encode(x any) ([]byte, error) { return json.Marshal(x) }
