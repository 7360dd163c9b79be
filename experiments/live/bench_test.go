package live

import (
	"context"
	"fmt"
	"math"
	"testing"

	"bourse/contracts/order"
)

// BenchmarkMarket runs a market that sells processors and GPUs, with 50 hosts and with one hundred,
// one thousand and four thousand contracts.
func BenchmarkMarket(b *testing.B) {
	for _, n := range []int{100, 1000, 4000} {
		b.Run(fmt.Sprint("contracts=", n), func(b *testing.B) { benchmark(b, n) })
	}
}

func benchmark(b *testing.B, n int) {
	w := newTown(b, "name: lab\nadmission: {name: class, default: be}\nmarket: {bidding: cheapest, resources: [gpu]}", 1)
	var names []string
	for i := range 50 {
		names = append(names, fmt.Sprintf("g%02d", i))
	}
	w.machine(names...)
	for i := range n {
		s := w.order(fmt.Sprint(i), fmt.Sprintf("user:%d", i%3), "be", 1, 5, 5000, 0.0005)
		w.turn(message{Submit: &s})
	}
	b.Run("turn", func(b *testing.B) {
		for b.Loop() {
			w.now += 0.01
			w.talk()
		}
	})
	b.Run("quote", func(b *testing.B) {
		for b.Loop() {
			if _, charges, ok, err := w.market.Quote(context.Background(), order.Terms{Class: "cac", Nodes: 2, CPUs: 1, Work: 10, Deadline: 50, Counts: map[string]int32{"gpu": 1}, Job: order.Sum(jobText)}); err != nil || !ok || len(charges) != 2 {
				b.Fatal(charges, ok, err)
			}
		}
	})
	write := func(b *testing.B, whole bool) {
		w.market.pause = 0
		for b.Loop() {
			b.StopTimer()
			must(0, w.market.finish())
			w.now += 0.01
			w.market.pause = math.Inf(1)
			w.talk()
			w.market.pause = 0
			b.StartTimer()
			must(0, w.market.keep(w.now))
			if whole {
				must(0, w.market.finish())
			}
		}
	}
	b.Run("checkpoint/step", func(b *testing.B) { write(b, false) }) // the part for which the step waits
	b.Run("checkpoint/whole", func(b *testing.B) { write(b, true) })
}
