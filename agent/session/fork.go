package session

import (
	"bufio"
	"errors"
	"fmt"
	"os"

	"starling/trust"
)

// Fork begins a session with the conversation of another one, up to its head or
// to the message of ref, and leaves the other as it is; it may be in use. Empty
// fields of meta are taken over. The message must be one a branch may start at;
// of a prompt the text is returned for editing. Unlike Create it needs a folder
// that can be written.
func (st Store) Fork(ref string, meta Meta) (s *Session, prompt string, err error) {
	name, message := SplitRef(ref)
	from, err := st.Read(name)
	if err != nil {
		return nil, "", err
	}
	if message != "" {
		if message, err = from.Find(message); err != nil {
			return nil, "", err
		}
		if prompt, err = from.Branch(message); err != nil {
			return nil, "", err
		}
	}
	if meta.Cwd == "" {
		meta.Cwd = from.meta.Cwd
	}
	if meta.Workspace == "" {
		meta.Workspace = from.meta.Workspace
	}
	if meta.Model == "" {
		meta.Model = from.meta.Model
	}
	fork, err := st.Create(meta)
	if err != nil {
		return nil, "", err
	}
	id, path := fork.id, fork.path
	if err := errors.Join(fork.Err(), st.copyPath(from, fork), fork.Close()); err != nil {
		return nil, "", fmt.Errorf("fork of session %s: %w", from.id, err)
	}
	if err := errors.Join(os.Rename(forkFile(path), path), syncDir(st.Dir)); err != nil {
		return nil, "", errors.Join(fmt.Errorf("fork of session %s: %w", from.id, err), os.Remove(forkFile(path)))
	}
	s, err = st.openWrite(id)
	return s, prompt, err
}

func forkFile(path string) string { return path + ".fork" }

// copyPath writes the file of a fork under another name, so that nobody ever
// sees half of it. Lines are copied as they are, with fields we do not know.
func (st Store) copyPath(from, fork *Session) (err error) {
	header := headerLine{
		Kind: kindSession, Version: Version, ID: fork.id, Meta: fork.meta, Started: fork.started,
		Forked: from.id + ":" + from.Head(),
	}.line()
	f, err := trust.OpenRegular(forkFile(fork.path), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, f.Close()); err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	out := bufio.NewWriterSize(st.wrapped(f), 1<<20)
	if _, err := out.Write(header); err != nil {
		return err
	}
	if err := from.copyLines(out); err != nil {
		return err
	}
	return errors.Join(out.Flush(), f.Sync())
}

func (s *Session) copyLines(out *bufio.Writer) error {
	s.mu.Lock()
	path := s.pathTo(s.head)
	read := s.reader(path)
	s.mu.Unlock()
	defer read.close()
	for i, n := range read.nodes {
		line, err := read.line(n)
		if err != nil {
			return fmt.Errorf("message %s: %w", n.id, err)
		}
		if _, err := out.Write(append(line[:len(line):len(line)], '\n')); err != nil {
			return err
		}
		if text, ok := s.labels[path[i]]; ok {
			line, err := encode(labelLine{Kind: kindLabel, Node: n.id, Text: text, TS: s.store.now()})
			if err != nil {
				return err
			}
			if _, err := out.Write(line); err != nil {
				return err
			}
		}
	}
	return nil
}
