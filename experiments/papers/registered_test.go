package papers

import (
	"maps"
	"strings"
	"testing"

	"bourse/experiments/papers/claims"
)

// TestRegistered checks how claims known to results differ from the current ones:
// unchanged, changed, added, removed, in another file, or not recorded.
func TestRegistered(t *testing.T) {
	t.Parallel()
	p := claims.Paper{Name: "lab", SHA256: "f", Claims: []claims.Claim{{ID: "1"}, {ID: "2"}}, Hashes: map[string]string{"1": "a", "2": "b"}}
	as := func(file string, ids ...string) map[string]string {
		knew := map[string]string{claimsFile: file}
		for _, id := range ids {
			name, hash, _ := strings.Cut(id, "=")
			knew[name] = hash
		}
		return knew
	}
	for what, knew := range map[string]map[string]string{
		"as registered (e)":                            as("f", "1=a", "2=b"),
		"changed since the run; changed: 2 (e)":        as("g", "1=a", "2=c"),
		"changed since the run; added: 2; gone: 3 (e)": as("g", "1=a", "3=c"),
		"changed since the run; no claim changed, only comments or the order of claims (e)": as("g", "1=a", "2=b"),
		"not recorded (e)": nil,
	} {
		if got := since(p, map[string]map[string]string{"e": knew}); len(got) != 1 || got[0] != what {
			t.Errorf("%v: %q, want %q", knew, got, what)
		}
	}
	if got := since(p, map[string]map[string]string{"e": as("f"), "d": as("f")}); len(got) != 1 || got[0] != "as registered (d, e)" {
		t.Errorf("two runs: %q", got)
	}
	if got := []string{known(nil, p, "1"), known(as("g", "1=a"), p, "1"), known(as("g", "1=b"), p, "1"), known(as("g"), p, "1")}; strings.Join(got, ", ") != "not recorded, as registered, changed since the run, added since the run" {
		t.Errorf("claim 1: %q", got)
	}

	// A run of the market paper knows its own claims and no claims of other papers.
	all := Registered(About("paper"))
	if market := all["market"]; len(all) != 1 || len(market[claimsFile]) != 64 || len(market["8"]) != 16 {
		t.Errorf("a run of the paper knows %v", all)
	}
	first := Claims()[0]
	knew := maps.Clone(all["market"])
	if got := since(first, map[string]map[string]string{"paper": knew}); len(got) != 1 || got[0] != "as registered (paper)" {
		t.Errorf("now: %q", got)
	}
	if Registered(About("kth")) == nil || len(Registered(About("kth"))) != 0 {
		t.Error("claims about what no paper ran")
	}
}
