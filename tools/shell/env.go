package shell

import "slices"

// Env is the environment every command starts from: that of Options less what
// Keep refused, NAME=VALUE.
func (e *Engine) Env() []string { return slices.Clone(e.base) }
