package claims

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	second "go.yaml.in/yaml/v4"

	"bourse/workloadgen/config"
)

// FuzzRead checks that no file of claims makes the reader panic or work for ever, that
// another reader of YAML finds every word and number that is read and no more, and that
// what was read, written and read again is the same.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("../*/claims.yaml")
	if err != nil || len(files) == 0 {
		f.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		if _, err := Read(name, text); err != nil {
			f.Fatal(err)
		}
		first, rest, _ := strings.Cut(string(text), "claims:\n")
		one, _, _ := strings.Cut(rest, "\n\n")
		f.Add([]byte(first + "claims:\n" + one + "\n"))
	}
	const claim = "{id: 1-x, quote: q, section: '2', tests: [{metric: m, of: [a, b], in: c, at: {x: 1e3}, is: similar, to: [0.5, 2], margin: 0.5, source: s}]}"
	for _, s := range []string{claim, "{id: 017, quote: yes, section: 1.50, untestable: 1_000}", strings.Replace(claim, "margin: 0.5", "margin: '0.5'", 1), strings.Replace(claim, "margin: 0.5", "margin: .inf", 1), strings.Replace(claim, "1e3", "[1, 2, 3]", 1)} {
		f.Add([]byte("name: n\ntitle: t\nclaims: [" + s + "]\n"))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1<<13 || strings.Count(string(text), "[")+strings.Count(string(text), "{")+strings.Count(string(text), "-") > 500 {
			return // the files are compiled in: nobody bounds them
		}
		hang := time.AfterFunc(10*time.Second, func() { panic(fmt.Sprintf("%q takes for ever", text)) })
		defer hang.Stop()
		p, err := Read("claims.yaml", text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "claims.yaml:") {
				t.Errorf("error %q does not name the file", err)
			}
			return
		}
		var doc second.Node
		if err := second.Unmarshal(text, &doc); err != nil {
			t.Fatalf("%q is %+v, which another reader refuses: %v", text, p, err)
		}
		if len(doc.Content) > 0 {
			said := doc.Content[0]
			for i, c := range at(said, "claims").items() {
				compare(t, p.Claims[i], node{c})
			}
			if name := at(said, "name"); name.Node != nil && name.Value != p.Name && name.ShortTag() != "!!null" {
				t.Errorf("%q: name is %q", text, p.Name)
			}
			if n := len(at(said, "claims").items()); n != len(p.Claims) {
				t.Errorf("%q: %d claims, want %d", text, len(p.Claims), n)
			}
		}
		back := config.Of(p).YAML()
		again, err := Read("again.yaml", back)
		if err != nil || !reflect.DeepEqual(flat(again), flat(p)) {
			t.Fatalf("%+v is written\n%sand read as %+v, %v", p, back, again, err)
		}
	})
}

// flat returns p in words, where nothing and an empty list are one.
func flat(p Paper) string {
	var b strings.Builder
	for _, c := range p.Claims {
		fmt.Fprintf(&b, "%q %q %q %q %q %q %q %d\n", c.ID, c.Quote, c.Section, c.Note, c.Otherwise, c.Untestable, c.PostHoc, len(c.Tests))
		for _, t := range c.Tests {
			fmt.Fprintf(&b, "%q %s %v %v %q %q", told(t.Number), t.Is, t.To, number(t.Margin), t.Source, t.NoChance)
			if t.Over != nil {
				fmt.Fprintf(&b, " over %q", told(*t.Over))
			}
		}
	}
	return fmt.Sprintf("%q %q %s", p.Name, p.Title, &b)
}

// told returns n in words, without where its rule is kept.
func told(n Number) string {
	rule := n.Reserve
	n.Reserve = nil
	if rule == nil {
		return fmt.Sprint(n)
	}
	return fmt.Sprint(n, *rule)
}

func number(x *float64) any {
	if x == nil {
		return nil
	}
	return *x
}

// A node is what the second reader finds; the zero value is nothing.
type node struct{ *second.Node }

func at(n *second.Node, key string) node {
	if n == nil || n.Kind != second.MappingNode {
		return node{}
	}
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return node{n.Content[i+1]}
		}
	}
	return node{}
}

func (n node) items() []*second.Node {
	if n.Node == nil || n.Kind != second.SequenceNode {
		return nil
	}
	return n.Content
}

// text returns a word, number a number, as the second reader has them.
func (n node) text() string {
	if n.Node == nil || n.ShortTag() == "!!null" {
		return ""
	}
	return n.Value
}

func compare(t *testing.T, c Claim, said node) {
	for key, got := range map[string]string{"id": c.ID, "quote": c.Quote, "section": c.Section, "note": c.Note, "otherwise": c.Otherwise, "untestable": c.Untestable, "source": c.Source, "post_hoc": c.PostHoc} {
		if want := at(said.Node, key).text(); got != want {
			t.Errorf("claim %s: %s is %q, want %q", c.ID, key, got, want)
		}
	}
	tests := at(said.Node, "tests").items()
	if len(tests) != len(c.Tests) {
		t.Fatalf("claim %s: %d tests, want %d", c.ID, len(c.Tests), len(tests))
	}
	for i, test := range c.Tests {
		for key, got := range map[string]*float64{"margin": test.Margin} {
			want := at(tests[i], key)
			if want.Node == nil || want.ShortTag() == "!!null" {
				want = at(said.Node, key) // the claim's stands for it
			}
			var x float64
			switch {
			case want.Node == nil || want.ShortTag() == "!!null":
				if got != nil {
					t.Errorf("claim %s: %s is %v, want none", c.ID, key, *got)
				}
			case want.Decode(&x) != nil || got == nil || *got != x:
				t.Errorf("claim %s: %s is %v, want %v", c.ID, key, number(got), want.Value)
			}
		}
		for key, got := range map[string]config.Some[string]{"metric": test.Metric, "of": test.Of, "in": test.In} {
			want := at(tests[i], key)
			var words []string
			for _, w := range want.items() {
				words = append(words, w.Value)
			}
			if len(words) == 0 {
				words = []string{want.text()}
			}
			if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", words) {
				t.Errorf("claim %s: %s is %q, want %q", c.ID, key, got, words)
			}
		}
	}
}
