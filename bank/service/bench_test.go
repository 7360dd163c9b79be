//go:build unix

package service

import (
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"bourse/bank"
	"bourse/bank/owners/ownerstest"
	"bourse/bank/store"
	"bourse/bank/store/postgres"
	"bourse/bank/store/postgres/pgtest"
	"bourse/bank/wire"
)

const benchClients = 256

// BenchmarkServe reports the number of signed transfers per second of 256 clients over the
// network, with one order per call and with 64 orders per call. The orders are signed
// beforehand. Each client has its own account and connection (HTTP/1.1, because HTTP/2 costs a
// third more processor time for sequential calls). It also reports the ratio to an unsigned
// design with the same server and clients. All figures are also reported as processor time per
// transfer of clients, server and database together, which is independent of the load of the
// machine.
func BenchmarkServe(b *testing.B) {
	for b.Loop() {
		var plain, work float64
		{
			url, before := pgtest.URL(b), cpuTime(b)
			server := pgtest.Work(url)
			const n = 16_384
			plain = pgtest.Plain(b, 10_000, benchClients, n)
			work = (cpuTime(b) - before + pgtest.Work(url) - server).Seconds() * 1e6 / n
			b.ReportMetric(plain, "plain-sql/s")
			b.ReportMetric(work, "us-cpu-plain")
		}
		for _, orders := range []int{1, 64} {
			url := pgtest.URL(b)
			j, err := postgres.Create(url, store.Options{})
			check(b, err)
			rate, us := served(b, j, url, func() (*store.Sequencer, error) { return postgres.OpenSequencer(url, store.Options{}) }, orders)
			b.ReportMetric(rate, fmt.Sprintf("postgres-%d/s", orders))
			b.ReportMetric(rate/plain, fmt.Sprintf("x-%d-of-plain", orders))
			b.ReportMetric(us, fmt.Sprintf("us-cpu-%d", orders))
			b.ReportMetric(work/us, fmt.Sprintf("x-cpu-%d-of-plain", orders))
		}
	}
}

// served returns the transfers per second and the processor time per transfer, in microseconds.
func served(b *testing.B, j *store.Journal, url string, open func() (*store.Sequencer, error), orders int) (rate, work float64) {
	calls := 64
	if orders > 1 {
		calls = 4
	}
	s := store.NewSequencer(j, bank.New(j))
	var first []store.Asked
	for _, e := range ownerstest.Begin() {
		first = append(first, s.Ask(e))
	}
	name := func(n int) string { return fmt.Sprintf("bench:%d", n) }
	for n := range benchClients {
		first = append(first, s.Ask(ownerstest.Enrol(name(n))), s.Ask(ownerstest.Mint(fmt.Sprintf("b%d", n), name(n), 1e6)))
	}
	for _, e := range first {
		_, err := s.Do(b.Context(), e.Entry)
		check(b, err)
	}
	check(b, s.Close())
	var all [benchClients][]*wire.TransferRequest
	for n := range all {
		for c := range calls {
			r := new(wire.TransferRequest)
			for i := range orders {
				r.Orders = append(r.Orders, string(ownerstest.Transfer(fmt.Sprintf("%d-%d", c, i), name(n), name((n+1)%benchClients), 1).Note))
			}
			all[n] = append(all[n], r)
		}
	}
	at := begin(b)
	at.serve(b, func(c *Config) {
		c.Write = open
		c.Limits.Rate = 1e9
	})
	var clients [benchClients]*Client
	for n := range clients { // before the measurement, each client has connected and used its key once
		clients[n] = at.client(b, name(n))
		clients[n].http.Protocols.SetHTTP1(true)
		clients[n].http.Protocols.SetHTTP2(false)
		second(clients[n].Balance(b.Context(), name(n)))
		_, err := clients[n].Do(b.Context(), ownerstest.Transfer("warm", name(n), "user:0", 1))
		check(b, err)
	}
	begun, cpu := time.Now(), cpuTime(b)+pgtest.Work(url)
	var done sync.WaitGroup
	for n, c := range clients {
		done.Go(func() {
			for _, r := range all[n] {
				response, err := c.servers[0].Transfer(b.Context(), r)
				if err != nil || len(response.GetResults()) != orders || response.GetResults()[0].GetRefused() != nil {
					b.Errorf("%v %v", response, err)
				}
			}
		})
	}
	done.Wait()
	n := float64(benchClients * calls * orders)
	rate, work = n/time.Since(begun).Seconds(), (cpuTime(b)+pgtest.Work(url)-cpu).Seconds()*1e6/n
	check(b, at.stop())
	return rate, work
}

// cpuTime returns the processor time used by this process.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	check(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
