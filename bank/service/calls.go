package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"

	"bourse/bank"
	"bourse/bank/export"
	"bourse/bank/owners"
	"bourse/bank/proof"
	"bourse/bank/store"
	"bourse/bank/wire"

	"connectrpc.com/connect"
	"golang.org/x/mod/sumdb/tlog"
)

var _ wire.BankHandler = (*server)(nil)

// sequencer returns the ledger, or an error if this server does not write the ledger.
func (s *server) sequencer() (*store.Sequencer, error) {
	if l := s.ledger.Load(); l != nil {
		return l, nil
	}
	return nil, connect.NewError(connect.CodeUnavailable, errors.New("this server does not write the ledger: use the one that does, or try again later"))
}

// reader returns the ledger for reading, or an error if the sender reads too often.
func (s *server) reader(ctx context.Context) (*store.Sequencer, error) {
	if from := sender(ctx); !s.buckets.Take("read "+from, s.Now()) {
		return nil, connect.NewError(connect.CodeUnavailable, fmt.Errorf("more than %v reads per second by %s: try again later", s.Limits.Rate, from))
	}
	return s.sequencer()
}

// told converts err to the error that a call returns.
func (s *server) told(err error) error {
	s.lost(err)
	code := connect.CodeInternal
	switch {
	case errors.Is(err, store.ErrUnknown), errors.Is(err, store.ErrClosed):
		code = connect.CodeUnavailable
	case errors.Is(err, store.ErrNotApplied):
		code = connect.CodeDeadlineExceeded
	case errors.Is(err, store.ErrRefused):
		code = connect.CodePermissionDenied
	}
	return connect.NewError(code, err)
}

// Ledger implements [wire.BankHandler].
func (s *server) Ledger(ctx context.Context, asked *wire.LedgerRequest) (*wire.LedgerResponse, error) {
	l, err := s.sequencer()
	if err != nil {
		return nil, err
	}
	var v owners.Sight
	if asked.GetAccount() != "" {
		if v, err = s.sight(ctx, l, asked.GetRead()); err == nil && !v.Key(asked.GetAccount()) {
			err = fmt.Errorf("%w: the key of %s belongs to another account", store.ErrRefused, asked.GetAccount())
		}
		if err != nil {
			return nil, s.told(err)
		}
	}
	r := &wire.LedgerResponse{Key: s.public}
	err = l.Owners(ctx, func(o *owners.Owners, _ float64) {
		r.Id, r.Mode = o.Ledger(), o.Mode()
		if asked.GetKey() != "" {
			r.Accounts = o.Having(asked.GetKey())
		}
		r.Owner, r.Reads = o.Key(asked.GetAccount()), asked.GetAccount() != "" && o.Reads(asked.GetAccount())
		if asked.GetMarket() != "" {
			is := o.Payee(asked.GetAccount(), asked.GetMarket())
			r.Payee = &is
		}
	})
	if err != nil {
		return nil, s.told(err)
	}
	return r, nil
}

// Transfer implements [wire.BankHandler].
func (s *server) Transfer(ctx context.Context, r *wire.TransferRequest) (*wire.BookResponse, error) {
	all := make([]asked, len(r.GetOrders()))
	now := s.Now()
	for i, text := range r.GetOrders() {
		all[i].entry, all[i].err = owners.Entry([]byte(text), now)
	}
	return s.book(ctx, all)
}

// Book implements [wire.BankHandler].
func (s *server) Book(ctx context.Context, r *wire.BookRequest) (*wire.BookResponse, error) {
	all := make([]asked, len(r.GetEntries()))
	now := s.Now()
	for i, e := range r.GetEntries() {
		all[i].entry, all[i].err = fromWire(e)
		all[i].entry.Time = now
	}
	return s.book(ctx, all)
}

// An asked is an entry to book, or the error that occurred when it was parsed.
type asked struct {
	entry bank.Entry
	err   error
}

// book books entries. The response contains a signed receipt for the entries that were booked.
func (s *server) book(ctx context.Context, all []asked) (*wire.BookResponse, error) {
	if len(all) > s.Limits.Orders {
		return nil, connect.NewError(connect.CodeResourceExhausted, fmt.Errorf("found %d orders, want at most %d per call", len(all), s.Limits.Orders))
	}
	l, err := s.sequencer()
	if err != nil {
		return nil, err
	}
	response := &wire.BookResponse{Results: make([]*wire.Result, len(all))}
	var may []store.Asked
	var places []int
	now := s.Now()
	from := sender(ctx)
	for i, a := range all {
		response.Results[i] = &wire.Result{Id: a.entry.ID}
		if a.err != nil {
			response.Results[i].Refused = &wire.Refusal{Reason: malformed, Text: a.err.Error()}
			continue
		}
		ask := l.Ask(a.entry)
		who := ask.Account()
		if who == "" {
			who = from
		}
		if !s.buckets.Take(who, now) {
			response.Results[i].Refused = &wire.Refusal{Reason: tooMany, Text: fmt.Sprintf("more than %v orders per second by %s: try again later", s.Limits.Rate, who)}
			continue
		}
		may, places = append(may, ask), append(places, i)
	}
	receipts, errs := l.DoAll(ctx, may)
	var booked []proof.Booked
	for n, i := range places {
		if errs[n] != nil {
			s.lost(errs[n])
			response.Results[i].Refused = refusal(errs[n])
			continue
		}
		response.Results[i].Seq, response.Results[i].Hash = receipts[n].Seq, receipts[n].Hash.String()
		booked = append(booked, proof.Booked{Receipt: receipts[n], ID: all[i].entry.ID})
	}
	s.metrics.answered(response.Results)
	if len(booked) == 0 {
		return response, nil
	}
	signed, err := proof.Receipts{Ledger: l.Ledger(), Booked: booked}.Sign(s.signer)
	if err != nil {
		return nil, s.told(err)
	}
	response.Receipt = string(signed)
	return response, nil
}

// sender returns the address of the sender, to which limits apply, or "" if it is unknown.
func sender(ctx context.Context) string {
	info, ok := connect.CallInfoForHandlerContext(ctx)
	if !ok {
		return "unknown"
	}
	if at, err := netip.ParseAddrPort(info.Peer().Addr); err == nil {
		return at.Addr().String()
	}
	return "unknown"
}

// Balance implements [wire.BankHandler].
func (s *server) Balance(ctx context.Context, r *wire.BalanceRequest) (*wire.BalanceResponse, error) {
	l, err := s.reader(ctx)
	if err != nil {
		return nil, err
	}
	var b bank.Amount
	name, may := r.GetAccount(), false
	err = l.Read(ctx, []byte(r.GetRead()), s.Now(), func(l *bank.Ledger, v owners.Sight) {
		if contract, err := bank.EscrowContract(name); err == nil {
			b, _ = l.Escrow(contract)
			may = v.Escrow(contract, l.EscrowOwner(contract))
		} else if may = v.Account(name); may {
			if a, ok := l.Lookup(name); ok {
				b = l.Balance(a)
			}
		}
	})
	if err == nil && !may {
		err = fmt.Errorf("%w: %s belongs to someone else", store.ErrRefused, name)
	}
	if err != nil {
		return nil, s.told(err)
	}
	return &wire.BalanceResponse{Amount: b.String()}, nil
}

// Balances implements [wire.BankHandler].
func (s *server) Balances(ctx context.Context, r *wire.BalancesRequest) (*wire.BalancesResponse, error) {
	l, err := s.reader(ctx)
	if err != nil {
		return nil, err
	}
	response := &wire.BalancesResponse{}
	err = l.Read(ctx, []byte(r.GetRead()), s.Now(), func(l *bank.Ledger, v owners.Sight) {
		for name, b := range l.Balances() {
			may := v.Account(name)
			if contract, err := bank.EscrowContract(name); err == nil {
				may = v.Escrow(contract, l.EscrowOwner(contract))
			}
			if may && name != "mint" {
				response.Accounts = append(response.Accounts, &wire.Holding{Name: name, Amount: b.String()})
			}
		}
	})
	if err != nil {
		return nil, s.told(err)
	}
	return response, nil
}

// sight returns the data that the sender of the signed order (read) may read.
func (s *server) sight(ctx context.Context, l *store.Sequencer, read string) (v owners.Sight, err error) {
	err = l.Read(ctx, []byte(read), s.Now(), func(_ *bank.Ledger, sight owners.Sight) { v = sight })
	return v, err
}

// Answer implements [wire.BankHandler].
func (s *server) Answer(ctx context.Context, r *wire.AnswerRequest) (*wire.AnswerResponse, error) {
	l, err := s.reader(ctx)
	if err != nil {
		return nil, err
	}
	v, err := s.sight(ctx, l, r.GetRead())
	if err != nil {
		return nil, s.told(err)
	}
	e, ok, err := l.Answer(ctx, r.GetId())
	if err == nil && ok && !v.Entry(&e) {
		err = fmt.Errorf("%w: request %s belongs to someone else", store.ErrRefused, r.GetId())
	}
	if err != nil {
		return nil, s.told(err)
	}
	if !ok {
		return &wire.AnswerResponse{}, nil
	}
	return &wire.AnswerResponse{Entry: toWire(&e)}, nil
}

// Escrows implements [wire.BankHandler].
func (s *server) Escrows(ctx context.Context, r *wire.EscrowsRequest) (*wire.EscrowsResponse, error) {
	l, err := s.reader(ctx)
	if err != nil {
		return nil, err
	}
	v, err := s.sight(ctx, l, r.GetRead())
	if err != nil {
		return nil, s.told(err)
	}
	all, err := l.Escrows(ctx)
	if err != nil {
		return nil, s.told(err)
	}
	response := &wire.EscrowsResponse{}
	for _, h := range all {
		if contract, err := bank.EscrowContract(h.Name); err == nil && v.Escrow(contract, h.Owner) {
			response.Escrows = append(response.Escrows, &wire.Holding{Name: h.Name, Amount: h.Balance.String(), Owner: h.Owner})
		}
	}
	return response, nil
}

// Head implements [wire.BankHandler].
func (s *server) Head(ctx context.Context, _ *wire.HeadRequest) (*wire.HeadResponse, error) {
	l, err := s.reader(ctx)
	if err != nil {
		return nil, err
	}
	h, err := l.Head(ctx)
	if err != nil {
		return nil, s.told(err)
	}
	return &wire.HeadResponse{Head: h.String()}, nil
}

// Prove implements [wire.BankHandler].
func (s *server) Prove(ctx context.Context, r *wire.ProveRequest) (*wire.ProveResponse, error) {
	var text bytes.Buffer
	err := s.read(ctx, r.GetRead(), func(entries export.Entries) error {
		p, err := proof.Prove(entries, r.GetSeq())
		if err != nil {
			return connect.NewError(connect.CodeNotFound, err)
		}
		return p.Write(&text)
	})
	if err != nil {
		return nil, err
	}
	return &wire.ProveResponse{Proof: text.String()}, nil
}

const enough = 1 << 20 // number of bytes after which a reply is complete

// Entries implements [wire.BankHandler].
func (s *server) Entries(ctx context.Context, r *wire.EntriesRequest) (*wire.EntriesResponse, error) {
	var text bytes.Buffer
	response := &wire.EntriesResponse{Last: r.GetAfter()}
	err := s.read(ctx, r.GetRead(), func(entries export.Entries) error {
		var wrong error
		for e, hash := range entries {
			if e.Seq <= response.GetLast() {
				continue
			}
			if wrong = export.Write(&text, "json", one(e, hash), export.Options{}); wrong != nil {
				break
			}
			if response.Last = e.Seq; text.Len() > enough {
				break
			}
		}
		return wrong
	})
	if err != nil {
		return nil, err
	}
	response.Lines = text.String()
	return response, nil
}

// one yields a single entry.
func one(e *bank.Entry, hash tlog.Hash) export.Entries {
	return func(yield func(*bank.Entry, tlog.Hash) bool) { yield(e, hash) }
}

// read passes the entries of the ledger to f if the sender of the signed order read may read
// everything. Only one call reads at a time.
func (s *server) read(ctx context.Context, read string, f func(export.Entries) error) error {
	l, err := s.reader(ctx)
	if err != nil {
		return err
	}
	v, err := s.sight(ctx, l, read)
	if err == nil && !v.All() {
		err = fmt.Errorf("%w: reading entries requires the right read or audit", store.ErrRefused)
	}
	if err != nil {
		return s.told(err)
	}
	select {
	case s.reading <- struct{}{}:
		defer func() { <-s.reading }()
	case <-ctx.Done():
		return connect.NewError(connect.CodeDeadlineExceeded, ctx.Err())
	}
	reader, err := s.Read()
	if err != nil {
		return s.told(err)
	}
	defer reader.Close()
	err = f(func(yield func(*bank.Entry, tlog.Hash) bool) {
		for e, hash := range reader.Entries() {
			if ctx.Err() != nil || !yield(e, hash) {
				return
			}
		}
	})
	switch {
	case ctx.Err() != nil:
		return connect.NewError(connect.CodeDeadlineExceeded, ctx.Err())
	case reader.Err() != nil:
		return s.told(reader.Err())
	}
	var known *connect.Error
	if err != nil && !errors.As(err, &known) {
		return s.told(err)
	}
	return err
}
