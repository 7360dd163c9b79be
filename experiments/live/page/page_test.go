package page

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"bourse/bank"
	"bourse/experiments/live"
)

var update = flag.Bool("update", false, "write testdata anew")

const evil = "<script>alert(1)</script>"

// A fair is a [Market] that does not change. It has one host, one running, one fulfilled
// and one rejected contract, and names that contain markup.
type fair struct{}

var contracts = []live.Contract{
	{
		ID: 17, Order: evil, Account: "user:ann", State: "running", Class: evil, Nodes: 2, CPUs: 1, Work: 60, Deadline: 120, Budget: bank.Micros(500000),
		Job: evil, Submitted: 848600000, Decision: json.RawMessage(`{"decision":"accept","spot_share":0.75,"<script>alert(1)</script>":0.4}`),
		Places:  []live.Place{{Host: "h00", Bid: 0.0041666666, Share: 0.5, Done: 20.25}, {Host: evil, Bid: 0.0041666666, Share: 0.25, Done: 10}},
		Receipt: "9:q1V", Done: 30.25,
	},
	{
		ID: 18, Order: "b", Account: "user:bob", State: "fulfilled", Nodes: 1, CPUs: 1, Work: 60, Budget: bank.Micros(2000000), Submitted: 848600000, Ended: 848600061.2,
		Receipt: "10:abc", Settlement: "12:def", Done: 60.4, Paid: bank.Micros(250000), Back: bank.Micros(1750000), Tasks: []live.Task{{Host: "h00", Name: 3}},
	},
	{ID: 19, Order: "c", Account: "user:bob", State: "refused", Nodes: 1, Work: 60, Budget: bank.Micros(1), Decision: json.RawMessage(`{"decision":"reject","reason":"would violate","gets":1}`), Receipt: "11:ghi"},
}

func (fair) Gauges() live.Gauges { return live.Gauges{} }

func (fair) Hosts() []live.Host {
	return []live.Host{{
		Name: "h00", State: "closed", Why: evil, Kind: "signals", Owner: "user:me", CPUs: 2, Price: 0.0123, Used: 1.98, Heard: 848600010, Cut: 4,
		Contracts: []live.HostTask{{Contract: 17, Account: "user:" + evil, Bid: 0.0041666666, Share: 0.5}},
	}}
}

func (fair) List(f live.Filter) (out []live.Contract, err error) {
	for _, c := range contracts {
		if f.Ended || !c.Over() {
			out = append(out, c)
		}
	}
	return out, nil
}

func (fair) Status(id int64) (*live.Contract, error) {
	for _, c := range contracts {
		if c.ID == id {
			return &c, nil
		}
	}
	return nil, live.ErrNotFound
}

func (fair) Past(int64) []live.Mark {
	return []live.Mark{{At: 848600000}, {At: 848600010.5, Share: 0.375, Work: 30.25}}
}

func (fair) Prices(string, float64) ([]live.Price, error) {
	return []live.Price{{At: 848500000, Price: 0}, {At: 848600000, Price: 0.0123}}, nil
}

func (fair) LastEvent() int64 { return 4 }

// Events returns the events 1 to 4 after the given one. After event 4, it waits until ctx ends.
func (fair) Events(ctx context.Context, after int64) (out []live.Event, err error) {
	for seq := after + 1; seq <= 4; seq++ {
		out = append(out, live.Event{Seq: seq, At: 848600000, Kind: "contract", Contract: 16 + seq, State: "running"})
	}
	if len(out) == 0 {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return out, nil
}

func handler(address string) http.Handler {
	conf := live.Default()
	conf.Name = "lab"
	return New(Config{
		Market: fair{}, Rules: conf, Ledger: "5f7c", Version: "1", Address: address, Now: func() float64 { return 848600020 },
		Head: func(context.Context) (string, error) { return "118:n1FxxxxxxxxxxY=", nil },
	})
}

func get(t *testing.T, method, path, host string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, path, nil)
	r.Host = host
	w := httptest.NewRecorder()
	handler("market.example:8421").ServeHTTP(w, r)
	return w
}

var paths = map[string]string{"market": "/", "contract": "/contracts/17", "fulfilled": "/contracts/18", "host": "/hosts/h00", "ledger": "/ledger", "about": "/about"}

// TestPages compares pages with testdata. It also checks that they are accessible without
// scripts, colour or sight: language, headings, landmarks, captions, row and column
// headers, and names of scrollable areas.
func TestPages(t *testing.T) {
	t.Parallel()
	for name, path := range paths {
		w := get(t, "GET", path, "127.0.0.1:8421")
		if w.Code != 200 || w.Header().Get("Content-Type") != "text/html; charset=utf-8" {
			t.Fatalf("%s: %d, %v", path, w.Code, w.Header())
		}
		got, file := w.Body.Bytes(), filepath.Join("testdata", name+".html")
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is\n%s\nwant what %s has: -update writes it", path, got, file)
		}
		text := string(got)
		for what, n := range map[string]int{`<html lang="en">`: 1, "<h1>": 1, "<main ": 1, "<nav ": 1, "<header>": 1, "<footer>": 1, "<caption>": strings.Count(text, "<table"), "data-table=": strings.Count(text, `role="img"`)} {
			if strings.Count(text, what) != n {
				t.Errorf("%s: %d times %s, want %d", path, strings.Count(text, what), what, n)
			}
		}
		for _, m := range regexp.MustCompile(`<th[ >][^<]*`).FindAllString(text, -1) {
			if !strings.Contains(m, "scope=") {
				t.Errorf("%s: %s is a header of nothing", path, m)
			}
		}
		for _, m := range regexp.MustCompile(`<div class="scroll"[^>]*>`).FindAllString(text, -1) {
			if !strings.Contains(m, `tabindex="0"`) || !strings.Contains(m, "aria-label=") {
				t.Errorf("%s: %s cannot be scrolled by keyboard, or has no name", path, m)
			}
		}
		for _, m := range regexp.MustCompile(`data-table="([a-z]+)"`).FindAllStringSubmatch(text, -1) {
			if !strings.Contains(text, `<table id="`+m[1]+`"`) {
				t.Errorf("%s: the chart of %s has no table", path, m[1])
			}
		}
	}
}

// TestVisitors checks that names chosen by others never become markup, that a browser runs
// only our scripts, and that visitors cannot change anything.
func TestVisitors(t *testing.T) {
	t.Parallel()
	for _, path := range append([]string{"/hosts/" + "%3Cscript%3Ealert(1)%3C%2Fscript%3E", "/contracts/99", "/contracts/%3Cb%3E", "/nothing"}, "/", "/contracts/17", "/hosts/h00", "/ledger", "/about") {
		w := get(t, "GET", path, "localhost")
		text := w.Body.String()
		if strings.Contains(text, "<script>") || strings.Contains(text, "<b>") || regexp.MustCompile(` (on\w+|style)=|<form|<input|javascript:`).MatchString(text) {
			t.Errorf("%s: others write\n%s", path, text)
		}
		if csp := w.Header().Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || !strings.Contains(csp, "script-src 'self';") || strings.Contains(csp, "unsafe") {
			t.Errorf("%s: policy %q", path, csp)
		}
		if w.Code != 200 && w.Code != 404 || (w.Code == 200) != (strings.HasPrefix(path, "/contracts/17") || path == "/" || path == "/hosts/h00" || path == "/ledger" || path == "/about") {
			t.Errorf("%s: status %d", path, w.Code)
		}
		for _, method := range []string{"POST", "PUT", "DELETE", "PATCH"} {
			if w := get(t, method, path, "localhost"); w.Code != http.StatusMethodNotAllowed {
				t.Errorf("%s %s: status %d, want that it cannot be done", method, path, w.Code)
			}
		}
	}
}

// TestHost checks that a page is served only for this market's address or name, and not for
// any other name.
func TestHost(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]int{
		"127.0.0.1:8421": 200, "[::1]:8421": 200, "192.0.2.7": 200, "localhost:1": 200, "market.example:8421": 200, "MARKET.example": 200,
		"evil.example": 421, "evil.example:8421": 421, "127.0.0.1.evil.example": 421, "localhost.evil.example": 421, "": 421,
	} {
		for _, path := range []string{"/", "/events?after=x", "/static/page.js"} {
			got := get(t, "GET", path, host).Code
			if path != "/" && got == 400 {
				got = 200 // it is listened to
			}
			if got != want {
				t.Errorf("%s of %q: status %d, want %d", path, host, got, want)
			}
		}
	}
}

// TestEvents checks that a stream begins after the last event that the browser has
// received, that the browser's header takes precedence over the page's number, and what a
// browser without events receives.
func TestEvents(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(handler(""))
	defer s.Close()
	for _, c := range []struct{ query, header, want string }{
		{"", "", ""}, {"?after=2", "", "3 4"}, {"?after=1", "3", "4"}, {"", "0", "1 2 3 4"}, {"?after=4", "", ""},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		r, err := http.NewRequestWithContext(ctx, "GET", s.URL+"/events"+c.query, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.header != "" {
			r.Header.Set("Last-Event-ID", c.header)
		}
		answer, err := s.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		var heard []string
		lines := bufio.NewScanner(answer.Body)
		for n := 0; n < len(strings.Fields(c.want))+1 && lines.Scan(); {
			if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
				if n > 0 {
					heard = append(heard, id)
				}
				n++
			}
		}
		if got := strings.Join(heard, " "); got != c.want || answer.Header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("%+v: heard %q, %v", c, got, answer.Header)
		}
		cancel()
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	}
	if w := get(t, "GET", "/events?after=-1", "localhost"); w.Code != http.StatusBadRequest {
		t.Errorf("after event -1: status %d", w.Code)
	}
}

// TestCopies checks that a page is written once per half second, however many readers there
// are, and that the number of stored paths is limited.
func TestCopies(t *testing.T) {
	t.Parallel()
	var written atomic.Int32
	var now atomic.Int64 // quarters of a second
	s := New(Config{
		Market: fair{}, Now: func() float64 { return float64(now.Load()) / 4 },
		Head: func(context.Context) (string, error) { written.Add(1); return "118:n1FxxxxxxxxxxY=", nil },
	})
	look := func(path string) string {
		r, w := httptest.NewRequest("GET", path, nil), httptest.NewRecorder()
		r.Host = "localhost"
		s.ServeHTTP(w, r)
		return w.Body.String()
	}
	for range 3 { // at 0, 0.25 and 0.5 s
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				if !strings.Contains(look("/"), "h00") {
					t.Error("a page without its host")
				}
			})
		}
		all.Wait()
		now.Add(1)
	}
	if n := written.Load(); n != 2 {
		t.Errorf("written %d times, want at 0 and at 0.5 s", n)
	}
	for i := range 2 * mostCopies {
		look(fmt.Sprint("/contracts/", i))
		look("/" + strings.Repeat("x", longest+i))
	}
	if n := len(s.(*server).copies.all); n > mostCopies {
		t.Errorf("%d are kept", n)
	}
}

// TestContrast checks that text and chart lines have enough contrast to the background, in
// light and dark mode, according to WCAG 2.2.
func TestContrast(t *testing.T) {
	t.Parallel()
	css, err := static.ReadFile("static/page.css")
	if err != nil {
		t.Fatal(err)
	}
	modes := regexp.MustCompile(`--ink:[^}]*`).FindAllString(string(css), -1)
	if len(modes) != 2 {
		t.Fatalf("found %d modes", len(modes))
	}
	for _, mode := range modes {
		colours := map[string]float64{}
		for _, m := range regexp.MustCompile(`--(\w+): #(\w{6})`).FindAllStringSubmatch(mode, -1) {
			colours[m[1]] = luminance(m[2])
		}
		for name, l := range colours {
			if name == "paper" || name == "line" { // table lines carry no information of their own
				continue
			}
			a, b := max(l, colours["paper"]), min(l, colours["paper"])
			if got := (a + 0.05) / (b + 0.05); got < 4.5 {
				t.Errorf("--%s: contrast %.2f, want 4.5", name, got)
			}
		}
		if len(colours) != 14 {
			t.Errorf("%d colours", len(colours))
		}
	}
}

// luminance returns the relative luminance of a colour of six hexadecimal digits, in [0,1].
func luminance(digits string) (l float64) {
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(digits[2*i:2*i+2], 16, 8)
		if err != nil {
			panic(err)
		}
		x := float64(n) / 255
		if x <= 0.04045 {
			x /= 12.92
		} else {
			x = math.Pow((x+0.055)/1.055, 2.4)
		}
		l += weight * x
	}
	return l
}

// A long is a market that has had many contracts.
type long struct {
	fair
	contracts int64
}

// List lists them like a market.
func (m long) List(f live.Filter) (all []live.Contract, err error) {
	const base = 3 << 32
	from := max(f.From, base+1)
	if f.Last > 0 {
		from = max(from, base+1+m.contracts-int64(f.Last))
	}
	for id := from; id <= base+m.contracts && (f.Most == 0 || len(all) < f.Most); id++ {
		n := id - base
		all = append(all, live.Contract{ID: id, State: "fulfilled", Receipt: fmt.Sprintf("%d:a", 2*n), Settlement: fmt.Sprintf("%d:b", 2*n+1)})
	}
	return all, nil
}

// TestLedgerPages checks that the links of a ledger page, without scripts, lead to every
// receipt of each contract and back to the last.
func TestLedgerPages(t *testing.T) {
	t.Parallel()
	const contracts = 250
	h := New(Config{Market: long{contracts: contracts}, Now: func() float64 { return 0 }, Head: func(context.Context) (string, error) { return "", nil }})
	seen := make(map[string]int)
	walk := func(path, link string) (last string) {
		for pages := 0; path != "" && pages < 10; pages++ {
			r := httptest.NewRequest("GET", path, nil)
			r.Host = "localhost"
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != 200 {
				t.Fatalf("%s: %d", path, w.Code)
			}
			for _, row := range regexp.MustCompile(`<tr id="e(\d+)">`).FindAllStringSubmatch(w.Body.String(), -1) {
				seen[row[1]]++
			}
			last, path = path, ""
			if next := regexp.MustCompile(`<a href="([^"]*)" rel="` + link + `"`).FindStringSubmatch(w.Body.String()); next != nil {
				path = next[1]
			}
		}
		return last
	}
	first := walk("/ledger", "prev")
	for n := 2; n < 2*contracts+2; n++ {
		if seen[fmt.Sprint(n)] == 0 {
			t.Errorf("entry %d is on no page", n)
		}
	}
	clear(seen)
	walk(first, "next")
	if len(seen) != 2*contracts || seen["2"] != 1 {
		t.Errorf("from %s on there are %d entries, want %d", first, len(seen), 2*contracts)
	}
	for _, path := range []string{"/ledger?from=0", "/ledger?from=x", "/ledger?from=-5"} {
		if w := get(t, "GET", path, "localhost"); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}

// TestEncoded checks that an event is encoded once for all watchers, that it is not
// confused with another, and that old events are dropped.
func TestEncoded(t *testing.T) {
	t.Parallel()
	var c encoded
	texts := make(map[string]bool)
	for seq := range int64(3 * mostEncoded) {
		e := live.Event{Seq: seq, Kind: "host", Host: fmt.Sprint("h", seq)}
		first, err := c.text(&e)
		again, err2 := c.text(&e)
		if err != nil || err2 != nil || &first[0] != &again[0] || len(c.texts) > mostEncoded {
			t.Fatalf("event %d: %v, %v; %q is encoded twice, or %d are kept", seq, err, err2, first, len(c.texts))
		}
		texts[string(first)] = true
	}
	if len(texts) != 3*mostEncoded {
		t.Errorf("%d texts of %d events", len(texts), 3*mostEncoded)
	}
}
