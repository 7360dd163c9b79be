package experiments

import (
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"bourse/contracts"
	"bourse/experiments/scenario"
)

// volatile is a scenario with hosts that come and go.
const volatile = `
name: volatile
replications: 2
configurations:
  - name: days
    fleet: {hosts: 12, cpus: 1, availability: {model: diurnal, span: 259200}}
    workload:
      model: {name: regular, from: 86400, to: 259200, every: 300}
      annotate: {price: 0.001}
    market: {sharing: exclusive, payment: budget}
    sla: {enforcement: per-host, of: estimate, slack: 1e6}
    admission:
      - {name: queue, label: threshold, from: 86400, matchmaker: {threshold: {threshold: 0.9, predictor: {name: tde, options: {days: 2}}}}}
      - {name: queue, label: pps, from: 86400, resubmit: head, matchmaker: pps}
      - {name: queue, label: turns, from: 86400, interval: 77, sharing: turns, matchmaker: {pps: {pps_tie: fewest}}}
      - {name: queue, label: first, from: 86400, matchmaker: first-available, resubmit: drop}
`

func parsed(t *testing.T, text string, sets ...string) *scenario.Experiment {
	t.Helper()
	e, err := scenario.Parse("test", []byte(text), scenario.Known{}, sets...)
	if err != nil {
		t.Fatal(err)
	}
	return &e
}

// TestVolatile checks that hosts come and go in the same way under every policy, for any number
// of workers and any earlier policies, but differently in each replication. In other
// configurations, the hosts must stay present.
func TestVolatile(t *testing.T) {
	t.Parallel()
	const text = `
name: test
replications: 4
base:
  fleet: {availability: {model: markov, span: 50000, leaving: suspend, lost_work: charged}}
  workload: {model: paper}
configurations:
  - {name: one, admission: [be, sac, {name: be, label: again}]}
  - {name: other, admission: [cac, be]}
  - {name: stays, fleet: {availability: null}, admission: [be]}
`
	run := func(workers int) (all []*Replication) {
		t.Helper()
		if err := Each(t.Context(), parsed(t, text), Options{Workers: workers}, func(r *Replication) error {
			all = append(all, r)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return all
	}
	one, four := run(1), run(4)
	for i, r := range one {
		if !reflect.DeepEqual(r, four[i]) {
			t.Errorf("replication %d depends on the number of workers", i)
		}
	}
	for rep := range 4 {
		if stays := one[8+rep].Runs[0]; stays.Outcome.Volatile || stays.Outcome.Available != 0 || reflect.DeepEqual(stays.Jobs, one[rep].Runs[0].Jobs) {
			t.Errorf("replication %d: hosts that stay leave", rep)
		}
		be, again, other := one[rep].Runs[0], one[rep].Runs[2], one[4+rep].Runs[1]
		if !reflect.DeepEqual(be.Jobs, again.Jobs) || !reflect.DeepEqual(be.Jobs, other.Jobs) {
			t.Errorf("replication %d: be is not be", rep)
		}
		if be.Outcome.Available == 0 || rep > 0 && be.Outcome.Available == one[0].Runs[0].Outcome.Available {
			t.Errorf("replication %d: hosts could do %v", rep, be.Outcome.Available)
		}
	}
}

// TestHorizon checks that jobs open at the horizon are cancelled, pay nothing and are not
// counted, and that later jobs do not arrive.
func TestHorizon(t *testing.T) {
	t.Parallel()
	const text = `
name: test
replications: 3
configurations:
  - {name: paper, fleet: {hosts: 10}, workload: {model: paper}, market: {payment: bid}, sla: {slack: 20}, admission: [be, {name: edf, sharing: exclusive}]}
`
	full, cut := parsed(t, text), parsed(t, text, "configurations.paper.horizon=4000")
	var all [2][]*Replication
	for i, e := range []*scenario.Experiment{full, cut} {
		if err := Each(t.Context(), e, Options{}, func(r *Replication) error { all[i] = append(all[i], r); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	open, waits := 0, 0
	for rep := range all[0] {
		for k := range all[0][rep].Runs {
			f, c := all[0][rep].Runs[k], all[1][rep].Runs[k]
			if !c.Closed || f.Closed {
				t.Fatalf("closed: %v and %v", f.Closed, c.Closed)
			}
			for i, j := range c.Jobs {
				whole := f.Jobs[i]
				whole.Chosen = j.Chosen // The optimum covers the jobs for which efficiency is measured.
				switch {
				case j.Arrival >= 4000:
					t.Errorf("job %d comes at %v", i, j.Arrival)
				case j.Open() && (whole.Admitted() && whole.Contract.Ended < 4000 || j.Fulfilled() || j.Contract.Paid.Sign() != 0):
					t.Errorf("job %d is open, and was %+v", i, whole)
				case !j.Open() && !reflect.DeepEqual(j, whole):
					t.Errorf("job %d is %+v, and was %+v", i, j, whole)
				}
				if j.Open() {
					open++
				}
				if c := &j.Contract; c.Outcome == contracts.Open || c.Outcome == contracts.Unfinished && c.From == contracts.Waiting {
					waits++
				}
			}
			if n := len(c.Outcome.Jobs) + len(c.Outcome.Open); n != len(c.Jobs) || len(c.Jobs) >= len(f.Jobs) {
				t.Errorf("%d jobs count or are open, of %d that came of %d", n, len(c.Jobs), len(f.Jobs))
			}
		}
	}
	if open < 10 || waits < 3 {
		t.Errorf("%d jobs are open, %d wait: too few to tell", open, waits)
	}
}

// TestRecorded checks that each format is detected by its first lines, plain or gzip, and
// that all formats of a trace give the same result.
func TestRecorded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string, zip bool) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if !zip {
			fmt.Fprint(f, text)
			return path
		}
		z := gzip.NewWriter(f)
		fmt.Fprint(z, text)
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return path
	}
	csv := "# made up\nresource,start,end,state,load,mips\na,0,5000,A,0.1,1\na,5000,9000,U,,\nb,0,9000,A,0,1\n"
	samples := strings.TrimSpace(strings.Repeat("1.5 ", 288))
	for _, c := range []struct {
		path  string
		hosts int
		end   float64
	}{
		{write("a.csv", csv, false), 2, 9000},
		{write("a.csv.gz", csv, true), 2, 9000},
		{write("event_trace.tab", "event_id\tcomponent_id\tnode_id\tplatform_id\tnode_name\tevent_type\tevent_start_time\tevent_stop_time\tevent_end_reason\n1\t1\t7\t1\tx\t1\t100\t900\t0\n", false), 1, 800},
		{write("load.tsv.gz", "20110303\thost\t"+samples+"\n", true), 1, 86400},
		{write("one.ucb", "0 100\n500 -1\n700 0\n", false), 1, 700},
		{filepath.Dir(write("ucb/h1", "100 10\n500 -1\n", false)), 1, 400},
	} {
		a := scenario.DefaultAvailability()
		a.File = c.path
		trace, acc, err := readTrace(nil, &a)
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		if _, end := trace.Span(); len(trace.Hosts) != c.hosts || end != c.end {
			t.Errorf("%s: %d hosts until %v, want %d until %v; %s", c.path, len(trace.Hosts), end, c.hosts, c.end, acc)
		}
	}
}

// TestVolatileRefused checks that scenarios that cannot be run with hosts that come and go
// are refused before the run. The error must name the field and a valid value.
func TestVolatileRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "t.csv")
	if err := os.WriteFile(file, []byte("a,0,100,A\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	odd := filepath.Join(dir, "odd")
	if err := os.WriteFile(odd, []byte("nothing here that is known\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	days := "configurations.days."
	for _, c := range []struct {
		want string
		sets []string
	}{
		{"admission.0: admission reserve: found fleet.availability, want none", []string{days + "admission=[reserve]"}},
		{"has 1 hosts, want as many as fleet.hosts, 12", []string{days + "fleet.availability.model=null", days + "fleet.availability.file=" + file}},
		{"no such file", []string{days + "fleet.availability.model=null", days + "fleet.availability.file=" + file + "x"}},
		{"the first lines match no known format", []string{days + "fleet.availability.model=null", days + "fleet.availability.file=" + odd}},
		{"is a folder, want a file (only format ucb reads folders)", []string{days + "fleet.availability.model=null", days + "fleet.availability.format=csv", days + "fleet.availability.file=" + dir}},
		{"model.rate: found", []string{days + "fleet.availability.model={name: diurnal, rate: much}"}},
		{"rate: found -1", []string{days + "fleet.availability.model={name: diurnal, rate: -1}"}},
		{"days: found 0", []string{days + "fleet.availability.predictor={name: tde, days: 0}"}},
		{"interval: found 0", []string{days + "admission.pps.interval=0"}},
		{"resubmit: found away", []string{days + "admission.pps.resubmit=away"}},
		{"threshold: found 2", []string{days + "admission.threshold.matchmaker={threshold: {threshold: 2}}"}},
		{"treshold: unknown field", []string{days + "admission.threshold.matchmaker={threshold: {treshold: 0.5}}"}},
		{"unknown matchmaker \"best\"", []string{days + "admission.threshold.matchmaker=best"}},
		{"found a mapping without a name", []string{days + "admission.threshold.matchmaker={pps: {}, random: {}}"}},
	} {
		e, err := scenario.Parse("test", []byte(volatile), scenario.Known{}, c.sets...)
		if err == nil {
			err = Check(&e)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s", c.sets, err, c.want)
		}
	}
}
