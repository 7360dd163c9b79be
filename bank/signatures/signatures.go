// Package signatures verifies many ed25519 signatures at once, in a third of the time that
// they take one by one, and accepts those alone that crypto/ed25519 accepts.
//
// It does not know what is signed, nor whose a key is.
//
// # Design
//
// A signature (R, s) of a text by the key A, with k the hash of the three, is good if
//
//	D = sB - kA - R
//
// is zero. So crypto/ed25519 has it, which wants R written in its one form and s less than
// L, the order of B, too. A batch asks whether the sum of zD is zero, with a secret number
// z of 128 bits for each signature, drawn after all were made. Among the multiples of B,
// that happens once in 2^128 if one D is not zero.
//
// The curve has eight times as many points, though. Who owns a key can sign with an R that
// is a multiple of B plus a point of order 2, 4 or 8, and one such sum in two to eight
// misses that. ZIP 215, and with it package ed25519consensus, multiplies sums by 8 and
// so accepts all of these. But then an audit would accept what the door of a bank refuses,
// or refuse it where something else in its batch is bad; and an owner could disown a
// signature that other programs do not accept. So every R and A must be a multiple of B
// here: 64 sums are taken, each of a random half of them, and L times each must be zero. A
// point that is no multiple is in half of the sums, whatever else is in them: all of them
// miss it once in 2^64.
//
// Who is told that a batch is not good asks crypto/ed25519 of each, which has the last
// word: a key may be no multiple of B, and its signatures good. Package keys refuses these.
package signatures

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha512"
	"io"

	"filippo.io/edwards25519"
)

// A Signature is one of a text, by the owner of a key.
type Signature struct {
	Key  ed25519.PublicKey
	Text []byte
	Sig  []byte
}

// Verify reports whether all signatures are good, with chance that nobody can predict, such
// as crypto/rand.Reader. It returns false if one is not, if chance fails, or if a key is no
// multiple of B.
func Verify(all []Signature, chance io.Reader) bool {
	const each = 16 + 2*halvesSize
	random := make([]byte, len(all)*each)
	if _, err := io.ReadFull(chance, random); err != nil {
		return false
	}
	b := newBatch(len(all))
	for i := range all {
		r := random[i*each:][:each]
		if !b.add(&all[i], r[:16], r[16:][:halvesSize], r[16+halvesSize:]) {
			return false
		}
	}
	return b.isZero() && b.halves.areMultiples()
}

// A batch is the sum of z(kA + R - sB), which is zero if all signatures are good.
type batch struct {
	points  []*edwards25519.Point
	scalars []*edwards25519.Scalar // that they are taken times
	keys    map[string]*edwards25519.Scalar
	halves  *halves
}

func newBatch(n int) *batch {
	b := &batch{
		points:  make([]*edwards25519.Point, 0, n+2),
		scalars: make([]*edwards25519.Scalar, 0, n+2),
		keys:    make(map[string]*edwards25519.Scalar),
		halves:  newHalves(),
	}
	b.put(edwards25519.NewGeneratorPoint())
	return b
}

// put puts a point in the sum, no times yet.
func (b *batch) put(p *edwards25519.Point) *edwards25519.Scalar {
	times := edwards25519.NewScalar()
	b.points, b.scalars = append(b.points, p), append(b.scalars, times)
	return times
}

// add adds z times a signature, unless it is bad by itself.
func (b *batch) add(s *Signature, z, halvesOfKey, halvesOfR []byte) bool {
	if len(s.Key) != ed25519.PublicKeySize || len(s.Sig) != ed25519.SignatureSize || !oneForm(s.Sig[:32]) {
		return false
	}
	r, err := new(edwards25519.Point).SetBytes(s.Sig[:32])
	if err != nil {
		return false
	}
	times, err := edwards25519.NewScalar().SetCanonicalBytes(s.Sig[32:])
	if err != nil {
		return false
	}
	key := b.keys[string(s.Key)]
	if key == nil {
		a, err := new(edwards25519.Point).SetBytes(s.Key)
		if err != nil {
			return false
		}
		key = b.put(a)
		b.keys[string(s.Key)] = key
		b.halves.add(a, halvesOfKey)
	}
	hash := sha512.New()
	hash.Write(s.Sig[:32])
	hash.Write(s.Key)
	hash.Write(s.Text)
	var sum [sha512.Size]byte
	k, err := edwards25519.NewScalar().SetUniformBytes(hash.Sum(sum[:0]))
	if err != nil {
		return false
	}
	var wide [32]byte
	copy(wide[:], z)
	zed := b.put(r)
	if _, err := zed.SetCanonicalBytes(wide[:]); err != nil {
		return false
	}
	key.MultiplyAdd(zed, k, key)
	base := b.scalars[0]
	base.Subtract(base, times.Multiply(times, zed))
	b.halves.add(r, halvesOfR)
	return true
}

// oneForm tells whether a point has no other encoding than r, as nearly all have.
func oneForm(r []byte) bool {
	middle := r[1:31]
	return bytes.Count(middle, []byte{0}) < len(middle) && bytes.Count(middle, []byte{0xff}) < len(middle)
}

// isZero tells whether the sum is.
func (b *batch) isZero() bool {
	const most = 256 // whose tables the nearest caches hold
	sum := edwards25519.NewIdentityPoint()
	for from := 0; from < len(b.points); from += most {
		to := min(from+most, len(b.points))
		sum.Add(sum, new(edwards25519.Point).VarTimeMultiScalarMult(b.scalars[from:to], b.points[from:to]))
	}
	return isZero(sum)
}

func isZero(p *edwards25519.Point) bool { return p.Equal(edwards25519.NewIdentityPoint()) == 1 }

// halves are the sums of random halves of points: for each four of these, what is in those
// of them that the bits of the place say.
type halves [2 * halvesSize][16]*edwards25519.Point

const halvesSize = 8 // bytes, a bit for each half that a point may be in

func newHalves() *halves {
	h := new(halves)
	for i := range h {
		for j := range h[i] {
			h[i][j] = edwards25519.NewIdentityPoint()
		}
	}
	return h
}

// add adds a point to the halves that bits say.
func (h *halves) add(p *edwards25519.Point, bits []byte) {
	for i, b := range bits {
		for j, place := range [2]byte{b & 15, b >> 4} {
			sum := h[2*i+j][place]
			sum.Add(sum, p)
		}
	}
}

// areMultiples tells whether the sums are multiples of B.
func (h *halves) areMultiples() bool {
	for _, four := range h {
		for bit := range 4 {
			sum := edwards25519.NewIdentityPoint()
			for place, p := range four {
				if place>>bit&1 == 1 {
					sum.Add(sum, p)
				}
			}
			if !isMultiple(sum) {
				return false
			}
		}
	}
	return true
}

// isMultiple tells whether p is a multiple of B: L times p is zero, taken as L-1 times, and
// once more.
func isMultiple(p *edwards25519.Point) bool {
	q := new(edwards25519.Point).VarTimeMultiScalarMult([]*edwards25519.Scalar{minusOne}, []*edwards25519.Point{p})
	return isZero(q.Add(q, p))
}

// minusOne is L-1.
var minusOne = func() *edwards25519.Scalar {
	one, err := edwards25519.NewScalar().SetCanonicalBytes(append([]byte{1}, make([]byte, 31)...))
	if err != nil {
		panic("signatures: " + err.Error())
	}
	return one.Negate(one)
}()

// IsKey reports whether a key is one that ed25519 makes: a multiple of B, and not zero.
// Anybody can sign for some of the others.
func IsKey(key ed25519.PublicKey) bool {
	p, err := new(edwards25519.Point).SetBytes(key)
	return err == nil && oneForm(key) && isMultiple(p)
}
