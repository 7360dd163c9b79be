package link

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"

	"connectrpc.com/connect"

	"bourse/hosts/remote"
	"bourse/hosts/wire"
)

// The protocol versions that this program supports.
const oldest, newest = 1, 1

// Handler returns a handler that answers the calls of hosts with m, and its path. The
// certificate of the connection identifies the host.
func Handler(m Market) (path string, h http.Handler) {
	path, links := wire.NewLinkHandler(&server{m}, connect.WithReadMaxBytes(mostPart+1<<16))
	return path, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		links.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, r.TLS)))
	})
}

type callerKey struct{}

// A server answers the calls of hosts with a Market.
type server struct{ market Market }

// pin returns the pin of the caller.
func pin(ctx context.Context) (string, error) {
	s, _ := ctx.Value(callerKey{}).(*tls.ConnectionState)
	if s == nil || len(s.PeerCertificates) == 0 {
		return "", connect.NewError(connect.CodeUnauthenticated, errors.New("no certificate: a host needs one"))
	}
	return Pin(s.PeerCertificates[0].Raw), nil
}

// host returns the name of the calling host.
func (s *server) host(ctx context.Context) (string, error) {
	pin, err := pin(ctx)
	if err != nil {
		return "", err
	}
	host, err := s.market.Host(pin)
	return host, coded(err)
}

// speaks returns an error if the caller and this program have no protocol version in common.
func speaks(v *wire.Versions) error {
	if v.GetNewest() >= oldest && v.GetOldest() <= newest {
		return nil
	}
	return coded(fmt.Errorf("%w: the host speaks %d to %d, the market %d to %d", ErrVersion, v.GetOldest(), v.GetNewest(), oldest, newest))
}

// Enrol implements wire.LinkHandler.
func (s *server) Enrol(ctx context.Context, r *wire.EnrolRequest) (*wire.EnrolResponse, error) {
	if err := speaks(r.Versions); err != nil {
		return nil, err
	}
	pin, err := pin(ctx)
	if err != nil {
		return nil, err
	}
	host, market, err := s.market.Enrol(ctx, Enrolment{Secret: r.Secret, Name: r.Name, Pin: pin, Offer: wire.ToOffer(r.Offer)})
	return &wire.EnrolResponse{Name: host, Market: market}, coded(err)
}

// Sync implements wire.LinkHandler.
func (s *server) Sync(ctx context.Context, r *wire.SyncRequest) (*wire.SyncResponse, error) {
	if err := speaks(r.Versions); err != nil {
		return nil, err
	}
	host, err := s.host(ctx)
	if err != nil {
		return nil, err
	}
	told, err := wire.ToTold(r)
	if err != nil {
		return nil, connect.NewError(connect.CodeInvalidArgument, err)
	}
	orders, err := s.market.Sync(ctx, host, told)
	if err != nil {
		return nil, coded(err)
	}
	return wire.FromOrders(orders), nil
}

// Blob implements wire.LinkHandler.
func (s *server) Blob(ctx context.Context, r *wire.BlobRequest) (*wire.BlobResponse, error) {
	host, err := s.host(ctx)
	if err != nil {
		return nil, err
	}
	data, err := s.market.Blob(ctx, host, r.Sha)
	return &wire.BlobResponse{Data: data}, coded(err)
}

// PutLog implements wire.LinkHandler.
func (s *server) PutLog(ctx context.Context, r *wire.Log) (*wire.PutLogResponse, error) {
	host, err := s.host(ctx)
	if err != nil {
		return nil, err
	}
	return &wire.PutLogResponse{}, coded(s.market.PutLog(ctx, host, wire.ToLog(r)))
}

// PutCheckpoint implements wire.LinkHandler.
func (s *server) PutCheckpoint(ctx context.Context, r *wire.Checkpoint) (*wire.PutCheckpointResponse, error) {
	host, err := s.host(ctx)
	if err != nil {
		return nil, err
	}
	return &wire.PutCheckpointResponse{}, coded(s.market.PutCheckpoint(ctx, host, &remote.Checkpoint{Name: r.Name, Data: r.Data, Sums: r.Sums, Used: r.Used}))
}

// codes are the status codes of the market's permanent refusals.
var codes = []struct {
	err  error
	code connect.Code
}{{ErrUnknown, connect.CodeNotFound}, {ErrToken, connect.CodePermissionDenied}, {ErrVersion, connect.CodeFailedPrecondition}}

// coded returns err with its status code.
func coded(err error) error {
	if err == nil || connect.CodeOf(err) != connect.CodeUnknown {
		return err
	}
	for _, c := range codes {
		if errors.Is(err, c.err) {
			return connect.NewError(c.code, err)
		}
	}
	return connect.NewError(connect.CodeUnavailable, err)
}
