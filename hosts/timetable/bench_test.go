package timetable

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// drawLoad draws a job like those of the reservation workload, for a cluster of 64 nodes on
// which n jobs will wait. Half of the jobs are on demand. Lead times cover the time that n jobs
// take at a load of about 0.7.
func drawLoad(rng *rand.Rand, id int64, n int) Job {
	const meanSpan, meanNodes = 2200, 8.4
	horizon := float64(n) * meanSpan * meanNodes / 64 / 0.7
	j := Job{ID: id, Kind: OnDemand, Deadline: Forever}
	j.Estimate = 1 + int64(rng.ExpFloat64()*meanSpan)
	j.Nodes = min(64, 1+int(rng.ExpFloat64()*meanNodes))
	j.Earliest = int64(rng.Float64() * horizon)
	if id%2 == 0 {
		j.Kind = Advance
		j.Deadline = j.Earliest + j.Estimate + int64(float64(j.Estimate)*2*rng.Float64())
	}
	return j
}

// loaded returns a book with n jobs planned.
func loaded(tb testing.TB, rng *rand.Rand, n int) *Book {
	b, err := New(Config{Nodes: 64})
	if err != nil {
		tb.Fatal(err)
	}
	for id := int64(0); len(b.plan) < n; id++ {
		if q := b.Quote(0, drawLoad(rng, id, n)); q.Feasible && q.Start > 0 {
			if _, err := b.Commit(0, q, nil); err != nil {
				tb.Fatal(err)
			}
		}
	}
	return b
}

// anew plans all jobs of b, and j, from scratch. This is the alternative to Quote that the
// benchmark measures.
func (b *Book) anew(j *Job) bool {
	with := &Book{config: b.config, now: b.now}
	with.steps.reset(b.now, b.config.Nodes)
	at := b.position(j)
	with.plan = append(with.plan, b.plan[:at]...)
	with.plan = append(with.plan, &entry{Job: *j, span: Span(j.Estimate, b.config.Speed)})
	with.plan = append(with.plan, b.plan[at:]...)
	with.slots = make([]interval, len(with.plan))
	return with.planAnew()
}

// fastest returns the minimum time of several calls of f, to exclude the effect of other
// programs.
func fastest(f func()) float64 {
	least := time.Duration(1<<63 - 1)
	for range 7 {
		begin := time.Now()
		f()
		least = min(least, time.Since(begin))
	}
	return float64(least)
}

// BenchmarkQuote requests quotes from books with 10^2, 10^3 and 10^4 planned jobs. It reports
// how many times longer planning from scratch takes than a quote, and how many times longer a
// quote takes than with 10^2 jobs.
func BenchmarkQuote(b *testing.B) {
	var first float64
	for _, n := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprintf("planned=%d", n), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, uint64(n)))
			book := loaded(b, rng, n)
			asked := make([]Job, 256)
			for i := range asked {
				asked[i] = drawLoad(rng, int64(1<<40+i), n)
			}
			all := func() {
				for i := range asked {
					book.Quote(0, asked[i])
				}
			}
			quote := fastest(all) / float64(len(asked))
			anew := fastest(func() {
				for i := range asked[:16] {
					book.anew(&asked[i])
				}
			}) / 16
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				book.Quote(0, asked[i%len(asked)])
				i++
			}
			if first == 0 {
				first = quote
			}
			b.ReportMetric(anew/quote, "x_anew")
			b.ReportMetric(quote/first, "x_of_100")
		})
	}
}

// BenchmarkQueue requests reservations in front of waiting on-demand jobs. Each accepted
// reservation delays much of the queue, and every later job must be checked against the vacated
// interval. A brief book postpones this check to the commitment. The benchmark reports how many
// times longer a quote with ZetaAll, and planning from scratch, take than a quote of a brief
// book.
func BenchmarkQueue(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprintf("waiting=%d", n), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(4, uint64(n)))
			book, err := New(Config{Nodes: 64, Brief: true})
			if err != nil {
				b.Fatal(err)
			}
			for id := int64(0); len(book.plan) < n; id++ {
				j := drawLoad(rng, id, n)
				j.Kind, j.Earliest, j.Deadline = OnDemand, 0, Forever
				if _, err := book.Commit(0, book.Quote(0, j), nil); err != nil {
					b.Fatal(err)
				}
			}
			asked := make([]Job, 64)
			for i := range asked {
				asked[i] = drawLoad(rng, int64(1<<40+2*i), 1)
				asked[i].Earliest = int64(7200 * rng.Float64())
				asked[i].Deadline = asked[i].Earliest + 3*asked[i].Estimate
			}
			i := 0
			for b.Loop() {
				book.Quote(0, asked[i%len(asked)])
				i++
			}
			few := asked[:max(1, len(asked)*100/n)]
			quotes := func() {
				for i := range few {
					book.Quote(0, few[i])
				}
			}
			brief := fastest(quotes)
			book.config.Brief = false
			b.ReportMetric(fastest(quotes)/brief, "x_whole")
			b.ReportMetric(fastest(func() {
				for i := range few {
					book.anew(&few[i])
				}
			})/brief, "x_anew")
		})
	}
}

// BenchmarkSuffix requests jobs with keys after a given part of 1,000 planned jobs. It reports
// how many times longer than a quote it takes to place the whole plan again, and to plan it
// from scratch.
func BenchmarkSuffix(b *testing.B) {
	for _, part := range []float64{0.1, 0.5, 0.9} {
		b.Run(fmt.Sprintf("prefix=%v", part), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(2, 7))
			book := loaded(b, rng, 1000)
			at := book.plan[int(part*float64(len(book.plan)))]
			j := at.Job
			j.ID, j.Earliest, j.Nodes = 1<<40, max(0, at.Earliest-1000), 16
			if at.Deadline < Forever {
				j.Deadline = at.Deadline + 10
			}
			t := &book.trial
			replan := func(first int, vacated interval) {
				t.joins, t.at = true, book.position(&j)
				t.as = entry{Job: j, span: j.Estimate}
				t.begin(book, 0, first)
				book.replan(t, never, vacated)
			}
			suffix := func() { replan(book.position(&j), never) }
			for b.Loop() {
				suffix()
			}
			least := fastest(suffix)
			b.ReportMetric(fastest(func() { replan(0, always) })/least, "x_whole")
			b.ReportMetric(fastest(func() { book.anew(&j) })/least, "x_anew")
		})
	}
}

// TestQuoteAllocates checks that a quote allocates only its result, whether it places the
// suffix, the whole plan or an insertion.
func TestQuoteAllocates(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	for _, admission := range []Admission{EDF, EDFInsert} {
		book := loaded(t, rng, 200)
		book.config.Admission = admission
		asked := make([]Job, 100)
		for i := range asked {
			asked[i] = drawLoad(rng, int64(1<<40+i), 200)
			book.Quote(0, asked[i])
		}
		for _, canonical := range []bool{true, false} {
			book.canonical = canonical
			i := 0
			if n := testing.AllocsPerRun(200, func() {
				book.Quote(0, asked[i%len(asked)])
				i++
			}); n != 0 {
				t.Errorf("admission %d, canonical %v: %v allocations a quote", admission, canonical, n)
			}
		}
	}
}
