// Package report presents the results of an experiment: tables, figures, curves in a terminal,
// and a page that contains them all.
//
// Everything is derived from two models. A [Table] becomes text or HTML; a [Figure] becomes
// SVG, PNG, CSV, Vega-Lite or lines of text. A [Document] contains both, with notes and
// values for programs. An [Output] is the JSON form of such values, with its version and
// schema. The same model always gives the same bytes. The package is independent of the
// computation and the meaning of numbers.
//
// # Design
//
// The colours are those of Okabe and Ito, which people with any colour vision can distinguish.
// Each curve also has its own dash and glyph, so that a page printed in black is readable. A
// line is labelled at its end, and a caption states the number of replications behind its
// intervals.
//
// Figures use gonum/plot, PDF files fpdf, and tables go-pretty. The package implements what
// these lack. Charts in a terminal: no maintained library draws braille without owning the
// screen. A canvas for PDF: that of gonum/plot embeds whole fonts, without Greek letters. Ticks: gonum's DefaultTicks suggests three for any length of
// axis and labels them 4e+07. Decades: LogTicks labels any number of them, and does not allow
// intervals that reach 0. The legend is above the panels, because that of a plot is inside it.
// Tiles keep their size, because plot.Align lets labels of different sizes overflow. Points
// have links, which vgsvg cannot write. Vega-Lite specifications are maps and strings written
// by encoding/json, because no maintained Go library exists.
//
// A page is a single file that makes no requests and is complete without its script. Its
// points link to places that bourse/experiments/trail creates, by [Anchor].
//
// The caller describes the terminal by a [Terminal]. The package reads no environment
// variables and no file descriptors.
package report
