package outside

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"bourse/market"
)

func contractsRate(nano int) market.Rate { return market.Rate(nano) }

func newRand() *rand.Rand { return rand.New(rand.NewPCG(0, 0)) }

func text(t *testing.T, l *Line) []byte {
	t.Helper()
	b, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
