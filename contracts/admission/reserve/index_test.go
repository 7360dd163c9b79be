package reserve

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"bourse/contracts"
	"bourse/hosts"
	"bourse/hosts/timetable"
)

// TestIndex checks on random books that the index has the same next event and leads to the
// same choice as all books.
func TestIndex(t *testing.T) {
	t.Parallel()
	vacant, chosen := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		var specs []hosts.Spec
		for range rapid.IntRange(1, 12).Draw(t, "books") {
			specs = append(specs, hosts.Spec{CPUs: rapid.SampledFrom([]float64{1, 2, 4}).Draw(t, "nodes"), Speed: rapid.SampledFrom([]float64{1, 2}).Draw(t, "speed")})
		}
		match := rapid.SampledFrom([]string{"ff", "imct", "mli", "price"}).Draw(t, "match")
		preempt := rapid.Bool().Draw(t, "preempt")
		p, _ := keeping(t, func(o *Options) { o.Match, o.Preempt, o.Kappa = match, preempt, 1 }, specs...)
		now := int64(0)
		for id := range int64(rapid.IntRange(1, 40).Draw(t, "jobs")) {
			j := timetable.Job{ID: id, Arrival: now, Earliest: now + rapid.Int64Range(0, 9).Draw(t, "lead"), Estimate: rapid.Int64Range(1, 20).Draw(t, "estimate"), Nodes: rapid.IntRange(1, 4).Draw(t, "width")}
			j.Deadline = j.Earliest + j.Estimate + rapid.Int64Range(0, 40).Draw(t, "laxity")
			want, ok := p.match.Match(now, j, p.window)
			got := p.choose(&j, &contracts.Request{Nodes: j.Nodes})
			if c := p.chosen[0]; got != ok || ok && (c.Seller != want.Seller || c.Quote.Start != want.Quote.Start) {
				t.Fatalf("%s chooses %v in book %d at %d, want %v in book %d at %d", match, got, c.Seller, c.Quote.Start, ok, want.Seller, want.Quote.Start)
			}
			if ok {
				chosen++
				b := p.books[want.Seller]
				if _, err := b.Commit(now, p.chosen[0].Quote, nil); err != nil {
					t.Fatal(err)
				}
				p.index.update(b)
			}
			now += rapid.Int64Range(0, 5).Draw(t, "gap")
			for _, b := range p.books {
				for b.next() <= now {
					for _, f := range b.advance(nil) {
						if f.What == timetable.Started && !preempt && rapid.Bool().Draw(t, "short") {
							b.done(float64(f.At)+0.5, f.Job)
						}
					}
					p.index.update(b)
				}
			}
			next := int64(timetable.Forever)
			for _, b := range p.books {
				next = min(next, b.next())
				if used := slices.Contains(p.index.used, b.number); used != (len(b.Instants(nil)) > 0) {
					t.Fatalf("book %d with %d times of jobs counts as used: %v", b.number, len(b.Instants(nil)), used)
				} else if !used {
					vacant++
				}
			}
			if at, _ := p.Next(); next != timetable.Forever && at != float64(next) {
				t.Fatalf("the next event is at %v, want %d", at, next)
			}
		}
	})
	if vacant == 0 || chosen == 0 {
		t.Errorf("%d vacant books and %d choices, want some", vacant, chosen)
	}
}
