package harness

import (
	"fmt"

	"starling/script/bind"
	"starling/script/journal"
	"starling/trust"
)

// quarantined is the reason of a plugin that was at work when the last process
// died. It is left out of one start; the journal is gone after it was read.
const quarantined = "quarantined"

// openJournal opens the journal of this workspace and returns who was at work in
// processes that died. A start without plugins needs none.
func openJournal(o Options, jail *trust.Jail, found composition) (*journal.Journal, []journal.Death, error) {
	if o.Home == "" || len(found.plugins) == 0 {
		return nil, nil, nil
	}
	log, deaths, err := journal.Open(bind.StateDir(o.Home, jail.Dir()))
	return log, journal.Blamed(deaths), err
}

// nextQuarantine is who the next start of this workspace will leave out; the
// journal stays as it is.
func nextQuarantine(o Options, found composition) ([]journal.Death, error) {
	if o.Home == "" || len(found.plugins) == 0 {
		return nil, nil
	}
	jail, err := trust.NewJail(o.Workspace)
	if err != nil {
		return nil, fmt.Errorf("workspace: %w", err)
	}
	defer jail.Close()
	deaths, err := journal.Peek(bind.StateDir(o.Home, jail.Dir()))
	return journal.Blamed(deaths), err
}

// quarantine leaves the blamed plugins out of this start and says so.
func (c *composition) quarantine(deaths []journal.Death) { c.leaveOut(deaths, "this start") }

func (c *composition) leaveOut(deaths []journal.Death, start string) {
	blamed := map[string]journal.Death{}
	for _, d := range deaths {
		if _, known := blamed[d.Plugin]; !known {
			blamed[d.Plugin] = d
		}
	}
	for i := range c.plugins {
		pl := &c.plugins[i]
		d, dead := blamed[pl.file.Name]
		if !dead || !pl.runs() {
			continue
		}
		pl.file.Off = quarantined
		c.notices = append(c.notices, fmt.Sprintf("plugin %s is quarantined: the process before this one died while it handled %s; it is left out of %s", d.Plugin, d.What, start))
	}
}
