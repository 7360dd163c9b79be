package wire

import (
	"math"
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"bourse/hosts"
	"bourse/hosts/remote"
)

var (
	float = rapid.Float64()
	text  = rapid.String()
	count = rapid.Int64()
)

// anyTold returns a random report of a host.
func anyTold(r *rapid.T) *remote.Told {
	t := &remote.Told{
		Session: count.Draw(r, "session"), Boot: text.Draw(r, "boot"), After: text.Draw(r, "after"), Seq: count.Draw(r, "seq"), Have: count.Draw(r, "have"),
		First: count.Draw(r, "first"), Load: float.Draw(r, "load"), Closed: text.Draw(r, "closed"),
		Leaving: remote.Leaving(rapid.IntRange(0, 2).Draw(r, "leaving")),
		Offer: remote.Offer{
			Kind: text.Draw(r, "kind"), CPUs: float.Draw(r, "cpus"), Memory: float.Draw(r, "memory"), Disk: float.Draw(r, "disk"), Bandwidth: float.Draw(r, "bandwidth"),
			Apart: rapid.Bool().Draw(r, "apart"), Trust: texts(r, "trust"),
			Address: text.Draw(r, "address"), Ports: [2]int32{rapid.Int32().Draw(r, "first"), rapid.Int32().Draw(r, "last")}, Busy: ports(r),
			Counts: units(r),
		},
	}
	for range rapid.IntRange(0, 3).Draw(r, "spans") {
		s := remote.Span{Deal: count.Draw(r, "deal"), Length: float.Draw(r, "length"), At: float.Draw(r, "at")}
		for range rapid.IntRange(0, 3).Draw(r, "used") {
			s.Used = append(s.Used, remote.Used{Name: count.Draw(r, "name"), Seconds: float.Draw(r, "seconds"), Waited: float.Draw(r, "waited")})
		}
		t.Spans = append(t.Spans, s)
	}
	t.Stored = count.Draw(r, "stored")
	for range rapid.IntRange(0, 2).Draw(r, "deleted") {
		t.Deleted = append(t.Deleted, remote.Deleted{Name: count.Draw(r, "name"), Bytes: count.Draw(r, "bytes"), Why: text.Draw(r, "why")})
	}
	for range rapid.IntRange(0, 3).Draw(r, "ends") {
		t.Ends = append(t.Ends, remote.End{
			Name: count.Draw(r, "name"), Why: hosts.End(rapid.IntRange(0, int(hosts.Lost)).Draw(r, "why")), Code: rapid.Uint8().Draw(r, "code"),
			Signal: text.Draw(r, "signal"), Fault: text.Draw(r, "fault"), OutOfMemory: rapid.Bool().Draw(r, "oom"), Lacks: texts(r, "lacks"),
		})
	}
	return t
}

// ports returns random port numbers, or nil.
func ports(r *rapid.T) (all []int32) {
	for range rapid.IntRange(0, 2).Draw(r, "busy") {
		all = append(all, rapid.Int32().Draw(r, "port"))
	}
	return all
}

// texts returns random texts, or nil.
func texts(r *rapid.T, label string) (all []string) {
	for range rapid.IntRange(0, 2).Draw(r, label) {
		all = append(all, text.Draw(r, label))
	}
	return all
}

func anyLog(r *rapid.T) remote.Log {
	l := remote.Log{
		Name: count.Draw(r, "name"), Errors: rapid.Bool().Draw(r, "errors"), From: count.Draw(r, "from"),
		Size: count.Draw(r, "size"), Fault: text.Draw(r, "fault"),
	}
	if b := rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(r, "text"); len(b) > 0 {
		l.Text = b
	}
	l.Archive, l.Last = text.Draw(r, "archive"), rapid.Bool().Draw(r, "last")
	l.Paths = texts(r, "paths")
	return l
}

func units(r *rapid.T) (all map[string]int32) {
	for range rapid.IntRange(0, 2).Draw(r, "units") {
		if all == nil {
			all = make(map[string]int32)
		}
		all[text.Draw(r, "resource")] = rapid.Int32().Draw(r, "count")
	}
	return all
}

func anyOrders(r *rapid.T) *remote.Orders {
	o := &remote.Orders{
		Session: count.Draw(r, "session"), Boot: text.Draw(r, "boot"), Ack: count.Draw(r, "ack"), Deal: count.Draw(r, "deal"),
		Lease: float.Draw(r, "lease"), Drain: rapid.Bool().Draw(r, "drain"),
	}
	for range rapid.IntRange(0, 3).Draw(r, "known") {
		o.Known = append(o.Known, count.Draw(r, "name"))
	}
	for range rapid.IntRange(0, 3).Draw(r, "moved") {
		o.Moved = append(o.Moved, count.Draw(r, "name"))
	}
	for range rapid.IntRange(0, 3).Draw(r, "wanted") {
		o.Wanted = append(o.Wanted, remote.Wanted{
			Name: count.Draw(r, "name"), Contract: count.Draw(r, "contract"), Node: rapid.Int32().Draw(r, "node"), Nodes: rapid.Int32().Draw(r, "nodes"),
			Weight: float.Draw(r, "weight"), Limit: float.Draw(r, "limit"), Left: float.Draw(r, "left"), Job: text.Draw(r, "job"), Account: text.Draw(r, "account"), Work: math.Inf(1),
			Try: rapid.Int32().Draw(r, "try"), Warn: float.Draw(r, "warn"), Asked: rapid.Bool().Draw(r, "asked"),
			Checkpoint: float.Draw(r, "checkpoint"), Most: count.Draw(r, "most"), Saved: texts(r, "saved"), Peers: texts(r, "peers"), Port: rapid.Int32().Draw(r, "port"),
			Memory: count.Draw(r, "memory"), Disk: count.Draw(r, "disk"), Bandwidth: count.Draw(r, "bandwidth"), Counts: units(r),
		})
	}
	for range rapid.IntRange(0, 2).Draw(r, "logs") {
		o.Logs = append(o.Logs, anyLog(r))
	}
	return o
}

// filled checks that the random values set every transmitted field. Otherwise the tests could
// not detect that a message lacks a field.
func filled(t *testing.T, v reflect.Value, at string, stays ...string) {
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if f := v.Field(i); f.IsZero() {
			for _, s := range stays {
				if s == name {
					name = ""
				}
			}
			if name != "" {
				t.Errorf("%s.%s is never drawn", at, name)
			}
		}
	}
}

// over records which fields of the random values were set at least once.
func over(sum, v reflect.Value) {
	for i := range v.NumField() {
		if f := v.Field(i); !f.IsZero() {
			sum.Field(i).Set(f)
		}
	}
}

// TestRoundTrip checks that messages between a host and its market arrive completely and
// unchanged.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	var told remote.Told
	var offer remote.Offer
	var span remote.Span
	var end remote.End
	var orders remote.Orders
	var wanted remote.Wanted
	var log remote.Log
	rapid.Check(t, func(r *rapid.T) {
		want := anyTold(r)
		bytes, err := proto.Marshal(FromTold(want))
		if err != nil {
			r.Fatal(err)
		}
		var request SyncRequest
		if err := proto.Unmarshal(bytes, &request); err != nil {
			r.Fatal(err)
		}
		if got, err := ToTold(&request); err != nil || !reflect.DeepEqual(got, want) {
			r.Fatalf("got %+v, %v, want %+v", got, err, want)
		}
		over(reflect.ValueOf(&told).Elem(), reflect.ValueOf(*want))
		over(reflect.ValueOf(&offer).Elem(), reflect.ValueOf(want.Offer))
		for _, s := range want.Spans {
			over(reflect.ValueOf(&span).Elem(), reflect.ValueOf(s))
		}
		for _, e := range want.Ends {
			over(reflect.ValueOf(&end).Elem(), reflect.ValueOf(e))
		}
		o := anyOrders(r)
		if bytes, err = proto.Marshal(FromOrders(o)); err != nil {
			r.Fatal(err)
		}
		var response SyncResponse
		if err := proto.Unmarshal(bytes, &response); err != nil {
			r.Fatal(err)
		}
		if got := ToOrders(&response); !reflect.DeepEqual(got, o) {
			r.Fatalf("got %+v, want %+v", got, o)
		}
		over(reflect.ValueOf(&orders).Elem(), reflect.ValueOf(*o))
		for _, w := range o.Wanted {
			over(reflect.ValueOf(&wanted).Elem(), reflect.ValueOf(w))
		}
		for _, l := range o.Logs {
			over(reflect.ValueOf(&log).Elem(), reflect.ValueOf(l))
		}
	})
	filled(t, reflect.ValueOf(told), "Told")
	filled(t, reflect.ValueOf(offer), "Offer")
	filled(t, reflect.ValueOf(span), "Span")
	filled(t, reflect.ValueOf(end), "End")
	filled(t, reflect.ValueOf(orders), "Orders")
	filled(t, reflect.ValueOf(wanted), "Wanted", "Key")
	filled(t, reflect.ValueOf(log), "Log")
}

// FuzzTold checks that ToTold rejects a message, or converts it to a report that stays the same
// when it is encoded and decoded again.
func FuzzTold(f *testing.F) {
	seed, err := proto.Marshal(FromTold(&remote.Told{Session: 1, First: 1, Spans: []remote.Span{{Deal: 1, Length: 1, Used: []remote.Used{{Name: 1, Seconds: 1}}}}, Ends: []remote.End{{Name: 1}}}))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, bytes []byte) {
		var r SyncRequest
		if proto.Unmarshal(bytes, &r) != nil {
			return
		}
		told, err := ToTold(&r)
		if err != nil {
			return
		}
		again, err := ToTold(FromTold(told))
		if err != nil || !proto.Equal(FromTold(again), FromTold(told)) {
			t.Errorf("%+v: %+v, %v", told, again, err)
		}
	})
}
