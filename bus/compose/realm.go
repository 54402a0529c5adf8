package compose

import (
	"maps"
	"strconv"
)

// realm tells the bindings of one key apart. The zero realm is the default one.
type realm struct {
	name  string // of a realm shared by name
	owner ID     // of the mount a private realm belongs to
}

// where names a realm for people, behind "provided only in".
func (r realm) where() string {
	switch {
	case r.name != "":
		return "realm " + strconv.Quote(r.name)
	case r.owner != 0:
		return "a private realm"
	}
	return "the default realm"
}

func (r realm) before(o realm) bool {
	if r.name != o.name {
		return r.name < o.name
	}
	return r.owner < o.owner
}

// table maps keys to realms; it never changes once made. Keys not in it live in
// the default realm.
type table map[string]realm

// with returns the table of the mount id, which starts as t. A private realm
// carries the id of its mount, so that it is the same one after a reload.
func (t table) with(id ID, isolate map[string]string) table {
	if len(isolate) == 0 {
		return t
	}
	next := make(table, len(t)+len(isolate))
	maps.Copy(next, t)
	for key, name := range isolate {
		if name == "" {
			next[key] = realm{owner: id}
		} else {
			next[key] = realm{name: name}
		}
	}
	return next
}
