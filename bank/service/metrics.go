package service

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"bourse/bank/store"
	"bourse/bank/wire"

	"connectrpc.com/connect"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// A metrics contains the Prometheus metrics. They reveal no information about accounts.
type metrics struct {
	registry *prometheus.Registry
	calls    *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	booked   prometheus.Counter
	refused  *prometheus.CounterVec
	dropped  *prometheus.CounterVec
}

func newMetrics(ledger *atomic.Pointer[store.Sequencer]) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		calls:    prometheus.NewCounterVec(prometheus.CounterOpts{Name: "bourse_bank_calls_total", Help: "Calls answered."}, []string{"call", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "bourse_bank_call_seconds", Help: "Time from a call to its answer.",
			Buckets: prometheus.ExponentialBuckets(0.0001, 4, 9)}, []string{"call"}),
		booked:  prometheus.NewCounter(prometheus.CounterOpts{Name: "bourse_bank_booked_total", Help: "Orders answered with a receipt, including repeated orders."}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "bourse_bank_refused_total", Help: "Orders refused."}, []string{"reason"}),
		dropped: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "bourse_bank_dropped_total", Help: "Connections and calls ended or refused because they were too many or too slow."}, []string{"why"}),
	}
	writing := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "bourse_bank_writing", Help: "1 if this server writes the ledger, 0 if it is on standby."}, func() float64 {
		if ledger.Load() == nil {
			return 0
		}
		return 1
	})
	m.registry.MustRegister(m.calls, m.seconds, m.booked, m.refused, m.dropped, writing)
	m.dropped.WithLabelValues("connections") // export the label even before the first drop
	return m
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

func (m *metrics) drop(why string) { m.dropped.WithLabelValues(why).Inc() }

// interceptor counts calls.
func (m *metrics) interceptor() connect.Interceptor {
	return connect.UnaryInterceptorFunc(func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
			since := time.Now()
			response, err := next(ctx, r)
			call, code := r.Spec().Procedure[len("/"+wire.BankName+"/"):], "ok"
			if err != nil {
				code = connect.CodeOf(err).String()
			}
			m.calls.WithLabelValues(call, code).Inc()
			m.seconds.WithLabelValues(call).Observe(time.Since(since).Seconds())
			return response, err
		}
	})
}

// answered counts the results of orders.
func (m *metrics) answered(all []*wire.Result) {
	for _, r := range all {
		if refused := r.GetRefused(); refused != nil {
			m.refused.WithLabelValues(refused.GetReason()).Inc()
		} else {
			m.booked.Inc()
		}
	}
}
