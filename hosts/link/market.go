// Package link is the way between hosts and their market: what a [Market] answers, its
// [Handler] over the network and the [Client] that a host dials with. An agent in the
// market's own process is handed the Market itself.
//
// Both ends have a certificate of their own, made by [Identity] and signed by nobody: a
// host knows its market's by a [Token], and a market keeps the [Pin] of what has enrolled.
// It does not know what is said on the link, but that it is.
package link

import (
	"context"
	"errors"

	"bourse/hosts/remote"
)

// A Market is what hosts talk to. Its methods may be called at once.
type Market interface {
	// Enrol makes a host known, and returns its name in the market. It uses up the
	// secret, but for the same pin: asked again it answers as before.
	Enrol(ctx context.Context, e Enrolment) (host string, err error)

	// Host returns the name of the host that has enrolled with this pin, or
	// ErrUnknown.
	Host(pin string) (string, error)

	// Sync takes in what the host tells, and answers when that is kept for good and there
	// is a deal that the host lacks, or after an interval. Who is not listened to any
	// longer is answered too, with the session that is.
	Sync(ctx context.Context, host string, t *remote.Told) (*remote.Orders, error)

	// Blob returns what has this SHA-256, of the jobs that are wanted of the host and
	// their files, or ErrUnknown.
	Blob(ctx context.Context, host, sha string) ([]byte, error)

	// PutLog takes a part of a log that was asked for.
	PutLog(ctx context.Context, host string, l *remote.Log) error
}

// An Enrolment is what a host asks to be known by.
type Enrolment struct {
	Secret string // of its Token
	Name   string // that it would like, "" for any
	Pin    string // of its certificate
	Offer  remote.Offer
}

// What a market refuses for good: asking again does not help.
var (
	ErrUnknown = errors.New("the market does not know it")             // a host that was removed, or what nobody has put
	ErrToken   = errors.New("the token is used up, too old, or wrong") // ask for another
	ErrVersion = errors.New("the versions of host and market differ")
)

// Blobs are at most so large, and so is what is said at once.
const mostBytes = 64 << 20
