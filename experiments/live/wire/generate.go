package wire

//go:generate go run github.com/bufbuild/buf/cmd/buf@v1.61.0 generate
//go:generate go test . -run TestOpenAPI -count 1 -update
