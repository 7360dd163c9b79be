package metrics

// Completed is the number of jobs whose work was done, in time or late.
var Completed = Metric{
	Name:  "completed",
	Label: "Jobs completed",
	Unit:  "jobs",
	Doc:   "number of jobs whose work was done, on time or late (SLA, §5)",
	Of:    count((*Job).completed),
}
