package judge

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bourse/experiments"
	"bourse/experiments/scenario"
)

var nulls = flag.Int("judge.replications", 0, "take the differences of that many replications of rac with shifted random numbers, not drawn ones")

// copies is the number of copies of a policy that differ only in their random numbers. One copy is
// the champion, and the others are the candidates of an epoch.
const copies = 21

// sampled returns the efficiency of each copy in each replication. The values come from the policy
// rac in the preset paper under high load, or are drawn with the same deviation of differences.
func sampled(t *testing.T, rng *rand.Rand) (rows [][copies]float64) {
	t.Helper()
	if *nulls == 0 {
		rows = make([][copies]float64, 2000)
		for r := range rows {
			for c := range rows[r] {
				rows[r][c] = 0.5 + 0.08*(rng.ExpFloat64()-1)/1.4
			}
		}
		return rows
	}
	text, err := os.ReadFile("../examples/policies/rac.star")
	if err != nil {
		t.Fatal(err)
	}
	file := t.TempDir() + "/rac.star"
	shifted := strings.Replace(string(text), "def decide(request, market):\n", "shift = option(\"shift\", 0)\n\ndef decide(request, market):\n    [random() for i in range(shift)]\n", 1)
	if err := os.WriteFile(file, []byte(shifted), 0o644); err != nil {
		t.Fatal(err)
	}
	var all []string
	for c := range copies {
		all = append(all, fmt.Sprintf("{name: script, label: c%d, file: %s, options: {shift: %d}}", c, file, c))
	}
	e, err := scenario.Parse("", fmt.Appendf(nil, "preset: paper\nname: nulls\nseed: 5\nreplications: %d\nbase: {admission: [%s]}\nconfigurations: [{name: high}]\n", *nulls, strings.Join(all, ", ")), experiments.Known())
	if err != nil {
		t.Fatal(err)
	}
	p, err := experiments.Prepare(&e)
	if err != nil {
		t.Fatal(err)
	}
	j := judging(t, study(t, "judgements: 20"), fmt.Sprintf(script, ""))
	err = p.Each(t.Context(), experiments.Options{Workers: 2}, func(r *experiments.Replication) error {
		var row [copies]float64
		for c, run := range r.Runs {
			row[c] = value(&j.metric, run)
		}
		rows = append(rows, row)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestNulls checks that at most 5 % of the candidates that differ from the champion only in their
// random numbers are called better. It judges 1,000 single candidates. It judges the best of 200
// candidates on 20 public seeds, 1,000 times. It also judges the 20 candidates of an epoch, 200 times.
// The test does not repeat runs. Each replication of a judgement is one of the sampled replications.
// The copies are in random order, because they are exchangeable.
func TestNulls(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(9, 0))
	rows := sampled(t, rng)
	j := judging(t, study(t, "judgements: 20"), fmt.Sprintf(script, ""))
	s := &j.Settings.Score
	// judge judges differences, which draw returns by replication.
	judge := func(diffs []float64) (o Outcome) {
		for n := s.From; ; n = min(2*n, s.To) {
			if o = j.decide(Outcome{N: n}, diffs[:n], 0.5); o.Verdict != Undecided || n == s.To {
				return o
			}
		}
	}
	draw := func(n int) (diffs []float64) {
		for range n {
			row, a := &rows[rng.IntN(len(rows))], rng.IntN(copies)
			diffs = append(diffs, row[(a+1+rng.IntN(copies-1))%copies]-row[a])
		}
		return diffs
	}
	for _, judgements := range []int{1, 20} {
		j.Settings.Judgements = judgements
		found, spent := map[string]int{}, 0
		for range 1000 {
			o := judge(draw(s.To))
			found[o.Verdict]++
			spent += o.N
		}
		t.Logf("1,000 renamed champions, level 0.05/%d: %v after %d replications", judgements, found, spent/1000)
		if found[Better] > 50 || found[Alike] < 100 {
			t.Errorf("%d are better, want at most 50", found[Better])
		}
	}
	better, gained := 0, 0.0
	for range 1000 {
		best := -1.0
		for range 200 {
			sum := 0.0
			for _, d := range draw(20) {
				sum += d / 20
			}
			best = max(best, sum)
		}
		gained += best / 1000
		if judge(draw(s.To)).Verdict == Better {
			better++
		}
	}
	t.Logf("best of 200 on 20 public seeds: they gain %.3f there, and %d of 1,000 are better", gained, better)
	if better > 50 || gained < 0.02 {
		t.Errorf("%d of the best are better, which gain %v on public seeds", better, gained)
	}
	epochs := 0
	for range 200 {
		var diffs [copies - 1][]float64
		for range s.To {
			row, order := &rows[rng.IntN(len(rows))], rng.Perm(copies)
			for c := range diffs {
				diffs[c] = append(diffs[c], row[order[c]]-row[order[copies-1]])
			}
		}
		for c := range diffs {
			if judge(diffs[c]).Verdict == Better {
				epochs++
				break
			}
		}
	}
	t.Logf("200 epochs of 20: in %d, some candidate is better", epochs)
	if epochs > 10 {
		t.Errorf("in %d epochs of 200 some candidate is better, want at most 10", epochs)
	}
}

// TestVerdicts checks the verdicts on policies that differ, and on a policy and itself, after at most
// twice as many replications as open.md §11 measured.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs some hundred replications")
	}
	path := filepath.Join(t.TempDir(), "study.yaml")
	text := "preset: paper\nname: study\njudge: {metric: efficiency_0.5, gates: {violations: 1, worst: 1}}\nconfigurations: [{name: pareto-high}]\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		candidate, champion, want string
		most                      int
	}{{"cac", "be", Better, 200}, {"be", "cac", Worse, 200}, {"cac", "cac", Alike, 1600}} {
		j, err := New(Ask{Study: path, Candidate: Source{Name: c.candidate}, Champion: Source{Name: c.champion}})
		if err != nil {
			t.Fatal(err)
		}
		o, err := j.Score(t.Context(), 7, experiments.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s against %s: %s after %d replications", c.candidate, c.champion, o.Verdict, o.N)
		if o.Verdict != c.want || o.N > c.most {
			t.Errorf("%s against %s: %+v, want %s after at most %d", c.candidate, c.champion, o, c.want, c.most)
		}
	}
}
