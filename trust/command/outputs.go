package command

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// What programs write that are no writers by their name: the value of an option, a
// file named in a script, what an archive holds.

// outputOptions are options whose value is a file that is written anew.
var outputOptions = sync.OnceValue(func() map[string][]string {
	m := map[string][]string{
		"sort": {"-o", "--output"}, "shuf": {"-o", "--output"}, "go": {"-o"}, "pandoc": {"-o", "--output"}, "openssl": {"-out"}, "gpg": {"-o", "--output"},
		"tree": {"-o"}, "base64": {"-o"}, "dot": {"-o"}, "iconv": {"-o", "--output"}, "bison": {"-o", "--output"}, "flex": {"-o"}, "esbuild": {"--outfile"}, "tsc": {"--outFile"},
		"cargo": {"--out-dir"}, "zstd": {"-o"}, "protoc": {"--descriptor_set_out"}, "yacc": {"-o"}, "xmllint": {"-o", "--output"}, "psql": {"-o", "--output"}, "ltrace": {"-o"},
	}
	for _, name := range strings.Fields("gcc g++ cc c++ clang clang++ ld tcc gfortran rustc nasm as ar ghc ocamlc ocamlopt javac swiftc zig dmd gdc ldc2 sass") {
		m[name] = []string{"-o", "--output"}
	}
	return m
})

// outputs judges what an ordinary program surely writes.
func (c *command) outputs() {
	var files []value
	for i, v := range c.args[1:] {
		for _, name := range outputOptions()[c.name] {
			rest, glued := strings.CutPrefix(v.prefix, name)
			switch {
			case v.is(name) && i+2 < len(c.args):
				files = append(files, c.args[i+2])
			case glued && strings.HasPrefix(name, "--") && strings.HasPrefix(rest, "="):
				files = append(files, tail(v, rest[1:]))
			case glued && len(name) == 2 && rest != "" && !strings.HasPrefix(v.prefix, "--"):
				files = append(files, tail(v, rest))
			}
		}
	}
	switch c.name {
	case "sort", "shuf": // joined to other letters
		if v, ok := c.valueOf("o", "output"); ok && len(files) == 0 {
			files = append(files, v)
		}
	case "uniq", "xxd":
		if args := c.operands("-f", "-s", "-w", "-c", "-l", "-o", "-n"); len(args) > 1 {
			files = append(files, args[1])
		}
	case "sed", "gsed":
		files = append(files, c.sedWrites()...)
	case "awk", "gawk", "mawk", "nawk":
		c.awkWrites()
	case "tar", "bsdtar", "gtar", "unzip", "7z", "7za", "unrar", "cpio", "jar", "ar", "zip":
		c.archive()
	}
	if len(files) > 0 {
		c.r.writes(files, c.st, c.part, true)
	}
}

// sedWrite is a file in a script of sed; it ends with the line. What looks so and
// is none names a file that is not there.
var sedWrite = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[wW][ \t]+([^\n]+)`) })

func (c *command) sedWrites() []value {
	var out []value
	for _, v := range c.args[1:] {
		if !v.known {
			continue
		}
		for _, m := range sedWrite().FindAllStringSubmatch(v.text, -1) {
			name := strings.TrimSpace(m[1])
			out = append(out, literal(name), literal(strings.TrimRight(name, "}; ")))
		}
	}
	return out
}

var (
	awkFile  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(>>?)[ \t]*"([^"\\]*)"`) })
	awkOther = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`print[^;}\n]*>[ \t]*(\(|"[^"]*"[ \t]*[^;}\n \t]|[A-Za-z_$])`)
	})
)

// awkWrites judges the redirections of a program for awk, and editing in place.
func (c *command) awkWrites() {
	r := c.r
	args := c.operands("-F", "-v", "-f", "-i", "--include", "--file", "--assign", "--field-separator")
	for _, v := range args {
		if !v.known {
			continue
		}
		for _, m := range awkFile().FindAllStringSubmatch(v.text, -1) {
			r.writes([]value{literal(m[2])}, c.st, c.part, m[1] == ">")
		}
		if awkOther().MatchString(v.text) {
			loss := &Loss{Dir: c.st.dir}
			loss.anywhere()
			r.lossOf(true, c.part, loss, "a file nobody knows beforehand may be overwritten")
		}
	}
	if slices.ContainsFunc(c.args[1:], func(v value) bool { return v.is("inplace") || v.is("-iinplace") || v.is("--include=inplace") }) && len(args) > 1 {
		r.writes(args[1:], c.st, c.part, true)
	}
}

// archive judges what is packed and unpacked.
func (c *command) archive() {
	unpacks, keeps, file, into, members := c.unpacking()
	if !unpacks {
		if file.src != "" && !file.is("-") {
			c.r.writes([]value{file}, c.st, c.part, true)
		}
		return
	}
	r := c.r
	var folders []string
	if into.known {
		folders = r.places(c.st, into.text)
	}
	if file.src == "" && len(c.operands("-d")) > 0 { // unzip FILE, 7z x FILE
		for _, v := range c.operands("-d") {
			c.arrives(v, folders)
		}
	}
	if c.arrives(file, folders); c.st.in.download {
		r.arrived = append(r.arrived, folders...)
	}
	for _, abs := range folders {
		r.writeFloor(abs+"/x", c.part)
		if below(r.at.Home, abs) && !(r.inside(abs) && abs != r.at.Home) {
			r.find(Finding{Part: c.part, Why: "it unpacks into the home directory, and start-up files may be among what it writes", Paths: []string{abs}})
		}
	}
	if keeps {
		return
	}
	loss := &Loss{Dir: c.st.dir}
	loss.anywhere()
	loss.Names = folders
	if len(members) > 0 && len(folders) == 1 && c.name != "jar" {
		loss.Names = nil
		for _, v := range members {
			at := r.places(c.st, folders[0]+"/"+v.text)
			if !v.known || len(at) == 0 || strings.ContainsAny(v.text, "*?[") {
				loss.Names = folders
				break
			}
			r.writeFloor(at[0], c.part)
			loss.Names = append(loss.Names, at...)
		}
	}
	r.lossOf(true, c.part, loss, "what it unpacks may overwrite files")
}

// arrives notes that folders take what is in a file, when that was fetched.
func (c *command) arrives(file value, folders []string) {
	if file.known && slices.ContainsFunc(c.r.places(c.st, file.text), c.r.came) {
		c.r.arrived = append(c.r.arrived, folders...)
	}
}

// unpacking reads the words of an archiver: whether it unpacks and spares what is
// there, the archive, the folder it goes to and what is taken of it.
func (c *command) unpacking() (unpacks, keeps bool, file, into value, members []value) {
	into = literal(".")
	switch c.name {
	case "zip":
		if args := c.operands("-i", "-x", "-b", "-t"); len(args) > 0 {
			file = args[0]
		}
		return false, false, file, into, nil
	case "unzip":
		args := c.operands("-d", "-x", "-P")
		if v, ok := c.valueOf("d"); ok {
			into = v
		}
		return !c.has("ltvzp"), !c.has("o"), file, into, args[min(1, len(args)):]
	case "7z", "7za", "unrar":
		for _, v := range c.args[1:] {
			if rest, ok := strings.CutPrefix(v.text, "-o"); ok && rest != "" && rest != "+" && rest != "-" {
				into = literal(rest)
			}
		}
		args := c.operands()
		if len(args) > 1 && (args[0].is("a") || args[0].is("u")) {
			return false, false, args[1], into, nil
		}
		return len(args) > 0 && (args[0].is("x") || args[0].is("e")), false, file, into, nil
	case "cpio":
		return c.has("i", "extract"), !c.has("u", "unconditional"), file, into, nil
	}
	// tar and its like: the letters may come first, without a dash.
	letters, skip := "", []string{"-C", "--directory", "-f", "--file", "-T", "-X", "--exclude", "--strip-components", "-b", "-I", "--use-compress-program"}
	list := c.args[1:]
	if len(list) > 0 && list[0].known && !strings.HasPrefix(list[0].text, "-") {
		letters, list = list[0].text, list[1:]
		if strings.Contains(letters, "f") && len(list) > 0 {
			file, list = list[0], list[1:]
		}
		if c.name == "ar" && len(list) > 0 {
			file, list = list[0], list[1:]
		}
		if strings.Contains(letters, "C") && len(list) > 0 {
			into, list = list[0], list[1:]
		}
	} else if v, ok := c.valueOf("f", "file"); ok {
		file = v
	}
	rest := *c
	rest.args = append([]value{c.args[0]}, list...)
	if v, ok := rest.valueOf("C", "directory"); ok {
		into = v
	}
	for i := 0; i < len(list); i++ {
		v := list[i]
		switch {
		case slices.Contains(skip, v.text):
			i++
		case strings.HasPrefix(v.text, "--"), v.text == "-":
		case strings.HasPrefix(v.prefix, "-"):
			if letters += v.text[1:]; strings.HasSuffix(v.text, "f") || strings.HasSuffix(v.text, "C") {
				i++
			}
		default:
			members = append(members, v)
		}
	}
	unpacks = strings.Contains(letters, "x") || c.has("", "extract", "get")
	if c.name == "ar" && !unpacks && strings.Trim(letters, "tpsvP") == "" || !unpacks && !strings.ContainsAny(letters, "crAu") && !c.has("", "create", "append", "update") && c.name != "ar" {
		file = value{}
	}
	return unpacks, strings.Contains(letters, "k") || strings.Contains(letters, "O") || c.has("", "keep-old-files", "skip-old-files", "to-stdout"), file, into, members
}
