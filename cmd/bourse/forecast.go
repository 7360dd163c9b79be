package main

import (
	"math/rand/v2"
	"strconv"

	"bourse/experiments"
	"bourse/experiments/scenario"
	"bourse/experiments/study"

	"github.com/urfave/cli/v2"
)

var forecastCommand = command(`forecast
compare price forecasters on simulated and recorded prices

Ten times per window, each forecaster predicts the price that, with probability g, will not be
exceeded in the next window. For each forecaster, the command prints the coverage, the sharpness and
the pinball loss. Coverage is the fraction of time during which the price was at most the forecast.
Sharpness is the mean forecast divided by the mean price. The simulated prices are sums of bids that
arrive as a Poisson process, in bursts, or in a daily cycle. With --traces, the command also uses
recorded EC2 spot prices, and the demand in the KTH and SDSC logs.

   bourse study forecast
   bourse study forecast --guarantee 0.5..0.95/0.05 --traces traces --out forecasts`, forecastAction)

type forecastOptions struct {
	Guarantee          string   `default:"0.6,0.9" doc:"forecast the percentiles {G}: a range from..to/step, or numbers separated by commas"`
	Forecaster         []string `shown:"all" of:"forecaster" doc:"ask the forecaster {NAME}"`
	Traces             string   `doc:"also use the recorded files in {DIR}"`
	seedOption         `yaml:",inline"`
	Workers            int    `default:"cpus" validate:"min=1" doc:"run {N} series in parallel; the results do not depend on N"`
	Out                string `alias:"o" doc:"write the diagram, its numbers and the page to {DIR}"`
	noProgressOption   `yaml:",inline"`
	output[study.Held] `yaml:",inline"`
}

func forecastAction(c *cli.Context, o *forecastOptions) error {
	values, err := scenario.Values(o.Guarantee)
	if err != nil {
		return usagef("--guarantee: %w", err)
	}
	var gs []float64
	for _, v := range values {
		g, err := strconv.ParseFloat(string(v), 64)
		if err != nil || !(g > 0 && g < 1) {
			return usagef("--guarantee: found %s, want numbers more than 0 and less than 1", v)
		}
		gs = append(gs, g)
	}
	names, err := namedForecasters(c, experiments.NamesOf("forecaster"))
	if err != nil {
		return err
	}
	series := study.Drawn(func(name string) rand.Source { return scenario.Stream(o.Seed, 0, name) })
	notes := []string{"No recorded prices were used, because --traces DIR was not given."}
	if dir := o.Traces; dir != "" {
		recorded, missing, err := study.Recorded(dir)
		if err != nil {
			return err
		}
		series, notes = append(series, recorded...), missing
	}
	h, err := study.Forecast(c.Context, series, names, gs, experiments.Options{Workers: o.Workers, Progress: progress(c, "forecasts")})
	if err != nil {
		return err
	}
	h.Notes = append(notes, h.Notes...)
	d := h.Document()
	d.Command = again(c, "guarantee", "forecaster", "traces", "seed")
	return showOut(c, o.Out, "forecast.html", d)
}
