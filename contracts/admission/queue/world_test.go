package queue

import "bourse/contracts/admission/policytest"

type (
	tb      = policytest.TB
	options = policytest.Options
)

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

func check(t tb, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
