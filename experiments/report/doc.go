// Package report shows what an experiment found: tables for people, figures,
// curves in a terminal, and one page that holds them all.
//
// Everything is drawn from two models. A [Table] becomes text or HTML; a [Figure]
// becomes SVG, PNG, CSV, or lines of text. A [Document] holds both, with notes and the
// values that programs read; an [Output] is the form of those, with its version and
// schema. The same model gives the same bytes. The package knows neither how a number
// was computed nor what it means.
//
// # Design
//
// Colours are those of Okabe and Ito, which people of every colour vision tell
// apart; each curve has its own dash and glyph as well, so that a page printed
// in black can be read. What a terminal can show is told, as [Terminal]: the
// package looks at no environment and no file descriptor.
package report
