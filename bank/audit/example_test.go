package audit_test

import (
	"fmt"

	"bourse/bank"
	"bourse/bank/audit"
	"bourse/bank/store"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// This example verifies a ledger against a head that was stored elsewhere.
func Example() {
	disk := vfs.NewMem()
	journal, _ := store.Create("bank", store.Options{FS: disk})
	ledger := bank.New(journal)
	ann, _ := ledger.Account("user:ann")
	ten, _ := bank.Parse("10")
	ledger.Mint(0, ann, ten)
	journal.Close()
	head := journal.Head().String()

	report, _ := audit.Audit("bank", audit.Options{FS: disk, Head: head})
	fmt.Println(report.Clean(), report.Entries, report.Issued)
	// Output: true 1 10.000000
}
