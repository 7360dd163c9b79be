package store_test

import (
	"fmt"

	"bourse/bank"
	"bourse/bank/store"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// The example closes a ledger and opens it again. The balances are the sums of the journal.
func Example() {
	disk := vfs.NewMem() // a nil Options.FS means the real file system
	journal, _ := store.Create("bank", store.Options{FS: disk})
	ledger := bank.New(journal)
	ann, _ := ledger.Account("user:ann")
	ten, _ := bank.Parse("10")
	ledger.Mint(0, ann, ten)
	journal.Close()

	journal, ledger, _ = store.Open("bank", store.Options{FS: disk})
	defer journal.Close()
	ann, _ = ledger.Account("user:ann")
	fmt.Println(ledger.Entries(), ledger.Balance(ann))
	// Output: 1 10.000000
}
