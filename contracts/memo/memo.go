// Package memo copies values whole: all that can be reached from one, exported or not,
// so that the copy and the original share nothing that can change. What is reached by
// two ways in the original is reached by both in the copy.
//
// It does not know what it copies. Functions are taken over as they are: a value with
// memory of its own must not hide it in one.
package memo

import (
	"fmt"
	"reflect"
	"unsafe"
)

// Copy returns a copy of x. Pointers to the types of shared, which do not change, are
// taken over.
func Copy[T any](x *T, shared ...reflect.Type) *T {
	c := copier{seen: make(map[place]reflect.Value), plain: make(map[reflect.Type]bool), shared: make(map[reflect.Type]bool)}
	for _, t := range shared {
		c.shared[reflect.PointerTo(t)] = true
	}
	out := new(T)
	c.copy(reflect.ValueOf(out).Elem(), reflect.ValueOf(x).Elem())
	return out
}

// A copier copies one value.
type copier struct {
	seen   map[place]reflect.Value // copies, by what they are copies of
	plain  map[reflect.Type]bool   // types without anything in them that is reached
	shared map[reflect.Type]bool
}

// A place is what a pointer or slice leads to.
type place struct {
	at unsafe.Pointer
	of reflect.Type
}

// copy makes dst a copy of src. Both can be addressed.
func (c *copier) copy(dst, src reflect.Value) {
	t := src.Type()
	switch {
	case c.isPlain(t) || c.shared[t]:
		dst.Set(src)
		return
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			c.copy(field(dst, i), field(src, i))
		}
		return
	case t.Kind() == reflect.Array:
		for i := range t.Len() {
			c.copy(dst.Index(i), src.Index(i))
		}
		return
	case src.IsNil():
		dst.SetZero()
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		dst.Set(c.pointer(src))
	case reflect.Slice:
		dst.Set(c.slice(src).Slice3(0, src.Len(), src.Cap()))
	case reflect.Map:
		dst.Set(reflect.MakeMapWithSize(t, src.Len()))
		for i := src.MapRange(); i.Next(); {
			dst.SetMapIndex(c.value(i.Key()), c.value(i.Value()))
		}
	case reflect.Interface:
		dst.Set(c.value(src.Elem()))
	default:
		panic(fmt.Sprintf("memo: %v cannot be copied", t))
	}
}

// value returns a copy of x, which need not be addressed.
func (c *copier) value(x reflect.Value) reflect.Value {
	from, to := reflect.New(x.Type()).Elem(), reflect.New(x.Type()).Elem()
	from.Set(x)
	c.copy(to, from)
	return to
}

func (c *copier) pointer(p reflect.Value) reflect.Value {
	key := place{p.UnsafePointer(), p.Type()}
	if copied, ok := c.seen[key]; ok {
		return copied
	}
	copied := reflect.New(p.Type().Elem())
	c.seen[key] = copied
	c.copy(copied.Elem(), p.Elem())
	return copied
}

// slice returns a copy of all that s has room for.
func (c *copier) slice(s reflect.Value) reflect.Value {
	key := place{s.UnsafePointer(), s.Type()}
	if copied, ok := c.seen[key]; ok && copied.Cap() >= s.Cap() {
		return copied
	}
	s = s.Slice(0, s.Cap())
	copied := reflect.MakeSlice(s.Type(), s.Len(), s.Len())
	c.seen[key] = copied
	if c.isPlain(s.Type().Elem()) {
		reflect.Copy(copied, s)
		return copied
	}
	for i := range s.Len() {
		c.copy(copied.Index(i), s.Index(i))
	}
	return copied
}

// isPlain reports whether nothing is reached from values of t.
func (c *copier) isPlain(t reflect.Type) bool {
	plain, known := c.plain[t]
	if known {
		return plain
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface, reflect.Chan, reflect.UnsafePointer:
	case reflect.Struct:
		plain = true
		for i := range t.NumField() {
			plain = plain && c.isPlain(t.Field(i).Type)
		}
	case reflect.Array:
		plain = c.isPlain(t.Elem())
	default:
		plain = true
	}
	c.plain[t] = plain
	return plain
}

// field returns field i of v so that it can be set, exported or not.
func field(v reflect.Value, i int) reflect.Value {
	f := v.Field(i)
	return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
}
