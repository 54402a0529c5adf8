package cli

import "starling/bus/view"

func graphText(plugins []view.Plugin, format string, all bool) (string, error) { return "", nil }
