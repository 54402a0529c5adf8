package harness

import (
	"starling/bus"
	"starling/bus/compose"
	"starling/bus/spec"
	"starling/tools/fs"
	"starling/trust"
)

// hostComponent provides the registries as services, and nothing else: they
// exist in every mode.
func hostComponent() compose.Component {
	return compose.Component{
		Name: "host", Origin: "host", Position: bus.At(bus.ClassHost, 0, "host"),
		Provides: spec.HostKeys,
	}
}

// hostOf is the host with its services and built-in tools.
func hostOf(reg *spec.Registries, jail *trust.Jail) compose.Component {
	c := hostComponent()
	c.Apply = func(s *compose.Scope) error {
		for key, registry := range map[string]any{
			"tools": reg.Tools, "commands": reg.Commands, "surfaces": reg.Surfaces,
			"gates": reg.Gates, "strategies": reg.Strategies, "evals": reg.Evals,
		} {
			if err := s.Provide(key, registry); err != nil {
				return err
			}
		}
		files := fs.New(jail)
		for _, t := range []spec.Tool{files.Read(), files.Write()} {
			compose.Register(s, reg.Tools.Slot(), "tool "+t.Name, t)
		}
		return nil
	}
	return c
}
