// Package metrics is what Prometheus is told of a live market: what is measured where it
// happens, and how things stand when it asks. Nothing is told of any user or contract.
//
// It does not know what is good and what is bad: that is said in rules.yaml, and shown by
// dashboard.json, for Grafana.
package metrics

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"bourse/bank/store"
	"bourse/experiments/live"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics is a [live.Meter] that Prometheus reads.
type Metrics struct {
	registry  *prometheus.Registry
	turn      prometheus.Histogram
	log       prometheus.Histogram
	bank      prometheus.Histogram
	sync      prometheus.Histogram
	decisions *prometheus.CounterVec
	unpaid    prometheus.Counter
	dropped   *prometheus.CounterVec
}

// New returns metrics of which none has been measured.
func New() *Metrics {
	seconds := func(name, help string) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Name: "bourse_" + name, Help: help, Buckets: prometheus.ExponentialBuckets(0.0001, 4, 9)})
	}
	m := &Metrics{
		registry:  prometheus.NewRegistry(),
		turn:      seconds("turn_seconds", "Time of a turn of the market's loop, until those who wait are answered."),
		log:       seconds("log_sync_seconds", "Time until something is in the market's log for good."),
		bank:      seconds("bank_call_seconds", "Time until the bank has answered, as long as it was waited for."),
		sync:      seconds("sync_seconds", "Time until what a host told is kept for good."),
		decisions: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "bourse_decisions_total", Help: "Decisions; what was deferred counts again when it is decided."}, []string{"class", "verdict", "reason"}),
		unpaid:    prometheus.NewCounter(prometheus.CounterOpts{Name: "bourse_unpaid_work_seconds_total", Help: "Processor-seconds that tasks used between the last reading and a stop that the market ordered."}),
		dropped:   prometheus.NewCounterVec(prometheus.CounterOpts{Name: "bourse_dropped_total", Help: "Connections and calls ended or refused: too many, or too slow."}, []string{"why"}),
	}
	m.registry.MustRegister(m.turn, m.log, m.bank, m.sync, m.decisions, m.unpaid, m.dropped)
	m.dropped.WithLabelValues("connections") // so that it is there before anything is
	return m
}

// Turn implements [live.Meter], as what follows does.
func (m *Metrics) Turn(seconds float64) { m.turn.Observe(seconds) }

// LogSync implements [live.Meter].
func (m *Metrics) LogSync(seconds float64) { m.log.Observe(seconds) }

// BankCall implements [live.Meter].
func (m *Metrics) BankCall(seconds float64) { m.bank.Observe(seconds) }

// Sync implements [live.Meter].
func (m *Metrics) Sync(seconds float64) { m.sync.Observe(seconds) }

// Unpaid implements [live.Meter].
func (m *Metrics) Unpaid(seconds float64) { m.unpaid.Add(seconds) }

// Drop counts a connection or call that was ended or refused.
func (m *Metrics) Drop(why string) { m.dropped.WithLabelValues(why).Inc() }

// Decided implements [live.Meter].
func (m *Metrics) Decided(class, verdict, reason string) {
	m.decisions.WithLabelValues(bounded(class), verdict, reason).Inc()
}

// bounded returns a class as a label: users may name any, and are told that it is not sold.
func bounded(class string) string {
	class = strings.ToLower(class)
	switch {
	case class == "":
		return "default"
	case slices.Contains([]string{"be", "sac", "cac", "rac"}, class):
		return class
	}
	return "other"
}

// State is what is asked when Prometheus asks.
type State struct {
	Market *live.Market
	Offset func() float64 // of the wall clock, s
	Head   func(context.Context) (store.Head, error)
}

// Of has the metrics tell how a market stands, too, and returns what answers.
func (m *Metrics) Of(s State) http.Handler {
	m.registry.MustRegister(&gauges{s})
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
}

func gauge(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("bourse_"+name, help, labels, nil)
}

var (
	spotPrice   = gauge("spot_price_dollars_per_second", "Sum of the bids on a host.", "host")
	hostUsed    = gauge("host_used_processors", "Processors of a host that tasks have used lately, by the kernel's accounting; the same as bourse_host_delivered_processors.", "host")
	entitled    = gauge("host_entitled_processors", "Processors of a host that tasks are entitled to.", "host")
	asked       = gauge("host_asked_processors", "Processors of a host that tasks have used lately, or waited for and are entitled to.", "host")
	delivered   = gauge("host_delivered_processors", "Processors of a host that tasks have used lately, by the kernel's accounting.", "host")
	broken      = prometheus.NewDesc("bourse_broken_total", "Contracts that were violated since the market was started, by cause: program, asked, price, market or host.", []string{"cause"}, nil)
	hostUp      = gauge("host_up", "1 if a host is here or closed, 0 if it is away; one that was removed is not told of.", "host")
	hostClosed  = gauge("host_closed", "1 if a host takes no new tasks because its agent closed it, otherwise 0; what runs there continues.", "host")
	hostStored  = gauge("host_stored_bytes", "Bytes of output of ended tasks that a host keeps.", "host")
	contracts   = gauge("contracts", "Contracts that wait or run, and those that have ended since the market was started.", "state")
	unsettled   = gauge("contracts_unsettled", "Settlements and penalties that the bank has refused; they are asked for again, at the latest every 5 minutes.")
	shareError  = gauge("share_error", "Largest part of its entitlement that a task on a host has waited for and not received.", "host")
	cut         = prometheus.NewDesc("bourse_readings_cut_total", "Readings of hosts that told of more than can be.", nil, nil)
	bankAway    = gauge("bank_away_seconds", "Time for which the bank has not answered by now.")
	clockOffset = gauge("clock_offset_seconds", "By how much the wall clock is ahead of the market's.")
	mailbox     = gauge("mailbox_length", "Messages that wait for the market's loop.")
	entries     = gauge("ledger_entries", "Entries of the bank's ledger; left out while it does not answer.")
)

// gauges ask how things stand.
type gauges struct{ State }

// Describe implements [prometheus.Collector].
func (g *gauges) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{spotPrice, hostUsed, entitled, asked, delivered, broken, hostUp, hostClosed, hostStored, contracts, unsettled, shareError, cut, bankAway, clockOffset, mailbox, entries} {
		out <- d
	}
}

// Collect implements [prometheus.Collector].
func (g *gauges) Collect(out chan<- prometheus.Metric) {
	tell := func(d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	now, cuts := g.Market.Gauges(), 0
	for _, h := range g.Market.Hosts() {
		cuts += h.Cut
		if h.State == "removed" {
			continue
		}
		up := 1.0
		if h.State == "away" {
			up = 0
		}
		tell(spotPrice, h.Price, h.Name)
		tell(hostUsed, h.Delivered, h.Name)
		tell(entitled, h.Entitled, h.Name)
		tell(asked, h.Asked, h.Name)
		tell(delivered, h.Delivered, h.Name)
		tell(hostUp, up, h.Name)
		closed := 0.0
		if h.State == "closed" {
			closed = 1
		}
		tell(hostClosed, closed, h.Name)
		tell(hostStored, float64(h.Stored), h.Name)
		tell(shareError, now.Off[h.Name], h.Name)
	}
	for state, n := range now.Contracts {
		tell(contracts, float64(n), state)
	}
	for cause, n := range now.Broken {
		out <- prometheus.MustNewConstMetric(broken, prometheus.CounterValue, float64(n), cause)
	}
	tell(unsettled, float64(now.Unsettled))
	out <- prometheus.MustNewConstMetric(cut, prometheus.CounterValue, float64(cuts))
	tell(bankAway, now.Away)
	tell(clockOffset, g.Offset())
	tell(mailbox, float64(now.Mailbox))
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if h, err := g.Head(ctx); err == nil {
		tell(entries, float64(h.Size))
	}
}
