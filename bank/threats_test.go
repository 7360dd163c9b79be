package bank_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestThreats checks that the tests that THREATS.md names exist and contain the named attacks.
func TestThreats(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("THREATS.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\|.*\| ((?:bank|cmd|experiments)/[a-z/]+) (\w+)(?:: ([^|]+))? \|$`).FindAllStringSubmatch(string(text), -1)
	if want := strings.Count(string(text), "\n| ") - 2; len(rows) != want || want < 20 {
		t.Errorf("%d rows of %d name a test", len(rows), want)
	}
	for _, row := range rows {
		files, err := filepath.Glob(filepath.Join("..", row[1], "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		var code strings.Builder
		for _, name := range files {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			code.Write(b)
		}
		if !strings.Contains(code.String(), "\nfunc "+row[2]+"(") || !strings.Contains(code.String(), `"`+row[3]) {
			t.Errorf("%s has no %s of %q", row[1], row[2], row[3])
		}
	}
}
