// Package service lets many ask a bank over a network: its handlers, and a client.
//
// It does not know what contracts are beyond their numbers.
package service
