// Package availability keeps when hosts were available: recorded or generated
// states, the intervals in which work can run, and how each of them ended. It
// does not know jobs, prices or scores.
//
// A [History] is one host's, a [Trace] the histories of a fleet. Package
// availability/traces reads them from files; availability/models generates
// them, availability/predictors reads the past to predict, and
// availability/sched chooses hosts by what is foretold.
//
// Instants are seconds since the start of the trace, and a day is 86400 of
// them: the time of day is the remainder.
//
// Reference: Zhang, Phillips, "Job-Scheduling with Resource Availability
// Prediction for Volunteer-Based Grid Computing", with the states of Rood and
// Lewis that it names.
package availability

// Day is a day, in seconds.
const Day = 86400.0
