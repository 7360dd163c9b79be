package live

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"bourse/hosts"
	"bourse/hosts/remote"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// chatter returns random records of all kinds. Most are reports of usage, in which each value
// differs from the true one by some microseconds.
func chatter(rng *rand.Rand, records, tasks int, off float64) (all []*record) {
	now, rates := 7e8, make([]float64, tasks)
	uses, ats, firsts, sessions := make([]float64, tasks), [3]float64{}, [3]int64{1, 1, 1}, [3]int64{1, 1, 1}
	deal := int64(1)
	for range records {
		r := &record{Now: now}
		now += rng.Float64()
		for h := range 3 {
			if rng.IntN(4) == 0 {
				continue
			}
			if rng.IntN(40) == 0 {
				r.Messages = append(r.Messages, message{Came: fmt.Sprint("h", h)})
			}
			if rng.IntN(40) == 0 {
				sessions[h], firsts[h] = sessions[h]+1, 1
			}
			t := &remote.Told{Session: sessions[h], Boot: fmt.Sprint("b", sessions[h]), Seq: rng.Int64N(1000), First: firsts[h]}
			for range rng.IntN(3) {
				s := remote.Span{Deal: deal, Length: micro(rng.Float64() * 2)}
				ats[h] += s.Length
				s.At = micro(ats[h])
				if deal += rng.Int64N(2); rng.IntN(9) == 0 {
					s.At = 0
				}
				for i := h; i < tasks; i += 3 {
					if rng.IntN(30) == 0 {
						rates[i] = rng.Float64()
					}
					if rng.IntN(50) == 0 {
						continue
					}
					uses[i] += rates[i] * s.Length
					s.Used = append(s.Used, remote.Used{Name: int64(i), Seconds: uses[i] + off*rng.NormFloat64(), Waited: float64(rng.IntN(3)*rng.IntN(5000)) / 1e3})
				}
				if rng.IntN(100) == 0 {
					s.Length = []float64{1e9, 1.0 / 3, -1e-300, 5e7}[rng.IntN(4)]
				}
				t.Spans = append(t.Spans, s)
			}
			firsts[h] += int64(len(t.Spans))
			if rng.IntN(10) == 0 {
				t.Ends = append(t.Ends, remote.End{Name: rng.Int64(), Why: hosts.Exited, Code: 1, Fault: "x\xff"})
			}
			r.Messages = append(r.Messages, message{Report: must(newReport(fmt.Sprint("h", h), t))})
		}
		all = append(all, r)
	}
	return all
}

// TestCodec checks that decoded records equal the encoded ones. Reading must be possible from
// each record at which a codec was reset, and from no other record.
func TestCodec(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 2))
		all := chatter(rng, 200, 30, 1e-4)
		var texts [][]byte
		var first []int
		var c codec
		for i, r := range all {
			if rng.IntN(40) == 0 {
				c = codec{}
			}
			if c.hosts == nil {
				first = append(first, i)
			}
			texts = append(texts, must(c.encode(r)))
		}
		for _, from := range first {
			var c codec
			for i, b := range texts[from:] {
				r, err := c.decode(b)
				if err != nil || !reflect.DeepEqual(r, all[from+i]) {
					t.Fatalf("seed %d: record %d read from %d on: %v\n%+v, want\n%+v", seed, from+i, from, err, r, all[from+i])
				}
			}
		}
		if len(first) < 2 || first[1] > 1 {
			if r, err := new(codec).decode(texts[1]); !errors.Is(err, errDamaged) {
				t.Errorf("seed %d: the second record alone is read as %+v, %v", seed, r, err)
			}
		}
	}
}

// TestReportBounds checks that a report is refused before it is logged if a time in it is not a
// number or is longer than a host can have measured.
func TestReportBounds(t *testing.T) {
	t.Parallel()
	for _, x := range []float64{math.NaN(), math.Inf(1), 1e300, -1e300, 2 * mostTime} {
		for _, s := range []remote.Span{{Length: x}, {At: x}, {Used: []remote.Used{{Seconds: x}}}, {Used: []remote.Used{{Waited: x}}}} {
			if r, err := newReport("h", &remote.Told{Spans: []remote.Span{s}}); err == nil {
				t.Errorf("%+v is logged as %+v", s, r)
			}
		}
	}
}

// TestLogSize checks that the processor time of a task takes three to four bytes per second
// on disk if readings are off by 0.1 ms. 2,000 tasks then fill 0.6 GB per day.
func TestLogSize(t *testing.T) {
	t.Parallel()
	const tasks, seconds = 20, 2000
	rng, dir := rand.New(rand.NewPCG(1, 3)), t.TempDir()
	l := must(openLog(dir, nil, false, nil))
	rates, uses, at := make([]float64, tasks), make([]float64, tasks), 5000.0
	for i := range seconds {
		s := remote.Span{Deal: 7, Length: 1.001 + 1e-3*rng.Float64()}
		at += s.Length
		s.At = at
		for n := range tasks {
			if rng.IntN(200) == 0 || i == 0 {
				rates[n] = rng.Float64()
			}
			uses[n] += rates[n] * s.Length
			s.Used = append(s.Used, remote.Used{Name: int64(1000 + n), Seconds: uses[n] - 1e-4*rng.Float64()})
		}
		r := &record{Now: at, Messages: []message{{Report: must(newReport("h00", &remote.Told{Session: 1, Boot: "b", Seq: int64(i), First: int64(i), Spans: []remote.Span{s}}))}}}
		l.seq++
		must(0, l.db.Set(key(recordTable, l.seq), must(l.codec.encode(r)), pebble.NoSync))
	}
	must(0, errors.Join(l.db.Compact(t.Context(), []byte{0}, []byte{255}, true), l.db.Close()))
	if got := folderBytes(t, dir) / tasks / seconds; got > 3.6 {
		t.Errorf("%.2f bytes per task and second", got)
	} else {
		t.Logf("%.2f bytes per task and second", got)
	}
}

// TestLogDamaged truncates the files of a log at each byte and changes each byte. In the files
// in which Pebble describes the log, it changes every 23rd byte. Reading must return the
// records that were written, or report the damage. Pebble may treat damaged records in the file
// of the last writes as a write that was interrupted by a power failure, and omit them and all
// later records.
func TestLogDamaged(t *testing.T) {
	t.Parallel()
	const dir = "market"
	all := chatter(rand.New(rand.NewPCG(1, 5)), 5, 3, 1e-4)
	for _, flushed := range []bool{false, true} {
		disk := vfs.NewMem()
		l := must(openLog(dir, disk, false, nil))
		for _, r := range all {
			must(0, l.add(r))
		}
		if flushed {
			must(0, l.db.Flush())
		}
		must(0, l.db.Close())
		reported, short := 0, 0
		for _, name := range must(disk.List(dir)) {
			path := disk.PathJoin(dir, name)
			text := readFile(disk, path)
			try := func(b []byte, what string) {
				writeFile(disk, path, b)
				defer writeFile(disk, path, text)
				l, err := openLog(dir, disk, true, func(error) {})
				if err != nil {
					reported++
					return
				}
				n := 0
				for _, r := range l.records(1, &err) {
					if n == len(all) || !reflect.DeepEqual(r, all[n]) {
						t.Fatalf("%s %s: record %d is %+v", name, what, n+1, r)
					}
					n++
				}
				if err = errors.Join(err, l.db.Close()); err != nil {
					reported++
				} else if n < len(all) {
					short++
					if flushed {
						t.Errorf("%s %s: %d of %d records, and no error", name, what, n, len(all))
					}
				}
			}
			step := 1
			if !strings.HasSuffix(name, ".log") && !strings.HasSuffix(name, ".sst") {
				step = 23
			}
			for i := 0; i < len(text); i += step {
				try(text[:i], fmt.Sprintf("cut after %d bytes", i))
				changed := append([]byte(nil), text...)
				changed[i] ^= 0x55
				try(changed, fmt.Sprintf("with byte %d changed", i))
			}
		}
		t.Logf("flushed %v: %d damages reported, %d logs read to some record", flushed, reported, short)
		if reported == 0 {
			t.Error("nothing was reported")
		}
	}
}

func readFile(fs vfs.FS, path string) []byte {
	f := must(fs.Open(path))
	defer f.Close()
	return must(io.ReadAll(f))
}

func writeFile(fs vfs.FS, path string, text []byte) {
	f := must(fs.Create(path, vfs.WriteCategoryUnspecified))
	must(f.Write(text))
	must(0, f.Close())
}

// FuzzCodec decodes records that may be damaged. Decoding must fail, or return a record that
// stays the same if it is encoded and decoded again.
func FuzzCodec(f *testing.F) {
	var c codec
	for _, r := range chatter(rand.New(rand.NewPCG(1, 4)), 5, 9, 1e-4) {
		f.Add(must(c.encode(r)))
		c = codec{}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := new(codec).decode(b)
		if err != nil {
			return
		}
		for i := range r.Messages {
			if m := r.Messages[i].Report; m != nil {
				if _, err := newReport(m.Host, &m.Told); err != nil {
					return // no market logs this record
				}
			}
		}
		text, err := new(codec).encode(r)
		if err != nil {
			return // values that JSON cannot represent, or invalid UTF-8
		}
		again, err := new(codec).decode(text)
		if (err != nil || !reflect.DeepEqual(again, r)) && !math.IsNaN(r.Now) {
			t.Errorf("%+v is read as %+v, %v", r, again, err)
		}
	})
}
