// Package service serves a market over a network to users, operators and hosts. The package
// also stores the files of jobs, the invitations of hosts, and parts of logs in transit.
//
// It decides nothing.
//
// # Files
//
// It adds these files to the market's folder:
//
//	blobs/SUM       texts of jobs and their files, by their SHA-256
//	invitations     JSON: hosts that may join, by the hash of the secret in their token
package service
