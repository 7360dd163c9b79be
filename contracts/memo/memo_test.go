package memo

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

type node struct {
	name string
	next *node
	any  any
}

type world struct {
	list  []int
	twice []int // second reference to list
	head  *node
	tail  *node // second reference to the node head
	byKey map[string]*node
	rng   *rand.Rand
	fixed *[3]int
	none  *node
	array [2][]string
	nodes []node
}

func newWorld() *world {
	list := make([]int, 3, 5)
	n := &node{name: "b"}
	n.next = n
	return &world{
		list: list, twice: list[:2], head: &node{name: "a", next: n, any: n}, tail: n,
		byKey: map[string]*node{"n": n}, rng: rand.New(rand.NewPCG(1, 2)), fixed: new([3]int), array: [2][]string{{"x"}, {"", "z"}},
		nodes: []node{{name: "c"}, {name: "d", next: &node{name: "e"}}},
	}
}

// TestCopy checks that a copy is equal, shares nothing mutable except the given types, and has
// the same shared references as the original.
func TestCopy(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.rng.Uint64()
	c := Copy(w, reflect.TypeFor[[3]int]())
	if c.fixed != w.fixed {
		t.Error("what is shared was copied")
	}
	if !reflect.DeepEqual(c.list, w.list) || c.head.name != "a" || c.none != nil || !reflect.DeepEqual(c.array, w.array) || !reflect.DeepEqual(c.nodes, w.nodes) {
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
	c.tail.name, c.array[0][0] = "c", "y"
	c.array[1][0], c.nodes[1].next.name = "y", "f"
	c.byKey["m"] = nil
	if w.tail.name != "b" || len(w.byKey) != 1 || w.array[0][0] != "x" || w.array[1][0] != "" || w.nodes[1].next.name != "e" {
		t.Error("a copy that is changed changes the original")
	}
	for range 3 {
		c.rng.Uint64()
	}
	if a, b := newWorld().rng, w.rng; func() bool { a.Uint64(); a.Uint64(); return a.Uint64() != b.Uint64() }() {
		t.Error("a copy draws from the original's chance")
	}
}

// TestCopyRefuses checks that values that cannot be copied are rejected.
func TestCopyRefuses(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("a channel was copied")
		}
	}()
	x := make(chan int)
	Copy(&x)
}
