package signatures_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"bourse/bank/signatures"

	"filippo.io/edwards25519"
)

// An owner has a key with which it can sign as it likes.
type owner struct {
	a   *edwards25519.Scalar
	key ed25519.PublicKey
}

// newOwner returns the owner of a key that is a multiple of B, plus t.
func newOwner(seed string, t *edwards25519.Point) *owner {
	a := scalar("key of " + seed)
	return &owner{a, new(edwards25519.Point).Add(new(edwards25519.Point).ScalarBaseMult(a), t).Bytes()}
}

func scalar(text string) *edwards25519.Scalar {
	sum := sha512.Sum512([]byte(text))
	s, err := edwards25519.NewScalar().SetUniformBytes(sum[:])
	if err != nil {
		panic(err)
	}
	return s
}

// sign signs a text with an R that is a multiple of B, plus t.
func (o *owner) sign(text string, t *edwards25519.Point) signatures.Signature {
	r := scalar("nonce of " + text)
	in := new(edwards25519.Point).Add(new(edwards25519.Point).ScalarBaseMult(r), t).Bytes()
	k := scalar(string(in) + string(o.key) + text)
	return signatures.Signature{Key: o.key, Text: []byte(text), Sig: append(in, k.MultiplyAdd(k, o.a, r).Bytes()...)}
}

// small returns the eight points whose order is 1, 2, 4 or 8, in turn multiples of one of
// order 8.
func small(t testing.TB) (all [8]*edwards25519.Point) {
	t.Helper()
	in, err := hex.DecodeString("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a")
	check(t, err)
	of8, err := new(edwards25519.Point).SetBytes(in)
	check(t, err)
	all[0] = edwards25519.NewIdentityPoint()
	for i := range 7 {
		all[i+1] = new(edwards25519.Point).Add(all[i], of8)
	}
	if of8.Add(of8, all[7]).Equal(all[0]) != 1 || all[4].Equal(all[0]) == 1 {
		t.Fatal("the point is not of order 8")
	}
	return all
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// honest returns n signatures by a few owners.
func honest(t testing.TB, n int) []signatures.Signature {
	t.Helper()
	zero := small(t)[0]
	list := make([]signatures.Signature, n)
	for i := range list {
		list[i] = newOwner(fmt.Sprint(i%7), zero).sign(fmt.Sprintf("text %d", i), zero)
	}
	return list
}

// alone tells whether crypto/ed25519 accepts each.
func alone(list []signatures.Signature) bool {
	for _, s := range list {
		if len(s.Key) != ed25519.PublicKeySize || !ed25519.Verify(s.Key, s.Text, s.Sig) {
			return false
		}
	}
	return true
}

// TestVerify promises that good signatures are accepted, however many there are, and not
// if a bit of one is changed.
func TestVerify(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2, 100, 600} {
		list := honest(t, n)
		if !alone(list) || !signatures.Verify(list, rand.Reader) {
			t.Errorf("%d good signatures are refused", n)
		}
	}
	list := honest(t, 3)
	for _, harmed := range [][]byte{list[1].Key, list[1].Text, list[1].Sig} {
		for i := range 8 * len(harmed) {
			harmed[i/8] ^= 1 << (i % 8)
			if signatures.Verify(list, rand.Reader) {
				t.Errorf("accepted with bit %d of %x changed", i, harmed)
			}
			harmed[i/8] ^= 1 << (i % 8)
		}
	}
	if !signatures.Verify(list, rand.Reader) {
		t.Error("refused with all bits as they were")
	}
	list[1].Key, list[1].Sig = list[1].Key[:31], list[1].Sig[:63]
	if signatures.Verify(list, rand.Reader) {
		t.Error("accepted with a byte less")
	}
	if signatures.Verify(honest(t, 3), strings.NewReader("too little")) {
		t.Error("accepted without chance")
	}
}

// TestSmallParts promises that what an owner signs with points of small order is accepted
// only where crypto/ed25519 accepts it: in a key, in an R, in both, where they add up to
// nothing, and in two signatures that do.
func TestSmallParts(t *testing.T) {
	t.Parallel()
	points := small(t)
	same, refused := 0, 0
	try := func(what string, list ...signatures.Signature) {
		t.Helper()
		for range 8 {
			all := append(honest(t, 3), list...)
			if signatures.Verify(all, rand.Reader) && !alone(all) {
				t.Fatalf("%s: accepted, and not by crypto/ed25519", what)
			}
		}
		if alone(list) {
			same++
		} else {
			refused++
		}
	}
	for i := range 8 {
		for j := range 8 {
			what := fmt.Sprintf("key with %d, R with %d eighths", i, j)
			o := newOwner("owner", points[i])
			try(what, o.sign("text", points[j]))
			try(what+", twice", o.sign("text", points[j]), o.sign("another", points[j]))
			try(what+", and what it lacks", o.sign("text", points[j]), o.sign("another", points[(8-j)%8]))
			zero := edwards25519.NewScalar()
			try(what+" alone", signatures.Signature{Key: points[i].Bytes(), Text: []byte("text"), Sig: append(points[j].Bytes(), zero.Bytes()...)})
		}
	}
	if same == 0 || refused == 0 {
		t.Errorf("crypto/ed25519 accepts %d and refuses %d, want some of both", same, refused)
	}
	for j := 1; j < 8; j++ { // keys are good, and Rs are not
		o := newOwner("owner", points[0])
		for range 500 {
			if signatures.Verify([]signatures.Signature{o.sign("text", points[j])}, rand.Reader) {
				t.Fatalf("R with %d eighths: accepted", j)
			}
		}
	}
}

// TestForms promises that what is written in another form than its own is not accepted where
// crypto/ed25519 does not: an R of small order in all its encodings, and an s of L more.
func TestForms(t *testing.T) {
	t.Parallel()
	var forms [][]byte
	for y := range 256 {
		for _, rest := range []byte{0, 0xff} {
			for _, last := range []byte{rest & 0x7f, rest&0x7f | 0x80} {
				in := append([]byte{byte(y)}, bytes.Repeat([]byte{rest}, 31)...)
				in[31] = last
				if _, err := new(edwards25519.Point).SetBytes(in); err == nil {
					forms = append(forms, in)
				}
			}
		}
	}
	if len(forms) < 200 {
		t.Fatalf("%d encodings are of points, want about half of 1024", len(forms))
	}
	o := newOwner("owner", small(t)[0])
	accepted := 0
	for _, r := range forms {
		k := scalar(string(r) + string(o.key) + "text") // good where R is zero
		s := signatures.Signature{Key: o.key, Text: []byte("text"), Sig: append(r, k.Multiply(k, o.a).Bytes()...)}
		list := []signatures.Signature{s}
		if alone(list) {
			accepted++
		}
		if signatures.Verify(list, rand.Reader) && !alone(list) {
			t.Errorf("R %x: accepted, and not by crypto/ed25519", r)
		}
	}
	if accepted != 1 {
		t.Errorf("crypto/ed25519 accepts %d, want zero in its one form", accepted)
	}
	s := o.sign("text", small(t)[0])
	l, err := hex.DecodeString("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010")
	check(t, err)
	carry := 0
	for i, b := range l {
		carry += int(b) + int(s.Sig[32+i])
		s.Sig[32+i] = byte(carry)
		carry >>= 8
	}
	if signatures.Verify([]signatures.Signature{s}, rand.Reader) {
		t.Error("s with L more: accepted")
	}
}

// TestChance promises that two bad signatures, made so that they add up to nothing, are not
// accepted: that needs numbers which nobody can know.
func TestChance(t *testing.T) {
	t.Parallel()
	list := honest(t, 2)
	one := scalar("any")
	for i, s := range list {
		of, err := edwards25519.NewScalar().SetCanonicalBytes(s.Sig[32:])
		check(t, err)
		if i == 0 {
			of.Add(of, one)
		} else {
			of.Subtract(of, one)
		}
		copy(s.Sig[32:], of.Bytes())
	}
	if signatures.Verify(list, rand.Reader) {
		t.Error("accepted")
	}
	if !signatures.Verify(list, strings.NewReader(strings.Repeat("one for all half", 4))) {
		t.Error("refused with one number for both, so that the test shows nothing")
	}
}

// TestIsKey promises that keys are refused for which others can sign, or whose signatures
// are not the same to all.
func TestIsKey(t *testing.T) {
	t.Parallel()
	for i, p := range small(t) {
		if got := signatures.IsKey(newOwner("owner", p).key); got != (i == 0) {
			t.Errorf("IsKey with %d eighths = %v", i, got)
		}
		if signatures.IsKey(p.Bytes()) {
			t.Errorf("IsKey of %d eighths alone = true", i)
		}
	}
}

// BenchmarkVerify reports the work by signature of batches of a few owners, and of as many
// owners as signatures, and how many times that crypto/ed25519 takes: the least of all runs.
func BenchmarkVerify(b *testing.B) {
	const n = 1024
	few, many := honest(b, n), make([]signatures.Signature, n)
	zero := small(b)[0]
	for i := range many {
		many[i] = newOwner(fmt.Sprint(i), zero).sign("text", zero)
	}
	took := [3]time.Duration{1 << 62, 1 << 62, 1 << 62}
	for b.Loop() {
		for i, do := range []func() bool{
			func() bool { return alone(few) },
			func() bool { return signatures.Verify(few, rand.Reader) },
			func() bool { return signatures.Verify(many, rand.Reader) },
		} {
			start := time.Now()
			if !do() {
				b.Fatal("refused")
			}
			took[i] = min(took[i], time.Since(start))
		}
	}
	b.ReportMetric(float64(took[0].Microseconds())/n, "us/alone")
	b.ReportMetric(float64(took[1].Microseconds())/n, "us/few-keys")
	b.ReportMetric(float64(took[2].Microseconds())/n, "us/many-keys")
}
