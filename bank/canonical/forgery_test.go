package canonical_test

import (
	"errors"
	"strings"
	"testing"

	"bourse/bank/audit"
	"bourse/bank/proof"
)

// TestForgeries checks individual texts that encoding/json decodes to what was hashed or
// signed but that other readers interpret differently. Audits and proofs must reject them.
func TestForgeries(t *testing.T) {
	t.Parallel()
	all := make(map[string]specimen)
	for _, s := range specimens(t) {
		all[s.name] = s
	}
	all["small.proof"] = specimen{"small.proof", testdata(t, "small.proof"), func(text string) error {
		p, err := proof.ParseInclusion([]byte(text))
		if err == nil {
			_, _, err = p.Verify()
		}
		return err
	}}
	if err := all["small.proof"].verifies(all["small.proof"].text); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, what, from, to string }{
		{"small.log", "another amount before", `"micros":1500000`, `"micros":999000000,"Micros":1500000`},
		{"small.log", "another account before", `"to":"user:bob"`, `"to":"mallory","To":"user:bob"`},
		{"small.log", "a key by another letter", `"to":"user:bob"`, `"micros":7,"to":"user:bob","microſ":1500000`},
		{"small.log", "a key twice", `"id":"t1"`, `"id":"t0","id":"t1"`},
		{"small.log", "a contract that is none", `"kind":"transfer"`, `"kind":"transfer","contract":-1`},
		{"small.log", "something behind", "}\n{", "}]anything\n{"},
		{"small.log", "a carriage return", "}\n{", "}\r\n{"},
		{"all.log", "a line feed in a hash", `"hash":"Cg1e6L/w`, `"hash":"Cg1e\n6L/w`},
		{"all.log", "no escrow", `"from":"escrow:0",`, ``},
		{"all.log", "no escrow to pay to", `"to":"escrow:0",`, ``},
		{"all.log", "a note as text and not", `"note64":"/wB7"`, `"note":"","note64":"/wB7"`},
		{"all.log", "a note in base64", `"note":"{\"state\":\"fulfilled\"}"`, `"note64":"eyJzdGF0ZSI6ImZ1bGZpbGxlZCJ9"`},
		{"all.log", "a rejection that moves nothing", `"kind":"reject"`, `"kind":"reject","micros":0`},
		{"proof6", "another amount before", `"micros": 7000001`, `"micros": 9, "Micros": 7000001`},
		{"proof6", "an escrow of another contract", `"from": "escrow:0"`, `"from": "escrow:99"`},
		{"proof6", "another kind on the second line", "\"kind\": \"issue\",\n      \"from\": \"mint\",\n      \"to\": \"user:b\"", "\"kind\": \"transfer\",\n      \"from\": \"mint\",\n      \"to\": \"user:b\""},
		{"proof6", "a head before", `"head": "`, `"head": "7:", "head": "`},
		{"proof6", "something behind", "\n}\n", "\n}\n{}"},
		{"small.proof", "no path", `"path": []`, `"path": null`},
		{"checkpoint", "another signature", "\n— ", "\n— other AAAAAAAA\n— "},
	} {
		s := all[c.name]
		text := strings.Replace(s.text, c.from, c.to, 1)
		if text == s.text {
			t.Errorf("%s has no %q", c.name, c.from)
			continue
		}
		err := s.verifies(text)
		if err == nil {
			t.Errorf("%s with %s verifies", c.name, c.what)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s with %s: %v: want one line", c.name, c.what, err)
		} else if c.name == "small.proof" && errors.Is(err, proof.ErrProof) {
			t.Errorf("%s with %s is read: %v", c.name, c.what, err)
		}
	}
	for head, clean := range map[string]bool{
		"0:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=": true,
		"0:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=": false,
	} {
		r, err := audit.Log(strings.NewReader(all["small.log"].text), audit.Options{Head: head})
		if err != nil || r.Clean() != clean {
			t.Errorf("against head %s: %v, %v, want clean %v", head, r, err, clean)
		}
	}
}
