package note

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"bourse/bank"
)

// A Field is one field of a note.
type Field struct {
	Name  string
	Value any // a string, a bool, a json.Number, or a []any of these
}

// Fields returns the fields of a note in order. If the note is not a JSON object, ok is false.
func Fields(note []byte) (fields []Field, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(note))
	dec.UseNumber()
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			break
		}
		var value any
		if err := dec.Decode(&value); err != nil {
			break
		}
		fields = append(fields, Field{fmt.Sprint(name), value})
	}
	return fields, true
}

// reserved lists the fields of notes that are not numbers of a policy.
var reserved = []string{
	"decision", "reason", "ask", "submit", "deadline", "runs_on", "on_demand", "per_host", "max_cpu", "floor", "floors", "holds", "met", "licences", "licence_floor", "promised",
	"penalty_rate", "penalty_max", "penalty_part", "penalty_most", "on", "opens", "nodes", "host", "parts",
	"state", "work", "needed", "work_done", "killed", "exhausted", "off", "lost", "fault", "losses", "wasted", "penalty_owed", "unused", "cause", "payer", "withheld", "owed",
}

// Reserved reports whether a policy must not give a number this name, because a field of the
// note has the name.
func Reserved(name string) bool { return slices.Contains(reserved, name) }

// An Agreement is the content of the note of an admission or a rejection. A rejection has no
// terms. Omitted fields are 0, except PenaltyMax.
type Agreement struct {
	Decision, Reason string
	Ask              *float64           // agreed price, $; nil if the price is the budget
	Numbers          map[string]float64 // all numbers in the note, including those of the policy

	Submit      float64
	Deadline    float64
	RunsOn      bool    `json:"runs_on"`
	OnDemand    bool    `json:"on_demand"`
	PerHost     bool    `json:"per_host"`
	MaxCPU      float64 `json:"max_cpu"`
	Floor       float64 // minimum price of a processor, $/s
	PenaltyRate float64 `json:"penalty_rate"`
	PenaltyMax  float64 `json:"penalty_max"` // +Inf if unlimited
	On          []any   // bids (float64), each followed by the names of the hosts with that bid (strings)

	Opens float64
	Nodes int
	Host  string
	Parts []any // numbers of nodes (float64), each followed by the name of the host (string)
}

// ParseAgreement parses the note of an admission or a rejection.
func ParseAgreement(note []byte) (*Agreement, error) {
	a := &Agreement{PenaltyMax: math.Inf(1), Numbers: make(map[string]float64)}
	if err := json.Unmarshal(note, a); err != nil {
		return nil, fmt.Errorf("note of a decision: %w", err)
	}
	fields, _ := Fields(note)
	for _, f := range fields {
		if x, ok := f.Value.(json.Number); ok {
			a.Numbers[f.Name], _ = x.Float64()
		}
	}
	return a, nil
}

// ParseVerdict parses the note of a settlement.
func ParseVerdict(note []byte) (v Verdict, err error) {
	var n struct {
		State   string
		Work    float64
		Needed  *float64
		ByDue   float64 `json:"work_done"`
		Killed  bool
		Spent   bool `json:"exhausted"`
		Fault   string
		Losses  int
		Wasted  float64
		Penalty bank.Amount `json:"penalty_owed"`
		Unused  float64
	}
	if err := json.Unmarshal(note, &n); err != nil {
		return v, fmt.Errorf("note of a settlement: %w", err)
	}
	if n.Needed == nil {
		n.Needed = &n.Work
	}
	return Verdict{n.State, n.Work, *n.Needed, n.ByDue, n.Killed, n.Spent, n.Fault, n.Losses, n.Wasted, n.Penalty, n.Unused}, nil
}
