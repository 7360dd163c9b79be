// Package volunteers replays jobs over hosts that come and go under a queue and
// a matchmaker, and measures what became of them; and it judges predictors by
// what they promised. It does not know how hosts are chosen or foretold.
//
// Reference: Zhang, Phillips, "Job-Scheduling with Resource Availability
// Prediction for Volunteer-Based Grid Computing", §5.
package volunteers
