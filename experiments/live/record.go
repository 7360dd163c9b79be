package live

import (
	"encoding/json"
	"fmt"
	"math"

	"bourse/bank"
	bankorder "bourse/bank/order"
	"bourse/contracts/order"
	"bourse/hosts"
	"bourse/hosts/remote"
	"bourse/market"
)

// A record is one step of the loop. It is logged before the market executes the step.
type record struct {
	Now      float64
	Messages []message
}

// A message is one input to the market. One field is set.
type message struct {
	Submit *submission `json:"submit,omitempty"`
	Cancel string      `json:"cancel,omitempty"` // signed order
	Bid    string      `json:"bid,omitempty"`    // signed order
	Report *hostReport `json:"report,omitempty"`
	Join   *join       `json:"join,omitempty"`
	Came   string      `json:"came,omitempty"` // name of a host that responds again
	Gone   string      `json:"gone,omitempty"` // name of a host that does not respond or leaves
	Remove string      `json:"remove,omitempty"`
	Shut   *shutting   `json:"shut,omitempty"`
	Orphan *orphan     `json:"orphan,omitempty"`
	Saved  *saving     `json:"saved,omitempty"`
	Reach  *reach      `json:"reach,omitempty"`
}

// order returns the text of the signed order in m, or an empty string.
func (m *message) order() string {
	if m.Submit != nil {
		return m.Submit.Order
	}
	return m.Cancel + m.Bid
}

// A submission is a signed order with the text of its job. The order contains the hash of the
// text.
type submission struct {
	Order string `json:"order"`
	Job   string `json:"job"`

	Memory float64          `json:"memory,omitempty"` // bytes that each node holds on hosts that sell memory; 0 in records of earlier versions
	Disk   float64          `json:"disk,omitempty"`   // bytes of disk that each node holds; 0 if the market did not sell disk
	Ended  map[int64]string `json:"ended,omitempty"`  // final states of contracts that the order waits for
}

// open returns the signed order and its terms.
func (s *submission) open() (*bankorder.Signed, *order.Terms, error) {
	signed, err := bankorder.Open([]byte(s.Order))
	if err != nil {
		return nil, nil, err
	}
	terms, err := order.Parse(signed.Order)
	return signed, terms, err
}

// A join is a message that adds a host.
type join struct {
	Spec  hosts.Spec `json:"spec"`
	Owner string     `json:"owner"` // account that receives the charges for the host
	Pin   string     `json:"pin,omitempty"`
}

// A saving is a message that a host has stored a checkpoint of a task at the market.
type saving struct {
	Host string   `json:"host"`
	Name int64    `json:"name"`
	Sums []string `json:"sums"` // SHA-256 of its parts
	Used float64  `json:"used"` // processor-seconds of the task before the checkpoint
}

// An orphan is an escrow whose contract is missing from the market's log, because the market
// was restored from an older backup.
type orphan struct {
	Contract int64       `json:"contract"`
	Owner    string      `json:"owner"`
	Amount   bank.Amount `json:"amount"`
}

// A shutting is a message that a host stops or resumes accepting tasks. The instruction comes
// from the host's agent or, for a drain, from the operator.
type shutting struct {
	Host     string `json:"host"`
	Shut     bool   `json:"shut"`
	Operator bool   `json:"operator,omitempty"`
}

// A hostReport is the part of an agent's report that affects the market.
type hostReport struct {
	Host string
	remote.Told
}

// mostTime is the longest time that an agent may report, in seconds. It is 35 years.
const mostTime = float64(1<<50) / 1e6

// newReport returns t in the form in which it is logged, with times rounded to
// microseconds. It returns an error if a time is not a number or is longer than mostTime.
func newReport(host string, t *remote.Told) (*hostReport, error) {
	out := &hostReport{host, remote.Told{Session: t.Session, Boot: t.Boot, After: t.After, Seq: t.Seq, First: t.First}}
	valid := func(x float64) bool { return math.Abs(x) <= mostTime }
	for i := range t.Spans {
		s := &t.Spans[i]
		rounded := remote.Span{Deal: s.Deal, Length: micro(s.Length), At: micro(s.At)}
		ok := valid(s.Length) && valid(s.At)
		for _, u := range s.Used {
			ok = ok && valid(u.Seconds) && valid(u.Waited)
			rounded.Used = append(rounded.Used, remote.Used{Name: u.Name, Seconds: micro(u.Seconds), Waited: micro(u.Waited)})
		}
		if !ok {
			return nil, fmt.Errorf("host %s: span %d: found an invalid time, want times from 0 to %.0f s", host, t.First+int64(i), mostTime)
		}
		out.Spans = append(out.Spans, rounded)
	}
	for _, e := range t.Ends {
		e.Lacks = nil
		out.Ends = append(out.Ends, e)
	}
	return out, nil
}

// micro rounds seconds to microseconds, the precision of the kernel.
func micro(seconds float64) float64 { return fromMicros(micros(seconds)) }

func micros(seconds float64) int64 { return int64(math.Round(seconds * 1e6)) }

func fromMicros(n int64) float64 { return float64(n) / 1e6 }

// An outcome is the result of a step. It contains the calls to the bank with their answers,
// and the replies to submissions and cancellations.
type outcome struct {
	Calls   []call   `json:"calls,omitempty"`
	Answers []Answer `json:"answers,omitempty"`
}

// A begun is a task that a host was ordered to start, with the bid of the task on that host.
type begun struct {
	Task
	Contract int64       `json:"contract"`
	Bid      market.Rate `json:"bid"`
}

// encode returns x in the format of the log.
func encode(x any) ([]byte, error) { return json.Marshal(x) }
