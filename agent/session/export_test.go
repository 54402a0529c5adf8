package session

// Wrapped returns a store whose files go through wrap.
func Wrapped(st Store, wrap func(File) File) Store {
	st.wrap = wrap
	return st
}
