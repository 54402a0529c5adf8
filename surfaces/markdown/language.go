package markdown

import (
	"path"
	"slices"
	"strings"
	"sync"

	"starling/surfaces"
)

// language is what the highlighter knows of one: enough to tell comments, texts,
// numbers and words apart, not to parse it.
type language struct {
	keywords, constants string   // with spaces between
	comments            []string // what begins one that ends with the line
	constructs          []construct
	// fold reads words without regard to their case.
	fold bool
	// letters are signs that belong to words besides letters, digits and "_".
	letters string
	// whole colours lines by how they begin; nothing else applies then.
	whole bool

	once  sync.Once // makes words when the first one is looked up
	words map[string]surfaces.Style
}

// construct is a text or a comment.
type construct struct {
	begin, end string
	escape     bool // a backslash hides the sign behind it
	across     bool // goes over line ends
	comment    bool
}

var (
	double  = construct{begin: `"`, end: `"`, escape: true}
	single  = construct{begin: `'`, end: `'`, escape: true}
	quoted  = construct{begin: `'`, end: `'`}
	tick    = construct{begin: "`", end: "`", across: true}
	tickEsc = construct{begin: "`", end: "`", across: true, escape: true}
	block   = construct{begin: "/*", end: "*/", across: true, comment: true}
	triple  = []construct{{begin: `"""`, end: `"""`, escape: true, across: true}, {begin: `'''`, end: `'''`, escape: true, across: true}}
	slashes = []string{"//"}
	hash    = []string{"#"}
)

// cLike is a language with the comments and texts of C.
func cLike(keywords, constants string, more ...construct) *language {
	return &language{keywords: keywords, constants: constants, comments: slashes, constructs: append(more, block, double, single)}
}

// languages by name, made when the first code is drawn.
var languages = sync.OnceValue(func() map[string]*language {
	return map[string]*language{
		"go": cLike("break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var",
			"true false nil iota any bool byte error float32 float64 int int8 int16 int32 int64 rune string uint uint8 uint16 uint32 uint64 uintptr", tick),
		"python": {
			keywords:  "and as assert async await break class continue def del elif else except finally for from global if import in is lambda load match nonlocal not or pass raise return try while with yield",
			constants: "True False None self", comments: hash, constructs: append(slices.Clone(triple), double, single),
		},
		"javascript": cLike("as async await break case catch class const continue debugger default delete do else enum export extends finally for from function get if implements import in instanceof interface let new of private protected public readonly return set static super switch throw try type typeof var void while with yield",
			"true false null undefined this NaN any boolean number string never unknown", tickEsc),
		"java": cLike("abstract assert break case catch class const continue default do else enum extends final finally for if implements import instanceof interface native new package private protected public record return sealed static super switch synchronized throw throws try var volatile while yield fun val when object override data internal companion suspend",
			"true false null this boolean byte char double float int long short void String", triple[0]),
		"c": cLike("auto break case catch class const constexpr continue default delete do else enum explicit extern for friend goto if inline namespace new noexcept operator override private protected public register return sizeof static struct switch template this throw try typedef typename union using virtual volatile while include define ifdef ifndef endif pragma",
			"true false nullptr NULL bool char double float int long short signed unsigned void size_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t"),
		"csharp": cLike("abstract as async await base break case catch class const continue default delegate do else enum event extern finally fixed for foreach get if in interface internal is lock namespace new operator out override params partial private protected public readonly record ref return sealed set static struct switch throw try typeof using var virtual volatile where while yield",
			"true false null this bool byte char decimal double float int long object short string uint ulong void"),
		"rust": {
			keywords:  "as async await break const continue crate dyn else enum extern fn for if impl in let loop match mod move mut pub ref return static struct super trait type union unsafe use where while",
			constants: "true false self Self None Some Ok Err bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize String Vec Option Result", comments: slashes, constructs: []construct{block, double},
		},
		"swift": cLike("as associatedtype async await break case catch class continue default defer do else enum extension fileprivate for func guard if import in init inout internal is let open operator private protocol public repeat return static struct subscript super switch throw throws try typealias var where while",
			"true false nil self Self Any Bool Double Float Int String Void", triple[0]),
		"php": {
			keywords:  "abstract and as break case catch class clone const continue declare default do echo else elseif extends final finally fn for foreach function global if implements include instanceof interface match namespace new or private protected public readonly require return static switch throw trait try use var while xor yield",
			constants: "true false null this self parent", comments: []string{"//", "#"}, constructs: []construct{block, double, single},
		},
		"ruby": {
			keywords:  "alias and begin break case class def defined do else elsif end ensure extend for if in include module next not or raise redo rescue retry return super then undef unless until when while yield require require_relative attr_accessor attr_reader",
			constants: "true false nil self", comments: hash, constructs: []construct{double, single}, letters: "?!",
		},
		"lua": {
			keywords:  "and break do else elseif end for function goto if in local not or repeat return then until while",
			constants: "true false nil self", comments: []string{"--"}, constructs: []construct{{begin: "--[[", end: "]]", across: true, comment: true}, {begin: "[[", end: "]]", across: true}, double, single},
		},
		"shell": {
			keywords:  "case do done elif else esac export fi for function if in local readonly return select set shift source then trap unset until while",
			constants: "true false echo cd exit", comments: hash, constructs: []construct{{begin: `"`, end: `"`, escape: true, across: true}, {begin: "'", end: "'", across: true}}, letters: "-",
		},
		"sql": {
			keywords:  "add all alter and as asc begin between by case check column commit constraint create cross default delete desc distinct drop else end exists foreign from full group having if in index inner insert into is join key left like limit not offset on or order outer primary references returning right rollback select set table then transaction union unique update using values view when where with",
			constants: "null true false int integer bigint text varchar char boolean date timestamp numeric real serial", comments: []string{"--"}, constructs: []construct{block, quoted, {begin: `"`, end: `"`}}, fold: true,
		},
		"json":       {constants: "true false null", comments: slashes, constructs: []construct{block, double}},
		"yaml":       {constants: "true false null yes no on off", comments: hash, constructs: []construct{double, quoted}, letters: "-"},
		"toml":       {constants: "true false", comments: hash, constructs: append(slices.Clone(triple), double, quoted), letters: "-"},
		"css":        {keywords: "important media import supports keyframes", constants: "none auto inherit initial", constructs: []construct{block, double, single}, letters: "-"},
		"html":       {constructs: []construct{{begin: "<!--", end: "-->", across: true, comment: true}, {begin: `"`, end: `"`}}, letters: "-"},
		"dockerfile": {keywords: "FROM RUN CMD LABEL EXPOSE ENV ADD COPY ENTRYPOINT VOLUME USER WORKDIR ARG ONBUILD STOPSIGNAL HEALTHCHECK SHELL AS", comments: hash, constructs: []construct{double, single}},
		"make":       {keywords: "include ifeq ifneq ifdef ifndef else endif define endef export override", comments: hash, constructs: []construct{}, letters: "-."},
		"diff":       {whole: true},
	}
})

// aliases are further names and the endings of files.
var aliases = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"golang": "go", "mod": "go", "py": "python", "python3": "python", "pyi": "python", "star": "python", "starlark": "python", "bzl": "python",
		"js": "javascript", "jsx": "javascript", "mjs": "javascript", "cjs": "javascript", "ts": "javascript", "tsx": "javascript", "typescript": "javascript",
		"kotlin": "java", "kt": "java", "kts": "java", "scala": "java", "groovy": "java",
		"h": "c", "cc": "c", "cpp": "c", "cxx": "c", "c++": "c", "hpp": "c", "cs": "csharp", "c#": "csharp", "rs": "rust", "rb": "ruby",
		"sh": "shell", "bash": "shell", "zsh": "shell", "console": "shell", "fish": "shell", "yml": "yaml", "jsonc": "json", "json5": "json", "jsonl": "json",
		"xml": "html", "htm": "html", "svg": "html", "vue": "html", "scss": "css", "less": "css", "ini": "toml", "cfg": "toml", "conf": "toml",
		"containerfile": "dockerfile", "makefile": "make", "mk": "make", "patch": "diff",
	}
})

// languageOf finds a language by its name, an ending or the name of a file; nil when
// it is unknown.
func languageOf(name string) *language {
	name = strings.ToLower(path.Base(strings.TrimSpace(name)))
	if i := strings.LastIndexByte(name, '.'); i >= 0 && languages()[name] == nil && aliases()[name] == "" {
		name = name[i+1:]
	}
	if other, ok := aliases()[name]; ok {
		name = other
	}
	return languages()[name]
}

// style of a word.
func (g *language) style(word string) (surfaces.Style, bool) {
	g.once.Do(func() {
		g.words = map[string]surfaces.Style{}
		for w := range strings.FieldsSeq(g.constants) {
			g.words[w] = surfaces.Warn
		}
		for w := range strings.FieldsSeq(g.keywords) {
			g.words[w] = surfaces.Accent
		}
	})
	style, ok := g.words[word]
	return style, ok
}
