// Package service is a market over a network: what users, operators and hosts ask of it,
// and what stands around it: files of jobs, invitations of hosts, parts of logs under way.
//
// It decides nothing.
//
// # Files
//
// Beside the market's log, in its folder:
//
//	blobs/SUM       texts of jobs and their files, by their SHA-256
//	invitations     JSON: hosts that may join, by the hash of what their token holds
package service
