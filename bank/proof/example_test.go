package proof_test

import (
	"crypto/rand"
	"fmt"

	"bourse/bank/keys"
	"bourse/bank/proof"
	"bourse/bank/store"
)

// The operator signs the head of a ledger, and anybody can verify it with the public key.
func Example() {
	private, public, _ := keys.New(rand.Reader, "bank.example.org")
	checkpoint := proof.Checkpoint{Origin: "bank.example.org/lab", Head: store.Head{Size: 118}}
	signed, _ := checkpoint.Sign(private)

	read, err := proof.Open(signed, public)
	fmt.Println(read.Head.Size, err)

	signed[len("bank.example.org/lab\n")] = '9' // 918 entries
	_, err = proof.Open(signed, public)
	fmt.Println(err != nil)
	// Output:
	// 118 <nil>
	// true
}
