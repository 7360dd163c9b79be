package config

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"testing"
)

// script is a Python program that reads YAML 1.1 with PyYAML, if that is installed. It prints
// a tree of lists, so that no information is lost: ["map", [key, value]...], ["seq", value...]
// or [the tag of a scalar, its text].
const script = `
import json, sys, yaml

def tree(node):
    if isinstance(node, yaml.MappingNode):
        return ["map"] + [[tree(k), tree(v)] for k, v in node.value]
    if isinstance(node, yaml.SequenceNode):
        return ["seq"] + [tree(v) for v in node.value]
    return [node.tag.rsplit(":", 1)[1], node.value]

while True:
    n = sys.stdin.buffer.readline()
    if not n:
        break
    text = sys.stdin.buffer.read(int(n))
    try:
        if b"&" in text or b"*" in text:
            list(yaml.parse(text, yaml.SafeLoader))
        node = yaml.compose(text, yaml.SafeLoader)
        out = ["ok", tree(node) if node is not None else ["null", ""]]
    except (yaml.YAMLError, ValueError, RecursionError) as e:
        out = ["error", str(e)]
    sys.stdout.write(json.dumps(out) + "\n")
    sys.stdout.flush()
`

type pyYAML struct {
	mu  sync.Mutex
	in  io.Writer
	out *bufio.Reader
}

// startPyYAML returns nil if PyYAML is not installed.
func startPyYAML(t testing.TB) *pyYAML {
	if exec.Command("python3", "-c", "import yaml").Run() != nil {
		return nil
	}
	c := exec.Command("python3", "-c", script)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		c.Wait()
	})
	return &pyYAML{in: in, out: bufio.NewReader(out)}
}

// read returns the tree, or the reader's error.
func (p *pyYAML) read(t testing.TB, text []byte) (tree any, complaint string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.in, "%d\n%s", len(text), text)
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var answer []any
	if err := json.Unmarshal(line, &answer); err != nil {
		t.Fatal(err)
	}
	if answer[0] == "error" {
		return nil, answer[1].(string)
	}
	return answer[1], ""
}
