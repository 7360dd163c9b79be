package scenario

import (
	"hash/fnv"
	"math/rand/v2"
)

// Stream returns the random source with the given name for replication rep. It depends only on
// its three parameters. The stream does not change if more numbers are drawn from other
// streams, or if another policy is run (common random numbers).
func Stream(seed uint64, rep int, name string) *rand.PCG {
	src := new(rand.PCG)
	Reseed(src, seed, rep, name)
	return src
}

// Reseed sets src to the state of the source that [Stream] returns.
func Reseed(src *rand.PCG, seed uint64, rep int, name string) {
	h := fnv.New64a()
	h.Write([]byte(name))
	src.Seed(mix(seed^mix(uint64(rep))), mix(h.Sum64()+seed))
}

// mix is the finalizer of SplitMix64, a bijection that scrambles the bits.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
