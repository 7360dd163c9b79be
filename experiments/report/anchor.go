package report

import (
	"fmt"
	"strings"
)

// Anchor returns the name of an anchor on a page. A link can contain the name without
// escaping. Different parts result in different names.
func Anchor(parts ...string) string {
	var b strings.Builder
	for i, part := range parts {
		if i > 0 {
			b.WriteByte('/')
		}
		for _, c := range []byte(part) {
			if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-.@,=+", c) >= 0 {
				b.WriteByte(c)
			} else {
				fmt.Fprintf(&b, "_%02x", c)
			}
		}
	}
	return b.String()
}

// RowAnchor returns the anchor of the row of summary.csv for a metric of a policy in a
// configuration.
func RowAnchor(configuration, admission, metric string) string {
	return Anchor("row", configuration, admission, metric)
}

// CurveAnchor returns the anchor of the row of curve.csv for the efficiency at alpha.
func CurveAnchor(configuration, admission string, alpha float64) string {
	return Anchor("curve", configuration, admission, shortest(alpha))
}
