package results

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// A Unit is the outcome of some replications of one configuration. It can be combined with
// other units.
type Unit struct {
	Block   Block
	Values  []float64         // values defined by the caller, which may be NaN
	Ledgers map[string]string // head of every stored journal, keyed by its directory
	Heard   string            // SHA-256 of the questions to programs and their answers; empty if there were none

	long []longText // tables that are not in Block; if Block contains a table as Parquet, this is its CSV form
}

// A longText is a table inside the file of a unit.
type longText struct{ path, name string }

// muchText is a size in bytes. A larger text is not loaded into memory. It is copied when units
// are combined.
const muchText = 1 << 20

// bytes returns the values of u in the form stored in files.
func (u *Unit) bytes() []byte {
	b := make([]byte, 0, 8*len(u.Values))
	for _, x := range u.Values {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
	}
	return b
}

// read sets the values of u from the stored form b.
func (u *Unit) read(b []byte) {
	u.Values = make([]float64, 0, len(b)/8)
	for ; len(b) >= 8; b = b[8:] {
		u.Values = append(u.Values, math.Float64frombits(binary.LittleEndian.Uint64(b)))
	}
}

// A contents lists the parts of a unit, except its values.
type contents struct {
	Tables  []string          `json:"tables"`
	Ledgers map[string]string `json:"ledgers"`
	Heard   string            `json:"heard,omitempty"`
}

const (
	contentsName = "contents.json"
	valuesName   = "values"
)

func readUnit(path string) (*Unit, error) {
	z, err := zip.OpenReader(path)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	unit := &Unit{Block: make(Block)}
	found := make(map[string][]byte)
	for _, f := range z.File {
		packed := strings.TrimSuffix(f.Name, csvKind) + parquetKind
		if f.UncompressedSize64 > muchText && slices.ContainsFunc(z.File, func(f *zip.File) bool { return f.Name == packed }) {
			unit.long = append(unit.long, longText{path, f.Name})
			continue
		}
		if found[f.Name], err = content(f); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	var of contents
	if err := json.Unmarshal(found[contentsName], &of); err != nil || found[valuesName] == nil || len(found)+len(unit.long) != 2+len(of.Tables) {
		return nil, fmt.Errorf("damaged: the %s does not match the content", contentsName)
	}
	unit.Ledgers, unit.Heard = of.Ledgers, of.Heard
	unit.read(found[valuesName])
	for _, table := range of.Tables {
		if slices.Contains(unit.long, longText{path, table}) {
			continue
		}
		if unit.Block[table] = found[table]; unit.Block[table] == nil {
			return nil, fmt.Errorf("damaged: found no %s", table)
		}
	}
	return unit, nil
}

// copyTo writes the table to w.
func (t longText) copyTo(w io.Writer) error {
	z, err := zip.OpenReader(t.path)
	if err != nil {
		return err
	}
	defer z.Close()
	in, err := z.Open(t.name)
	if err != nil {
		return err
	}
	defer in.Close()
	_, err = io.CopyBuffer(w, in, make([]byte, muchText)) // reading to the end also verifies the checksum
	return err
}

func content(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b := bytes.NewBuffer(make([]byte, 0, min(f.UncompressedSize64, maxTable)+bytes.MinRead))
	_, err = b.ReadFrom(r) // reading to the end also verifies the checksum
	return b.Bytes(), err
}
