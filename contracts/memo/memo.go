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
	c := copier{seen: make(map[place]reflect.Value, 128), forms: make(map[reflect.Type]*form, 128)}
	for _, t := range shared {
		c.forms[reflect.PointerTo(t)] = new(form) // nothing to be done
	}
	out := new(T)
	*out = *x
	c.part(c.form(reflect.TypeFor[T]()), unsafe.Pointer(out))
	return out
}

// A copier copies one value.
type copier struct {
	seen  map[place]reflect.Value // copies, by what they are copies of
	forms map[reflect.Type]*form
}

// A place is what a pointer or slice leads to.
type place struct {
	at unsafe.Pointer
	of reflect.Type
}

// A form says what is reached from values of a type.
type form struct {
	reaches bool // anything
	of      reflect.Type
	elem    *form  // of pointers, slices and arrays
	fields  []part // of structs: those that reach anything
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
	c.forms[t] = f // a type may reach itself
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

// part gives the value at p, which is like the original, copies of what it reaches.
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

// parts does it for n values, one after another.
func (c *copier) parts(f *form, p unsafe.Pointer, n int) {
	if !f.reaches {
		return
	}
	for i := range uintptr(n) {
		c.part(f, unsafe.Add(p, i*f.of.Size()))
	}
}

// value returns a copy of x, which need not be addressed.
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

// slice returns a copy of all that s has room for.
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

// field returns field i of v so that it can be set, exported or not.
func field(v reflect.Value, i int) reflect.Value {
	f := v.Field(i)
	return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
}
