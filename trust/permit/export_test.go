package permit

// Reencode reads the bytes of a rules file and writes what was read.
func Reencode(data []byte) ([]byte, error) {
	s, err := decode("rules.json", data)
	if err != nil {
		return nil, err
	}
	return s.encode()
}
