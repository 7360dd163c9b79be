package main

import "bourse/experiments/results"

// version returns what is known of the version of the program.
func version() string {
	v := results.BuildVersion()
	s := v.Version + ", revision " + v.Revision + ", " + v.Go
	if v.Modified == "true" {
		s += ", modified"
	}
	return s
}
