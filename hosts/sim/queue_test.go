package sim

import (
	"testing"

	"pgregory.net/rapid"
)

// TestQueue checks that whatever is pushed and removed, the first task is that
// of the least key and the heaviest that of the highest rate, while few, many,
// and few again.
func TestQueue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		held := map[int32]vtask{}
		grow := true
		for job := range int32(400) {
			if len(held) > rapid.IntRange(40, 120).Draw(t, "most") {
				grow = false
			} else if len(held) < 5 {
				grow = true
			}
			if grow || rapid.IntRange(0, 2).Draw(t, "push") == 0 {
				v := vtask{key: float64(rapid.IntRange(0, 99).Draw(t, "key")), rate: rapid.Int64Range(1, 999).Draw(t, "rate"), job: job}
				q.push(v)
				held[job] = v
			} else {
				i := 0
				if rapid.Bool().Draw(t, "heaviest") {
					i = q.heaviest()
				}
				v := q.remove(i)
				if held[v.job] != v {
					t.Fatalf("removed %+v, want %+v", v, held[v.job])
				}
				delete(held, v.job)
			}
			if len(q.tasks) != len(held) {
				t.Fatalf("%d tasks, want %d", len(q.tasks), len(held))
			}
			for _, v := range held {
				if first := q.tasks[0]; v.key < first.key {
					t.Fatalf("first is %+v, want %+v", first, v)
				}
				if most := q.tasks[q.heaviest()]; v.rate > most.rate {
					t.Fatalf("heaviest is %+v, want %+v", most, v)
				}
			}
		}
	})
}
