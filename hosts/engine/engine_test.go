package engine_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"bourse/hosts/engine"
)

// reshare is the simplest engine. At every event on a host, it credits every task there with
// its work and gives it a new rate. It finds the tasks at their limits round by round. It
// returns the completion time of each job.
func reshare(w *engine.Workload, capacity, limit float64) []float64 {
	if limit == 0 {
		limit = math.Inf(1)
	}
	type task struct {
		left, rate, speed float64
		job               int
	}
	type machine struct {
		now, next float64
		tasks     []task
	}
	ms := make([]machine, w.Hosts)
	end := make([]float64, len(w.Jobs))
	share := func(m *machine) {
		for i := range m.tasks {
			m.tasks[i].speed = 0
		}
		for room := capacity; ; {
			price := 0.0
			for i := range m.tasks {
				if m.tasks[i].speed == 0 {
					price += m.tasks[i].rate
				}
			}
			more := false
			for i, taken := range m.tasks {
				if taken.speed == 0 && taken.rate/price*room >= limit {
					m.tasks[i].speed = limit
					more = true
				}
			}
			if !more {
				for i := range m.tasks {
					if m.tasks[i].speed == 0 {
						m.tasks[i].speed = m.tasks[i].rate / price * room
					}
				}
				break
			}
			room = capacity
			for i := range m.tasks {
				room -= m.tasks[i].speed
			}
		}
		m.next = math.Inf(1)
		for i := range m.tasks {
			m.next = min(m.next, m.now+m.tasks[i].left/m.tasks[i].speed)
		}
	}
	pass := func(m *machine, to float64) {
		for i := range m.tasks {
			m.tasks[i].left -= m.tasks[i].speed * (to - m.now)
		}
		m.now = to
	}
	catchUp := func(m *machine, to float64) {
		for m.next <= to {
			at := m.next
			first := 0
			for i := range m.tasks {
				if m.tasks[i].left/m.tasks[i].speed < m.tasks[first].left/m.tasks[first].speed {
					first = i
				}
			}
			pass(m, at)
			j := m.tasks[first].job
			end[j] = max(end[j], at)
			m.tasks = slices.Delete(m.tasks, first, first+1)
			share(m)
		}
	}
	for i := range ms {
		ms[i].next = math.Inf(1)
	}
	for j, job := range w.Jobs {
		for k := range int(job.Nodes) {
			m := &ms[(j*7919+k*104729)%w.Hosts]
			catchUp(m, job.Arrival)
			pass(m, job.Arrival)
			m.tasks = append(m.tasks, task{left: job.Work, rate: float64(job.Rate), job: j})
			share(m)
		}
	}
	for i := range ms {
		catchUp(&ms[i], math.MaxFloat64)
	}
	return end
}

// A demand specifies a random workload like those of the golden files.
type demand struct {
	hosts, jobs int
	capacity    float64 // processors per host
	load        float64 // arriving work divided by the capacity of the hosts
}

func (d demand) workload(seed uint64) *engine.Workload {
	rng := rand.New(rand.NewPCG(seed, uint64(d.jobs)))
	w := &engine.Workload{Hosts: d.hosts, Jobs: make([]engine.Job, d.jobs)}
	gap := 7 * 457 / (d.load * d.capacity * float64(d.hosts)) // a job has 7 tasks of 457 s on average
	at := 0.0
	for j := range w.Jobs {
		at += rng.ExpFloat64() * gap
		w.Jobs[j] = engine.Job{
			Arrival: at,
			Nodes:   int32(min(4+rng.IntN(7), d.hosts)),
			Work:    120 * math.Pow(8, math.Pow(rng.Float64(), 0.75)),
			Rate:    int64(1e8 * min(200, math.Pow(1-rng.Float64(), -1/1.16))),
		}
	}
	return w
}

// TestEngineAgainstReshare checks that the engine gives the same completion times as allocating
// every task again at every event, whatever the capacity, the limit, the load and ties. Both
// drivers must agree to the last bit, even in an engine that has been used before.
func TestEngineAgainstReshare(t *testing.T) {
	t.Parallel()
	var used engine.Engine
	rapid.Check(t, func(t *rapid.T) {
		capacity := rapid.SampledFrom([]float64{0.7, 1, 2, 3.5, 8}).Draw(t, "capacity")
		limit := rapid.SampledFrom([]float64{0, 0.1, 0.35, 1, 9}).Draw(t, "limit")
		d := demand{
			hosts:    rapid.IntRange(1, 12).Draw(t, "hosts"),
			jobs:     rapid.IntRange(0, 150).Draw(t, "jobs"),
			capacity: capacity,
			load:     rapid.SampledFrom([]float64{0.3, 0.85, 1.5, 20}).Draw(t, "load"),
		}
		w := d.workload(rapid.Uint64().Draw(t, "seed"))
		switch rapid.IntRange(0, 2).Draw(t, "ties") {
		case 1: // All bids are equal.
			for j := range w.Jobs {
				w.Jobs[j].Rate = 1
			}
		case 2: // Use few distinct bids and few distinct works.
			for j := range w.Jobs {
				job := &w.Jobs[j]
				job.Rate = job.Rate/1e8 + 1
				job.Work = float64(int(job.Work) / 300)
				job.Arrival = math.Floor(job.Arrival / 500)
			}
		}
		check(t, &used, w, capacity, limit)
	})
}

func check(t interface{ Fatalf(string, ...any) }, e *engine.Engine, w *engine.Workload, capacity, limit float64) {
	got, err := e.Run(w, capacity, limit)
	if err != nil {
		t.Fatalf("%v", err)
	}
	end := slices.Clone(got.End)
	for j, want := range reshare(w, capacity, limit) {
		if !(math.Abs(end[j]-want) <= 1e-9*(1+want)) {
			t.Fatalf("job %d ends at %v, want %v", j, end[j], want)
		}
	}
	ordered, err := e.RunInOrder(w, capacity, limit)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if !slices.Equal(ordered.End, end) || ordered.Events != got.Events {
		t.Fatalf("the drivers differ: %v, want %v", ordered.End, end)
	}
	last := 0.0
	for _, j := range ordered.Order {
		if end[j] < last {
			t.Fatalf("job %d is reported after one that ends at %v", j, last)
		}
		last = end[j]
	}
	seen := slices.Clone(ordered.Order)
	slices.Sort(seen)
	if len(slices.Compact(seen)) != len(w.Jobs) {
		t.Fatalf("%d jobs in order of completion, want %d", len(seen), len(w.Jobs))
	}
}

// TestEngineDense checks hosts with hundreds of tasks, and limits that many, few or no tasks reach.
// Events occur at arbitrary times, or at few distinct times.
func TestEngineDense(t *testing.T) {
	t.Parallel()
	var e engine.Engine
	for _, limit := range []float64{0, 0.01, 0.1, 1} {
		w := demand{hosts: 2, jobs: 600, capacity: 2, load: 3}.workload(1)
		check(t, &e, w, 2, limit)
		for j := range w.Jobs { // Arrivals and completions coincide.
			job := &w.Jobs[j]
			job.Rate, job.Work, job.Arrival = 1+job.Rate%3, float64(int(job.Work)/300), math.Floor(job.Arrival/500)
		}
		check(t, &e, w, 2, limit)
	}
}

// TestEngineLongOverload checks that errors do not accumulate on a host with thousands of
// tasks: completion times agree with 200-bit arithmetic to one part in 1e13.
func TestEngineLongOverload(t *testing.T) {
	t.Parallel()
	w := demand{hosts: 1, jobs: 4000, capacity: 1, load: 10}.workload(7)
	var e engine.Engine
	got, err := e.Run(w, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	worst := 0.0
	for j, want := range exact(w) {
		worst = max(worst, math.Abs(got.End[j]-want)/want)
	}
	if t.Logf("off by at most %.2g of the instant", worst); worst > 1e-13 {
		t.Errorf("off by %v of the instant, want at most 1e-13", worst)
	}
}

// exact returns the completion times on one host of one processor without limit. It computes
// them in virtual time with 200 bits.
func exact(w *engine.Workload) []float64 {
	num := func(x float64) *big.Float { return big.NewFloat(x).SetPrec(200) }
	type task struct {
		key, rate *big.Float
		job       int
	}
	end := make([]float64, len(w.Jobs))
	now, v, price := num(0), num(0), num(0)
	var tasks []task
	for j := 0; j < len(w.Jobs) || len(tasks) > 0; {
		first, next := 0, (*big.Float)(nil)
		for i := range tasks {
			if tasks[i].key.Cmp(tasks[first].key) < 0 {
				first = i
			}
		}
		if len(tasks) > 0 {
			next = num(0).Sub(tasks[first].key, v)
			next.Add(next.Mul(next, price), now)
		}
		if j < len(w.Jobs) && (next == nil || num(w.Jobs[j].Arrival).Cmp(next) < 0) {
			at, rate := num(w.Jobs[j].Arrival), num(float64(w.Jobs[j].Rate))
			if len(tasks) > 0 {
				span := num(0).Sub(at, now)
				v.Add(v, span.Quo(span, price))
			}
			key := num(w.Jobs[j].Work)
			key.Add(key.Quo(key, rate), v)
			tasks = append(tasks, task{key, rate, j})
			price.Add(price, rate)
			now = at
			j++
			continue
		}
		end[tasks[first].job], _ = next.Float64()
		now, v = next, tasks[first].key
		price.Sub(price, tasks[first].rate)
		tasks = slices.Delete(tasks, first, first+1)
	}
	return end
}

// TestEngineEvents checks that an arrival and each completion of a task count as events.
func TestEngineEvents(t *testing.T) {
	t.Parallel()
	w := &engine.Workload{Hosts: 3, Jobs: []engine.Job{{Nodes: 3, Work: 1, Rate: 1}, {Nodes: 1, Rate: 1}}}
	var e engine.Engine
	got, err := e.Run(w, 1, 0)
	if err != nil || got.Events != 2+4 {
		t.Errorf("Events = %d, %v, want 6", got.Events, err)
	}
}

// TestEngineRefuses checks that the engine rejects invalid capacities and limits.
func TestEngineRefuses(t *testing.T) {
	t.Parallel()
	w := &engine.Workload{Hosts: 1}
	for _, c := range [][2]float64{{0, 1}, {-1, 1}, {math.Inf(1), 1}, {math.NaN(), 1}, {1, -1}, {1, math.Inf(1)}, {1, math.NaN()}} {
		for _, d := range drivers {
			if _, err := d.run(new(engine.Engine), w, c[0], c[1]); err == nil {
				t.Errorf("capacity %v with limit %v is accepted", c[0], c[1])
			}
		}
	}
}

// TestEngineAllocations checks that a run allocates nothing after the engine has run a workload of
// the same size.
func TestEngineAllocations(t *testing.T) {
	w := demand{hosts: 15, jobs: 500, capacity: 2, load: 1.5}.workload(1)
	for _, limit := range []float64{0, 1} {
		for _, d := range drivers {
			var e engine.Engine
			if got := testing.AllocsPerRun(2, func() { d.run(&e, w, 2, limit) }); got != 0 {
				t.Errorf("%s, limit %v: %v allocations, want 0", d.name, limit, got)
			}
		}
	}
}
