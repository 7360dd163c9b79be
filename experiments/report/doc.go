// Package report shows what an experiment found: tables for people, figures,
// curves in a terminal, and one page that holds them all.
//
// Everything is drawn from two models. A [Table] becomes text or HTML; a [Figure]
// becomes SVG, PNG, CSV, Vega-Lite, or lines of text. A [Document] holds both, with notes and the
// values that programs read; an [Output] is the form of those, with its version and
// schema. The same model gives the same bytes. The package knows neither how a number
// was computed nor what it means.
//
// # Design
//
// Colours are those of Okabe and Ito, which people of every colour vision tell
// apart; each curve has its own dash and glyph as well, so that a page printed
// in black can be read. A line ends in its name, and a caption says how many replications
// its intervals are of.
//
// Figures are gonum/plot's, tables go-pretty's, charts in a terminal asciigraph's. By hand
// is what these have not: ticks, as gonum's DefaultTicks suggests three whatever the length
// of the axis, and labels them 4e+07; decades, which its LogTicks labels however many there
// are, on axes that an interval may reach 0 of; the legend above the panels, as that of a
// plot lies within it; tiles that keep to their size, as plot.Align lets words of different
// size run over; and links on points, which vgsvg cannot write. Vega-Lite is maps and
// texts, which encoding/json writes: there is no kept library of it in Go.
//
// A page is one file, without a request, and whole without its script. Its points lead to
// places that bourse/experiments/trail lays out, by [Anchor].
//
// What a terminal can show is told, as [Terminal]: the
// package looks at no environment and no file descriptor.
package report
