package results

import (
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	parquetzstd "github.com/parquet-go/parquet-go/compress/zstd"
)

// window is the window size of encoders, in bytes. It is also the maximum size of a block that
// they compress. The bytes of numbers may be split. A block of this size then contains either
// exponents, which compress well, or mantissas, which do not.
const window = 8 << 10

// A codec is the library's zstd codec with an encoder that has a smaller window.
type codec struct {
	*parquetzstd.Codec
	encoder *zstd.Encoder
}

func newCodec() codec {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true), zstd.WithEncoderCRC(false), zstd.WithWindowSize(window), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		panic("results: " + err.Error()) // the options are valid
	}
	return codec{&parquet.Zstd, e}
}

// Encode implements [compress.Codec].
func (c codec) Encode(dst, src []byte) ([]byte, error) { return c.encoder.EncodeAll(src, dst[:0]), nil }
