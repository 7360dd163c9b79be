package live

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"bourse/hosts"
)

// chatter returns records of hosts that tell what tasks use, of which each reading is some
// microseconds off, and of all else that may happen to them.
func chatter(rng *rand.Rand, records, tasks int, off float64) (all []*record) {
	now, rates := 7e8, make([]float64, tasks)
	uses, ats, firsts, sessions := make([]float64, tasks), [3]float64{}, [3]int64{1, 1, 1}, [3]int64{1, 1, 1}
	deal := int64(1)
	for range records {
		r := &record{Now: now}
		now += rng.Float64()
		for h := range 3 {
			if rng.IntN(4) == 0 {
				continue
			}
			if rng.IntN(40) == 0 {
				r.Messages = append(r.Messages, message{Came: fmt.Sprint("h", h)})
			}
			if rng.IntN(40) == 0 {
				sessions[h], firsts[h] = sessions[h]+1, 1
			}
			t := &told{Host: fmt.Sprint("h", h), Session: sessions[h], Boot: fmt.Sprint("b", sessions[h]), Seq: rng.Int64N(1000), First: firsts[h]}
			for range rng.IntN(3) {
				s := span{Deal: deal, Length: micro(rng.Float64() * 2)}
				ats[h] += s.Length
				s.At = micro(ats[h])
				if deal += rng.Int64N(2); rng.IntN(9) == 0 {
					s.At = 0
				}
				for i := h; i < tasks; i += 3 {
					if rng.IntN(30) == 0 {
						rates[i] = rng.Float64()
					}
					if rng.IntN(50) == 0 {
						continue
					}
					uses[i] += rates[i] * s.Length
					s.Used = append(s.Used, used{int64(i), micro(uses[i] + off*rng.NormFloat64()), float64(rng.IntN(3)*rng.IntN(5000)) / 1e3})
				}
				if rng.IntN(100) == 0 {
					s.Length = []float64{1e300, 1.0 / 3, -1e-300, 5e7}[rng.IntN(4)]
				}
				t.Spans = append(t.Spans, s)
			}
			firsts[h] += int64(len(t.Spans))
			if rng.IntN(10) == 0 {
				t.Ends = append(t.Ends, end{Name: rng.Int64(), Why: hosts.Exited, Code: 1, Fault: "x"})
			}
			r.Messages = append(r.Messages, message{Told: t})
		}
		all = append(all, r)
	}
	return all
}

// TestPacked checks that records are read as they were written, from each at which a packer
// began anew, and from no other; and that those are read that are JSON, as all were once.
func TestPacked(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 2))
		all := chatter(rng, 200, 30, 1e-4)
		var texts [][]byte
		var anew []int
		var p packer
		for i, r := range all {
			if rng.IntN(40) == 0 {
				p = packer{}
			}
			if p.hosts == nil {
				anew = append(anew, i)
			}
			b := must(p.write(r))
			if rng.IntN(60) == 0 && i > 0 { // of a time before packers: what follows is another's
				b, p = must(json.Marshal(r)), packer{}
			}
			texts = append(texts, b)
		}
		for _, from := range anew {
			var p packer
			for i, b := range texts[from:] {
				r, err := p.read(b)
				if err != nil || !reflect.DeepEqual(r, all[from+i]) {
					t.Fatalf("seed %d: record %d read from %d on: %v\n%s, want\n%s", seed, from+i, from, err, must(json.Marshal(r)), must(json.Marshal(all[from+i])))
				}
			}
		}
		if texts[1][0] == packedOn {
			if r, err := new(packer).read(texts[1]); err == nil {
				t.Errorf("seed %d: what goes on is read as %+v", seed, r)
			}
		}
	}
}

// TestPackedSize checks that what a task tells each second takes two bytes and a half, where
// readings are some 0.05 ms off, before blocks are compressed; as JSON it takes thirty.
func TestPackedSize(t *testing.T) {
	t.Parallel()
	const tasks, seconds = 20, 60
	rng, p := rand.New(rand.NewPCG(1, 3)), packer{}
	packed, whole, passed := 0, 0, 0.0
	for i := range seconds {
		s := span{Deal: 7, Length: micro(1 + 1e-3*rng.NormFloat64()), At: micro(5000 + float64(i))}
		passed += s.Length
		for n := range int64(tasks) {
			s.Used = append(s.Used, used{Name: n, Seconds: micro(100 + (100+0.05*passed)*float64(n) + 5e-5*rng.NormFloat64())})
		}
		r := &record{Now: float64(i), Messages: []message{{Told: &told{Host: "h00", Session: 1, Boot: "b", Seq: int64(i), First: int64(i), Spans: []span{s}}}}}
		packed += len(must(p.write(r)))
		whole += len(must(json.Marshal(r)))
	}
	if got := float64(packed) / tasks / seconds; got > 2.8 || whole < 10*packed {
		t.Errorf("%.2f bytes a task and second, %.2f as JSON", got, float64(whole)/tasks/seconds)
	} else {
		t.Logf("%.2f bytes a task and second, %.2f as JSON", got, float64(whole)/tasks/seconds)
	}
}

// FuzzPacked reads records that may be damaged: they are refused, or read as something that
// is written and read as the same.
func FuzzPacked(f *testing.F) {
	var p packer
	for _, r := range chatter(rand.New(rand.NewPCG(1, 4)), 5, 9, 1e-4) {
		f.Add(must(p.write(r)))
		p = packer{}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := new(packer).read(b)
		if err != nil {
			return
		}
		text, err := new(packer).write(r)
		if err != nil {
			return // what JSON has no word for
		}
		again, err := new(packer).read(text)
		if err != nil || !reflect.DeepEqual(must(json.Marshal(again)), must(json.Marshal(r))) && !math.IsNaN(r.Now) && !math.IsInf(r.Now, 0) {
			t.Errorf("%+v is read as %+v, %v", r, again, err)
		}
	})
}
