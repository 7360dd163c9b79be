package hosts_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"bourse/hosts"
)

var inf = math.Inf(1)

// TestDivide checks small hosts worked out on paper.
func TestDivide(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		cpus, limit float64
		shares      []hosts.Share
		want        []float64
		limited     bool
	}{
		{"nobody", 2, 1, nil, nil, false},
		{"alone under its cap", 2, 1, []hosts.Share{{Weight: 5}}, []float64{1}, true},
		{"alone without cap", 2, 0, []hosts.Share{{Weight: 5}}, []float64{2}, false},
		{"proportional", 1, 0, []hosts.Share{{Weight: 1}, {Weight: 3}}, []float64{0.25, 0.75}, false},
		{"excess of a capped task goes to the others", 2, 1, []hosts.Share{{Weight: 6}, {Weight: 1}, {Weight: 3}}, []float64{1, 0.25, 0.75}, true},
		{"the excess caps another", 2, 1, []hosts.Share{{Weight: 10}, {Weight: 4}, {Weight: 0.5}}, []float64{1, 4 / 4.5, 0.5 / 4.5}, true},
		{"second round", 3, 1, []hosts.Share{{Weight: 10}, {Weight: 5}, {Weight: 2}, {Weight: 2}}, []float64{1, 1, 0.5, 0.5}, true},
		{"own limit below the cap", 2, 1, []hosts.Share{{Weight: 1, Limit: 0.25}, {Weight: 1}}, []float64{0.25, 1}, true},
		{"own limit above the cap", 2, 1, []hosts.Share{{Weight: 1, Limit: 8}}, []float64{1}, true},
		{"paused", 2, 1, []hosts.Share{{Weight: 0}, {Weight: 1}}, []float64{0, 1}, true},
		{"all paused", 2, 1, []hosts.Share{{}, {}}, []float64{0, 0}, false},
		{"idle beside others", 2, 1, []hosts.Share{{Weight: hosts.Idle}, {Weight: 1}, {Weight: hosts.Idle, Limit: 0.25}, {Weight: hosts.Idle}}, []float64{0.375, 1, 0.25, 0.375}, true},
		{"idle alone", 2, 0, []hosts.Share{{Weight: hosts.Idle}, {Weight: hosts.Idle}}, []float64{1, 1}, false},
		{"idle where all is used", 2, 1, []hosts.Share{{Weight: hosts.Idle}, {Weight: 1}, {Weight: 1}}, []float64{0, 1, 1}, true},
		{"paused without cap", 2, 0, []hosts.Share{{}, {Weight: 1e-300}}, []float64{0, 2}, false},
	} {
		got := make([]float64, len(c.shares))
		limited := hosts.Divide(c.cpus, c.limit, c.shares, got)
		if limited != c.limited {
			t.Errorf("%s: limited: %v, want %v", c.name, limited, c.limited)
		}
		for i := range got {
			if !(math.Abs(got[i]-c.want[i]) <= 1e-15) {
				t.Errorf("%s: task %d gets %v, want %v", c.name, i, got[i], c.want[i])
			}
		}
	}
}

// TestDivideLaws checks what Divide promises of any host: no task exceeds its limit, the sum is
// the smaller of the host and the sum of limits, all tasks below their limits have one factor,
// and no task reaches its limit unless its weight entitles it.
func TestDivideLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(0, 40).Draw(t, "k")
		cpus := rapid.Float64Range(0.01, 64).Draw(t, "cpus")
		limit := rapid.SampledFrom([]float64{0, 0.1, 0.5, 1, 3}).Draw(t, "limit")
		if limit > 0 && rapid.Bool().Draw(t, "just enough") {
			cpus = float64(max(k, 1)) * limit
		}
		weights := rapid.OneOf(rapid.SampledFrom([]float64{0, 1, 2}), rapid.Float64Range(1e-9, 1e12))
		limits := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(1e-3, 8))
		shares, rates := make([]hosts.Share, k), make([]float64, k)
		for i := range shares {
			shares[i] = hosts.Share{Weight: weights.Draw(t, "weight"), Limit: limits.Draw(t, "own limit")}
		}
		limited := hosts.Divide(cpus, limit, shares, rates)

		if float64(k)*limitOf(limit, hosts.Share{}) <= cpus {
			for i, s := range shares {
				if most := limitOf(limit, s); s.Weight > 0 && rates[i] != most {
					t.Fatalf("there is room for all, and task %d gets %v, not its limit %v", i, rates[i], most)
				}
			}
		}
		some := false
		for i, s := range shares {
			some = some || s.Weight > 0 && rates[i] == limitOf(limit, s)
		}
		if limited != some {
			t.Fatalf("limited: %v, want %v: rates %v", limited, some, rates)
		}
		if limit == 0 && k > 1 {
			checkParts(t, cpus, shares, rates, limited)
		}
		sum, room, factor := 0.0, 0.0, 0.0
		for i, s := range shares {
			most := limitOf(limit, s)
			if s.Weight == 0 {
				if rates[i] != 0 {
					t.Fatalf("task %d of weight 0 gets %v", i, rates[i])
				}
				continue
			}
			if !(rates[i] >= 0 && rates[i] <= most) {
				t.Fatalf("task %d gets %v, limit %v", i, rates[i], most)
			}
			sum += rates[i]
			room += most
			if rates[i] < most {
				factor = max(factor, rates[i]/s.Weight)
			}
		}
		if want := min(cpus, room); math.Abs(sum-want) > 1e-12*want {
			t.Fatalf("sum of rates = %v, want %v", sum, want)
		}
		for i, s := range shares {
			fair := s.Weight * factor
			if most := limitOf(limit, s); factor > 0 && math.Abs(rates[i]-min(fair, most)) > 1e-12*min(fair, most) {
				t.Fatalf("task %d gets %v, want the less of %v and %v", i, rates[i], fair, most)
			}
		}
	})
}

// checkParts checks hosts without a cap. If no task is at a limit, a task's part must equal the
// result of Divide to the last bit. Otherwise some task's part must not be below its limit.
func checkParts(t *rapid.T, cpus float64, shares []hosts.Share, rates []float64, limited bool) {
	weight, all := 0.0, true
	for i := range shares {
		weight += shares[i].Weight
	}
	if weight == 0 { // nobody has a part
		return
	}
	for i := range shares {
		rate, below := shares[i].Part(cpus / weight)
		all = all && below
		if !limited && rate != rates[i] {
			t.Fatalf("task %d has part %v, want %v", i, rate, rates[i])
		}
	}
	if all == limited {
		t.Fatalf("all parts below their limits: %v, with somebody at one: %v", all, limited)
	}
}

func limitOf(limit float64, s hosts.Share) float64 {
	most := inf
	if limit > 0 {
		most = limit
	}
	if s.Limit > 0 {
		most = min(most, s.Limit)
	}
	return most
}

func BenchmarkDivide(b *testing.B) {
	shares := []hosts.Share{{Weight: 0.8}, {Weight: 0.1}, {Weight: 0.3}}
	rates := make([]float64, 3)
	b.ReportAllocs()
	for b.Loop() {
		hosts.Divide(2, 1, shares, rates)
	}
}

// TestPart checks a task's part below, at and above its limit, without a limit, and for a
// paused task.
func TestPart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		share hosts.Share
		rate  float64
		below bool
	}{
		{hosts.Share{Weight: 2, Limit: 1.5}, 1, true},
		{hosts.Share{Weight: 2, Limit: 1}, 1, false},
		{hosts.Share{Weight: 2, Limit: 0.5}, 1, false},
		{hosts.Share{Weight: 2}, 1, true},
		{hosts.Share{Limit: 1}, 0, true},
	} {
		if rate, below := c.share.Part(0.5); rate != c.rate || below != c.below {
			t.Errorf("%+v has %v, below its limit %v, want %v and %v", c.share, rate, below, c.rate, c.below)
		}
	}
}
