// Package volunteers compares predictions of host availability with the outcomes, for jobs on
// hosts that come and go. It is independent of how hosts are chosen or predicted.
//
// Reference: Zhang, Phillips, "Job-Scheduling with Resource Availability
// Prediction for Volunteer-Based Grid Computing", §5.
package volunteers
