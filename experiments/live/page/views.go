package page

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"bourse/experiments/live"
	"bourse/experiments/live/client"
)

// A view is the data of a page.
type view struct {
	Template string
	Title    string
	Market   string
	Version  string
	Now      float64
	Head     string
	Seq      int64 // number of the last event that the page includes
	Status   int

	Hosts     []live.Host
	Prices    []dot
	Open      []live.Contract
	Ended     []live.Contract
	Contract  *live.Contract
	Past      []live.Mark
	Host      *live.Host
	Entries   []entry
	Rules     live.Config
	Ledger    string
	Error     string
	More      bool  // number of open contracts that the page omits
	From      int64 // number of the first contract, or 0 if the list ends with the last contract
	Older     int64 // number of the first contract on the previous page, or 0 if there is none
	Newer     int64 // and the one after
	Unsettled int   // number of calls that the bank has refused
	LeftHosts int   // number of hosts whose prices the page omits
}

// A dot is one point of a price chart.
type dot struct {
	Host string
	live.Price
}

// An entry is the ledger entry of a contract's receipt.
type entry struct {
	Number   int64
	Receipt  string
	What     string
	Contract int64
	Money    string
}

const (
	span       = 600.0 // s of prices to show
	mostLines  = 8     // hosts in a chart
	mostDots   = 100   // prices of a host
	mostListed = 100   // contracts in a table
)

var errNoPage = errors.New("there is no such page")

// functions are the functions available to the templates.
var functions = map[string]any{
	"rate":    client.Rate,
	"brief":   client.Brief,
	"short":   live.Short,
	"stands":  client.Stands,
	"numbers": client.Numbers,
	"share":   func(x float64) string { return fmt.Sprintf("%.2f", x) },
	"cpus":    func(x float64) string { return fmt.Sprintf("%.1f", x) },
	"clock":   func(at float64) string { return client.Instant(at).Format("15:04:05") },
	"instant": func(at float64) string { return client.Instant(at).Format(time.RFC3339) },
	"unix": func(at float64) string {
		return strconv.FormatFloat(float64(client.Instant(at).UnixMilli())/1000, 'f', 3, 64)
	},
	"times":  func(x float64, n int) float64 { return x * float64(n) },
	"user":   func(account string) string { return strings.TrimPrefix(account, "user:") },
	"number": func(receipt string) string { n, _, _ := strings.Cut(receipt, ":"); return n },
	"spot":   spot,
	"active": active,
	"kept":   enforcement,
	"amount": client.Amount,
}

// spot returns the mean price of the hosts in $/s, formatted as in 'bourse job top'.
func spot(all []live.Host) (price float64) {
	for i := range all {
		price += all[i].Price / float64(len(all))
	}
	return price
}

// active returns the number of contracts that have hosts.
func active(all []live.Host) int {
	on := map[int64]bool{}
	for i := range all {
		for _, t := range all[i].Contracts {
			on[t.Contract] = true
		}
	}
	return len(on)
}

// enforcement describes how a host of the given kind enforces shares.
func enforcement(kind string) string {
	switch kind {
	case "cgroup2", "cgroup1":
		return "with the kernel's control groups"
	case "signals":
		return "by stopping and continuing processes; users are not isolated, and the host runs only programs of trusted accounts"
	case "none":
		return "not enforced: the kernel divides the processors, and the host runs only programs of trusted accounts"
	case "slurm":
		return "by " + live.WholeCores
	case "":
		return "the host has not reported yet"
	}
	return "by " + kind
}

// show writes a page, or an error, as the response.
func (s *server) show(w http.ResponseWriter, r *http.Request, f func(*http.Request) (*view, error)) {
	path := r.URL.Path
	if path == "/ledger" {
		path += "?" + r.URL.Query().Get("from")
	}
	k := s.copies.of(path, s.Now())
	k.once.Do(func() { k.status, k.text = s.write(r, f) })
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(k.status)
	w.Write(k.text)
}

// write creates the text of a page.
func (s *server) write(r *http.Request, f func(*http.Request) (*view, error)) (status int, text []byte) {
	seq := s.Market.LastEvent()
	v, err := f(r)
	if err != nil {
		v = &view{Template: "error.html", Title: "Not here", Error: err.Error(), Status: http.StatusInternalServerError}
		for _, known := range []error{errNoPage, live.ErrNotFound, live.ErrNoHost} {
			if errors.Is(err, known) {
				v.Status = http.StatusNotFound
			}
		}
	}
	v.Market, v.Version, v.Now, v.Seq = s.Rules.Name, s.Version, s.Now(), seq
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), time.Second) // the request must not cancel this work, because other readers wait for the same copy
	defer cancel()
	if head, err := s.Head(ctx); err == nil {
		v.Head = head
	}
	var b bytes.Buffer
	if err := s.pages.ExecuteTemplate(&b, v.Template, v); err != nil {
		panic("page: " + err.Error())
	}
	return cmp.Or(v.Status, http.StatusOK), b.Bytes()
}

// market returns the first page, with prices, hosts and contracts.
func (s *server) market(*http.Request) (*view, error) {
	v := &view{Template: "market.html", Title: s.Rules.Name, Hosts: s.Market.Hosts(), Unsettled: s.Market.Gauges().Unsettled}
	dear := slices.Clone(v.Hosts)
	slices.SortStableFunc(dear, func(a, b live.Host) int { return cmp.Compare(b.Price, a.Price) })
	if len(dear) > mostLines {
		v.LeftHosts = len(dear) - mostLines
		dear = dear[:mostLines]
	}
	slices.SortFunc(dear, func(a, b live.Host) int { return strings.Compare(a.Name, b.Name) })
	for i := range dear {
		v.Prices = append(v.Prices, s.prices(dear[i].Name)...)
	}
	open, err := s.Market.List(live.Filter{Most: mostListed + 1})
	if err != nil {
		return nil, err
	}
	v.Open, v.More = open[:min(len(open), mostListed)], len(open) > mostListed
	lately, err := s.Market.List(live.Filter{Ended: true, Last: mostListed})
	v.Ended = slices.DeleteFunc(lately, func(c live.Contract) bool { return !c.Over() })
	slices.Reverse(v.Ended)
	return v, err
}

// prices returns the recent prices of a host since the start of the period, oldest first.
func (s *server) prices(host string) (out []dot) {
	since := s.Now() - span
	all, err := s.Market.Prices(host, since)
	if err != nil {
		return nil
	}
	for _, p := range all[max(0, len(all)-mostDots):] {
		p.At = max(p.At, since)
		out = append(out, dot{host, p})
	}
	return out
}

func (s *server) contract(r *http.Request) (*view, error) {
	id, err := strconv.ParseInt(r.PathValue("contract"), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("%w: found contract %.40q, want the number of a contract", errNoPage, r.PathValue("contract"))
	}
	c, err := s.Market.Status(id)
	if err != nil {
		return nil, err
	}
	return &view{Template: "contract.html", Title: fmt.Sprintf("Contract %d", live.Short(c.ID)), Contract: c, Past: s.Market.Past(c.ID)}, nil
}

func (s *server) host(r *http.Request) (*view, error) {
	name := r.PathValue("host")
	all := s.Market.Hosts()
	i := slices.IndexFunc(all, func(h live.Host) bool { return h.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("%w: %.80s", live.ErrNoHost, name)
	}
	return &view{Template: "host.html", Title: "Host " + name, Host: &all[i], Prices: s.prices(name)}, nil
}

// ledger returns the page with the ledger's head and the receipts of contracts. These are the
// latest ones, or those that follow a given contract.
func (s *server) ledger(r *http.Request) (*view, error) {
	f := live.Filter{Ended: true, Last: mostListed}
	if said := r.URL.Query().Get("from"); said != "" {
		from, err := strconv.ParseInt(said, 10, 64)
		if err != nil || from < 1 {
			return nil, fmt.Errorf("%w: found from=%.40q, want the number of a contract", errNoPage, said)
		}
		f = live.Filter{Ended: true, From: from, Most: mostListed}
	}
	all, err := s.Market.List(f)
	if err != nil {
		return nil, err
	}
	v := &view{Template: "ledger.html", Title: "Ledger", Ledger: s.Ledger, From: f.From}
	if len(all) > 0 {
		before, err := s.Market.List(live.Filter{Ended: true, From: max(1, all[0].ID-mostListed), Most: 1})
		if err != nil {
			return nil, err
		}
		if len(before) > 0 && before[0].ID < all[0].ID {
			v.Older = before[0].ID
		}
		if f.Most > 0 && len(all) == f.Most {
			v.Newer = all[len(all)-1].ID + 1
		}
	}
	add := func(c *live.Contract, receipt, what, money string) {
		number, _, _ := strings.Cut(receipt, ":")
		if n, err := strconv.ParseInt(number, 10, 64); err == nil {
			v.Entries = append(v.Entries, entry{n, receipt, what, c.ID, money})
		}
	}
	for i := range all {
		c := &all[i]
		if c.State == "refused" {
			add(c, c.Receipt, "reject", "")
		} else {
			add(c, c.Receipt, "admit", fmt.Sprintf("$%v set aside", c.Budget))
		}
		add(c, c.Settlement, "settle", fmt.Sprintf("$%v paid, $%v back", c.Paid, c.Back))
	}
	slices.SortStableFunc(v.Entries, func(a, b entry) int { return cmp.Compare(b.Number, a.Number) })
	return v, nil
}

func (s *server) about(*http.Request) (*view, error) {
	return &view{Template: "about.html", Title: "About", Rules: s.Rules, Hosts: s.Market.Hosts(), Ledger: s.Ledger}, nil
}
