package canonical

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestPlain checks that Check accepts everything that plain accepts, for notes composed of
// critical parts, and that plain accepts the usual output of programs.
func TestPlain(t *testing.T) {
	t.Parallel()
	names := []string{"state", "work", "on"}
	parts := []string{
		`{`, `}`, `[`, `]`, `,`, `:`, `"state"`, `"State"`, `"work"`, `"on"`, `"mood"`, `"\u0073tate"`, `"a\"b"`, `"\\"`, `1`, `-2.5e3`, `"x"`, ` `, `null`,
		`{"on":1}`, `["on",{"state":2}]`, "\x80", `"ſtate"`,
	}
	passed := 0
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		if rapid.Bool().Draw(t, "object") {
			key := rapid.SampledFrom([]string{`"state"`, `"State"`, `"work"`, `"on"`, `"mood"`, `"\u0073tate"`, `"ſtate"`, `"a\"b"`})
			value := rapid.SampledFrom([]string{`1`, `"x"`, `null`, `["on",{"state":2}]`, `{"on":1,"on":2}`, `"a\"},{\"state\":1"`})
			for i := range rapid.IntRange(0, 4).Draw(t, "fields") {
				b.WriteString([]string{"{", ","}[min(i, 1)] + key.Draw(t, "key") + ":" + value.Draw(t, "value"))
			}
			if b.Len() == 0 {
				b.WriteString("{")
			}
			b.WriteString("}")
		} else {
			for range rapid.IntRange(0, 12).Draw(t, "parts") {
				b.WriteString(rapid.SampledFrom(parts).Draw(t, "part"))
			}
		}
		note := []byte(b.String())
		if !plain(note, names) {
			return
		}
		passed++
		if _, err := fields(note, names, true); err != nil {
			t.Fatalf("%s passes the short way, and not the long: %v", note, err)
		}
	})
	if !testing.Short() && passed == 0 {
		t.Error("nothing passed the short way")
	}
	for note, want := range map[string]bool{
		`{"state":"fulfilled","work":100,"on":[7,"h0"],"ask":0.1}`: true, `{}`: true,
		`{"state":1,"state":2}`: false, `{"mood":1,"mood":2}`: false, `{"State":1}`: false, `[1]`: false, `{"a":1} {}`: false, ``: false,
	} {
		if plain([]byte(note), names) != want {
			t.Errorf("%s passes: %v, want %v", note, !want, want)
		}
	}
}
