package live

import (
	"encoding/json"
	"errors"
	"fmt"

	"bourse/experiments/live/wire"
	"bourse/hosts"
	"bourse/hosts/remote"

	"google.golang.org/protobuf/proto"
)

// recordFormat is the version number of the record format. If the log has another format, the
// market starts a new log.
const recordFormat = "2"

// A codec encodes the records of a log as protobuf messages. It must decode records in the
// order in which they were encoded. Pebble compresses the records in blocks with zstd.
//
// Most of a log consists of the processor times of tasks, which hosts report every second. A
// codec stores only the change in a task's usage since the previous record, so an unchanged
// task takes two or three bytes on disk. The first record after a checkpoint stores the full
// usage, so that reading can start there.
type codec struct{ hosts map[string]*reported }

// A reported contains the last report of a host. Its times are in microseconds.
type reported struct {
	seq, first, at int64
	tasks          map[int64]*reportedTask // tasks by name
}

type reportedTask struct{ used, increase, waited int64 }

// of returns the last report of the given host.
func (c *codec) of(host string) *reported {
	r := c.hosts[host]
	if r == nil {
		r = &reported{tasks: make(map[int64]*reportedTask)}
		c.hosts[host] = r
	}
	return r
}

func (r *reported) task(name int64) *reportedTask {
	t := r.tasks[name]
	if t == nil {
		t = new(reportedTask)
		r.tasks[name] = t
	}
	return t
}

// encode returns r in the log's format.
func (c *codec) encode(r *record) ([]byte, error) {
	out := &wire.Record{Now: r.Now, First: c.hosts == nil}
	if out.First {
		c.hosts = make(map[string]*reported)
	}
	for i := range r.Messages {
		m := &r.Messages[i]
		if m.Report != nil {
			out.Messages = append(out.Messages, &wire.Message{Report: c.encodeReport(m.Report)})
			continue
		}
		other, err := json.Marshal(m)
		if err != nil {
			return nil, err
		}
		out.Messages = append(out.Messages, &wire.Message{Other: other})
	}
	return proto.Marshal(out)
}

func (c *codec) encodeReport(t *hostReport) *wire.HostReport {
	last := c.of(t.Host)
	out := &wire.HostReport{Host: t.Host, Session: t.Session, Boot: t.Boot, After: t.After, Seq: t.Seq - last.seq, First: t.First - last.first}
	last.seq, last.first = t.Seq, t.First
	for i := range t.Spans {
		s := &t.Spans[i]
		at, length := micros(s.At), micros(s.Length)
		span := &wire.UsageSpan{Deal: s.Deal, Length: length, At: at - last.at - length}
		last.at = at
		waits := false
		for _, u := range s.Used {
			t, used, waited := last.task(u.Name), micros(u.Seconds), micros(u.Waited)
			increase := used - t.used
			span.Names = append(span.Names, u.Name)
			span.Used = append(span.Used, increase-t.increase)
			span.Waited = append(span.Waited, waited-t.waited)
			waits = waits || waited != t.waited
			t.used, t.increase, t.waited = used, increase, waited
		}
		if !waits {
			span.Waited = nil
		}
		out.Spans = append(out.Spans, span)
	}
	for _, e := range t.Ends {
		out.Ends = append(out.Ends, &wire.TaskEnd{Name: e.Name, Why: int32(e.Why), Code: uint32(e.Code), Signal: e.Signal, Fault: []byte(e.Fault), OutOfMemory: e.OutOfMemory})
	}
	return out
}

var (
	errDamaged = errors.New("the record is damaged, or follows records that were not read")
	errFormat  = errors.New("an earlier version wrote the record, in another format")
)

// decode returns the record that b encodes.
func (c *codec) decode(b []byte) (*record, error) {
	if len(b) > 0 && (b[0] == '{' || b[0] == 1 || b[0] == 2) { // no protobuf record begins with this byte
		return nil, errFormat
	}
	var in wire.Record
	if err := proto.Unmarshal(b, &in); err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	if in.First {
		c.hosts = make(map[string]*reported)
	} else if c.hosts == nil {
		return nil, errDamaged
	}
	r := &record{Now: in.Now}
	for _, m := range in.Messages {
		var out message
		if m.Report != nil {
			if out.Report = c.decodeReport(m.Report); out.Report == nil {
				return nil, errDamaged
			}
		} else if err := json.Unmarshal(m.Other, &out); err != nil {
			return nil, fmt.Errorf("%w: %w", errDamaged, err)
		}
		r.Messages = append(r.Messages, out)
	}
	return r, nil
}

// decodeReport decodes a report. decodeReport returns nil if the record contains no report.
func (c *codec) decodeReport(in *wire.HostReport) *hostReport {
	last := c.of(in.Host)
	last.seq += in.Seq
	last.first += in.First
	out := &hostReport{in.Host, remote.Told{Session: in.Session, Boot: in.Boot, After: in.After, Seq: last.seq, First: last.first}}
	for _, s := range in.Spans {
		if len(s.Used) != len(s.Names) || len(s.Waited) > 0 && len(s.Waited) != len(s.Names) {
			return nil
		}
		last.at += s.At + s.Length
		span := remote.Span{Deal: s.Deal, Length: fromMicros(s.Length), At: fromMicros(last.at)}
		for i, name := range s.Names {
			t := last.task(name)
			t.increase += s.Used[i]
			t.used += t.increase
			if len(s.Waited) > 0 {
				t.waited += s.Waited[i]
			}
			span.Used = append(span.Used, remote.Used{Name: name, Seconds: fromMicros(t.used), Waited: fromMicros(t.waited)})
		}
		out.Spans = append(out.Spans, span)
	}
	for _, e := range in.Ends {
		out.Ends = append(out.Ends, remote.End{Name: e.Name, Why: hosts.End(e.Why), Code: uint8(e.Code), Signal: e.Signal, Fault: string(e.Fault), OutOfMemory: e.OutOfMemory})
	}
	return out
}
