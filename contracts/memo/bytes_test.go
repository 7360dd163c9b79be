package memo

import (
	"errors"
	"math"
	"reflect"
	"testing"
)

// TestBytes checks that the decoded value equals the encoded value, that shared references are
// shared again, that random sources continue at the same position, and that functions come from
// like.
func TestBytes(t *testing.T) {
	t.Parallel()
	w, like := newWorld(), newWorld()
	w.rng.Uint64()
	w.list[0], w.fixed[1] = -3, 8
	like.list[0] = 9
	b, err := Encode(w, like)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Decode(b, like)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(c.list, w.list) || c.head.name != "a" || c.none != nil || !reflect.DeepEqual(c.array, w.array) || !reflect.DeepEqual(c.nodes, w.nodes) || *c.fixed != [3]int{0, 8} {
		t.Errorf("%+v", c)
	}
	if c.rng.Uint64() != w.rng.Uint64() {
		t.Error("chance goes another way")
	}
	if c.head.next != c.tail || c.tail.next != c.tail || c.byKey["n"] != c.tail || c.head.any != any(c.tail) {
		t.Error("one has become two")
	}
	if c.list[1] = 7; c.twice[1] != 7 || w.list[1] != 0 || cap(c.list) != 5 || len(c.twice) != 2 {
		t.Error("lists that are one are two, or the other way round")
	}
	for n := range b {
		if _, err := Decode(b[:n], like); err == nil {
			t.Fatalf("%d of %d bytes were read", n, len(b))
		}
	}
	if _, err := Decode(append(b, 0), like); err == nil {
		t.Error("a byte too many was read")
	}
}

// TestFewBytes checks the smallest inputs: no bytes, a truncated number, and a reference to a
// value that does not exist.
func TestFewBytes(t *testing.T) {
	t.Parallel()
	b, err := Encode(new(struct{}), new(struct{}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(b, new(struct{})); err != nil {
		t.Errorf("nothing: %v", err)
	}
	type number struct{ X int }
	if b, err = Encode(&number{3}, new(number)); err != nil {
		t.Fatal(err)
	}
	if n, err := Decode(b[:len(b)-1], new(number)); err == nil {
		t.Errorf("a number that is cut off is read as %d", n.X)
	}
	type pointer struct{ P *int }
	if b, err = Encode(new(pointer), new(pointer)); err != nil {
		t.Fatal(err)
	}
	for n := range byte(2) {
		if p, err := Decode(append(b[:len(b)-1], isSeen, n), new(pointer)); err == nil {
			t.Errorf("what is seen as number %d is %v", n, p.P)
		}
	}
}

// TestBytesOfOthers checks that bytes with different types, or with functions that like lacks,
// are rejected.
func TestBytesOfOthers(t *testing.T) {
	t.Parallel()
	type one struct {
		F func() int
		X float64
	}
	type other struct {
		F func() int
		Y float64
	}
	seven := func() int { return 7 }
	b, err := Encode(&one{seven, math.NaN()}, new(one))
	if err != nil {
		t.Fatal(err)
	}
	if c, err := Decode(b, &one{F: func() int { return 8 }}); err != nil || c.F() != 8 || !math.IsNaN(c.X) {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err := Decode(b, new(one)); err == nil {
		t.Errorf("a function was read: %+v", c)
	}
	type holder struct{ Held any }
	if b, err := Encode(&holder{one{seven, 1}}, &holder{one{}}); err != nil {
		t.Error(err)
	} else if c, err := Decode(b, &holder{one{F: func() int { return 8 }}}); err != nil || c.Held.(one).F() != 8 {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := Decode(b, new(other)); !errors.Is(err, ErrOther) {
		t.Errorf("another type: %v", err)
	}
	if _, err := Encode(&world{head: &node{any: 3}}, new(world)); err == nil {
		t.Error("a type was written that nobody knows")
	}
	x := make(chan int)
	if _, err := Encode(&x, new(chan int)); err == nil {
		t.Error("a channel was written")
	}
}
