package main

import (
	"fmt"
	"image"
	"image/color"
	imagedraw "image/draw"
	"testing"
)

// Two pictures of a page are alike under these conditions. Their sizes differ by no more
// than shifted. In no tile do more than mostUnlike pixels lack a similar pixel in the other
// picture within that distance. Two pixels are similar if no colour channel differs by more
// than unlikeBy.
//
// Smoothed edges of letters and a line drawn one pixel lower therefore pass. A line of text
// across a tile does not pass: it has about 400 pixels.
const (
	shifted    = 3   // maximum shift in pixels
	unlikeBy   = 64  // maximum difference of a colour channel, of 255
	tileSide   = 100 // pixels
	mostUnlike = 200 // maximum number of different pixels in a tile of 10,000 pixels
)

// unlike describes how a picture of a page differs from the expected one, or returns an
// empty string if they are alike. The elements in hidden are not compared.
func unlike(got, want image.Image, hidden []image.Rectangle) string {
	g, w := pixels(got), pixels(want)
	if d := g.Rect.Size().Sub(w.Rect.Size()); max(d.X, -d.X, d.Y, -d.Y) > shifted {
		return fmt.Sprintf("it is %v pixels, want %v", g.Rect.Size(), w.Rect.Size())
	}
	for _, r := range hidden {
		for _, p := range []*image.RGBA{g, w} {
			imagedraw.Draw(p, r.Inset(-shifted), image.Black, image.Point{}, imagedraw.Src)
		}
	}
	all := g.Rect.Union(w.Rect)
	tiles, bad, worst := 0, 0, image.Rectangle{}
	for y := 0; y < all.Max.Y; y += tileSide {
		for x := 0; x < all.Max.X; x += tileSide {
			tile := image.Rect(x, y, x+tileSide, y+tileSide)
			n := max(strange(g, w, tile), strange(w, g, tile))
			if n > mostUnlike {
				tiles++
			}
			if n > bad {
				bad, worst = n, tile
			}
		}
	}
	if tiles == 0 {
		return ""
	}
	return fmt.Sprintf("%d tiles differ, most at %v: %d pixels, want at most %d", tiles, worst, bad, mostUnlike)
}

// pixels returns a copy of a picture that starts at (0, 0).
func pixels(i image.Image) *image.RGBA {
	p := image.NewRGBA(image.Rectangle{Max: i.Bounds().Size()})
	imagedraw.Draw(p, p.Rect, i, i.Bounds().Min, imagedraw.Src)
	return p
}

// strange returns how many pixels of a tile of a picture have no similar pixel in the other
// picture.
func strange(of, in *image.RGBA, tile image.Rectangle) (n int) {
	tile = tile.Intersect(of.Rect)
	for y := tile.Min.Y; y < tile.Max.Y; y++ {
		for x := tile.Min.X; x < tile.Max.X; x++ {
			if c := of.RGBAAt(x, y); !near(c, in, image.Rect(x, y, x+1, y+1)) && !near(c, in, image.Rect(x-shifted, y-shifted, x+shifted+1, y+shifted+1)) {
				n++
			}
		}
	}
	return n
}

// near reports whether a picture has a pixel with a similar colour in a rectangle.
func near(c color.RGBA, in *image.RGBA, r image.Rectangle) bool {
	r = r.Intersect(in.Rect)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			if d := in.RGBAAt(x, y); apart(c.R, d.R) <= unlikeBy && apart(c.G, d.G) <= unlikeBy && apart(c.B, d.B) <= unlikeBy {
				return true
			}
		}
	}
	return false
}

func apart(a, b uint8) int { return max(int(a)-int(b), int(b)-int(a)) }

// TestUnlike checks that two pictures are alike if they differ as much as those of two machines
// do, and not if an element is missing in one of them.
func TestUnlike(t *testing.T) {
	// A page consists of lines of text, in which each word has three strokes in every 25
	// pixels, and a box.
	page := func(height int, ink color.Color, without int, at image.Point) *image.RGBA {
		p := image.NewRGBA(image.Rect(0, 0, 400, height))
		imagedraw.Draw(p, p.Rect, image.White, image.Point{}, imagedraw.Src)
		fill := func(r image.Rectangle) {
			imagedraw.Draw(p, r.Add(at), image.NewUniform(ink), image.Point{}, imagedraw.Src)
		}
		for line := range 20 {
			for x := 10; line != without && x < 380; x += 25 {
				for stroke := range 3 {
					fill(image.Rect(x+7*stroke, 25*line+8, x+7*stroke+3, 25*line+20))
				}
			}
		}
		fill(image.Rect(50, 550, 350, 551))
		fill(image.Rect(50, 590, 350, 591))
		return p
	}
	black := color.Gray{Y: 28}
	want := page(600, black, -1, image.Point{})
	fourth := image.Rect(0, 100, 400, 125)
	for name, c := range map[string]struct {
		got    image.Image
		hidden []image.Rectangle
		alike  bool
	}{
		"same":              {page(600, black, -1, image.Point{}), nil, true},
		"other smoothing":   {page(600, color.Gray{Y: 90}, -1, image.Point{}), nil, true},
		"three pixels off":  {page(600, black, -1, image.Pt(3, -3)), nil, true},
		"three taller":      {page(603, black, -1, image.Point{}), nil, true},
		"four taller":       {page(604, black, -1, image.Point{}), nil, false},
		"pale":              {page(600, color.Gray{Y: 200}, -1, image.Point{}), nil, false},
		"dark":              {image.NewRGBA(want.Rect), nil, false},
		"without a line":    {page(600, black, 4, image.Point{}), nil, false},
		"its line hidden":   {page(600, black, 4, image.Point{}), []image.Rectangle{fourth}, true},
		"another hidden":    {page(600, black, 4, image.Point{}), []image.Rectangle{fourth.Add(image.Pt(0, 25))}, false},
		"a line lower":      {page(600, black, -1, image.Pt(0, 12)), nil, false},
		"cut off at a side": {page(600, black, -1, image.Pt(200, 0)), nil, false},
	} {
		if got := unlike(c.got, want, c.hidden); (got == "") != c.alike {
			t.Errorf("%s: %q, want alike %v", name, got, c.alike)
		}
		if got := unlike(want, c.got, c.hidden); (got == "") != c.alike {
			t.Errorf("%s, the other way: %q, want alike %v", name, got, c.alike)
		}
	}
}
