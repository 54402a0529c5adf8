package snapshot

// WithFault has steps of storing fail.
func (s *Store) WithFault(fault func(op string) error) *Store {
	c := *s
	c.fault = fault
	return &c
}

// Blob is where a content stands.
func (s *Store) Blob(digest string) string { return s.blobPath(digest) }

// Digests are the contents a snapshot needs.
func (s *Snapshot) Digests() []string { return s.digests() }
