package harness

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"starling/trust"
)

// logTail is the most that is read of a log, in bytes.
const logTail = 256 << 10

// PluginLog returns the last lines of what a plugin logged, oldest first; none where
// nothing was.
func (e *Engine) PluginLog(name string, lines int) []string {
	if e.logs.dir == "" || lines < 1 || name != filepath.Base(name) || strings.HasPrefix(name, ".") {
		return nil
	}
	f, err := trust.OpenRegular(filepath.Join(e.logs.dir, name+".log"), os.O_RDONLY, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	from := max(info.Size()-logTail, 0)
	data, err := io.ReadAll(io.NewSectionReader(f, from, info.Size()-from))
	if err != nil {
		return nil
	}
	all := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	if from > 0 {
		all = all[1:] // begins in the middle
	}
	if len(all) == 1 && all[0] == "" {
		return nil
	}
	return all[max(len(all)-lines, 0):]
}
