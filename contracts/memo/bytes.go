package memo

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
)

// Encode returns x as bytes, from which [Decode] creates the same copy that [Copy] would
// create. The argument like is a value of the same type. The value like must contain all types
// that interfaces in x hold, and the same functions.
func Encode[T any](x, like *T) ([]byte, error) {
	known := newKnown(reflect.ValueOf(like).Elem())
	e := encoder{known: known, seen: make(map[place]int), caps: make(map[int]int)}
	sum := known.sum()
	e.out = append(e.out, sum[:]...)
	e.put(reflect.ValueOf(x).Elem())
	return e.out, e.err
}

// Decode returns the value encoded in b, with the functions of like. It returns an error if b
// was written by a program with different types.
func Decode[T any](b []byte, like *T) (*T, error) {
	from := reflect.ValueOf(like).Elem()
	d := decoder{known: newKnown(from)}
	sum := d.known.sum()
	if len(b) < len(sum) || string(b[:len(sum)]) != string(sum[:]) {
		return nil, ErrOther
	}
	d.in = b[len(sum):]
	out := new(T)
	d.get(reflect.ValueOf(out).Elem(), from)
	if d.err == nil && len(d.in) > 0 {
		d.err = errBytes
	}
	return out, d.err
}

// ErrOther means that a program with different types wrote the bytes.
var ErrOther = errors.New("it was written by another version")

var errBytes = errors.New("memo: the bytes are not those of a memo")

// known maps names to the types that interfaces in a value hold.
type known struct {
	types map[string]reflect.Type
	all   map[reflect.Type]string // description of each type
	at    map[place]bool
}

func newKnown(v reflect.Value) *known {
	k := &known{types: make(map[string]reflect.Type), all: make(map[reflect.Type]string), at: make(map[place]bool)}
	k.describe(v.Type())
	k.walk(v)
	return k
}

// sum returns a hash that identifies the types of this program.
func (k *known) sum() [sha256.Size]byte {
	return sha256.Sum256([]byte(strings.Join(slices.Sorted(maps.Values(k.all)), "")))
}

func name(t reflect.Type) string { return t.PkgPath() + " " + t.String() }

// walk finds the types that interfaces in v hold. The value v must be addressable.
func (k *known) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Slice:
		if v.IsNil() || k.at[place{v.UnsafePointer(), v.Type()}] {
			return
		}
		k.at[place{v.UnsafePointer(), v.Type()}] = true
		if v.Kind() == reflect.Pointer {
			k.walk(v.Elem())
			return
		}
		for i := range v.Len() {
			k.walk(v.Index(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			k.walk(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			k.walk(field(v, i))
		}
	case reflect.Map:
		for i := v.MapRange(); i.Next(); {
			k.walk(addressed(i.Value()))
		}
	case reflect.Interface:
		if !v.IsNil() {
			t := v.Elem().Type()
			k.types[name(t)] = t
			k.describe(t)
			k.walk(addressed(v.Elem()))
		}
	}
}

// describe adds t, and the types that it contains, to the description that is hashed.
func (k *known) describe(t reflect.Type) {
	if k.all[t] != "" {
		return
	}
	k.all[t] = fmt.Sprintln(name(t), t.Kind())
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		k.describe(t.Elem())
	case reflect.Map:
		k.describe(t.Key())
		k.describe(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			k.all[t] += fmt.Sprintln(t.Field(i).Name, name(t.Field(i).Type))
			k.describe(t.Field(i).Type)
		}
	}
}

// addressed returns an addressable copy of v.
func addressed(v reflect.Value) reflect.Value {
	p := reflect.New(v.Type()).Elem()
	p.Set(v)
	return p
}

// An encoder writes one value.
type encoder struct {
	*known
	out  []byte
	seen map[place]int // number assigned to each pointer and slice
	caps map[int]int   // length of each slice, by number
	err  error
}

// These are the prefixes of an encoded pointer, slice, map, interface or function.
const (
	isNil = iota
	isNew
	isSeen
)

func (e *encoder) number(n int) { e.out = binary.AppendUvarint(e.out, uint64(n)) }

func (e *encoder) fail(format string, args ...any) {
	if e.err == nil {
		e.err = fmt.Errorf("memo: "+format, args...)
	}
}

// put writes v, which must be addressable.
func (e *encoder) put(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			e.number(1)
		} else {
			e.number(0)
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		e.out = binary.AppendVarint(e.out, v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		e.out = binary.AppendUvarint(e.out, v.Uint())
	case reflect.Float32, reflect.Float64:
		e.out = binary.LittleEndian.AppendUint64(e.out, math.Float64bits(v.Float()))
	case reflect.String:
		e.number(v.Len())
		e.out = append(e.out, v.String()...)
	case reflect.Struct:
		for i := range v.NumField() {
			e.put(field(v, i))
		}
	case reflect.Array:
		for i := range v.Len() {
			e.put(v.Index(i))
		}
	default:
		if v.IsNil() {
			e.number(isNil)
			return
		}
		e.reach(v)
	}
}

// reach writes the values that v refers to.
func (e *encoder) reach(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if e.begin(v, 0) {
			e.put(v.Elem())
		}
	case reflect.Slice:
		if e.begin(v, v.Cap()) {
			e.number(v.Cap())
			all := v.Slice(0, v.Cap())
			for i := range all.Len() {
				e.put(all.Index(i))
			}
		}
		e.number(v.Len())
		e.number(v.Cap())
	case reflect.Map:
		e.number(isNew)
		e.number(v.Len())
		keys := v.MapKeys() // sort the keys, so that equal values have equal bytes
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		for _, key := range keys {
			e.put(addressed(key))
			e.put(addressed(v.MapIndex(key)))
		}
	case reflect.Interface:
		t := v.Elem().Type()
		if e.types[name(t)] != t {
			e.fail("found an unexpected %v", t)
		}
		e.number(isNew)
		e.number(len(name(t)))
		e.out = append(e.out, name(t)...)
		e.put(addressed(v.Elem()))
	case reflect.Func:
		e.number(isNew)
	default:
		e.fail("%v cannot be written", v.Type())
	}
}

// begin writes the reference v, and reports whether the target of v must still be written.
func (e *encoder) begin(v reflect.Value, room int) bool {
	key := place{v.UnsafePointer(), v.Type()}
	if n, ok := e.seen[key]; ok && e.caps[n] >= room {
		e.number(isSeen)
		e.number(n)
		return false
	}
	n := len(e.caps)
	e.seen[key], e.caps[n] = n, room
	e.number(isNew)
	return true
}

// A decoder reads one value.
type decoder struct {
	*known
	in   []byte
	seen []reflect.Value
	err  error
}

func (d *decoder) fail() {
	if d.err == nil {
		d.err = errBytes
	}
	d.in = nil
}

func (d *decoder) unsigned() uint64 {
	x, n := binary.Uvarint(d.in)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.in = d.in[n:]
	return x
}

// number reads a number. It must not exceed the length of the remaining input.
func (d *decoder) number() int {
	x := d.unsigned()
	if x > 1<<40 {
		d.fail()
		return 0
	}
	return int(x)
}

func (d *decoder) bytes(n int) []byte {
	if n < 0 || n > len(d.in) {
		d.fail()
		return nil
	}
	b := d.in[:n]
	d.in = d.in[n:]
	return b
}

// get reads v, which must be settable. The argument like is the corresponding part of the
// value passed to Decode, or invalid.
func (d *decoder) get(v, like reflect.Value) {
	if d.err != nil {
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(d.unsigned() == 1)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		x, n := binary.Varint(d.in)
		if n <= 0 {
			d.fail()
			return
		}
		d.in = d.in[n:]
		v.SetInt(x)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		v.SetUint(d.unsigned())
	case reflect.Float32, reflect.Float64:
		if b := d.bytes(8); b != nil {
			v.SetFloat(math.Float64frombits(binary.LittleEndian.Uint64(b)))
		}
	case reflect.String:
		v.SetString(string(d.bytes(d.number())))
	case reflect.Struct:
		for i := range v.NumField() {
			var l reflect.Value
			if like.IsValid() {
				l = field(like, i)
			}
			d.get(field(v, i), l)
		}
	case reflect.Array:
		for i := range v.Len() {
			d.get(v.Index(i), element(like, i))
		}
	default:
		switch d.number() {
		case isNil:
		case isNew:
			d.reach(v, like)
		case isSeen:
			n := d.number()
			if n >= len(d.seen) || d.err != nil || d.seen[n].Type() != v.Type() {
				d.fail()
				return
			}
			d.set(v, d.seen[n])
		default:
			d.fail()
		}
	}
}

// set sets v to x. For a slice, it uses the encoded length.
func (d *decoder) set(v, x reflect.Value) {
	if v.Kind() == reflect.Slice {
		n, room := d.number(), d.number()
		if d.err != nil || n > room || room > x.Cap() {
			d.fail()
			return
		}
		x = x.Slice3(0, n, room)
	}
	v.Set(x)
}

// reach reads the values that v refers to.
func (d *decoder) reach(v, like reflect.Value) {
	t := v.Type()
	if like.IsValid() && like.IsNil() {
		like = reflect.Value{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		p := reflect.New(t.Elem())
		d.seen = append(d.seen, p.Convert(t))
		if like.IsValid() {
			like = like.Elem()
		}
		d.get(p.Elem(), like)
		v.Set(p.Convert(t))
	case reflect.Slice:
		n := d.number()
		if n > len(d.in)+1<<20 { // elements may have size 0
			d.fail()
			return
		}
		s := reflect.MakeSlice(t, n, n)
		d.seen = append(d.seen, s)
		for i := range n {
			d.get(s.Index(i), element(like, i))
		}
		d.set(v, s)
	case reflect.Map:
		n := d.number()
		m := reflect.MakeMap(t)
		for range n {
			if d.err != nil {
				return
			}
			key, value := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
			d.get(key, reflect.Value{})
			var l reflect.Value
			if like.IsValid() {
				if l = like.MapIndex(key); l.IsValid() {
					l = addressed(l)
				}
			}
			d.get(value, l)
			m.SetMapIndex(key, value)
		}
		v.Set(m)
	case reflect.Interface:
		held := d.types[string(d.bytes(d.number()))]
		if held == nil || !held.AssignableTo(t) {
			d.fail()
			return
		}
		x := reflect.New(held).Elem()
		if like.IsValid() {
			if like = like.Elem(); like.Type() == held {
				like = addressed(like)
			} else {
				like = reflect.Value{}
			}
		}
		d.get(x, like)
		v.Set(x)
	case reflect.Func:
		if !like.IsValid() {
			d.fail()
			return
		}
		v.Set(like)
	default:
		d.fail()
	}
}

// element returns element i of a list, or an invalid value.
func element(like reflect.Value, i int) reflect.Value {
	if !like.IsValid() || i >= like.Len() {
		return reflect.Value{}
	}
	return like.Index(i)
}
