// Package traces reads recordings of when hosts were available, and accounts for every
// line: CSV, the event traces of the Failure Trace Archive, samples of BOINC hosts, and
// records of CPU load. It also writes CSV. It is independent of jobs and predictions.
package traces
