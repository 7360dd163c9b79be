// Package service is a market over a network: what users and its operator ask of it, and
// how. It decides nothing.
package service
