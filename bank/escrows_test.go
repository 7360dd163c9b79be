package bank

import (
	"testing"

	"pgregory.net/rapid"
)

// The table of escrows is a map.
func TestEscrows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var table escrows
		plain := make(map[int64]Account)
		// Few numbers, so that many share a home; or any.
		contracts := rapid.OneOf(rapid.Int64Range(0, 40), rapid.Int64Range(0, MaxContract))
		for step := range rapid.IntRange(0, 400).Draw(t, "steps") {
			c := contracts.Draw(t, "contract")
			if _, ok := plain[c]; ok {
				delete(plain, c)
				table.remove(c)
			} else {
				plain[c] = Account(step + 1)
				table.add(c, Account(step+1))
			}
			if table.n != len(plain) {
				t.Fatalf("%d escrows, want %d", table.n, len(plain))
			}
			for c := range int64(41) {
				if a, ok := table.row(c); a != plain[c] || ok != (a != 0) {
					t.Fatalf("contract %d has row %d, %v, want %d", c, a, ok, plain[c])
				}
			}
			for c, want := range plain {
				if a, _ := table.row(c); a != want {
					t.Fatalf("contract %d has row %d, want %d", c, a, want)
				}
			}
		}
	})
}
