package models_test

import (
	"fmt"
	"math/rand/v2"
	"os"

	"bourse/workloadgen"
	"bourse/workloadgen/models"
)

// The example prints the first three jobs of a plan of fifty of the market paper's workload.
func ExampleNew() {
	m, err := models.Table().New("paper", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := m.Plan(rand.NewPCG(1, 2), 0, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range plan {
		j := &plan[i]
		j.Arrival, j.Runtime, j.Worth = float64(int(j.Arrival)), float64(int(j.Runtime)), float64(int(j.Worth*100))/100
		j.Estimate, j.Deadline = j.Runtime, j.Runtime
	}
	workloadgen.WriteCSV(os.Stdout, plan[:3])
	// Output:
	// id,user,arrival,runtime,estimate,deadline,nodes,worth,value,class,hard,urgent,penalty_rate,lead,on_demand,cancel
	// 1,8,0,397,397,397,8,3.94,29.89308,,false,false,0,0,false,0
	// 2,3,30,311,311,311,4,1.13,5.644061,,false,false,0,0,false,0
	// 3,10,109,278,278,278,9,1.11,7.446003,,false,false,0,0,false,0
}
