package scenario

import (
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml/parser"
)

// BenchmarkRefuse measures the rejection of a deeply nested file, and compares it with parsing
// the file.
func BenchmarkRefuse(b *testing.B) {
	deep := []byte(strings.Repeat("[", 2000) + strings.Repeat("]", 2000))
	var parsing, refusing time.Duration
	for b.Loop() {
		start := time.Now()
		if _, err := parser.ParseBytes(deep, 0); err != nil {
			b.Fatal(err)
		}
		parsed := time.Now()
		if _, err := Parse("deep", deep, Known{}); err == nil {
			b.Fatal("no error")
		}
		parsing += parsed.Sub(start)
		refusing += time.Since(parsed)
	}
	b.ReportMetric(float64(parsing)/float64(refusing), "parsing/refusing")
	b.ReportMetric(float64(refusing)/float64(b.N), "ns/refusal")
}

// BenchmarkParse parses a small scenario.
func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		if _, err := Parse("small", []byte(small), Known{}); err != nil {
			b.Fatal(err)
		}
	}
}
