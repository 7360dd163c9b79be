package claims

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	second "go.yaml.in/yaml/v4"

	"bourse/workloadgen/config"
)

// FuzzRead checks that Read neither panics nor loops for any file of claims, and that another
// YAML reader finds exactly the same words and numbers.
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
	const claim = "{id: 1-x, quote: q, section: '2', rows: [[m, [a, b], e/c @ x 1e3, similar, [0.5, 2], 0.125, s]]}"
	for _, s := range []string{claim, "{id: 017, quote: yes, section: 1.50, untestable: 1_000}", strings.Replace(claim, "0.125", "'0.125'", 1), strings.Replace(claim, "0.125", ".inf", 1), strings.Replace(claim, "1e3", "1..2..3", 1)} {
		f.Add([]byte("name: n\ntitle: t\nclaims: [" + s + "]\n"))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1<<13 || strings.Count(string(text), "[")+strings.Count(string(text), "{")+strings.Count(string(text), "-") > 500 {
			return // the files are compiled in, so their size is not limited
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
	})
}

// A node is a value found by the second reader. The zero value means none.
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

// text returns a word as read by the second reader. The method number returns a number.
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
	rows := at(said.Node, "rows").items()
	if len(rows) != len(c.Rows) {
		t.Fatalf("claim %s: %d rows, want %d", c.ID, len(c.Rows), len(rows))
	}
	for i, row := range c.Rows {
		cells := node{rows[i]}.items()
		for k, got := range []config.Some[string]{row.Metric, row.Policy, row.Place, {string(row.Is)}} {
			want := node{cells[k]}
			var words []string
			for _, w := range want.items() {
				words = append(words, w.Value)
			}
			if len(words) == 0 {
				words = []string{want.text()}
			}
			if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", words) {
				t.Errorf("claim %s: cell %d is %q, want %q", c.ID, k, got, words)
			}
		}
		margin := at(said.Node, "margin")
		if len(cells) > 5 {
			margin = node{cells[5]}
		}
		var x float64
		if margin.Node == nil || margin.Decode(&x) != nil || x != 0 && row.Margin != x {
			t.Errorf("claim %s: margin is %v, want %v", c.ID, row.Margin, margin.text())
		}
	}
}
