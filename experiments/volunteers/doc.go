// Package volunteers compares predicted and actual availability of hosts, for jobs on hosts that
// come and go. It is independent of how hosts are chosen and of how their availability is
// predicted.
//
// Reference: Zhang, Phillips, "Job-Scheduling with Resource Availability Prediction for
// Volunteer-Based Grid Computing", §5.
package volunteers
