package scenario

import (
	"bourse/workloadgen/config"
	"bourse/workloadgen/plugin"
	"encoding/json"
	"strings"
	"testing"
)

type cheap struct {
	Most float64 `yaml:"most" validate:"gt=0,max=9" doc:"most"`
	Of   struct {
		Kind string `yaml:"kind" validate:"oneof=a b" doc:"kind"`
	} `yaml:"of"`
}

// strategies is a family with two members.
var strategies = plugin.Table[cheap]{Kind: "strategy", Members: plugin.Members[cheap]{
	"first": {"the first", plugin.Is(cheap{})},
	"cheap": {"the cheapest", func(decode plugin.Decoder) (cheap, error) {
		o := cheap{Most: 5}
		err := decode(&o)
		return o, err
	}},
}}

// TestSchema checks that the schema gives editors the type, range and meaning of fields and
// makes them reject other fields.
func TestSchema(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(Schema(map[string]config.Family{"bidding": strategies}))
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
	if p := got.Defs["SLA"].Properties["deadline"]; len(p.Enum) != 4 {
		t.Errorf("sla.deadline = %+v, want one of four", p)
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

// TestSchemaOfFamilies checks that the schema gives editors the names of plug-ins, and the
// type, range, default and meaning of their options.
func TestSchemaOfFamilies(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(Schema(map[string]config.Family{"bidding": strategies}))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"bidding":{"$ref":"#/$defs/family-bidding","description":"strategy by which a contract chooses hosts and bids"}`,
		`"enum":["cheap","first"]`,
		`{"if":{"properties":{"name":{"const":"cheap"}},"required":["name"]},"then":{"properties":` +
			`{"most":{"type":"number","maximum":9,"exclusiveMinimum":0,"description":"most","default":5},` +
			`"of":{"properties":{"kind":{"type":"string","enum":["a","b"],"description":"kind","default":""}}}},"description":"the cheapest"}}`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("want %s in\n%s", want, text)
		}
	}
}
