package metrics_test

import (
	"context"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bourse/bank"
	"bourse/bank/owners/ownerstest"
	"bourse/bank/store"
	"bourse/experiments/live"
	"bourse/experiments/live/metrics"
	"bourse/hosts"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A still is a clock that does not advance.
type still struct{}

func (still) Now() float64  { return 100 }
func (still) Reach(float64) {}

// told returns the metrics that Prometheus gets for a market with one host, after a call of
// each method of its meter.
func told(t *testing.T) string {
	t.Helper()
	j, err := store.Create("books", store.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	b := store.NewSequencer(j, bank.New(j))
	t.Cleanup(func() { b.Close() })
	for _, e := range ownerstest.Begin() {
		if _, err := b.Do(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	conf, err := live.Parse("lab.yaml", []byte("name: lab\nmarket: {resources: [memory]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	m := metrics.New()
	market, err := live.Open("market", conf, live.World{
		Bank: b, Ledger: ownerstest.Ledger, Number: ownerstest.Number, Key: ownerstest.Private("market:lab"), Clock: still{}, FS: vfs.NewMem(), Meter: m,
		KeyOf: func(_ context.Context, account string) (string, error) { return ownerstest.Public(account), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { market.Close() })
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- market.Run(ctx) }()
	if err := market.Join(ctx, hostSpec, "operator", ""); err != nil {
		t.Fatal(err)
	}
	stop()
	if err := <-ran; err != nil {
		t.Fatal(err)
	}
	m.Sync(0.001)
	m.BankCall(0.01)
	m.Unpaid(1.5)
	m.Decided("CAC", "accept", "")
	m.Decided("<script>", "reject", "no such class")
	w := httptest.NewRecorder()
	m.Of(metrics.State{Market: market, Offset: func() float64 { return 0.25 }, Head: b.Head}).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}

// all lists the metrics of a live market with their labels.
var all = []string{
	`bourse_spot_price_dollars_per_second{host="h00"} 0`, `bourse_host_used_processors{host="h00"} 0`, `bourse_host_entitled_processors{host="h00"} 0`, `bourse_host_asked_processors{host="h00"} 0`, `bourse_host_delivered_processors{host="h00"} 0`,
	`bourse_host_held{host="h00",resource="memory"} 0`, `bourse_host_offered{host="h00",resource="memory"} 4e+09`,
	`bourse_price_dollars_per_second{host="h00",resource="cpu"} 0`, `bourse_price_dollars_per_second{host="h00",resource="memory"} 0`,
	`bourse_broken_total{cause="host"} 0`, `bourse_broken_total{cause="asked"} 0`, `bourse_host_up{host="h00"} 1`, `bourse_host_closed{host="h00"} 0`, `bourse_host_stored_bytes{host="h00"} 0`,
	`bourse_contracts{state="running"} 0`, `bourse_decisions_total{class="cac",reason="",verdict="accept"} 1`,
	`bourse_decisions_total{class="other",reason="no such class",verdict="reject"} 1`, `bourse_share_error{host="h00"} 0`,
	`bourse_unpaid_work_seconds_total 1.5`, `bourse_dropped_total{why="connections"} 0`, `bourse_readings_cut_total 0`, `bourse_turn_seconds_count 1`, `bourse_log_sync_seconds_count 1`,
	`bourse_bank_call_seconds_sum 0.01`, `bourse_bank_away_seconds 0`, `bourse_sync_seconds_sum 0.001`, `bourse_clock_offset_seconds 0.25`,
	`bourse_mailbox_length 0`, `bourse_contracts_unsettled 0`, `bourse_ledger_entries `,
}

// TestMetrics checks that exactly these metrics are exported with their values, and that
// the rules and the dashboard use each of them and no others.
func TestMetrics(t *testing.T) {
	t.Parallel()
	text := told(t)
	var names []string
	for _, want := range all {
		if !strings.Contains(text, "\n"+want) {
			t.Errorf("%s is not told", want)
		}
		names = append(names, metric(want))
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (\S+)`).FindAllStringSubmatch(text, -1) {
		if !slices.Contains(names, metric(m[1])) {
			t.Errorf("%s is told, and not in the list", m[1])
		}
	}
	used := map[string]bool{}
	for _, file := range []string{"rules.yaml", "dashboard.json"} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range name.FindAllString(string(b), -1) {
			n = metric(n)
			used[n] = true
			if !slices.Contains(names, n) {
				t.Errorf("%s: found %s, want one of %v", file, n, names)
			}
		}
	}
	for _, n := range names {
		if !used[n] {
			t.Errorf("%s is on no dashboard and in no rule", n)
		}
	}
}

// metric returns the name of the metric at the start of text, without the suffixes that
// Prometheus adds to the parts of a histogram.
func metric(text string) string {
	return regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name.FindString(text), "")
}

var name = regexp.MustCompile(`bourse_[a-z_]+`)

var hostSpec = hosts.Spec{Name: "h00", CPUs: 2, Speed: 1, Room: hosts.Resources{Memory: 4e9}}
