package scenario

import (
	"bourse/workloadgen/config"
	"bourse/workloadgen/plugin"
)

// useLog makes every configuration that has a filter use a recorded log. It replaces the
// configuration's workload.
func useLog(root *config.Node, path string) (*config.Node, error) {
	at := config.Place{Source: "--trace " + plugin.Clip(path)}
	file := config.Text(path)
	file.At = at
	found := false
	put := func(c *config.Node) *config.Node {
		w := c.Get("workload")
		if f := w.Get("filter"); f == nil || f.Text == "" {
			return c
		}
		found = true
		nothing := &config.Node{At: at}
		return c.Put("workload", w.Put("model", nothing).Put("plan", nothing).Put("estimate", nothing).Put("swf", file))
	}
	if c := root.Get("configurations"); c != nil && c.Kind == config.List {
		root = root.Put("configurations", each(c, put))
	}
	if !found {
		return nil, at.Fail("", "no configuration uses a log, because none has a workload.filter")
	}
	return root, nil
}
