package canonical_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bourse/bank/audit"
	"bourse/bank/proof"
	"bourse/bank/store"
)

var many = flag.Int("mutations", 2000, "try so many `mutations` that another reader reads otherwise")

// testdata contains texts that an earlier version wrote, by the command that wrote them.
func testdata(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A specimen is a valid text with the function that verifies it.
type specimen struct {
	name, text string
	verifies   func(text string) error
}

// specimens are logs, proofs, receipts and checkpoints of two banks.
func specimens(t testing.TB) []specimen {
	t.Helper()
	signed, key := testdata(t, "checkpoint"), testdata(t, "key.pub")
	checkpoint, err := proof.Open([]byte(signed), key)
	if err != nil {
		t.Fatal(err)
	}
	small, receipt := testdata(t, "small.log"), strings.TrimSpace(testdata(t, "receipt2"))
	log := func(head string) func(string) error {
		return func(text string) error {
			r, err := audit.Log(strings.NewReader(text), audit.Options{Head: head, Whole: true})
			if err == nil && !r.Clean() {
				err = fmt.Errorf("%v", r.Findings)
			}
			return err
		}
	}
	all := []specimen{
		{"small.log", small, log(receipt)},
		{"all.log", testdata(t, "all.log"), log(checkpoint.Head.String())},
		{"checkpoint", signed, func(text string) error { _, err := proof.Open([]byte(text), key); return err }},
		{"receipt", receipt, func(text string) error {
			if _, err := store.ParseReceipt(text); err != nil {
				return err
			}
			return log(text)(small)
		}},
	}
	names, err := filepath.Glob("testdata/proof*")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		name = filepath.Base(name)
		all = append(all, specimen{name, testdata(t, name), func(text string) error {
			p, err := proof.ParseInclusion([]byte(text))
			if err == nil && p.Head != checkpoint.Head {
				err = fmt.Errorf("head %v", p.Head)
			}
			if err == nil {
				_, _, err = p.Verify()
			}
			return err
		}})
	}
	return all
}

// TestKept checks that logs, proofs, receipts and checkpoints of an earlier version still
// verify, even without the final line feed.
func TestKept(t *testing.T) {
	t.Parallel()
	for _, s := range specimens(t) {
		if err := s.verifies(s.text); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
		if err := s.verifies(strings.TrimSuffix(s.text, "\n")); err != nil && s.name != "checkpoint" {
			t.Errorf("%s without its last line feed: %v", s.name, err)
		}
	}
}

// TestMutations changes logs, proofs, receipts and checkpoints so that another reader
// interprets them differently: encoding/json and, if installed, Python's json and jq. None may
// verify.
func TestMutations(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	src := rand.New(rand.NewPCG(seed, 0))
	all := specimens(t)
	var texts []string // The texts of the specimens come first.
	var was []string   // These are the values that encoding/json reads from the texts.
	for _, s := range all {
		texts, was = append(texts, s.text), append(was, goReads(s.text))
	}
	var of []int // For each later text, this is the index of its specimen.
	var verified []error
	for n := 0; n < *many; {
		i := src.IntN(len(all))
		s, text := all[i], all[i].text
		for range 1 + src.IntN(2) {
			text = mutate(src, text)
		}
		if entry.ReplaceAllString(text, "") == entry.ReplaceAllString(s.text, "") {
			continue // a proof of another entry in the same leaf is also valid
		}
		otherwise := goReads(text) != was[i]
		if otherwise {
			n++
		}
		err := s.verifies(text)
		if err == nil && otherwise {
			t.Errorf("seed %d: this %s verifies, and encoding/json reads it otherwise:\n%s", seed, s.name, text)
		}
		texts, of, verified = append(texts, text), append(of, i), append(verified, err)
	}
	t.Logf("%d mutations, %d of which encoding/json reads otherwise", len(of), *many)
	for name, read := range map[string]func(*testing.T, []string) []string{"python3": pythonReads, "jq": jqReads} {
		reads := read(t, texts)
		if reads == nil {
			t.Logf("there is no %s", name)
			continue
		}
		otherwise := 0
		for n, i := range of {
			if reads[len(all)+n] == reads[i] {
				continue
			}
			if otherwise++; verified[n] == nil {
				t.Errorf("seed %d: this %s verifies, and %s reads it otherwise:\n%s", seed, all[i].name, name, texts[len(all)+n])
			}
		}
		t.Logf("%d of which %s reads otherwise", otherwise, name)
	}
}

// entry is the number of the entry that a proof names.
var entry = regexp.MustCompile(`"entry": [0-9]+,`)

// goReads returns the values that encoding/json reads from each line or from the whole text:
// the first value as a map and as a struct, which accepts keys in any case.
func goReads(text string) string {
	type fields struct {
		Seq, Time, ID, Kind, Contract, From, To, Micros, Note, Note64, Hash any
		Head, Entry, Before, Path                                           any
		Leaf                                                                []fields
	}
	if !strings.HasPrefix(strings.TrimLeft(text, " \t\r\n\ufeff["), "{") {
		return text // a receipt or checkpoint does not contain JSON
	}
	var read []any
	for _, part := range parts(text) {
		var m, f = any(nil), fields{}
		dec := json.NewDecoder(strings.NewReader(part))
		dec.UseNumber()
		err := dec.Decode(&m)
		whole := json.Unmarshal([]byte(part), new(any))
		dec = json.NewDecoder(strings.NewReader(part))
		dec.UseNumber()
		_ = dec.Decode(&f)
		read = append(read, m, err != nil, whole != nil, f)
	}
	b, _ := json.Marshal(read)
	return string(b)
}

// parts returns the lines of a log, or a complete proof.
func parts(text string) []string {
	if strings.Contains(text, "\n  ") {
		return []string{text}
	}
	return strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
}

// pythonReads returns the values that Python's json reads from texts, or nil if Python is not
// installed.
func pythonReads(t *testing.T, texts []string) []string {
	const program = `
import base64, json, sys
def parts(text):
    return [text] if "\n  " in text else text.removesuffix("\n").split("\n")
def read(text):
    if not text.lstrip(" \t\r\n\ufeff[").startswith("{"):
        return text
    return [read1(p) for p in parts(text)]
def read1(part):
    try:
        return json.loads(part)
    except ValueError:
        return "no JSON"
for line in sys.stdin:
    text = base64.b64decode(line).decode("utf-8", "surrogateescape")
    print(json.dumps(read(text), sort_keys=True))
`
	return others(t, "python3", []string{"-c", program}, texts, func(text string) any { return []byte(text) }, `"`)
}

// jqReads returns the values that jq reads from texts, or nil if jq is not installed.
func jqReads(t *testing.T, texts []string) []string {
	const program = `map(if startswith("{") then (try fromjson catch "no JSON") else . end)`
	return others(t, "jq", []string{"-c", program}, texts, func(text string) any { return parts(text) }, "")
}

// others returns the lines that another program prints for texts. Each text is sent as a line
// of JSON, from which cut bytes are removed at both ends.
func others(t *testing.T, name string, args, texts []string, encode func(string) any, cut string) []string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		return nil
	}
	var in bytes.Buffer
	for _, text := range texts {
		b, err := json.Marshal(encode(text))
		if err != nil {
			t.Fatal(err)
		}
		in.WriteString(strings.Trim(string(b), cut) + "\n")
	}
	cmd := exec.Command(path, args...)
	cmd.Stdin = &in
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if err != nil || len(lines) != len(texts) {
		t.Fatalf("%s: %d answers to %d texts: %v: %s", name, len(lines), len(texts), err, errs.String())
	}
	return lines
}

// field matches one field of an object, with the comma or brace before it.
var field = regexp.MustCompile(`([{,])(\s*)"([a-z0-9]+)":( ?)("(?:[^"\\]|\\.)*"|-?[0-9.e+-]+)`)

// mutate returns text with one change.
func mutate(src *rand.Rand, text string) string {
	pick := func(s ...string) string { return s[src.IntN(len(s))] }
	if at := field.FindAllStringSubmatchIndex(text, -1); at != nil && src.IntN(3) > 0 {
		m := at[src.IntN(len(at))]
		group := func(i int) string { return text[m[2*i]:m[2*i+1]] }
		before, open, space, key, colon, value, after := text[:m[0]], group(1), group(2), group(3), group(4), group(5), text[m[1]:]
		other := otherValue(src, value)
		join := func(fields ...string) string {
			return before + open + space + strings.Join(fields, ","+space) + after
		}
		one := func(key, value string) string { return `"` + key + `":` + colon + value }
		switch src.IntN(9) {
		case 0: // add the field twice
			return join(one(key, value), one(key, other))
		case 1:
			return join(one(key, other), one(key, value))
		case 2: // Add the key in another case too.
			return join(one(key, other), one(otherCase(src, key), value))
		case 3:
			return join(one(otherCase(src, key), other), one(key, value))
		case 4:
			return join(one(otherCase(src, key), value))
		case 5: // remove the field
			return before + open + strings.TrimPrefix(after, ",")
		case 6:
			return join(one(key, other))
		case 7: // add a field that readers do not use
			return join(one(key, value), one(pick("contract", "note", "note64", "id", "from", "to", "micros", "memo", "", "path"), pick("null", `""`, "-1", "0", `"x"`, "[]", "{}")))
		default: // use an escrow of another contract, or the note of another kind
			return join(one(strings.NewReplacer("note64", "note", "note", "note64", "from", "to").Replace(key), strings.Replace(value, "escrow:", "escrow:1", 1)))
		}
	}
	if text == "" {
		return " "
	}
	lines := strings.SplitAfter(text, "\n")
	i, j := src.IntN(len(lines)), src.IntN(len(lines))
	b := []byte(text)
	at := src.IntN(len(b))
	switch src.IntN(8) {
	case 0:
		lines[i], lines[j] = lines[j], lines[i]
		return strings.Join(lines, "")
	case 1:
		return strings.Join(slices.Insert(lines, i, lines[j]), "")
	case 2:
		return strings.Join(slices.Delete(lines, i, i+1), "")
	case 3: // Add something to the end of a line.
		lines[i] = strings.TrimSuffix(lines[i], "\n") + pick("]x", "{}", ",", " 1", "\x00", "//", "\n", "\r", "}", lines[j]) + "\n"
		return strings.Join(lines, "")
	case 4:
		lines[i] = pick("\ufeff", "[", "\n", "null\n", "{", " ", "— other AAAA\n", lines[j]) + lines[i]
		return strings.Join(lines, "")
	case 5:
		b[at] ^= 1 << src.IntN(8)
	case 6:
		b = slices.Insert(b, at, pick(`"`, "0", "a", "\\", "\r", "\n", "é", "\xff", ",", "}", "=", "+")[0])
	default:
		b = slices.Delete(b, at, at+1)
	}
	return string(b)
}

// otherCase returns key in another case, which encoding/json accepts as the same key.
func otherCase(src *rand.Rand, key string) string {
	switch src.IntN(3) {
	case 0:
		return strings.ToUpper(key)
	case 1:
		return strings.ToUpper(key[:1]) + key[1:]
	}
	return strings.NewReplacer("s", "ſ", "k", "\u212a").Replace(key)
}

// otherValue returns another value, or one that another reader may interpret differently.
func otherValue(src *rand.Rand, value string) string {
	inner := strings.Trim(value, `"`)
	forms := []string{
		"null", "[" + value + "]", `{"":` + value + "}", inner + "1", "-" + inner, inner + ".0", inner + "e0", inner + "e400", "0" + inner, inner + "00",
		`"` + inner + ` "`, `"x` + inner + `"`, `"` + inner + `\n"`, `"` + inner + `\u0000"`, `"` + inner + `\ud800"`, "\"" + inner + "\xff\"", `"\u006d` + inner + `"`,
		`"mallory"`, "999000000", "9007199254740993", "true", "NaN", "1.5", `""`, "0", "-1",
	}
	return forms[src.IntN(len(forms))]
}
