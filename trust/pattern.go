package trust

// Patterns are what rules of a person name places and hosts with: the globs of
// capability words, without the word.

// CheckPathPattern vets a glob over paths: relative to the workspace, or from
// "~/" or "/". Errors say what to write.
func CheckPathPattern(pattern string) error {
	if err := plainText(pattern); err != nil {
		return err
	}
	return checkPathGlob(pattern)
}

// Matches tells whether a checked pattern matches abs, an absolute path with its
// links resolved.
func (f Folders) Matches(pattern, abs string) bool {
	return Word{Kind: FSWrite, Scope: pattern}.coversPath(f, abs)
}

// Pattern returns the pattern that matches abs and nothing else. It is false for
// a name no pattern can spell, and for the workspace itself.
func (f Folders) Pattern(abs string) (string, bool) {
	pattern := f.scopeOf(abs)
	return pattern, pattern != "" && CheckPathPattern(pattern) == nil && f.Matches(pattern, abs)
}

// Below tells whether abs is dir or lies below it; both are absolute. Nothing
// lies below "".
func Below(abs, dir string) bool {
	_, inside := pathBelow(abs, dir)
	return inside && dir != ""
}

// CheckHostPattern vets HOST, *.DOMAIN or either with :PORT. Errors speak of
// capability words.
func CheckHostPattern(pattern string) error {
	_, _, err := splitHost(pattern)
	return err
}

// MatchesHost tells whether a checked pattern matches a host and the port used.
func MatchesHost(pattern, host string, port int) bool {
	return Words{{Kind: Net, Scope: pattern}}.AllowsNet(host, port) == nil && pattern != ""
}
