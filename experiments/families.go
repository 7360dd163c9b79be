package experiments

import (
	"encoding/json"

	"bourse/contracts/bidding"
	"bourse/contracts/broker"
	"bourse/contracts/floor"
	"bourse/contracts/policies"
	"bourse/contracts/sharing"
	"bourse/experiments/metrics"
	"bourse/experiments/scenario"
	availability "bourse/hosts/availability/models"
	"bourse/hosts/availability/predictors"
	"bourse/hosts/availability/sched"
	"bourse/hosts/matchmaking"
	"bourse/market/forecast"
	"bourse/workloadgen/config"
	"bourse/workloadgen/dist"
	"bourse/workloadgen/models"
	values "bourse/workloadgen/value"

	"github.com/invopop/jsonschema"
)

// A Family is a table of plug-ins and the name by which users refer to the table.
type Family struct {
	Name string
	config.Family
}

// Families returns the families of plug-ins. It does not create plug-ins.
func Families() []Family {
	return []Family{
		{"admission", policies.WithOutside(nil, nil)},
		{"bidding", bidding.Table(nil)},
		{"sharing", sharing.Table()},
		{"payment", broker.Payments()},
		{"forecaster", forecast.Table()},
		{"model", models.Table()},
		{"value", values.Table()},
		{"law", dist.Table()},
		{"availability", availability.Table()},
		{"predictor", predictors.Table()},
		{"scheduler", sched.Table(nil)},
		{"matchmaking", matchmaking.Table(nil)},
		{"leaving", floor.Leavings()},
		{"metric", metrics.Table()},
	}
}

// A ScenarioFile is the content of a scenario file as JSON.
type ScenarioFile struct{ json.RawMessage }

// JSONSchema returns the JSON schema of scenario files. The jsonschema package calls this
// method for types with a custom JSON form.
func (ScenarioFile) JSONSchema() *jsonschema.Schema {
	known := make(map[string]config.Family)
	for _, f := range Families() {
		known[f.Name] = f
	}
	return scenario.Schema(known)
}

// NamesOf returns the names of a family's members. It panics if there is no such family.
func NamesOf(family string) []string {
	for _, f := range Families() {
		if f.Name == family {
			return f.Names()
		}
	}
	panic("experiments: no family " + family)
}
