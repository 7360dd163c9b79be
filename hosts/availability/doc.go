// Package availability records when hosts were available: recorded or generated states, the
// intervals in which work can run, and how each interval ended. It is independent of jobs,
// prices and scores.
//
// A [History] describes one host, and a [Trace] contains the histories of a fleet. Package
// availability/traces reads histories from files, and availability/models generates them.
// Package availability/predictors forecasts from the past, and availability/sched chooses hosts
// by these forecasts.
//
// Times are seconds since the start of the trace. A day has 86400 seconds, and the time of day
// is the remainder.
//
// Reference: Zhang, Phillips, "Job-Scheduling with Resource Availability Prediction for
// Volunteer-Based Grid Computing", with the states of Rood and Lewis, which it cites.
package availability

// Day is the length of a day in seconds.
const Day = 86400.0
