package proof

import (
	"errors"
	"fmt"
	"strings"

	"bourse/bank"
	"bourse/bank/keys"
	"bourse/bank/store"

	"golang.org/x/mod/sumdb/note"
)

// Receipts contains the receipts of booked requests in the form that the bank signs:
//
//	bourse receipt 1
//	ledger 5f7c3e9a0b1d2c4e6f8091a2b3c4d5e6
//	booked 17:n1F…= user:ann/rent-11
//
// There is one booked line per request. A bank that signed a receipt cannot deny the entry:
// either its ledger contains the entry, or an audit with SEQ:HASH fails.
type Receipts struct {
	Ledger string // id of the ledger; "open" if it has none
	Booked []Booked
}

// A Booked is the receipt of one request.
type Booked struct {
	store.Receipt
	ID string // id of the request; may be empty
}

const (
	receiptTitle = "bourse receipt 1"
	openLedger   = "open"
)

// text returns the text to sign.
func (r Receipts) text() string {
	var b strings.Builder
	ledger := r.Ledger
	if ledger == "" {
		ledger = openLedger
	}
	fmt.Fprintf(&b, "%s\nledger %s\n", receiptTitle, ledger)
	for _, r := range r.Booked {
		fmt.Fprintf(&b, "booked %v %s\n", r.Receipt, r.ID)
	}
	return b.String()
}

// Sign returns the signed text of r.
func (r Receipts) Sign(by note.Signer) ([]byte, error) {
	return note.Sign(&note.Note{Text: r.text()}, by)
}

// OpenReceipts parses receipts and verifies that the owner of the public key signed them.
func OpenReceipts(signed []byte, public string) (r Receipts, err error) {
	key, err := keys.Public(public)
	if err != nil {
		return r, fmt.Errorf("receipt: %w", err)
	}
	verifier, err := note.NewVerifier(key)
	if err != nil {
		return r, fmt.Errorf("receipt: %w", err)
	}
	if len(signed) > maxCheckpoint {
		return r, fmt.Errorf("receipt of %d bytes: at most %d", len(signed), maxCheckpoint)
	}
	n, err := note.Open(signed, note.VerifierList(verifier))
	if err != nil {
		return r, fmt.Errorf("receipt: %w", err)
	}
	lines := strings.Split(strings.TrimSuffix(n.Text, "\n"), "\n")
	if len(lines) < 3 {
		return r, errReceipt
	}
	r.Ledger, _ = strings.CutPrefix(lines[1], "ledger ")
	for _, line := range lines[2:] {
		line, _ = strings.CutPrefix(line, "booked ")
		text, id, _ := strings.Cut(line, " ")
		receipt, err := store.ParseReceipt(text)
		if err != nil || bank.CheckID(id) != nil {
			return r, errReceipt
		}
		r.Booked = append(r.Booked, Booked{receipt, id})
	}
	if r.text() != n.Text {
		return r, errReceipt
	}
	return r, nil
}

var errReceipt = errors.New("receipt: want at least three lines, as returned by 'bank serve'")
