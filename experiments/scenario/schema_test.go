package scenario

import (
	"encoding/json"
	"testing"
)

// TestSchema checks that editors are told the type, range and meaning of
// fields, and refuse others.
func TestSchema(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(Schema())
	if err != nil {
		t.Fatal(err)
	}
	type property struct {
		Type, Description string
		Minimum, Maximum  float64
		Enum              []string
	}
	type object struct {
		Properties           map[string]property
		AdditionalProperties bool
	}
	var got struct {
		object
		Defs map[string]object `json:"$defs"`
	}
	got.AdditionalProperties = true
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if got.AdditionalProperties {
		t.Error("unknown fields are allowed")
	}
	if p := got.Defs["Fleet"].Properties["hosts"]; p.Type != "integer" || p.Minimum != 1 || p.Maximum != 1e7 {
		t.Errorf("fleet.hosts = %+v, want an integer in [1,1e7]", p)
	}
	if p := got.Defs["SLA"].Properties["deadline"]; len(p.Enum) != 3 {
		t.Errorf("sla.deadline = %+v, want one of three", p)
	}
	for name, o := range got.Defs {
		for field, p := range o.Properties {
			if p.Description == "" {
				t.Errorf("%s.%s is not described", name, field)
			}
		}
	}
	for _, f := range []string{"preset", "base", "name", "configurations"} {
		if got.Properties[f].Description == "" {
			t.Errorf("%s is missing or not described", f)
		}
	}
}
