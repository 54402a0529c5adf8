package panel

import (
	"starling/surfaces"
	"starling/surfaces/tui/kit"
)

// maxStill is the most rows of a drawing that stands in the conversation.
const maxStill = 500

// Still draws a widget tree that nobody operates, such as the view of a tool's result,
// and returns its rows: at most 500 of them, each of width cells.
func Still(tree *surfaces.Node, width int, host kit.Host) [][]kit.Cell {
	width = max(width, 1)
	v := NewView(surfaces.ID{}, nil, host)
	v.SetPanel(surfaces.Panel{Tree: tree, Version: 1})
	v.dear = false // it is drawn once
	height := min(v.Rows(width), maxStill)
	v.render(width, height)
	if v.canvas == nil {
		return nil
	}
	out := make([][]kit.Cell, height)
	for y := range out {
		for x := range width {
			if c := v.canvas.cells[y*width+x]; c.width > 0 {
				out[y] = append(out[y], kit.Cell{Text: c.text, Style: c.style, Width: c.width})
			}
		}
	}
	return out
}
