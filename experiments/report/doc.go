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
// distinguish them. Each curve also has its own dash pattern and glyph, so that a page printed
// in black is readable. Lines are labelled at their ends. Captions state the number of
// replications behind the intervals.
//
// Figures use gonum/plot, PDF files use fpdf, and tables use go-pretty. The package
// implements the features that these libraries lack. Charts in a terminal: no maintained
// library draws braille without taking control of the screen. A canvas for PDF: the canvas
// of gonum/plot embeds whole fonts and has no Greek letters. Ticks: gonum's DefaultTicks
// suggests three ticks for an axis of any length, with labels such as 4e+07. Decades:
// LogTicks labels any number of ticks and does not allow intervals that reach 0. The legend
// is above the panels, because the legend of a plot is inside the plot. Tiles have fixed
// sizes, because plot.Align lets labels of different sizes overflow. Points have links,
// which vgsvg does not support. Vega-Lite specifications are maps and strings written by
// encoding/json, because no Go library for them is maintained.
//
// A page is a single file. It makes no requests and is complete without its script. Its
// points link to sections that bourse/experiments/trail creates, using [Anchor].
//
// The caller describes the terminal with a [Terminal]. The package does not read
// environment variables or use file descriptors.
package report
