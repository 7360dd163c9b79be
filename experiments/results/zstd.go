package results

import (
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	parquetzstd "github.com/parquet-go/parquet-go/compress/zstd"
)

// window is more than a page has.
const window = 1 << 20

// A codec is the library's own, with an encoder to the same bytes that keeps a window of 1 MB
// in place of one of 8.
type codec struct {
	*parquetzstd.Codec
	encoder *zstd.Encoder
}

func newCodec() codec {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true), zstd.WithEncoderCRC(false), zstd.WithWindowSize(window))
	if err != nil {
		panic("results: " + err.Error()) // options that are in order
	}
	return codec{&parquet.Zstd, e}
}

// Encode implements [compress.Codec].
func (c codec) Encode(dst, src []byte) ([]byte, error) { return c.encoder.EncodeAll(src, dst[:0]), nil }
