// Package report presents the results of an experiment as tables, figures, curves in a
// terminal, and a page that contains everything.
//
// All output is derived from two models. A [Table] becomes text or HTML. A [Figure] becomes SVG,
// PNG, CSV, Vega-Lite or lines of text. A [Document] contains tables and figures, with notes and
// values for programs. An [Output] describes the JSON form of these values, with its version and
// schema. The same model always results in the same bytes. The package is independent of the
// computation and the meaning of numbers.
//
// # Design
//
// The colours are the palette of Okabe and Ito. People with any form of colour vision can
// distinguish them. Each curve also has its own dash pattern and glyph, so that the page is
// readable when printed in black. Lines are labelled at their ends. Captions state the number
// of replications on which intervals are based.
//
// Figures use gonum/plot, PDF files use fpdf, and tables use go-pretty. The package implements
// the following features, which these libraries do not have. Charts in a terminal: no
// maintained library draws with braille characters without taking control of the screen. A
// canvas for PDF: the canvas of gonum/plot embeds whole fonts and has no Greek letters. Ticks:
// gonum's DefaultTicks suggests three ticks for an axis of any length, with labels such as
// 4e+07. Decades: LogTicks labels any number of ticks and does not support intervals that
// reach 0. The legend is above the panels, because the legend of a plot is inside the plot.
// Tiles have fixed sizes, because with plot.Align labels of different sizes overflow. Points
// have links, which vgsvg does not support. Vega-Lite specifications are maps and strings
// encoded by encoding/json, because no Go library for them is maintained.
//
// A page is a single file. It makes no requests, and is complete even without its script. Its
// points link to sections that package bourse/experiments/trail creates, using [Anchor].
//
// The caller describes the terminal with a [Terminal]. The package does not read
// environment variables or use file descriptors.
package report
