package service

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"path/filepath"
	"slices"
	"time"

	"connectrpc.com/connect"

	bankorder "bourse/bank/order"
	"bourse/bank/owners"
	bank "bourse/bank/service"
	"bourse/contracts/order"
	"bourse/experiments/live"
	"bourse/experiments/live/wire"
	"bourse/hosts/link"
	"bourse/hosts/remote"
)

// A Config describes the market of a server, its limits and its users.
type Config struct {
	Market  *live.Market
	Dir     string  // folder of the market
	Name    string  // name of the market
	Ledger  string  // id
	Version string  // version of this program
	Rate    float64 // maximum number of orders per second from one account; the same limit applies to signed orders to read and to files
	Files   float64 // maximum total size of the stored files, in bytes

	Bank  bank.Ledger
	Head  func(context.Context) (string, error) // function that returns the head of the ledger
	Now   func() float64                        // instant
	Admin string                                // operator's secret; if empty, the operator's calls are refused
	Token func() (link.Token, bool)             // function that returns the address and the secret for joining, and reports whether hosts can join
	Users func(context.Context) ([]User, error) // whom the bank knows

	Actions *slog.Logger // log of the changes made by operators and joining hosts; may be nil

	Metrics http.Handler // answers Prometheus
	Page    http.Handler // handler of all other requests, which come from browsers
}

// A Server serves one market.
type Server struct {
	Config
	blobs       *blobs
	large       chan struct{} // contains one element per large call in progress
	invitations *invitations
	logs        logs
	orders      bank.Buckets // limits of orders per account, applied after the signature has been checked
	reads       bank.Buckets // limits of orders to read and of files per account
	passes      bank.Buckets // limits per named account for calls whose signatures only the bank checks
}

// New returns a server.
func New(c Config) (*Server, error) {
	s := &Server{Config: c, large: make(chan struct{}, mostLarge), logs: logs{asked: make(map[string][]*asking)}}
	s.logs.urge = c.Market.Urge
	s.orders.Rate, s.reads.Rate, s.passes.Rate = c.Rate, c.Rate, c.Rate
	var err error
	if s.blobs, err = openBlobs(filepath.Join(c.Dir, "blobs"), int64(c.Files), c.Market.Wanted); err != nil {
		return nil, err
	}
	s.invitations, err = openInvitations(c.Dir)
	return s, err
}

// Tidy removes files that have not been requested for a long time. It repeats this every hour
// until ctx is done.
func (s *Server) Tidy(ctx context.Context) error {
	tick := time.NewTicker(time.Hour)
	defer tick.Stop()
	for {
		if err := s.blobs.sweep(); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// Handler returns the HTTP handler for requests from users and from the operator.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	asked := func(path string, h http.Handler) { mux.Handle(path, s.guard(h)) }
	asked(wire.NewMarketHandler(s, connect.WithReadMaxBytes(mostBlob+1<<10)))
	asked(wire.NewAdminHandler(&admin{s}, connect.WithInterceptors(connect.UnaryInterceptorFunc(s.admits))))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "trading") })
	mux.Handle("GET /metrics", s.Metrics)
	mux.Handle("/", s.Page)
	return mux
}

const (
	mostLarge = 8       // maximum number of large calls at the same time
	mostCall  = 1 << 20 // bytes of any other
)

// MostBytes returns the maximum size of a call in bytes.
func MostBytes(r *http.Request) int64 {
	if r.URL.Path == wire.MarketPutBlobProcedure {
		return mostBlob + 1<<10
	}
	return mostCall
}

// guard limits calls before their bodies are read. It refuses calls that come from web
// pages.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Origin") != "" {
			http.Error(w, "web pages may not call the market", http.StatusForbidden)
			return
		}
		if r.URL.Path != wire.MarketPutBlobProcedure {
			r.Body = http.MaxBytesReader(w, r.Body, mostCall)
			next.ServeHTTP(w, r)
			return
		}
		select {
		case s.large <- struct{}{}:
			defer func() { <-s.large }()
			next.ServeHTTP(w, r)
		default:
			http.Error(w, "too many files are being sent; try again", http.StatusServiceUnavailable)
		}
	})
}

// codes maps errors to their codes for the network protocol.
var codes = []struct {
	err  error
	code connect.Code
}{
	{live.ErrBusy, connect.CodeResourceExhausted},
	{errFull, connect.CodeResourceExhausted},
	{live.ErrAway, connect.CodeUnavailable},
	{live.ErrPending, connect.CodeUnavailable},
	{live.ErrStopped, connect.CodeUnavailable},
	{live.ErrOrder, connect.CodeInvalidArgument},
	{live.ErrSigned, connect.CodePermissionDenied},
	{live.ErrReader, connect.CodePermissionDenied},
	{live.ErrUsed, connect.CodeAlreadyExists},
	{live.ErrNotFound, connect.CodeNotFound},
	{live.ErrNoContract, connect.CodeNotFound},
	{live.ErrNoHost, connect.CodeNotFound},
	{live.ErrPayee, connect.CodeFailedPrecondition},
}

// coded returns err with its code for the network protocol.
func coded(err error) error {
	if err == nil || errors.As(err, new(*connect.Error)) {
		return err
	}
	for _, c := range codes {
		if errors.Is(err, c.err) {
			return connect.NewError(c.code, err)
		}
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return connect.NewError(connect.CodeUnavailable, err)
	}
	return connect.NewError(connect.CodeInternal, err)
}

// About and the following methods implement wire.MarketHandler.
func (s *Server) About(ctx context.Context, _ *wire.AboutRequest) (*wire.AboutResponse, error) {
	head, err := s.Head(ctx)
	return &wire.AboutResponse{Market: s.Name, Ledger: s.Ledger, Bourse: s.Version, Now: s.Now(), Head: head, Unsettled: int32(s.Market.Gauges().Unsettled), Licences: each(s.Market.Licences(), fromLicence)}, coded(err)
}

// Submit passes a signed order to the market for its decision.
func (s *Server) Submit(ctx context.Context, r *wire.SubmitRequest) (*wire.SubmitResponse, error) {
	if err := s.signed(ctx, &s.orders, r.GetOrder(), "order"); err != nil {
		return nil, err // refuse the order before its job is stored
	}
	if _, err := s.blobs.put(r.GetJob()); err != nil {
		return nil, coded(err)
	}
	a, err := s.Market.Submit(ctx, r.GetOrder(), r.GetJob())
	if err != nil {
		return nil, coded(err)
	}
	return &wire.SubmitResponse{Answer: fromAnswer(a)}, nil
}

// signed refuses an order that is not addressed to this market, and an order from an account
// that has sent too many. Only orders with a valid signature of the account count, so other
// users cannot use up the account's limit.
func (s *Server) signed(ctx context.Context, b *bank.Buckets, order []byte, kind string) error {
	account, err := s.Market.Signed(ctx, order, kind)
	if err != nil {
		return coded(err)
	}
	return s.bound(b, account)
}

// bound refuses an order from an account that has sent too many.
func (s *Server) bound(b *bank.Buckets, account string) error {
	if !b.Take(account, s.Now()) {
		return connect.NewError(connect.CodeResourceExhausted, fmt.Errorf("found more than %v orders per second from %s", s.Rate, account))
	}
	return nil
}

// Cancel cancels a contract.
func (s *Server) Cancel(ctx context.Context, r *wire.CancelRequest) (*wire.CancelResponse, error) {
	if err := s.signed(ctx, &s.orders, r.GetOrder(), "cancel"); err != nil {
		return nil, err
	}
	a, err := s.Market.Cancel(ctx, r.GetOrder())
	if err != nil {
		return nil, coded(err)
	}
	return &wire.CancelResponse{Answer: fromAnswer(a)}, nil
}

// Bid changes the budget of a contract.
func (s *Server) Bid(ctx context.Context, r *wire.BidRequest) (*wire.BidResponse, error) {
	if err := s.signed(ctx, &s.orders, r.GetOrder(), "bid"); err != nil {
		return nil, err
	}
	a, err := s.Market.Bid(ctx, r.GetOrder())
	if err != nil {
		return nil, coded(err)
	}
	return &wire.BidResponse{Answer: fromAnswer(a)}, nil
}

// Quote returns the lowest budget that the market accepts.
func (s *Server) Quote(ctx context.Context, r *wire.QuoteRequest) (*wire.QuoteResponse, error) {
	t := order.Terms{
		Class: r.GetClass(), Nodes: int(r.GetNodes()), CPUs: r.GetCpus(), Work: r.GetWork(), Deadline: r.GetDeadline(),
		Memory: r.GetMemory(), Disk: r.GetDisk(), Bandwidth: r.GetBandwidth(), Counts: r.GetCounts(), Licences: r.GetLicences(),
	}
	least, charges, ok, err := s.Market.Quote(ctx, t)
	if err != nil || !ok {
		return &wire.QuoteResponse{}, coded(err)
	}
	owed := s.Market.Owed(t.Class)
	return &wire.QuoteResponse{Least: least.String(), PenaltyPart: owed.Part, PenaltyMost: owed.Most, Charges: each(charges, fromCharge)}, nil
}

// Status returns the state of a contract.
func (s *Server) Status(ctx context.Context, r *wire.StatusRequest) (*wire.StatusResponse, error) {
	for begun, after := time.Now(), int64(0); ; {
		c, err := s.Market.Status(r.GetContract())
		if err != nil {
			return nil, coded(err)
		}
		if r.GetKnown() != c.State || time.Since(begun) > waits {
			return &wire.StatusResponse{Contract: fromContract(c)}, nil
		}
		wait, cancel := context.WithTimeout(ctx, waits-time.Since(begun)+time.Millisecond)
		events, err := s.Market.Events(wait, after)
		cancel()
		if n := len(events); n > 0 {
			after = events[n-1].Seq
		}
		if err != nil && ctx.Err() != nil {
			return nil, coded(err)
		}
	}
}

// waits is the maximum time for which a call waits for an event.
const waits = 20 * time.Second

// List returns contracts to the operator and to accounts that may read them.
func (s *Server) List(ctx context.Context, r *wire.ListRequest) (*wire.ListResponse, error) {
	if info, ok := connect.CallInfoForHandlerContext(ctx); !ok || !s.operates(info.RequestHeader()) {
		if err := s.signed(ctx, &s.reads, r.GetOrder(), "read"); err != nil {
			return nil, err
		}
		if err := s.Market.MayList(ctx, r.GetOrder(), r.GetAccount()); err != nil {
			return nil, coded(err)
		}
	}
	all, err := s.Market.List(live.Filter{Account: r.GetAccount(), Ended: r.GetEnded(), From: r.GetFrom(), Most: int(r.GetMost())})
	return &wire.ListResponse{Contracts: each(all, fromContract)}, coded(err)
}

// Prices returns the prices of a host.
func (s *Server) Prices(_ context.Context, r *wire.PricesRequest) (*wire.PricesResponse, error) {
	all, err := s.Market.Prices(r.GetHost(), r.GetSince())
	return &wire.PricesResponse{Prices: each(all, func(p *live.Price) *wire.Price { return &wire.Price{At: p.At, Price: p.Price} })}, coded(err)
}

// Hosts returns all hosts.
func (s *Server) Hosts(context.Context, *wire.HostsRequest) (*wire.HostsResponse, error) {
	return &wire.HostsResponse{Hosts: each(s.Market.Hosts(), fromHost)}, nil
}

// Pass forwards an order to the bank, which checks its signatures.
func (s *Server) Pass(ctx context.Context, r *wire.PassRequest) (*wire.PassResponse, error) {
	o, err := bankorder.Open(r.GetOrder())
	if err != nil {
		return nil, connect.NewError(connect.CodeInvalidArgument, err)
	}
	if err := s.bound(&s.passes, o.Value("account")); err != nil {
		return nil, err
	}
	e, err := owners.Entry(r.GetOrder(), s.Now())
	if err != nil {
		return nil, connect.NewError(connect.CodeInvalidArgument, err)
	}
	receipt, err := s.Bank.Do(ctx, e)
	if err != nil {
		return nil, connect.NewError(connect.CodeFailedPrecondition, err)
	}
	return &wire.PassResponse{Receipt: receipt.String()}, nil
}

// PutBlob stores a file for an account holder.
func (s *Server) PutBlob(ctx context.Context, r *wire.PutBlobRequest) (*wire.PutBlobResponse, error) {
	if err := s.signed(ctx, &s.reads, r.GetOrder(), "read"); err != nil {
		return nil, err
	}
	sha, err := s.blobs.put(r.GetData())
	return &wire.PutBlobResponse{Sha: sha}, coded(err)
}

// Logs returns one part of a program's output.
func (s *Server) Logs(ctx context.Context, r *wire.LogsRequest) (*wire.LogsResponse, error) {
	l, ended, err := s.read(ctx, r.GetOrder(), r.GetNode(), remote.Log{Errors: r.GetErrors(), From: r.GetFrom()})
	if err != nil {
		return nil, err
	}
	return &wire.LogsResponse{Text: l.Text, Size: l.Size, Ended: ended}, nil
}

const (
	mostPaths = 100  // maximum paths of an archive
	mostName  = 4096 // maximum bytes of each path and of the archive's name
)

// Files returns one part of an archive of a program's folder.
func (s *Server) Files(ctx context.Context, r *wire.FilesRequest) (*wire.FilesResponse, error) {
	long := func(name string) bool { return len(name) > mostName }
	if r.GetArchive() == "" || long(r.GetArchive()) || len(r.GetPaths()) > mostPaths || slices.ContainsFunc(r.GetPaths(), long) {
		return nil, connect.NewError(connect.CodeInvalidArgument, fmt.Errorf("want an archive with a name, and at most %d paths of at most %d bytes each", mostPaths, mostName))
	}
	l, _, err := s.read(ctx, r.GetOrder(), r.GetNode(), remote.Log{Archive: r.GetArchive(), Paths: r.GetPaths(), From: r.GetFrom()})
	if err != nil {
		return nil, err
	}
	return &wire.FilesResponse{Data: l.Text, Last: l.Last}, nil
}

// read requests one part from the host of a node. The signed order must permit its signer to
// read the contract.
func (s *Server) read(ctx context.Context, signed []byte, node int32, part remote.Log) (l *remote.Log, ended bool, err error) {
	if err := s.signed(ctx, &s.reads, signed, "read"); err != nil {
		return nil, false, err
	}
	id, err := s.Market.MayRead(ctx, signed)
	if err != nil {
		return nil, false, coded(err)
	}
	host, name, ended, err := s.Market.Task(id, node)
	if err != nil {
		return nil, false, coded(err)
	}
	part.Name = name
	if l, err = s.logs.ask(ctx, host, part); err != nil {
		return nil, false, coded(err)
	}
	if l.Fault != "" {
		return nil, false, connect.NewError(connect.CodeNotFound, errors.New(l.Fault))
	}
	return l, ended, nil
}

var _ wire.MarketHandler = (*Server)(nil)

// admin answers the operator.
type admin struct{ *Server }

var _ wire.AdminHandler = (*admin)(nil)

// operates reports whether a call contains the operator's secret.
func (s *Server) operates(h http.Header) bool {
	return s.Admin != "" && subtle.ConstantTimeCompare([]byte(h.Get("Authorization")), []byte("Bearer "+s.Admin)) == 1
}

// admits rejects calls that do not contain the operator's secret.
func (s *Server) admits(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
		if !s.operates(r.Header()) {
			return nil, connect.NewError(connect.CodePermissionDenied, errors.New("want the secret of the market's operator, which is in the market's folder"))
		}
		answer, err := next(ctx, r)
		if action := path.Base(r.Spec().Procedure); action != "Users" { // Users only reads
			s.acted("operator", r.Peer().Addr, action, fmt.Sprint(r.Any()), err)
		}
		return answer, err
	}
}

// acted logs an action of an operator: the address of the caller, the action, its object and
// its result.
func (s *Server) acted(actor, origin, action, object string, err error) {
	if s.Actions == nil {
		return
	}
	result := "done"
	if err != nil {
		result = err.Error()
	}
	s.Actions.Info("action", "actor", actor, "origin", origin, "action", action, "object", object, "result", result)
}

// InviteHost and the following methods implement wire.AdminHandler.
func (a *admin) InviteHost(ctx context.Context, r *wire.InviteHostRequest) (*wire.InviteHostResponse, error) {
	t, ok := a.Token()
	if !ok {
		return nil, connect.NewError(connect.CodeFailedPrecondition, errors.New("this market serves only its own machine; for other hosts, use 'bourse live serve'"))
	}
	if err := a.Market.MayOwn(ctx, r.GetOwner()); err != nil {
		return nil, coded(err)
	}
	if err := a.invitations.add(t.Secret, r.GetName(), r.GetOwner()); err != nil {
		return nil, coded(err)
	}
	return &wire.InviteHostResponse{Token: t.String()}, nil
}

// Drain makes a host stop or resume accepting tasks.
func (a *admin) Drain(ctx context.Context, r *wire.DrainRequest) (*wire.DrainResponse, error) {
	return &wire.DrainResponse{}, coded(a.Market.Drain(ctx, r.GetHost(), !r.GetUndo()))
}

// A User is an account with a key. It may send requests.
type User struct {
	Account string `json:"account"`
	Key     string `json:"key" doc:"its public key"`
	Balance string `json:"balance,omitempty" doc:"balance in $; omitted if the market may not read it"`
	Open    int    `json:"open" doc:"number of contracts that have not ended"`
}

// Users returns the accounts that may send requests.
func (a *admin) Users(ctx context.Context, _ *wire.UsersRequest) (*wire.UsersResponse, error) {
	users, err := a.Config.Users(ctx)
	if err != nil {
		return nil, coded(err)
	}
	open, err := a.Market.List(live.Filter{})
	for i := range users {
		for k := range open {
			if open[k].Account == users[i].Account {
				users[i].Open++
			}
		}
	}
	return &wire.UsersResponse{Users: each(users, func(u *User) *wire.User {
		return &wire.User{Account: u.Account, Key: u.Key, Balance: u.Balance, Open: int32(u.Open)}
	})}, coded(err)
}

// Remove removes a host.
func (a *admin) Remove(ctx context.Context, r *wire.RemoveRequest) (*wire.RemoveResponse, error) {
	return &wire.RemoveResponse{}, coded(a.Market.Remove(ctx, r.GetHost()))
}
