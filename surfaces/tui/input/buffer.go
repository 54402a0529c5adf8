package input

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// buffer is a text, a caret and the way back. The caret stands between characters,
// never in one.
type buffer struct {
	p     piece
	caret int
	// goal is the column vertical moves aim at; -1 when the next one sets it.
	goal       int
	undo, redo []state
	// typing tells that the last change put in a word that the next may go on with.
	typing bool
	killed piece
	// killing tells that the last change was a kill the next one adds to.
	killing bool
	// version moves with the text.
	version int
}

type state struct {
	p     piece
	caret int
}

// undoLimit is how many steps are kept. A step shares what it did not change, and
// long pastes are folds, so this is little.
const undoLimit = 500

func newBuffer() *buffer { return &buffer{goal: -1} }

// set replaces everything and forgets the way back.
func (b *buffer) set(p piece) {
	*b = buffer{p: p, caret: len(p.text), goal: -1, killed: b.killed, version: b.version + 1}
}

// change replaces the bytes from up to to and leaves the caret behind what came.
func (b *buffer) change(from, to int, with piece) {
	if from == to && with.text == "" {
		return
	}
	b.undo = append(b.undo, state{b.p, b.caret})
	if len(b.undo) > undoLimit {
		b.undo = b.undo[len(b.undo)-undoLimit:]
	}
	b.apply(from, to, with)
}

func (b *buffer) apply(from, to int, with piece) {
	b.redo = nil
	b.p = b.p.replace(from, to, with)
	b.caret = b.right(from + len(with.text))
	b.goal, b.typing, b.killing = -1, false, false
	b.version++
}

// right moves a place in a character behind it: what was put in may have joined what
// follows, such as a mark its letter.
func (b *buffer) right(i int) int {
	if at := settle(b.p.text, i); at < i {
		n, _ := cluster(b.p.text[at:])
		return at + n
	}
	return i
}

// typed puts in one typed character; a word typed at a stretch is one step back.
func (b *buffer) typed(r rune) {
	text := string(r)
	if b.typing && len(b.undo) > 0 && !unicode.IsSpace(r) {
		b.apply(b.caret, b.caret, plainPiece(text))
	} else {
		b.change(b.caret, b.caret, plainPiece(text))
	}
	b.typing = true
}

func (b *buffer) insert(p piece) { b.change(b.caret, b.caret, p) }

func (b *buffer) remove(from, to int) { b.change(from, to, piece{}) }

// kill removes text that yank brings back; kills in a row come back together.
func (b *buffer) kill(from, to int) {
	if from == to {
		return
	}
	cut, more := b.p.cut(from, to), b.killing
	switch {
	case !more:
		b.killed = cut
	case from < b.caret:
		b.killed = cut.join(b.killed)
	default:
		b.killed = b.killed.join(cut)
	}
	b.remove(from, to)
	b.killing = true
}

func (b *buffer) yank() { b.insert(b.killed) }

func (b *buffer) back() {
	if n := len(b.undo); n > 0 {
		s := b.undo[n-1]
		b.undo = b.undo[:n-1]
		b.redo = append(b.redo, state{b.p, b.caret})
		b.restore(s)
	}
}

func (b *buffer) again() {
	if n := len(b.redo); n > 0 {
		s := b.redo[n-1]
		b.redo = b.redo[:n-1]
		b.undo = append(b.undo, state{b.p, b.caret})
		b.restore(s)
	}
}

func (b *buffer) restore(s state) {
	b.p, b.caret = s.p, s.caret
	b.goal, b.typing, b.killing = -1, false, false
	b.version++
}

// to moves the caret.
func (b *buffer) to(i int) {
	b.caret = i
	b.goal, b.typing, b.killing = -1, false, false
}

func (b *buffer) left() int { return before(b.p.text, b.caret) }

func (b *buffer) next() int {
	n, _ := cluster(b.p.text[b.caret:])
	return b.caret + n
}

func (b *buffer) lineStart() int { return strings.LastIndexByte(b.p.text[:b.caret], '\n') + 1 }

func (b *buffer) lineEnd() int {
	if i := strings.IndexByte(b.p.text[b.caret:], '\n'); i >= 0 {
		return b.caret + i
	}
	return len(b.p.text)
}

// vertical moves the caret by rows; false at the first and last one.
func (b *buffer) vertical(l *layout, rows int) bool {
	at := l.rowOf(b.caret)
	if to := at + rows; to < 0 || to >= len(l.rows) {
		return false
	}
	goal := b.goal
	if goal < 0 {
		goal = l.column(b.caret)
	}
	b.to(l.at(at+rows, goal))
	b.goal = goal
	return true
}

// inWord tells whether a character is part of a word: letters, digits, and what
// joins them.
func inWord(c string) bool {
	r, _ := utf8.DecodeRuneInString(c)
	return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}

// wordLeft returns where the word before the caret begins.
func (b *buffer) wordLeft() int {
	at, seen := b.caret, false
	for at > 0 {
		i := before(b.p.text, at)
		if word := inWord(b.p.text[i:at]); word {
			seen = true
		} else if seen {
			return at
		}
		at = i
	}
	return at
}

// wordRight returns where the word behind the caret ends.
func (b *buffer) wordRight() int {
	at, seen := b.caret, false
	for at < len(b.p.text) {
		n, _ := cluster(b.p.text[at:])
		if word := inWord(b.p.text[at : at+n]); word {
			seen = true
		} else if seen {
			return at
		}
		at += n
	}
	return at
}

// swap exchanges the characters round the caret.
func (b *buffer) swap() {
	at := b.caret
	if at == len(b.p.text) || b.p.text[at] == '\n' {
		at = before(b.p.text, at)
	}
	first := before(b.p.text, at)
	n, _ := cluster(b.p.text[at:])
	if first == at || n == 0 || b.p.text[first] == '\n' {
		return
	}
	b.change(first, at+n, b.p.cut(at, at+n).join(b.p.cut(first, at)))
}

// act does what an action means for a text; false for one that means nothing here, and
// for Up and Down at the first and last row.
func (b *buffer) act(a Action, l func() *layout) bool {
	switch a {
	case Newline:
		b.insert(plainPiece("\n"))
	case Left:
		b.to(b.left())
	case Right:
		b.to(b.next())
	case Up:
		return b.vertical(l(), -1)
	case Down:
		return b.vertical(l(), 1)
	case WordLeft:
		b.to(b.wordLeft())
	case WordRight:
		b.to(b.wordRight())
	case LineStart:
		b.to(b.lineStart())
	case LineEnd:
		b.to(b.lineEnd())
	case TextStart:
		b.to(0)
	case TextEnd:
		b.to(len(b.p.text))
	case Backspace:
		b.remove(b.left(), b.caret)
	case Delete:
		b.remove(b.caret, b.next())
	case KillWord:
		b.kill(b.wordLeft(), b.caret)
	case KillNext:
		b.kill(b.caret, b.wordRight())
	case KillToEnd:
		end := b.lineEnd()
		if end == b.caret {
			end = b.next() // the line end itself
		}
		b.kill(b.caret, end)
	case KillToHead:
		b.kill(b.lineStart(), b.caret)
	case Yank:
		b.yank()
	case Swap:
		b.swap()
	case Undo:
		b.back()
	case Redo:
		b.again()
	default:
		return false
	}
	return true
}
