package fitlab

import (
	"bytes"
	"fmt"
	"testing"

	"bourse/workloadgen/describe"
	"bourse/workloadgen/swf"
)

// TestCopies checks that a log and its copy are described in the same way and that the
// header of the copy counts its records.
func TestCopies(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"KTH-SP2-1996-2.1-cln.swf.gz", "LANL-CM5-1994-4.1-cln.swf.gz", "SDSC-BLUE-2000-4.1-cln.valid.swf.gz",
		"SDSC-BLUE-first60days-queues1-4.haizea.swf.gz", "SDSC-SP2-1998-4.1-cln.valid.swf.gz", "lublin_256.synthetic.swf.gz",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := &Log{Name: name, Trace: trace(t, name)}
			var text bytes.Buffer
			if err := log.Copy().Write(&text); err != nil {
				t.Fatal(err)
			}
			copied, err := swf.Read(&text)
			if err != nil {
				t.Fatal(err)
			}
			was, is := describe.Describe(log.Trace), describe.Describe(copied)
			if n, ok := copied.Header.Int("MaxRecords"); ok && n != int64(len(copied.Records)) {
				t.Errorf("MaxRecords %d of %d records", n, len(copied.Records))
			}
			was.Header, is.Header = nil, nil
			if was, is := fmt.Sprintf("%+v", *was), fmt.Sprintf("%+v", *is); was != is { // some are NaN
				t.Errorf("described as %.2000s, want %.2000s", is, was)
			}
		})
	}
}
