package scenario

// useLog replaces the workload of every configuration that has a filter by a recorded log.
func useLog(root *node, path string) (*node, error) {
	at := place{source: "--trace " + clip(path)}
	file := text(path)
	file.at = at
	found := false
	put := func(c *node) *node {
		w := c.get("workload")
		if f := w.get("filter"); f == nil || f.text == "" {
			return c
		}
		found = true
		nothing := &node{at: at}
		return c.put("workload", w.put("model", nothing).put("plan", nothing).put("estimate", nothing).put("swf", file))
	}
	if c := root.get("configurations"); c != nil && c.kind == list {
		root = root.put("configurations", each(c, put))
	}
	if !found {
		return nil, fail(at, "", "no configuration takes a log: none has a workload.filter")
	}
	return root, nil
}
