package engine_test

import (
	"bufio"
	"compress/gzip"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"bourse/hosts/engine"
)

// TestGoldenShares checks that the engine completes each job within 1e-9 s of SimGrid and of a
// computation with 256 bits, in every file of the folder that BOURSE_GOLDEN_SHARES names,
// testdata/shares by default. Files whose name begins with A have hosts of two processors and a
// limit of one; the others have one processor and no limit.
func TestGoldenShares(t *testing.T) {
	t.Parallel()
	folder := "testdata/shares"
	if f := os.Getenv("BOURSE_GOLDEN_SHARES"); f != "" {
		folder = f
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.workload.txt*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no workload in %s: %v", folder, err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			capacity, limit := 1.0, 0.0
			if name[0] == 'A' {
				capacity, limit = 2, 1
			}
			w := readWorkload(t, file)
			checked := 0
			for _, drive := range drivers {
				got, err := drive.run(new(engine.Engine), w, capacity, limit)
				if err != nil {
					t.Fatal(err)
				}
				for _, oracle := range []string{".simgrid.", ".exact256."} {
					want := readTimes(t, strings.Replace(file, ".workload.", oracle, 1))
					if want == nil {
						continue
					}
					checked++
					if len(want) != len(w.Jobs) {
						t.Fatalf("%s: %d times, want %d", oracle, len(want), len(w.Jobs))
					}
					worst := 0.0
					for j := range want {
						worst = max(worst, math.Abs(got.End[j]-want[j]))
					}
					t.Logf("%s%s off by at most %.2g s", drive.name, oracle, worst)
					if !(worst <= 1e-9) {
						t.Errorf("%s%s off by %v s, want at most 1e-9", drive.name, oracle, worst)
					}
				}
			}
			if checked == 0 {
				t.Errorf("no completion times beside %s", file)
			}
		})
	}
}

// A driver is one of the two methods that run a workload.
type driver struct {
	name string
	run  func(*engine.Engine, *engine.Workload, float64, float64) (engine.Result, error)
}

var drivers = []driver{
	{"when touched", (*engine.Engine).Run},
	{"in order", (*engine.Engine).RunInOrder},
}

func readWorkload(t testing.TB, file string) *engine.Workload {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := engine.ReadWorkload(file, f)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// readTimes reads one number per line, plain or compressed. It returns nil if there is no such
// file.
func readTimes(t *testing.T, file string) []float64 {
	file = strings.TrimSuffix(file, ".gz")
	f, err := os.Open(file)
	if err != nil {
		file += ".gz"
		if f, err = os.Open(file); err != nil {
			return nil
		}
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(file, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	var times []float64
	for s := bufio.NewScanner(r); s.Scan(); {
		x, err := strconv.ParseFloat(s.Text(), 64)
		if err != nil {
			t.Fatal(err)
		}
		times = append(times, x)
	}
	return times
}
