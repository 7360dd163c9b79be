package main

import (
	"bourse/experiments/live/wire"

	"github.com/urfave/cli/v2"
)

var openapiCommand = command(`openapi
print the OpenAPI document of a market and its bank

The document describes market.v1 and bank.v1 in OpenAPI 3.1, as JSON. It contains every call, with
its fields and its errors. Programs in other languages can make these calls with JSON, as curl does
(bourse docs calls).

   bourse openapi > openapi.json
   curl -d '{}' -H 'Content-Type: application/json' http://127.0.0.1:8421/bourse.market.v1.Market/Hosts`, func(c *cli.Context, _ *none) error {
	_, err := c.App.Writer.Write(wire.OpenAPI)
	return err
})
