package reserve

import (
	"pgregory.net/rapid"

	"bourse/contracts"
	"bourse/workloadgen/config"
)

func check(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// made creates the policy with the options that decode sets.
func made(decode func(any) error) (contracts.Policy, error) {
	return newReserve(func(v any) error {
		if err := decode(v); err != nil {
			return err
		}
		return config.Check(v)
	}, nil, nil)
}
