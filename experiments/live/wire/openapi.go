package wire

import _ "embed"

// OpenAPI is the OpenAPI 3.1 document of the calls of a market and of its bank, in JSON. It is
// generated from market.proto and bank.proto.
//
//go:embed openapi.json
var OpenAPI []byte
