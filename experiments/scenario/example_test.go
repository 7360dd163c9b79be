package scenario_test

import (
	"fmt"

	"bourse/experiments/scenario"
)

func Example() {
	const file = `
name: load
base:
  fleet: {hosts: 15}
  workload: {model: {name: paper, jobs: 50}}
  admission: [be, {name: cac, capacity: static}]
configurations:
  - {name: low, workload: {model: {iat: {min: 90, mean: 153.66}}}}
  - {name: high}
`
	known := scenario.Known{Admission: []string{"be", "cac"}}
	e, err := scenario.Parse("load.yaml", []byte(file), known, "base.fleet.hosts=30")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range e.Configurations {
		fmt.Println(c.Name, c.Fleet.Hosts, "hosts", c.Workload.Model.Options())
	}
	var cac struct{ Capacity string }
	if err := e.Configurations[0].Admission[1].Decode(&cac); err == nil {
		fmt.Println(cac.Capacity)
	}

	_, err = scenario.Parse("load.yaml", []byte(file), known, "base.fleet.hots=30")
	fmt.Println(err)
	// Output:
	// low 30 hosts map[iat:map[mean:153.66 min:90] jobs:50]
	// high 30 hosts map[jobs:50]
	// static
	// --set base.fleet.hots=30: base.fleet.hots: unknown field, did you mean hosts? want one of hosts, cpus, sizes, speed, speeds, cap, memory, disk, bandwidth, count, held, whole, floor_per_hour, availability
}
