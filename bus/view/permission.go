package view

// Decision is one answer about a tool call, for /policy.
type Decision struct {
	Tool    string `json:"tool"`
	Summary string `json:"summary"`
	Effect  string `json:"effect"` // allow or deny
	By      string `json:"by"`     // floor, rule …, plugin NAME, mode …, person
	Why     string `json:"why,omitempty"`
}

// Rule is one permission rule, for /policy.
type Rule struct {
	Effect string `json:"effect"` // allow, ask or deny
	Rule   string `json:"rule"`
	Source string `json:"source"`
}
