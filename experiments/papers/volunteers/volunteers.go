// Package volunteers holds the numbers that "Job-Scheduling with Resource
// Availability Prediction for Volunteer-Based Grid Computing" (Zhang, Phillips)
// prints, in the terms of its scenario files.
//
// It knows names of configurations, policies and metrics as text, and does not
// know what any of them means.
package volunteers

import "fmt"

// Printed is a number of the paper, beside which ours is put.
type Printed struct {
	Configuration string // as the scenario of Figure 1 names it
	Admission     string
	Metric        string
	Value         float64 // the middle, where the paper prints a range
	Text          string  // the paper's words
	Source        string  // §
}

// Reference returns the printed numbers of Figures 1 and 2: below T = 50 %, for
// the fewest and the most days, and the peak.
func Reference() []Printed {
	const flat = "When the probability threshold is lower than 50%, the job process ratio is quite stable, varying from 72.6% to 72.7%."
	var all []Printed
	for _, threshold := range []string{"0", "0.2", "0.4"} {
		for _, days := range []int{1, 6} {
			all = append(all, Printed{"week@" + threshold, fmt.Sprintf("threshold-%d", days), "job_process_ratio", 72.65, flat, "§5"})
		}
	}
	return append(all, Printed{"week@1", "threshold-6", "job_process_ratio", 83.43, "The highest job process ratio is 83.43% when N is 6.", "§5"})
}
