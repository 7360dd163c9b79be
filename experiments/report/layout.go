package report

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// align draws plots so that the axes of each row and of each column are aligned. Unlike
// plot.Align, align keeps every plot inside the plot's tile even if the sizes of labels differ.
// It returns the canvas of each plot.
func align(plots [][]*plot.Plot, tiles draw.Tiles, c draw.Canvas) map[*plot.Plot]draw.Canvas {
	drawn := make(map[*plot.Plot]draw.Canvas)
	left, right := make([]vg.Length, tiles.Cols), make([]vg.Length, tiles.Cols)
	below, above := make([]vg.Length, tiles.Rows), make([]vg.Length, tiles.Rows)
	margins := func(p *plot.Plot, tile draw.Canvas) (l, r, b, a vg.Length) {
		data := p.DataCanvas(tile)
		return data.Min.X - tile.Min.X, tile.Max.X - data.Max.X, data.Min.Y - tile.Min.Y, tile.Max.Y - data.Max.Y
	}
	for row := range plots {
		for col, p := range plots[row] {
			if p != nil {
				l, r, b, a := margins(p, tiles.At(c, col, row))
				left[col], right[col] = max(left[col], l), max(right[col], r)
				below[row], above[row] = max(below[row], b), max(above[row], a)
			}
		}
	}
	for row := range plots {
		for col, p := range plots[row] {
			if p != nil {
				tile := tiles.At(c, col, row)
				l, r, b, a := margins(p, tile)
				drawn[p] = draw.Crop(tile, left[col]-l, r-right[col], below[row]-b, a-above[row])
				p.Draw(drawn[p])
			}
		}
	}
	return drawn
}
