package session

import (
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"time"
)

// idTime is the sortable part of a session's id, UTC.
const idTime = "20060102-150405.000"

// newID makes an id of a session: the time to the millisecond and 4 random
// bytes, so that ids sort by time and those of two processes differ.
func newID(now time.Time, random io.Reader) (string, error) {
	var b [4]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("session id: %w", err)
	}
	return strings.Replace(now.UTC().Format(idTime), ".", "-", 1) + "-" + hex.EncodeToString(b[:]), nil
}

// validID tells whether a text can be an id: it becomes part of a path.
func validID(id string) bool {
	if id == "" || id[0] == '-' {
		return false
	}
	for _, c := range []byte(id) {
		if !wordByte(c, "-_") {
			return false
		}
	}
	return true
}

// SplitRef splits ID or ID:MESSAGE.
func SplitRef(ref string) (id, message string) {
	id, message, _ = strings.Cut(ref, ":")
	return id, message
}

// pick returns the one of names that is ref, or that alone begins with it.
// Without one it returns those that ref may mean.
func pick(names []string, ref string) (string, []string) {
	var may []string
	for _, name := range names {
		if name == ref {
			return name, nil
		}
		if strings.HasPrefix(name, ref) {
			may = append(may, name)
		}
	}
	if len(may) == 1 && ref != "" {
		return may[0], nil
	}
	return "", may
}
