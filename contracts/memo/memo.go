// Package memo makes deep copies. A copy includes all values that can be reached from the
// original, exported or not. Copy and original therefore share no mutable data. If the original
// contains two references to the same value, so does the copy.
//
// The package is independent of the copied types. Functions are shared, so a value must not
// have mutable state hidden in a function.
package memo

import (
	"fmt"
	"reflect"
	"unsafe"
)

// Copy returns a copy of x. Pointers to the types in shared, which must be immutable, are
// shared.
func Copy[T any](x *T, shared ...reflect.Type) *T {
	c := copier{seen: make(map[place]reflect.Value, 128), forms: make(map[reflect.Type]*form, 128)}
	for _, t := range shared {
		c.forms[reflect.PointerTo(t)] = new(form) // values of this type contain no references
	}
	out := new(T)
	*out = *x
	c.part(c.form(reflect.TypeFor[T]()), unsafe.Pointer(out))
	return out
}

// A copier copies one value.
type copier struct {
	seen  map[place]reflect.Value // copies, by their originals
	forms map[reflect.Type]*form
}

// A place is the target of a pointer or slice.
type place struct {
	at unsafe.Pointer
	of reflect.Type
}

// A form describes where values of a type contain references.
type form struct {
	reaches bool // whether values of the type contain references
	of      reflect.Type
	elem    *form  // form of the elements of pointers, slices and arrays
	fields  []part // fields of structs that contain references
}

// A part is a field of a struct.
type part struct {
	*form
	offset uintptr
}

// form returns the form of t.
func (c *copier) form(t reflect.Type) *form {
	if f, ok := c.forms[t]; ok {
		return f
	}
	f := &form{of: t}
	c.forms[t] = f // set before the recursion, because a type may contain itself
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		f.reaches = true
		f.elem = c.form(t.Elem())
	case reflect.Map, reflect.Interface, reflect.Chan, reflect.UnsafePointer:
		f.reaches = true
	case reflect.Array:
		f.elem = c.form(t.Elem())
		f.reaches = f.elem.reaches
	case reflect.Struct:
		for i := range t.NumField() {
			if of := c.form(t.Field(i).Type); of.reaches {
				f.fields = append(f.fields, part{of, t.Field(i).Offset})
			}
		}
		f.reaches = len(f.fields) > 0
	}
	return f
}

// part updates the value at p, which is a shallow copy. It replaces each reference with a
// reference to a copy of the target.
func (c *copier) part(f *form, p unsafe.Pointer) {
	if !f.reaches {
		return
	}
	v := func() reflect.Value { return reflect.NewAt(f.of, p).Elem() }
	switch f.of.Kind() {
	case reflect.Struct:
		for i := range f.fields {
			c.part(f.fields[i].form, unsafe.Add(p, f.fields[i].offset))
		}
	case reflect.Array:
		c.parts(f.elem, p, f.of.Len())
	case reflect.Pointer:
		if *(*unsafe.Pointer)(p) != nil {
			*(*unsafe.Pointer)(p) = c.pointer(f, v())
		}
	case reflect.Slice:
		if v := v(); !v.IsNil() {
			v.Set(c.slice(f, v).Slice3(0, v.Len(), v.Cap()))
		}
	case reflect.Map:
		v := v()
		if v.IsNil() {
			return
		}
		m := reflect.MakeMapWithSize(f.of, v.Len())
		for i := v.MapRange(); i.Next(); {
			m.SetMapIndex(c.value(i.Key()), c.value(i.Value()))
		}
		v.Set(m)
	case reflect.Interface:
		if v := v(); !v.IsNil() {
			v.Set(c.value(v.Elem()))
		}
	default:
		panic(fmt.Sprintf("memo: %v cannot be copied", f.of))
	}
}

// parts calls part for n consecutive values.
func (c *copier) parts(f *form, p unsafe.Pointer, n int) {
	if !f.reaches {
		return
	}
	for i := range uintptr(n) {
		c.part(f, unsafe.Add(p, i*f.of.Size()))
	}
}

// value returns a copy of x, which need not be addressable.
func (c *copier) value(x reflect.Value) reflect.Value {
	to := reflect.New(x.Type())
	to.Elem().Set(x)
	c.part(c.form(x.Type()), to.UnsafePointer())
	return to.Elem()
}

func (c *copier) pointer(f *form, p reflect.Value) unsafe.Pointer {
	key := place{p.UnsafePointer(), f.of}
	copied, ok := c.seen[key]
	if !ok {
		copied = reflect.New(f.of.Elem())
		c.seen[key] = copied
		copied.Elem().Set(p.Elem())
		c.part(f.elem, copied.UnsafePointer())
	}
	return copied.UnsafePointer()
}

// slice returns a copy of s up to its capacity.
func (c *copier) slice(f *form, s reflect.Value) reflect.Value {
	key := place{s.UnsafePointer(), f.of}
	if copied, ok := c.seen[key]; ok && copied.Cap() >= s.Cap() {
		return copied
	}
	n := s.Cap()
	copied := reflect.MakeSlice(f.of, n, n)
	c.seen[key] = copied
	reflect.Copy(copied, s.Slice(0, n))
	c.parts(f.elem, copied.UnsafePointer(), n)
	return copied
}

// field returns field i of v as a settable value, exported or not.
func field(v reflect.Value, i int) reflect.Value {
	f := v.Field(i)
	return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
}
