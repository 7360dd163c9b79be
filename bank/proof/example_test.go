package proof_test

import (
	"crypto/rand"
	"fmt"

	"bourse/bank/keys"
	"bourse/bank/proof"
	"bourse/bank/store"
)

// The example signs the head of a ledger with the operator's key and verifies it with the
// public key.
func Example() {
	private, public, _ := keys.New(rand.Reader, "bank.example.org")
	checkpoint := proof.Checkpoint{Origin: "bank.example.org/lab", Head: store.Head{Size: 118}}
	signed, _ := checkpoint.Sign(private)

	read, err := proof.Open(signed, public)
	fmt.Println(read.Head.Size, err)

	signed[len("bank.example.org/lab\n")] = '9' // changes 118 entries to 918
	_, err = proof.Open(signed, public)
	fmt.Println(err != nil)
	// Output:
	// 118 <nil>
	// true
}
