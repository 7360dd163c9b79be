// Package link connects hosts with their market: the interface [Market], its [Handler] over the
// network, and the [Client] of a host. An agent in the market's own process uses the Market
// directly.
//
// Each side has its own self-signed certificate, created by [Identity]. A host knows the
// market's certificate from a [Token], and a market stores the [Pin] of each enrolled host. The
// package is independent of the content of messages.
package link

import (
	"context"
	"errors"

	"bourse/hosts/remote"
)

// A Market is the interface between hosts and a market. Its methods are safe for concurrent
// use.
type Market interface {
	// Enrol registers a host and returns its name in the market, and the name of the market. It
	// consumes the secret. A repeated call with the same pin returns the same answer.
	Enrol(ctx context.Context, e Enrolment) (host, market string, err error)

	// Host returns the name of the host with this pin, or ErrUnknown.
	Host(pin string) (string, error)

	// Sync accepts the host's report. It returns when the report is stored permanently and
	// there is a new allocation for the host, or after an interval. The answer to a superseded
	// agent names the session that superseded it.
	Sync(ctx context.Context, host string, t *remote.Told) (*remote.Orders, error)

	// Blob returns the data with this SHA-256 if the data is a job that should run on the host,
	// or one of that job's files. Otherwise it returns ErrUnknown.
	Blob(ctx context.Context, host, sha string) ([]byte, error)

	// PutLog accepts a requested part of a log.
	PutLog(ctx context.Context, host string, l *remote.Log) error

	// PutCheckpoint stores a part of a checkpoint of a task of the host. The list of all parts
	// completes the checkpoint, which becomes the last one of its node. It returns ErrUnknown if the
	// contract has ended or the checkpoint is too large.
	PutCheckpoint(ctx context.Context, host string, c *remote.Checkpoint) error
}

// An Enrolment is a host's request to be registered.
type Enrolment struct {
	Secret string // secret of the Token that invited the host
	Name   string // preferred name; "" lets the market choose
	Pin    string // pin of the host's certificate
	Offer  remote.Offer
}

// Permanent errors of a market: a repeated call returns the same error.
var (
	ErrUnknown = errors.New("the market does not know it")             // the host was removed, or the data does not exist
	ErrToken   = errors.New("the token is used up, too old, or wrong") // request a new token
	ErrVersion = errors.New("the versions of host and market differ")
)

// mostBytes is the maximum size of a blob and of a message.
const mostBytes = 64 << 20

// mostPart is the maximum size of a part of a checkpoint, the largest message of a host.
const mostPart = 4 << 20
