package volunteers

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"bourse/hosts/availability"
	"bourse/hosts/availability/predictors"
	"bourse/hosts/availability/sched"
)

// The golden cases are shared with independent implementations of the same rules. An
// expectation may be incomplete: only the named values are compared.

// A goldenOptions contains the options of a case, which start with their defaults.
type goldenOptions struct {
	Plen      float64 `json:"plen"`
	Count     string  `json:"count"`
	Unit      string  `json:"unit"`
	Weight    string  `json:"weight"`
	Empty     string  `json:"empty"`
	Missing   string  `json:"missing"`
	NoHistory float64 `json:"no_history"`

	Interval  float64 `json:"interval"`
	Hold      float64 `json:"hold"`
	HoldMode  string  `json:"hold_mode"`
	Resubmit  string  `json:"resubmit"`
	IdleOrder string  `json:"idle_order"`
	PPSLoad   string  `json:"pps_load"`
	PPSTie    string  `json:"pps_tie"`
}

func defaultOptions() goldenOptions {
	return goldenOptions{
		Plen: 3, Count: "ceil", Unit: "exec", Weight: "day", Empty: "zero", Missing: "skip",
		Interval: 60, Hold: 300, HoldMode: "skip", Resubmit: "tail", IdleOrder: "fifo", PPSLoad: "local", PPSTie: "index",
	}
}

// A goldenInput is the input of a replay.
type goldenInput struct {
	Trace  [][][]any
	MIPS   []float64
	Jobs   [][3]float64
	T      float64
	Days   int
	T0, T1 float64
}

func (in goldenInput) trace(t *testing.T) *availability.Trace {
	t.Helper()
	trace := &availability.Trace{}
	for i, host := range in.Trace {
		var records []availability.Record
		for _, r := range host {
			state, err := availability.ParseState(r[2].(string))
			if err != nil {
				t.Fatal(err)
			}
			rec := availability.Record{Start: r[0].(float64), End: r[1].(float64), State: state}
			if len(r) > 3 {
				rec.Load = r[3].(float64)
			}
			records = append(records, rec)
		}
		mips := 1.0
		if in.MIPS != nil {
			mips = in.MIPS[i]
		}
		h, err := availability.NewHistory(fmt.Sprint(i), mips, records, availability.Gap)
		if err != nil {
			t.Fatal(err)
		}
		trace.Hosts = append(trace.Hosts, h)
	}
	return trace
}

// TestGoldenReplays checks the thr_sim and pps_sim cases in the folder named by
// BOURSE_GOLDEN_VOLUNTEERS. By default, that is the project's own copy.
func TestGoldenReplays(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("BOURSE_GOLDEN_VOLUNTEERS")
	if folder == "" {
		folder = filepath.Join("testdata", "golden")
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden cases in %s (%v)", folder, err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var file struct {
			Cases []struct {
				ID      string
				Kind    string
				Options json.RawMessage
				Input   json.RawMessage
				Expect  map[string]json.RawMessage
			}
		}
		if err := json.Unmarshal(data, &file); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		for _, c := range file.Cases {
			switch c.Kind {
			case "thr_sim", "pps_sim":
			case "tde", "gap_merge", "ucb_convert":
				continue // the tests of hosts/availability check these cases
			default:
				t.Errorf("%s: unknown kind %q", c.ID, c.Kind)
				continue
			}
			t.Run(c.ID, func(t *testing.T) {
				t.Parallel()
				o := defaultOptions()
				if len(c.Options) > 0 {
					d := json.NewDecoder(bytes.NewReader(c.Options))
					d.DisallowUnknownFields()
					if err := d.Decode(&o); err != nil {
						t.Fatal(err)
					}
				}
				var in goldenInput
				if err := json.Unmarshal(c.Input, &in); err != nil {
					t.Fatal(err)
				}
				slices.SortFunc(in.Jobs, func(a, b [3]float64) int { return cmp.Or(cmp.Compare(a[1], b[1]), cmp.Compare(a[0], b[0])) })
				compare(t, c.Kind, in, replayGolden(t, c.Kind, o, in, Replay), c.Expect)
				compare(t, c.Kind, in, replayGolden(t, c.Kind, o, in, engine), c.Expect)
			})
		}
	}
}

func replayGolden(t *testing.T, kind string, o goldenOptions, in goldenInput, run func(context.Context, Config) (*Outcome, error)) *Outcome {
	t.Helper()
	tde, err := predictors.NewTDE(predictors.TDEOptions{
		Days: in.Days, Plen: o.Plen, Count: o.Count, Unit: o.Unit, Weight: o.Weight, Empty: o.Empty, Missing: o.Missing, NoHistory: o.NoHistory,
	})
	if err != nil {
		t.Fatal(err)
	}
	var m sched.Matchmaker
	if kind == "thr_sim" {
		m, err = sched.NewThreshold(in.T, o.IdleOrder, tde)
	} else {
		pps := sched.DefaultPPS()
		pps.Load, pps.Tie = o.PPSLoad, o.PPSTie
		m, err = sched.NewPPS(pps, tde, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	c := Config{
		Trace: in.trace(t), From: in.T0, To: in.T1, Interval: o.Interval, Matchmaker: m, Log: true,
		Queue: sched.QueueOptions{Hold: o.Hold, Mode: o.HoldMode, Resubmit: o.Resubmit},
	}
	for _, j := range in.Jobs {
		c.Jobs = append(c.Jobs, Job{Submit: j[1], Length: j[2]})
	}
	out, err := run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// compare compares an outcome with the expectation.
func compare(t *testing.T, kind string, in goldenInput, out *Outcome, expect map[string]json.RawMessage) {
	t.Helper()
	for key, text := range expect {
		if key == "log" {
			compareLog(t, in, out.Log, text)
			continue
		}
		got, ok := map[string]float64{
			"ok": float64(out.Done), "fail": float64(out.Failed), "queued": float64(out.Queued),
			"ratio": out.Ratio(), "wasted": out.Wasted, "makespan": out.Makespan(),
		}[key]
		if !ok {
			t.Errorf("unknown expectation %q", key)
			continue
		}
		var want *float64
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		if want == nil {
			if !math.IsNaN(got) {
				t.Errorf("%s = %v, want it undefined", key, got)
			}
			continue
		}
		// The cases have nine decimals for ratios and six for means. Jobs that share a host
		// complete within 1e-4.
		tolerance := 1e-9 * math.Abs(*want)
		switch {
		case key == "makespan" || key == "wasted":
			tolerance = 1e-6
			if kind == "pps_sim" {
				tolerance = 1e-4
			}
		case key != "ratio":
			tolerance = 0
		}
		if math.Abs(got-*want) > tolerance {
			t.Errorf("%s = %v, want %v", key, got, *want)
		}
	}
}

func compareLog(t *testing.T, in goldenInput, log []Event, text json.RawMessage) {
	t.Helper()
	var list [][4]any
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	kinds := map[any]Kind{"alloc": Alloc, "done": Done, "fail": Fail}
	want := make([]Event, len(list))
	for i, w := range list {
		job := slices.IndexFunc(in.Jobs, func(j [3]float64) bool { return j[0] == w[2] })
		want[i] = Event{kinds[w[0]], w[1].(float64), int32(job), int32(w[3].(float64))}
	}
	got := slices.Clone(log)
	inOrder(got)
	inOrder(want)
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) {
			t.Fatalf("%d events, want %d", len(got), len(want))
		}
		near := math.Abs(got[i].At-want[i].At) <= 1e-4
		if got[i].At = want[i].At; !near || got[i] != want[i] {
			t.Fatalf("event %d is %v of job %v, want %v of job %v", i, log[i], in.Jobs[log[i].Job][0], want[i], in.Jobs[want[i].Job][0])
		}
	}
}

// inOrder orders jobs that complete on one host at the same time by number, because no rule
// specifies their order.
func inOrder(log []Event) {
	for i := 0; i < len(log); {
		j := i + 1
		for j < len(log) && log[j].Kind == Done && log[i].Kind == Done && log[j].Host == log[i].Host && log[j].At-log[i].At <= 1e-4 {
			j++
		}
		slices.SortFunc(log[i:j], func(a, b Event) int { return cmp.Compare(a.Job, b.Job) })
		i = j
	}
}
