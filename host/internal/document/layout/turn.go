package layout

// Turn is the direction of text in quarter turns counter-clockwise: 0 runs to the right, 1 upwards.
type Turn int

// Box returns a box of the page in the axes of text of this direction.
func (t Turn) Box(b Box) Box {
	switch t & 3 {
	case 1:
		return Box{Left: -b.Bottom, Right: -b.Top, Top: b.Left, Bottom: b.Right}
	case 2:
		return Box{Left: -b.Right, Right: -b.Left, Top: -b.Bottom, Bottom: -b.Top}
	case 3:
		return Box{Left: b.Top, Right: b.Bottom, Top: -b.Right, Bottom: -b.Left}
	}
	return b
}

// back returns a box in the axes of text of this direction as one of the page.
func (t Turn) back(b Box) Box { return ((4 - t) & 3).Box(b) }

// axes are those in which a page is laid out: turned where most of its text is, with the upper left
// corner as origin.
type axes struct {
	turn        Turn
	right, down float64 // added to turned boxes
}

func (a *axes) box(b Box) Box { return a.turn.Box(b).shifted(a.right, a.down) }

// back returns a box as one of the page.
func (a *axes) back(b Box) Box { return a.turn.back(b.shifted(-a.right, -a.down)) }

func (b Box) shifted(right, down float64) Box {
	return Box{b.Left + right, b.Right + right, b.Top + down, b.Bottom + down}
}

// axesOf returns the axes of most words of a page.
func axesOf(p *Page) axes {
	var letters [4]int
	for i := range p.Words {
		letters[p.Words[i].Turn&3] += len(p.Words[i].Text)
	}
	a := axes{}
	for turn, n := range letters {
		if n > letters[a.turn] {
			a.turn = Turn(turn)
		}
	}
	whole := a.turn.Box(Box{Right: p.Width, Bottom: p.Height})
	a.right, a.down = -whole.Left, -whole.Top
	return a
}

// turned moves a page into axes. Words of other directions are returned apart, in their own axes.
func (a *axes) turned(p *Page) (words, others []word) {
	words = make([]word, 0, len(p.Words))
	for i := range p.Words {
		w := word{Word: p.Words[i], order: int32(i)}
		if w.Size == 0 {
			w.Size = w.height()
		}
		if w.Turn&3 != a.turn {
			others = append(others, w)
			continue
		}
		w.Box = w.shifted(a.right, a.down)
		if w.Base != 0 {
			w.Base += a.down
		} else {
			w.Base = w.Bottom - usualDescent*w.height()
		}
		words = append(words, w)
	}
	return words, others
}

// usualDescent is the part of the height of a font below the line on which letters stand.
const usualDescent = 0.2

// stampWidth is the part of a page's width, at each side, where turned text is a stamp and not a
// part of the document.
const stampWidth = 0.1

// turnedLines returns the lines of words of other directions than the page. Stamps at the sides of
// the page are left out.
func turnedLines(others []word, a *axes, p *Page) (out []segment) {
	for turn := range Turn(4) {
		var words []word
		for _, w := range others {
			if w.Turn&3 == turn {
				if w.Base == 0 {
					w.Base = w.Bottom - usualDescent*w.height()
				}
				words = append(words, w)
			}
		}
		for _, row := range lines(words) {
			for _, s := range row {
				box := turn.back(s.Box)
				if vertical := turn&1 == 1; vertical && p.Width > 0 &&
					(box.Right < stampWidth*p.Width || box.Left > (1-stampWidth)*p.Width) {
					continue
				}
				s.Box, s.turned = a.box(box), true
				out = append(out, s)
			}
		}
	}
	return out
}
