package markdown

import "strings"

// htmlKind is what ends a block of HTML, which is shown as it is written.
type htmlKind uint8

const (
	htmlNone htmlKind = iota
	htmlUntilBlank
	htmlUntilTag     // </script>, </pre>, </style> or </textarea>
	htmlUntilComment // -->
	htmlUntilPI      // ?>
	htmlUntilDecl    // >
	htmlUntilCDATA   // ]]>
)

// in tells whether a line has the end.
func (k htmlKind) in(line string) bool {
	switch k {
	case htmlUntilTag:
		line = strings.ToLower(line)
		for _, name := range rawNames {
			if strings.Contains(line, "</"+name+">") {
				return true
			}
		}
		return false
	case htmlUntilComment:
		return strings.Contains(line, "-->")
	case htmlUntilPI:
		return strings.Contains(line, "?>")
	case htmlUntilDecl:
		return strings.Contains(line, ">")
	case htmlUntilCDATA:
		return strings.Contains(line, "]]>")
	}
	return false
}

// rawNames are tags whose content is no Markdown, whatever it is.
var rawNames = [...]string{"script", "pre", "style", "textarea"}

// htmlOf tells what ends the block of HTML that begins with s, which begins with "<".
func htmlOf(s string) htmlKind {
	switch {
	case strings.HasPrefix(s, "<!--"):
		return htmlUntilComment
	case strings.HasPrefix(s, "<?"):
		return htmlUntilPI
	case strings.HasPrefix(s, "<![CDATA["):
		return htmlUntilCDATA
	case len(s) > 2 && s[1] == '!' && letter(s[2]):
		return htmlUntilDecl
	case htmlBlockName(s):
		return htmlUntilBlank
	}
	name, rest := tagName(strings.TrimPrefix(s[1:], "/"))
	for _, raw := range rawNames {
		if !strings.EqualFold(name, raw) {
			continue
		}
		if s[1] != '/' && (rest == "" || rest[0] == '>' || rest[0] == ' ' || rest[0] == '\t') {
			return htmlUntilTag
		}
		return htmlNone
	}
	if n := element(s); n > 0 && strings.Trim(s[n:], " \t") == "" {
		return htmlUntilBlank
	}
	return htmlNone
}

// htmlBlockName tells whether s begins with the tag of something that is a block: it
// begins HTML within a paragraph too.
func htmlBlockName(s string) bool {
	name, rest := tagName(strings.TrimPrefix(s[1:], "/"))
	if name == "" || len(name) > 10 || rest != "" && rest[0] != ' ' && rest[0] != '\t' && rest[0] != '>' && !strings.HasPrefix(rest, "/>") {
		return false
	}
	switch strings.ToLower(name) {
	case "address", "article", "aside", "base", "basefont", "blockquote", "body", "caption", "center", "col", "colgroup",
		"dd", "details", "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "frame",
		"frameset", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hr", "html", "iframe", "legend", "li", "link",
		"main", "menu", "menuitem", "nav", "noframes", "ol", "optgroup", "option", "p", "param", "search", "section",
		"summary", "table", "tbody", "td", "tfoot", "th", "thead", "title", "tr", "track", "ul":
		return true
	}
	return false
}

func tagName(s string) (name, rest string) {
	n := 0
	for n < len(s) && (letter(s[n]) || n > 0 && (digit(s[n]) || s[n] == '-')) {
		n++
	}
	return s[:n], s[n:]
}

// element returns the length of the opening or closing tag s begins with, 0 for none.
func element(s string) int {
	if len(s) < 3 {
		return 0
	}
	closing := s[1] == '/'
	from := 1
	if closing {
		from = 2
	}
	name, rest := tagName(s[from:])
	if name == "" {
		return 0
	}
	for {
		next := strings.TrimLeft(rest, " \t\n")
		spaced := len(next) < len(rest)
		rest = next
		switch {
		case rest == "":
			return 0
		case rest[0] == '>':
			return len(s) - len(rest) + 1
		case closing:
			return 0
		case strings.HasPrefix(rest, "/>"):
			return len(s) - len(rest) + 2
		case !spaced:
			return 0
		}
		if rest = attribute(rest); rest == "" {
			return 0
		}
	}
}

// attribute returns what follows the attribute s begins with, "" for none.
func attribute(s string) (rest string) {
	n := 0
	for n < len(s) && (letter(s[n]) || s[n] == '_' || s[n] == ':' || n > 0 && (digit(s[n]) || s[n] == '.' || s[n] == '-')) {
		n++
	}
	if n == 0 {
		return ""
	}
	rest = s[n:]
	value := strings.TrimLeft(rest, " \t\n")
	if value == "" || value[0] != '=' {
		return rest
	}
	value = strings.TrimLeft(value[1:], " \t\n")
	if value == "" {
		return ""
	}
	if quote := value[0]; quote == '"' || quote == '\'' {
		end := strings.IndexByte(value[1:], quote)
		if end < 0 {
			return ""
		}
		return value[end+2:]
	}
	end := strings.IndexAny(value, " \t\n\"'=<>`")
	if end <= 0 {
		return ""
	}
	return value[end:]
}

// letter and digit are of ASCII.
func letter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

func digit(b byte) bool { return b >= '0' && b <= '9' }
