package command

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"starling/bus/view"
)

func newSession(ctx context.Context, s Session, _ string) Reply { return switchTo(ctx, s, "") }

// switchTo goes on with a session; "" is a new one.
func switchTo(ctx context.Context, s Session, id string) Reply {
	if s.Running() {
		return failed("a run goes on: stop it with %s first", stopKey(s))
	}
	if err := s.Switch(ctx, id); err != nil {
		return failure(err)
	}
	if id == "" {
		return Reply{Do: Renew, Body: Say("another session begins; /resume goes back to this one")}
	}
	return Reply{Do: Renew, Body: Say(fmt.Sprintf("the session %s goes on", id))}
}

// resume is /resume [ID].
func resume(ctx context.Context, s Session, args string) Reply {
	if args != "" {
		return switchTo(ctx, s, args)
	}
	list, err := ordered(s)
	if err != nil {
		return failure(err)
	}
	p := &Pick{Title: "go on with", Empty: "there is no earlier session here", Keys: []Key{{
		Chord: "enter", Help: "go on", Leaves: true,
		Do: func(ctx context.Context, id string) Reply { return switchTo(ctx, s, id) },
	}}}
	here := s.Status().Session
	for _, x := range list {
		if x.ID == here {
			continue
		}
		p.Items = append(p.Items, Item{
			ID: x.ID, Text: titleOf(x), Note: join([]string{age(s.Now().Sub(x.Changed)), messages(x.Messages)}),
			Detail: x.ID + "\n" + x.Folder,
		})
	}
	return Reply{Pick: p}
}

// sessions is /sessions.
func sessions(_ context.Context, s Session, _ string) Reply {
	return Reply{View: &View{
		Title: "sessions",
		Load:  func(context.Context) Body { return sessionsBody(s) },
		Keys: []Key{{
			Chord: "enter", Help: "go on", Leaves: true,
			Do: func(ctx context.Context, id string) Reply { return switchTo(ctx, s, id) },
		}},
	}}
}

func sessionsBody(s Session) Body {
	var b Body
	list, err := ordered(s)
	if err != nil {
		b.styled(err.Error(), styleBad)
	}
	t := table{columns: []column{{title: "id"}, {title: "changed"}, {title: "messages", right: true, drop: 1}, {title: "folder", drop: 2, most: 24}, {title: "title"}}}
	here := s.Status().Session
	for _, x := range list {
		count := ""
		if x.Messages > 0 {
			count = fmt.Sprint(x.Messages)
		}
		title := cell{text: titleOf(x)}
		if x.ID == here {
			title.text += " (this one)"
			title.style = styleAccent
		}
		t.row(x.ID, x.ID, age(s.Now().Sub(x.Changed)), count, dim(filepath.Base(x.Folder)), title)
	}
	b.add(t)
	if b.Empty() {
		b.say("There is no session here yet: the first prompt begins one.")
	}
	return b
}

// ordered are the sessions, the one that changed last first.
func ordered(s Session) ([]view.Session, error) {
	list, err := s.Sessions()
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b view.Session) int {
		return cmp.Or(b.Changed.Compare(a.Changed), cmp.Compare(a.ID, b.ID))
	})
	if len(list) > 0 {
		err = nil // one that cannot be read hides no other
	}
	return list, err
}

func titleOf(x view.Session) string {
	if title := strings.TrimSpace(view.CleanLine(x.Title)); title != "" {
		return title
	}
	return "(no title)"
}

func messages(n int) string {
	switch n {
	case 0:
		return "" // not counted
	case 1:
		return "1 message"
	}
	return fmt.Sprintf("%d messages", n)
}

// age writes how long ago something was.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", d/time.Hour)
	}
	return fmt.Sprintf("%d days ago", d/(24*time.Hour))
}

func completeSession(_ context.Context, s Session, _ string) []Candidate {
	list, err := ordered(s)
	if err != nil {
		return nil // /resume itself says why
	}
	var out []Candidate
	for _, x := range list {
		out = append(out, Candidate{Text: x.ID, Help: join([]string{titleOf(x), age(s.Now().Sub(x.Changed))})})
	}
	return out
}
