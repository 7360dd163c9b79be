package main

import (
	"math/rand/v2"
	"strconv"
	"strings"

	"bourse/experiments"
	"bourse/experiments/calibrate"
	"bourse/experiments/scenario"

	"github.com/urfave/cli/v2"
)

func forecastCommand() *cli.Command {
	return &cli.Command{
		Name:  "forecast",
		Usage: "hold forecasters of prices against prices, drawn and recorded",
		Description: `Asks every forecaster, a tenth of its window apart, for the price that the next window
does not exceed with probability g, and prints for what part of that time the price was at
most that (coverage), how high it was (sharpness) and its pinball loss. Prices are the sums
of bids that arrive as a Poisson process, in bursts and by the hours of the day; and,
from the files of --traces, spot prices of EC2 and the demand of the logs of KTH and SDSC.

   bourse forecast
   bourse forecast --guarantee 0.5..0.95/0.05 --traces traces --out forecasts`,
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "guarantee", Value: "0.6,0.9", Usage: "ask for percentiles at `G`: from..to/step, or between commas"},
			&cli.StringSliceFlag{Name: "forecaster", Usage: "ask the forecaster `NAME`: " + strings.Join(experiments.NamesOf("forecaster"), ", ") + " (default: all)"},
			&cli.StringFlag{Name: "traces", Usage: "look at the recorded files in `DIR`, too"},
			seedFlag(), workersFlag("series"),
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "write the diagram, its numbers and the page to `DIR`"},
			noProgressFlag(),
		}, outputFlags[calibrate.Held]()...),
		Action: forecastAction,
	}
}

func forecastAction(c *cli.Context) error {
	if err := checkWorkers(c); err != nil {
		return err
	}
	values, err := scenario.Values(c.String("guarantee"))
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
	series := calibrate.Drawn(func(name string) rand.Source { return scenario.Stream(c.Uint64("seed"), 0, name) })
	notes := []string{"No recorded prices were named. --traces DIR takes them."}
	if dir := c.String("traces"); dir != "" {
		recorded, missing, err := calibrate.Recorded(dir)
		if err != nil {
			return err
		}
		series, notes = append(series, recorded...), missing
	}
	h, err := experiments.Forecast(c.Context, series, names, gs, experiments.Options{Workers: c.Int("workers"), Progress: progress(c, "forecasts")})
	if err != nil {
		return err
	}
	h.Notes = append(notes, h.Notes...)
	d := h.Document()
	d.Command = again(c, "guarantee", "forecaster", "traces", "seed")
	var wrote []string
	if out := c.String("out"); out != "" {
		if wrote, err = writeDocument(out, "forecast.html", d); err != nil {
			return err
		}
	}
	return show(c, d, wrote)
}
