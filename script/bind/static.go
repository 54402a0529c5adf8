package bind

import (
	"fmt"
	"slices"

	"starling/script"
)

// Fault tells, without running anything, why the file is sure to fail when it is
// loaded: a registration at its top level, one in apply that nothing lets pass, or
// a service that nobody provides. What cannot be told for certain is no fault.
func Fault(p *script.Program) error {
	for _, when := range []script.When{script.Reading, script.Applying} {
		for _, r := range p.Decl().Registrations {
			if r.When != when {
				continue
			}
			if err := faultOf(p.Decl(), r); err != nil {
				return &script.Error{File: r.Call.File, Line: r.Call.Line, Col: r.Call.Col, Msg: err.Error()}
			}
		}
	}
	for _, key := range p.Decl().Provides {
		if !p.MayProvide(key) {
			return fmt.Errorf("left %q unprovided", key)
		}
	}
	return nil
}

// faultOf says why a registration that runs for certain fails.
func faultOf(d *script.Decl, r script.Registration) error {
	if r.When == script.Reading {
		return tooEarly(r.Kind)
	}
	if slices.Contains(later, r.Kind) {
		return notAvailable(r.Kind)
	}
	i := slices.IndexFunc(words(), func(b builtin) bool { return b.name == r.Kind })
	if i < 0 {
		return nil
	}
	if service := words()[i].service; service != "" && !injected(d, service) {
		return notInjected(r.Kind, service)
	}
	switch {
	case r.Name == "": // computed
	case r.Kind == "on":
		if err := CheckEvent(r.Name); err != nil {
			return fmt.Errorf("on: %w", err)
		}
	case r.Kind == "provide" && !slices.Contains(d.Provides, r.Name):
		return fmt.Errorf("provide: provide %q: not in provides of %s", r.Name, d.Name)
	}
	return nil
}

func injected(d *script.Decl, key string) bool {
	return slices.Contains(d.Inject, key) || slices.Contains(d.Inject, key+"?")
}

func notInjected(word, service string) error {
	return fmt.Errorf("%s needs %q in inject", word, service)
}

// tooEarly refuses a registration while the file is read.
func tooEarly(word string) error {
	return fmt.Errorf("%s does not work while the file is read: call it in apply", word)
}
