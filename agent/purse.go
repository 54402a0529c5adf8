package agent

import (
	"fmt"
	"sync"

	"starling/bus/chat"
)

// Caps are what may be spent; 0 is no cap.
type Caps struct {
	Tokens int     // read and written, all requests together
	Cost   float64 // US dollars
}

// Purse is what the requests of a session are paid from: those of its runs and
// those of its plugins. It never blocks and may be used from anywhere.
type Purse struct {
	caps Caps

	mu    sync.Mutex
	spent chat.Usage
	ahead chat.Usage // what a session had spent more than this purse when it was carried
}

// NewPurse returns a full purse.
func NewPurse(caps Caps) *Purse { return &Purse{caps: caps} }

// Spend takes what a request cost.
func (p *Purse) Spend(u chat.Usage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spent = p.spent.Add(u)
}

// Carry says what a session had spent, of whoever's purse, when it is gone on with;
// zero for a new one. The caps then hold for that session, and for the purse itself:
// what was taken before stays taken.
func (p *Purse) Carry(u chat.Usage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ahead = chat.Usage{
		Input: max(0, u.Input-p.spent.Input), Output: max(0, u.Output-p.spent.Output),
		CacheRead: max(0, u.CacheRead-p.spent.CacheRead), CacheWrite: max(0, u.CacheWrite-p.spent.CacheWrite),
		Cost: max(0, u.Cost-p.spent.Cost),
	}
}

// Spent returns what was taken so far, and what was carried beyond it.
func (p *Purse) Spent() chat.Usage {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.spent.Add(p.ahead)
}

// Share returns the used share 0..1 of the cap that is nearest; capped is false
// when there is none.
func (p *Purse) Share() (share float64, capped bool) {
	spent := p.Spent()
	if p.caps.Tokens > 0 {
		share, capped = float64(tokens(spent))/float64(p.caps.Tokens), true
	}
	if p.caps.Cost > 0 {
		share, capped = max(share, spent.Cost/p.caps.Cost), true
	}
	return min(share, 1), capped
}

// Over returns which cap is reached and a sentence on it; empty when none is.
func (p *Purse) Over() (limit Limit, why string) {
	spent := p.Spent()
	switch n := tokens(spent); {
	case p.caps.Tokens > 0 && n >= p.caps.Tokens:
		return LimitTokens, fmt.Sprintf("the session reached its limit of %d tokens (it used %d)", p.caps.Tokens, n)
	case p.caps.Cost > 0 && spent.Cost >= p.caps.Cost:
		return LimitCost, fmt.Sprintf("the session reached its limit of $%.4g (it spent $%.4g)", p.caps.Cost, spent.Cost)
	}
	return "", ""
}

// tokens counts what was read and written.
func tokens(u chat.Usage) int { return u.Input + u.Output + u.CacheRead + u.CacheWrite }

// Limit names what a run ran into.
type Limit string

// The limits.
const (
	LimitTurns         Limit = "turns"         // requests of one run
	LimitTokens        Limit = "tokens"        // of the purse
	LimitCost          Limit = "cost"          // of the purse
	LimitTime          Limit = "time"          // the deadline of the run's context
	LimitContinuations Limit = "continuations" // forced by listeners
)
