package scenario

import (
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml/parser"
)

// BenchmarkRefuse compares refusing a deep file with parsing it.
func BenchmarkRefuse(b *testing.B) {
	deep := []byte(strings.Repeat("[", 2000) + strings.Repeat("]", 2000))
	var parsing time.Duration
	for range b.N {
		start := time.Now()
		if _, err := parser.ParseBytes(deep, 0); err != nil {
			b.Fatal(err)
		}
		parsing += time.Since(start)
	}
	b.ResetTimer()
	for b.Loop() {
		if _, err := Parse("deep", deep, Known{}); err == nil {
			b.Fatal("no error")
		}
	}
	b.ReportMetric(float64(parsing)/float64(b.Elapsed()), "parsing/refusing")
}

// BenchmarkParse reads a small scenario.
func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		if _, err := Parse("small", []byte(small), Known{}); err != nil {
			b.Fatal(err)
		}
	}
}
