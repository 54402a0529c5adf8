package harness

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"starling/agent/provider"
	"starling/agent/provider/scripted"
	"starling/script/discover"
	"starling/script/scenario"
)

const (
	demoModel    = "demo"
	scriptPrefix = "script:"
)

// model resolves a name: the built-in demo, or a scenario file.
func (o Options) model() (name string, p provider.Provider, err error) {
	switch {
	case o.Model == "" || o.Model == demoModel:
		return demoModel, scripted.Demo(), nil
	case strings.HasPrefix(o.Model, scriptPrefix):
		path := strings.TrimPrefix(o.Model, scriptPrefix)
		if !filepath.IsAbs(path) {
			path = filepath.Join(o.Cwd, path)
		}
		src, err := readScenario(path)
		if err != nil {
			return "", nil, fmt.Errorf("--model: %w; script:FILE takes a scenario file", err)
		}
		steps, err := scenario.Load(path, src)
		if err != nil {
			return "", nil, fmt.Errorf("--model: scenario %w", err)
		}
		return scriptPrefix + filepath.Base(path), scripted.New(steps, scripted.Clock), nil
	}
	return "", nil, fmt.Errorf("--model: there is no model %q; this version knows demo and script:FILE", o.Model)
}

// readScenario reads a file a person named; it may be a pipe, but not without an
// end.
func readScenario(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, discover.SourceLimit+1))
	if err == nil && len(data) > discover.SourceLimit {
		err = fmt.Errorf("%s has more than %d bytes", path, discover.SourceLimit)
	}
	return data, err
}
