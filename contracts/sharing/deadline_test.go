package sharing_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"bourse/contracts/sharing"
	"bourse/hosts"
	"bourse/workloadgen/config"
)

// TestSplit checks spec 4.2 on hosts of one and of several processors. While the needs fit,
// each task gets exactly its need under none, and additionally a part of the spare capacity
// under the other options. If the needs do not fit, each task gets the same fraction of its
// need.
func TestSplit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		node := sharing.Node{Size: rapid.Float64Range(0.5, 4).Draw(t, "size")}
		node.Most = node.Size
		if rapid.Bool().Draw(t, "capped") {
			node.Most = node.Size * rapid.Float64Range(0.3, 1).Draw(t, "most")
		}
		spare := sharing.Spare(rapid.SampledFrom([]string{"none", "proportional", "equal"}).Draw(t, "spare"))
		needs := rapid.SliceOfN(rapid.Float64Range(0, node.Most/2), 1, 6).Draw(t, "needs")
		if rapid.IntRange(0, 4).Draw(t, "late") == 0 {
			needs[0] = math.Inf(1)
		}
		rates := make([]float64, len(needs))
		hosts.Divide(node.Size, node.Most, node.Split(spare, needs, nil), rates)

		total, allocated, bounded := 0.0, 0.0, make([]float64, len(needs))
		for i, need := range needs {
			bounded[i] = min(need, node.Most)
			total += bounded[i]
			allocated += rates[i]
		}
		if allocated > node.Size*(1+1e-12) {
			t.Errorf("%v processors are allocated of %v", allocated, node.Size)
		}
		for i, need := range bounded {
			want := need
			if total > node.Size {
				want = need * node.Size / total
			}
			if rates[i] < want-1e-12 {
				t.Errorf("task %d has %v of %v", i, rates[i], want)
			}
			if spare == sharing.Equal && total <= node.Size && total > 0 && node.Most == node.Size {
				if part := rates[i] - need; math.Abs(part-(node.Size-total)/float64(len(needs))) > 1e-12 {
					t.Errorf("task %d has %v of the spare processors", i, part)
				}
			}
			if spare == sharing.Unused && total > 0 && rates[i] > want+1e-12 {
				t.Errorf("task %d has %v, needs %v", i, rates[i], want)
			}
		}
		if spare != sharing.Unused && node.Most == node.Size && allocated < node.Size*(1-1e-12) {
			t.Errorf("%v processors are allocated of %v", allocated, node.Size)
		}
	})
}

// TestPlanSplit checks that a plan allocates a host of one processor completely, that hard
// tasks that fit together get their needs, and that the share of no protected task is reduced
// (SLA, Algorithm 2).
func TestPlanSplit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tasks := make([]sharing.Promise, rapid.IntRange(1, 6).Draw(t, "tasks"))
		hard := 0.0
		for i := range tasks {
			p := &tasks[i]
			p.Span = rapid.Float64Range(1, 100).Draw(t, "span")
			p.Left = p.Span * rapid.Float64Range(0.01, 0.6).Draw(t, "need")
			p.Target, p.Runtime, p.Deadline = p.Span, p.Left, p.Span
			p.Hard = rapid.Bool().Draw(t, "hard")
			p.Budget = rapid.Float64Range(0, 10).Draw(t, "budget")
			if p.Hard {
				hard += p.Left / p.Span
			}
		}
		plan := sharing.Plan{SLAOptions: sharing.DefaultSLA()}
		plan.Make(sharing.Node{Size: 1, Most: 1}, tasks)
		sum := 0.0
		for i, share := range plan.Share {
			sum += share
			cut := share < plan.Need[i]*(1-1e-9)
			if cut && tasks[i].Hard && hard <= 1 {
				t.Errorf("hard task %d has %v of %v", i, share, plan.Need[i])
			}
			if cut && i == plan.Top && plan.Feasible {
				t.Errorf("the task that returns most has %v of %v", share, plan.Need[i])
			}
		}
		if !(math.Abs(sum-1) <= 1e-9) {
			t.Errorf("shares add up to %v", sum)
		}
	})
}

// TestOptions checks that every rule can be created with its defaults, and that the error for
// an invalid word lists the valid ones.
func TestOptions(t *testing.T) {
	t.Parallel()
	for _, name := range sharing.Table().Names() {
		if _, err := sharing.Table().New(name, func(any) error { return nil }); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, c := range []struct{ rule, options, want string }{
		{"deadline", `{"Spare": "all"}`, "want one of none, proportional, equal"},
		{"deadline", `{"Overrun": "stop"}`, "want one of keep, zero, kill"},
		{"librasla", `{"Late": "never"}`, "want one of shift, pressure"},
		{"librasla", `{"Protect": "all"}`, "want one of strict, printed"},
		{"fair", `{}`, "auction, deadline, exclusive, librasla"},
	} {
		_, err := sharing.Table().New(c.rule, func(v any) error { return errors.Join(json.Unmarshal([]byte(c.options), v), config.Check(v)) })
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %s", c.rule, c.options, err, c.want)
		}
	}
}
