package swf

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
)

// gwfFields are the names of the fields of the Grid Workload Format that a log has, in its order.
var gwfFields = [16]string{
	"JobID", "SubmitTime", "WaitTime", "RunTime", "NProcs", "AverageCPUTimeUsed", "UsedMemory", "ReqNProcs", "ReqTime", "ReqMemory",
	"Status", "UserID", "GroupID", "ExecutableID", "QueueID", "PartitionID",
}

// gwfHeader contains the keys of header lines that have the same meaning in a log.
var gwfHeader = []string{"Computer", "Installation", "Acknowledge", "Information", "UnixStartTime", "TimeZone", "TimeZoneString", "StartTime", "EndTime", "MaxNodes", "MaxProcs", "MaxRuntime", "MaxMemory"}

// gwfAll is the number of fields in the Grid Workload Format.
const gwfAll = 29

// sinceEpoch is the smallest submit time that is treated as a Unix time. A log that starts at 0
// would reach it only after three years.
const sinceEpoch = 1e8

func looksGWF(text []byte) bool {
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return len(strings.Fields(line)) == gwfAll
		}
	}
	return false
}

// readGWF reads the Grid Workload Format of the Grid Workloads Archive: lines of 29 fields.
// The first 16 are the same as in SWF, but users, groups, executables, queues and partitions
// may have names. Comments start with #.
func readGWF(c *conversion, in *bufio.Reader) error {
	acc := &c.trace.Accounting
	beyond := 0
	for {
		text, err := in.ReadBytes('\n')
		if len(text) == 0 && err == io.EOF {
			break
		}
		if err != nil && err != io.EOF {
			return err
		}
		partial := err == io.EOF
		c.line++
		acc.Lines++
		switch text = bytes.TrimSpace(text); {
		case len(text) == 0:
			acc.Blank++
			continue
		case text[0] == '#':
			acc.Comments++
			line := strings.TrimSpace(strings.TrimLeft(string(text), "#"))
			if key, _, _ := strings.Cut(line, ":"); !slices.Contains(gwfHeader, strings.TrimSpace(key)) {
				line = "Note: " + line
			}
			c.trace.Header = append(c.trace.Header, "; "+line)
			continue
		}
		more := c.gwf(strings.Fields(string(text)), partial)
		if more {
			beyond++
		}
	}
	if acc.Skipped > len(c.trace.Records) || acc.Lines == 0 {
		c.line = max(1, c.line)
		return errors.New("not in the Grid Workload Format: want lines of 29 fields")
	}
	if beyond > 0 {
		c.unused("values in fields 17 to 29 (sites, structure of the job, network, disk, project) of %d records", beyond)
	}
	for i := range c.trace.Records {
		if c.trace.Records[i].Submit >= sinceEpoch {
			c.unix = true
		}
	}
	return nil
}

// gwf adds a line, and reports whether fields without a place in the log have values.
func (c *conversion) gwf(fields []string, partial bool) (beyond bool) {
	if len(fields) < 5 {
		c.skip(TooFewFields, "", strings.Join(fields, " "))
		return false
	}
	var v [Fields]float64
	for i := range v {
		v[i] = Unknown
	}
	if partial {
		c.repair(NoNewline, "", "")
	}
	if len(fields) < gwfAll {
		c.repair(FieldsMissing, "", "")
	}
	for i := 1; i < min(len(fields), 11); i++ {
		x, ok := number([]byte(fields[i]))
		switch {
		case !ok:
			c.skip(NotNumber, gwfFields[i], fields[i])
			return false
		case math.Abs(x) > maxNumber:
			c.skip(OutOfRange, gwfFields[i], fields[i])
			return false
		case x < 0 && x != Unknown:
			c.repair(NegativeUnknown, gwfFields[i], fields[i])
			x = Unknown
		case columns[i].whole && x != math.Trunc(x):
			c.repair(FractionCut, gwfFields[i], fields[i])
			x = math.Trunc(x)
		}
		v[i] = x
	}
	if v[1] < 0 {
		c.skip(NoSubmit, gwfFields[1], fields[1])
		return false
	}
	var r Record
	r.set(&v)
	for i, to := range []struct {
		at *int64
		n  *numbering
	}{{&r.User, &c.users}, {&r.Group, &c.groups}, {&r.Application, &c.applications}, {&r.Queue, &c.queues}, {&r.Partition, &c.partitions}} {
		if 11+i < len(fields) {
			*to.at = to.n.number(fields[11+i])
		}
	}
	c.add(fields[0], r)
	for _, f := range fields[min(len(fields), 16):] {
		if f != "-1" && f != "UNITARY" {
			return true
		}
	}
	return false
}
