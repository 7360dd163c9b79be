package fitlab

import (
	"context"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"testing"
	"time"

	"bourse/experiments/papers"
	"bourse/workloadgen/gof"
	"bourse/workloadgen/swf"
)

// stream returns PCG streams seeded by name.
func stream(seed uint64) Stream {
	return func(name string) rand.Source {
		h := fnv.New64a()
		h.Write([]byte(name))
		return rand.NewPCG(seed, h.Sum64())
	}
}

// trace reads a recorded trace from a folder next to the project. If there is none, it
// skips the test.
func trace(t testing.TB, name string) *swf.Trace {
	t.Helper()
	path := "../../../shared/traces/" + name
	tr, err := swf.ReadFile(path)
	if os.IsNotExist(err) {
		t.Skipf("no recorded trace %s", path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func columns(t *swf.Trace) (iat, run, cpu []float64) {
	for i, r := range t.Records {
		if i > 0 {
			iat = append(iat, r.Submit-t.Records[i-1].Submit)
		}
		run = append(run, r.Run)
		cpu = append(cpu, float64(r.Procs))
	}
	return iat, run, cpu
}

// TestTable1 checks the paper's Table 1 on the Blue Horizon log. Distances for the complete
// data must be within 0.01 of the known values for this file, and success rates within 0.04
// of the paper's.
func TestTable1(t *testing.T) {
	t.Parallel()
	iat, run, cpu := columns(trace(t, "SDSC-BLUE-2000-4.1-cln.valid.swf.gz"))
	laws, err := paperColumns(iat, run, cpu)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	got, err := table1(context.Background(), laws, gof.PaperBootstrap(), stream(1), 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%v", time.Since(start))
	known := map[string]float64{"HypWeib": 0.055, "Exp": 0.24, "PolyLin": 0.074, "Par": 0.108, "BinBin": 0.0175, "Zipf": 0.073}
	for i, want := range papers.Of("").Fits.Rows {
		g := got[i]
		t.Logf("%-8s %s  success %.3f (paper %.3f)  complete %.4f (%.4f)  mean %.4f (%.4f)",
			g.Law, g.Column, g.Success, want.Success, g.D, want.Complete, g.MeanD, want.Mean)
		if g.Law != want.Law || g.Column != want.Column {
			t.Fatalf("row %d is %v, want %v", i, g, want)
		}
		if !(math.Abs(g.D-known[g.Law]) <= 0.01) {
			t.Errorf("%s: distance %v, want %v", g.Law, g.D, known[g.Law])
		}
		if !(math.Abs(g.Success-want.Success) <= 0.04) {
			t.Errorf("%s %s: success rate %v, paper %v", g.Law, g.Column, g.Success, want.Success)
		}
	}
}

// TestWorkers checks that the number of workers does not change the table.
func TestWorkers(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	var values []float64
	for range 1000 {
		values = append(values, rng.ExpFloat64()*300)
	}
	columns, err := paperColumns(values, values, values)
	if err != nil {
		t.Fatal(err)
	}
	one, err := table1(context.Background(), columns, gof.PaperBootstrap(), stream(2), 1)
	if err != nil {
		t.Fatal(err)
	}
	eight, err := table1(context.Background(), columns, gof.PaperBootstrap(), stream(2), 8)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(one, eight) {
		t.Errorf("one worker %v, eight %v", one, eight)
	}
}

// BenchmarkTable1 measures the paper's table with 10^5 jobs on all processors and on one.
func BenchmarkTable1(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	values := make([]float64, 100_000)
	for i := range values {
		values[i] = math.Floor(rng.ExpFloat64()*300) + 1
	}
	columns, err := paperColumns(values, values, values)
	if err != nil {
		b.Fatal(err)
	}
	run := func(workers int) {
		if _, err := table1(context.Background(), columns, gof.PaperBootstrap(), stream(3), workers); err != nil {
			b.Fatal(err)
		}
	}
	for range b.N {
		run(0)
	}
	all := b.Elapsed()
	for range b.N {
		run(1)
	}
	b.ReportMetric(all.Seconds()/float64(b.N), "s/table")
	b.ReportMetric(float64(b.Elapsed()-all)/float64(all), "x-faster-than-one-worker")
}
