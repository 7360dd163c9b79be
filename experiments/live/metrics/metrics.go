// Package metrics exports the metrics of a live market to Prometheus. Events update the
// counters; the gauges are read at each request. No metric identifies a user or a contract.
//
// The package does not judge the values: the alert rules are in rules.yaml, and dashboard.json
// displays the metrics in Grafana.
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

// New returns metrics without any measurements.
func New() *Metrics {
	seconds := func(name, help string) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Name: "bourse_" + name, Help: help, Buckets: prometheus.ExponentialBuckets(0.0001, 4, 9)})
	}
	m := &Metrics{
		registry:  prometheus.NewRegistry(),
		turn:      seconds("turn_seconds", "Duration of one iteration of the market's loop, including the answers to its clients."),
		log:       seconds("log_sync_seconds", "Time until a record is durable in the market's log."),
		bank:      seconds("bank_call_seconds", "Time until the bank answers a call for which the market waits."),
		sync:      seconds("sync_seconds", "Time until a host's report is durable."),
		decisions: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "bourse_decisions_total", Help: "Number of decisions; a deferred request is counted again when it is decided."}, []string{"class", "verdict", "reason"}),
		unpaid:    prometheus.NewCounter(prometheus.CounterOpts{Name: "bourse_unpaid_work_seconds_total", Help: "Processor time that tasks used between the last usage report and a stop ordered by the market, in processor-seconds."}),
		dropped:   prometheus.NewCounterVec(prometheus.CounterOpts{Name: "bourse_dropped_total", Help: "Number of connections and calls that were ended or refused, because there were too many or because they were too slow."}, []string{"why"}),
	}
	m.registry.MustRegister(m.turn, m.log, m.bank, m.sync, m.decisions, m.unpaid, m.dropped)
	m.dropped.WithLabelValues("connections") // create the counter with the value 0
	return m
}

// Turn and the following methods implement [live.Meter].
func (m *Metrics) Turn(seconds float64) { m.turn.Observe(seconds) }

// LogSync implements [live.Meter].
func (m *Metrics) LogSync(seconds float64) { m.log.Observe(seconds) }

// BankCall implements [live.Meter].
func (m *Metrics) BankCall(seconds float64) { m.bank.Observe(seconds) }

// Sync implements [live.Meter].
func (m *Metrics) Sync(seconds float64) { m.sync.Observe(seconds) }

// Unpaid implements [live.Meter].
func (m *Metrics) Unpaid(seconds float64) { m.unpaid.Add(seconds) }

// Drop counts a connection or call that the server ended or refused.
func (m *Metrics) Drop(why string) { m.dropped.WithLabelValues(why).Inc() }

// Decided implements [live.Meter].
func (m *Metrics) Decided(class, verdict, reason string) {
	m.decisions.WithLabelValues(bounded(class), verdict, reason).Inc()
}

// bounded returns a class as a label with a bounded set of values. Users may name any
// class, so all classes that are not offered share one label.
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

// A State contains the sources of the gauges. They are read at each request from
// Prometheus.
type State struct {
	Market *live.Market
	Offset func() float64 // offset of the wall clock in seconds
	Head   func(context.Context) (store.Head, error)
}

// Of adds the gauges of a market's state and returns the HTTP handler.
func (m *Metrics) Of(s State) http.Handler {
	m.registry.MustRegister(&gauges{s})
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
}

func gauge(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("bourse_"+name, help, labels, nil)
}

var (
	spotPrice   = gauge("spot_price_dollars_per_second", "Sum of the bids on a host.", "host")
	hostUsed    = gauge("host_used_processors", "Deprecated name of bourse_host_delivered_processors.", "host")
	entitled    = gauge("host_entitled_processors", "Number of processors of a host to which tasks are entitled.", "host")
	asked       = gauge("host_asked_processors", "Number of processors of a host that tasks have recently used, or waited for although entitled to them.", "host")
	delivered   = gauge("host_delivered_processors", "Number of processors of a host that tasks have recently used, as measured by the kernel.", "host")
	held        = gauge("host_held", "Amount of a host's resource that tasks hold, in bytes or units.", "host", "resource")
	offered     = gauge("host_offered", "Amount of a host's resource that tasks can hold, in bytes or units.", "host", "resource")
	price       = gauge("price_dollars_per_second", "Sum of the bids for a resource of a host; omitted for resources without a price.", "host", "resource")
	broken      = prometheus.NewDesc("bourse_broken_total", "Number of contracts violated since the start of the market, by cause: program, asked, price, market or host.", []string{"cause"}, nil)
	hostUp      = gauge("host_up", "1 if a host is present or closed, 0 if it is away; removed hosts are not reported.", "host")
	hostClosed  = gauge("host_closed", "1 if the agent of a host has closed it to new tasks, 0 otherwise; running tasks continue.", "host")
	hostStored  = gauge("host_stored_bytes", "Size of the output of ended tasks that a host stores, in bytes.", "host")
	contracts   = gauge("contracts", "Number of contracts that are waiting or running, or have ended since the start of the market.", "state")
	unsettled   = gauge("contracts_unsettled", "Number of settlements and penalties that the bank has refused; the market sends them again at least every 5 minutes.")
	shareError  = gauge("share_error", "Largest fraction of an entitlement that a task on a host waited for but did not receive.", "host")
	cut         = prometheus.NewDesc("bourse_readings_cut_total", "Number of usage reports from hosts that exceeded the possible maximum and were truncated.", nil, nil)
	bankAway    = gauge("bank_away_seconds", "Time since the bank stopped responding.")
	clockOffset = gauge("clock_offset_seconds", "Difference between the wall clock and the market's clock.")
	mailbox     = gauge("mailbox_length", "Number of messages waiting for the market's loop.")
	entries     = gauge("ledger_entries", "Number of entries in the bank's ledger; omitted while the bank does not respond.")
)

// gauges reads the current state.
type gauges struct{ State }

// Describe implements [prometheus.Collector].
func (g *gauges) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{spotPrice, hostUsed, entitled, asked, delivered, held, offered, price, broken, hostUp, hostClosed, hostStored, contracts, unsettled, shareError, cut, bankAway, clockOffset, mailbox, entries} {
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
		tell(price, h.Price, h.Name, "cpu")
		for _, r := range h.Resources {
			tell(held, r.Held, h.Name, r.Name)
			tell(offered, r.Offered, h.Name, r.Name)
			if r.Priced {
				tell(price, r.Price, h.Name, r.Name)
			}
		}
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
