package surfaces

import (
	"maps"
	"slices"
)

// Widget is what the host keeps of one list, table, tree or input. It is immutable.
type Widget struct {
	// Index of the marked item of a list or table, or of the marked branch among the
	// visible ones of a tree; -1 for none.
	Index int
	// Branch is the key of the marked branch of a tree; "" for none.
	Branch string
	// Expanded are the keys of the open branches of a tree.
	Expanded map[string]bool
	// Text of an input, and where its caret stands, in bytes.
	Text  string
	Caret int
}

// edit is a text the host told the plugin of.
type edit struct {
	text    string
	handled bool // its update is over
}

// maxEdits bounds how many texts of one input are remembered.
const maxEdits = 64

// Branch is one visible line of a tree.
type Branch struct {
	TreeNode
	Depth  int
	Parent int // index of the visible parent; -1 at the top
	Open   bool
}

// Branches returns the visible branches of a tree, top first.
func Branches(n *Node, w Widget) []Branch {
	var list []Branch
	var walk func(nodes []TreeNode, depth, parent int)
	walk = func(nodes []TreeNode, depth, parent int) {
		for _, b := range nodes {
			open := len(b.Children) > 0 && w.Expanded[b.Key]
			list = append(list, Branch{b, depth, parent, open})
			if open {
				walk(b.Children, depth+1, len(list)-1)
			}
		}
	}
	walk(n.Nodes, 0, -1)
	return list
}

// reconcile brings what the host keeps in line with a new tree: its text, selected
// and expanded win only where they differ from those of the tree before. It needs
// mu.
func (p *panel) reconcile(next *Panel) {
	old := map[string]*Node{}
	if p.last != nil {
		p.last.All(func(n *Node) bool {
			old[n.Key] = n
			return true
		})
	}
	widgets, edits := map[string]Widget{}, map[string][]edit{}
	focus, first := "", ""
	if next.Tree != nil {
		next.Tree.All(func(n *Node) bool {
			if !n.Type.Focusable() {
				return true
			}
			if first == "" {
				first = n.Key
			}
			if n.Key == p.shown.Focus {
				focus = n.Key
			}
			was := old[n.Key]
			w, kept := p.shown.Widgets[n.Key]
			if was == nil || was.Type != n.Type || !kept {
				was, w = nil, Widget{}
			}
			switch n.Type {
			case List, Table:
				w.Index = markOf(n, was, w)
			case Tree:
				w = treeOf(n, was, w)
			case Input:
				w = p.inputOf(n, was, w)
				if left := slices.DeleteFunc(slices.Clone(p.edits[n.Key]), func(e edit) bool { return e.handled }); was != nil && len(left) > 0 {
					edits[n.Key] = left
				}
			}
			widgets[n.Key] = w
			return true
		})
	}
	if focus == "" {
		focus = first
	}
	p.last, p.edits = next.Tree, edits
	next.Focus, next.Widgets = focus, widgets
}

// idAt returns the id of an item of a list or table, "" without one.
func idAt(n *Node, i int) string {
	switch {
	case i < 0:
	case n.Type == List && i < len(n.Items):
		return n.Items[i].ID
	case n.Type == Table && i < len(n.Rows):
		return n.Rows[i].ID
	}
	return ""
}

// count is how many items a list or table has.
func count(n *Node) int {
	if n.Type == List {
		return len(n.Items)
	}
	return len(n.Rows)
}

func indexOf(n *Node, id string) int {
	for i := range count(n) {
		if id != "" && idAt(n, i) == id {
			return i
		}
	}
	return -1
}

// markOf is the marked item of a list or table: as the tree says where that is new,
// else the item that was marked, by its id, else its place.
func markOf(n, was *Node, w Widget) int {
	i := w.Index
	switch {
	case n.Selected != nil && (was == nil || was.Selected == nil || *was.Selected != *n.Selected):
		if i = n.Selected.Index; n.Selected.ID != "" {
			i = max(indexOf(n, n.Selected.ID), 0)
		}
	case was != nil:
		if j := indexOf(n, idAt(was, w.Index)); j >= 0 {
			i = j
		}
		i = max(i, 0)
	}
	return min(i, count(n)-1)
}

func treeOf(n, was *Node, w Widget) Widget {
	switch {
	case n.Expanded != nil && (was == nil || was.Expanded == nil || !slices.Equal(was.Expanded, n.Expanded)):
		w.Expanded = map[string]bool{}
		for _, id := range n.Expanded {
			w.Expanded[id] = true
		}
	case was == nil:
		w.Expanded = map[string]bool{}
	}
	if n.Selected != nil && (was == nil || was.Selected == nil || *was.Selected != *n.Selected) {
		w.Branch = n.Selected.ID
		w.Expanded = reveal(n.Nodes, w.Branch, w.Expanded)
	}
	return settle(n, w)
}

// reveal opens the branches above one.
func reveal(nodes []TreeNode, key string, open map[string]bool) map[string]bool {
	var path []string
	var walk func([]TreeNode) bool
	walk = func(list []TreeNode) bool {
		for _, b := range list {
			if b.Key == key {
				return true
			}
			path = append(path, b.Key)
			if walk(b.Children) {
				return true
			}
			path = path[:len(path)-1]
		}
		return false
	}
	if !walk(nodes) || len(path) == 0 {
		return open
	}
	open = maps.Clone(open)
	for _, k := range path {
		open[k] = true
	}
	return open
}

// settle brings mark and index of a tree together after either may have moved: the
// mark stays on its branch, else near its place.
func settle(n *Node, w Widget) Widget {
	list := Branches(n, w)
	i := slices.IndexFunc(list, func(b Branch) bool { return b.Key == w.Branch && w.Branch != "" })
	if i < 0 {
		i = min(max(w.Index, 0), len(list)-1)
	}
	w.Index, w.Branch = i, ""
	if i >= 0 {
		w.Branch = list[i].Key
	}
	return w
}

// inputOf is the text of an input: as the tree says where that is new, unless it
// only repeats what the host told the plugin while the person typed on.
func (p *panel) inputOf(n, was *Node, w Widget) Widget {
	if was != nil && was.Text == n.Text {
		return w
	}
	if was != nil && slices.ContainsFunc(p.edits[n.Key], func(e edit) bool { return e.text == n.Text }) {
		return w
	}
	if was == nil || w.Text != n.Text {
		w.Text, w.Caret = n.Text, len(n.Text)
	}
	return w
}

// handled marks the edit whose update is over.
func (p *panel) handled(m Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.edits[m.ID]
	for i := range list {
		if !list[i].handled {
			list[i].handled = true
			return
		}
	}
}
