package note

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"

	"bourse/bank"
)

// A Field is one of a note.
type Field struct {
	Name  string
	Value any // a string, a bool, a json.Number, or a []any of those
}

// Fields returns the fields of a note in order; of one that is no JSON object, ok is
// false.
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

// An Agreement is what the note of an admission says, or that of a rejection: that
// has no terms. What is left out is 0, but for PenaltyMax.
type Agreement struct {
	Decision, Reason string
	Ask              *float64           // the price agreed, $; nil if it is the budget
	Numbers          map[string]float64 // all in the note, the policy's among them

	Submit      float64
	Deadline    float64
	RunsOn      bool    `json:"runs_on"`
	OnDemand    bool    `json:"on_demand"`
	PerHost     bool    `json:"per_host"`
	MaxCPU      float64 `json:"max_cpu"`
	Floor       float64 // $/s of a processor
	PenaltyRate float64 `json:"penalty_rate"`
	PenaltyMax  float64 `json:"penalty_max"` // +Inf if there is no bound
	On          []any   // float64, a bid, each followed by its hosts, strings

	Opens float64
	Nodes int
	Host  string
	Parts []any // float64, a number of nodes, each followed by their host, a string
}

// ParseAgreement reads the note of an admission or a rejection.
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

// ParseVerdict reads the note of a settlement.
func ParseVerdict(note []byte) (v Verdict, err error) {
	var n struct {
		State   string
		Work    float64
		Needed  *float64
		ByDue   float64 `json:"work_done"`
		Killed  bool
		Fault   string
		Losses  int
		Wasted  float64
		Penalty bank.Amount `json:"penalty_owed"`
	}
	if err := json.Unmarshal(note, &n); err != nil {
		return v, fmt.Errorf("note of a settlement: %w", err)
	}
	if n.Needed == nil {
		n.Needed = &n.Work
	}
	return Verdict{n.State, n.Work, *n.Needed, n.ByDue, n.Killed, n.Fault, n.Losses, n.Wasted, n.Penalty}, nil
}
