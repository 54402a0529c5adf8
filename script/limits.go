package script

import (
	"fmt"
	"time"
)

// Off as a limit means none.
const Off = -1

// Limits of one plugin, per call. A zero field is the default, Off is no limit.
type Limits struct {
	Steps  int64         // computation steps; default 5 000 000
	String int64         // bytes of one string; default 8 MiB
	List   int64         // items of one list or range; default 100 000
	Dict   int64         // items of one dict or set; default 100 000
	Time   time.Duration // computing time; default by the kind of call
}

// The defaults.
const (
	DefaultSteps  = 5_000_000
	DefaultString = 8 << 20
	DefaultList   = 100_000
	DefaultDict   = 100_000
)

// Over returns these limits with the fields of o that are set in their place.
func (l Limits) Over(o Limits) Limits {
	pick := func(have, want int64) int64 {
		if want != 0 {
			return want
		}
		return have
	}
	return Limits{
		Steps: pick(l.Steps, o.Steps), String: pick(l.String, o.String),
		List: pick(l.List, o.List), Dict: pick(l.Dict, o.Dict),
		Time: time.Duration(pick(int64(l.Time), int64(o.Time))),
	}
}

// Full returns the limits with the defaults filled in; Time stays 0 where the
// kind of a call decides. Off becomes a number that is never reached.
func (l Limits) Full() Limits {
	fill := func(v, def int64) int64 {
		switch {
		case v == 0:
			return def
		case v < 0:
			return 1<<62 - 1
		}
		return v
	}
	return Limits{
		Steps: fill(l.Steps, DefaultSteps), String: fill(l.String, DefaultString),
		List: fill(l.List, DefaultList), Dict: fill(l.Dict, DefaultDict), Time: l.Time,
	}
}

// Raised names the limits that are off or above their default: files of a
// workspace may lower them, not raise them. A time is compared with the 2 s of a
// listener.
func (l Limits) Raised() []string {
	var names []string
	check := func(name string, v, def int64) {
		if v < 0 || v > def {
			names = append(names, name)
		}
	}
	check("steps", l.Steps, DefaultSteps)
	check("string", l.String, DefaultString)
	check("list", l.List, DefaultList)
	check("dict", l.Dict, DefaultDict)
	check("time_ms", int64(l.Time), int64(timeOf(Listener)))
	return names
}

// declaredLimits reads limits = {…}; 0 there means Off.
func declaredLimits(m map[string]any) (Limits, error) {
	var l Limits
	for name, v := range m {
		n, ok := v.(int64)
		if !ok || n < 0 {
			return l, fmt.Errorf("%s must be a whole number from 0 on (0 = no limit)", name)
		}
		if n == 0 {
			n = Off
		}
		switch name {
		case "steps":
			l.Steps = n
		case "string":
			l.String = n
		case "list":
			l.List = n
		case "dict":
			l.Dict = n
		case "time_ms":
			if n > int64((24 * time.Hour).Milliseconds()) {
				return l, fmt.Errorf("time_ms is longer than a day")
			}
			l.Time = Off
			if n > 0 {
				l.Time = time.Duration(n) * time.Millisecond
			}
		default:
			return l, unknownKey(name, []string{"steps", "string", "list", "dict", "time_ms"})
		}
	}
	return l, nil
}
