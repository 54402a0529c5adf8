package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"starling/agent/provider"
	"starling/agent/provider/scripted"
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
		src, err := os.ReadFile(path)
		if err != nil {
			return "", nil, fmt.Errorf("--model: %w", err)
		}
		steps, err := scenario.Load(path, src)
		if err != nil {
			return "", nil, fmt.Errorf("--model: scenario %w", err)
		}
		return scriptPrefix + filepath.Base(path), scripted.New(steps, scripted.Clock), nil
	}
	return "", nil, fmt.Errorf("--model: there is no model %q; this version knows demo and script:FILE", o.Model)
}
