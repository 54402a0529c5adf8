package surfaces

import (
	"sync"
	"time"
)

// answerTime is how long the host waits for an update before what it does by
// default with a key applies.
const answerTime = 50 * time.Millisecond

// answer is the one reply to whoever posted a message; nil wants none.
type answer struct {
	once  sync.Once
	tell  func(consumed bool)
	timer *time.Timer
}

func newAnswer(tell func(bool)) *answer {
	if tell == nil {
		return nil
	}
	a := &answer{tell: tell}
	a.timer = time.AfterFunc(answerTime, func() { a.once.Do(func() { tell(false) }) })
	return a
}

func (a *answer) give(consumed bool) {
	if a == nil {
		return
	}
	a.once.Do(func() { a.tell(consumed) })
	a.timer.Stop()
}
