package results

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// These are the maximum sizes of an uncompressed page and of its header. Pages written by runs
// are far smaller.
const (
	maxPage   = 1 << 26
	maxHeader = 1 << 14
)

// undamaged calls read and returns its error. If read panics, it returns an error about the
// panic. The Parquet library trusts the sizes in a file, even if the file is damaged, and may
// panic.
func undamaged(read func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("damaged: %v", p)
		}
	}()
	return read()
}

// footerOf returns the footer of a Parquet file, and the offset at which it begins. It rejects
// a file that claims a footer longer than the file. The library would allocate as much memory as
// the file claims.
func footerOf(in io.ReaderAt, size int64) (begin int64, meta *format.FileMetaData, err error) {
	var last [footed]byte
	if size < int64(len(magic))+footed {
		return 0, nil, errors.New("not Parquet: the file is too short")
	}
	if _, err := in.ReadAt(last[:], size-footed); err != nil {
		return 0, nil, err
	}
	if string(last[4:]) != magic {
		return 0, nil, fmt.Errorf("not Parquet: ends in %q, want %q", last[4:], magic)
	}
	text := int64(binary.LittleEndian.Uint32(last[:]))
	if begin = size - footed - text; begin < int64(len(magic)) {
		return 0, nil, fmt.Errorf("damaged: the footer has %d bytes, but the whole file has %d", text, size)
	}
	b := make([]byte, text)
	if _, err := in.ReadAt(b, begin); err != nil {
		return 0, nil, err
	}
	meta = new(format.FileMetaData)
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), b, meta); err != nil {
		return 0, nil, fmt.Errorf("damaged: footer: %w", err)
	}
	return begin, meta, nil
}

// checkPages rejects a file whose pages claim impossible sizes. The library would allocate an
// unlimited amount of memory for them.
func checkPages(in io.ReaderAt, size int64, p *parquet.File) error {
	for _, g := range p.Metadata().RowGroups {
		for _, c := range g.Columns {
			m := &c.MetaData
			at := m.DataPageOffset
			if d := m.DictionaryPageOffset; d > 0 && d < at {
				at = d
			}
			end := at + m.TotalCompressedSize
			if at < 4 || end < at || end > size || m.NumValues != g.NumRows || g.NumRows < 0 {
				return errors.New("damaged: a column lies outside the file, or does not have as many rows as its group")
			}
			values := int64(0)
			for at < end {
				n, length, err := checkPage(io.NewSectionReader(in, at, min(end-at, maxHeader)), end-at, g.NumRows)
				if err != nil {
					return err
				}
				at, values = at+length, values+n
			}
			if values != g.NumRows {
				return fmt.Errorf("damaged: the pages of a column have %d values, want %d", values, g.NumRows)
			}
		}
	}
	return nil
}

// checkPage returns the number of rows of a page and its length in bytes, which must not
// exceed left.
func checkPage(in io.Reader, left, rows int64) (values, length int64, err error) {
	window, err := io.ReadAll(in)
	if err != nil {
		return 0, 0, err
	}
	r := bytes.NewReader(window)
	var h format.PageHeader
	if err := thrift.NewDecoder(new(thrift.CompactProtocol).NewReader(r)).Decode(&h); err != nil {
		return 0, 0, fmt.Errorf("damaged: page header: %w", err)
	}
	var data int64
	switch h.Type {
	case format.DictionaryPage:
		values = int64(h.DictionaryPageHeader.V.NumValues)
	case format.DataPage:
		values = int64(h.DataPageHeader.V.NumValues)
		data = values
	case format.DataPageV2:
		values = int64(h.DataPageHeaderV2.V.NumValues)
		data = values
	}
	length = int64(len(window)-r.Len()) + int64(h.CompressedPageSize)
	if values < 0 || values > rows || h.CompressedPageSize < 0 || h.UncompressedPageSize < 0 || h.UncompressedPageSize > maxPage || length > left {
		return 0, 0, fmt.Errorf("damaged: a page has %d values in %d bytes (%d bytes uncompressed)", values, h.CompressedPageSize, h.UncompressedPageSize)
	}
	return data, length, nil
}
