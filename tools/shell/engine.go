package shell

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Times of the engine's rules.
const (
	// Linger is how long Run waits for children after the command itself ended.
	Linger = 250 * time.Millisecond
	// Grace is the time between TERM and KILL.
	Grace = 500 * time.Millisecond
	// hardEnd is how long a killed process may take to vanish: only one that
	// hangs inside the kernel does not.
	hardEnd = 2 * time.Second
	// leastKills is how often KILL is sent at least to what does not end.
	leastKills = 10
	// defaultPlaces is how many queued commands live at once.
	defaultPlaces = 64
	// kept is how many finished processes List still shows.
	kept = 4
)

// ErrClosed is returned by Run after Close.
var ErrClosed = errors.New("shell: the engine is closed; no process can be started any more")

// Options of New. The zero value runs in the current folder with an empty
// environment and keeps no spill files.
type Options struct {
	// Dir is where commands run that name no folder themselves.
	Dir string
	// Env is the base environment, NAME=VALUE, of every command. Its PATH is
	// where programs are looked up.
	Env []string
	// Keep tells which variables of Env a command may see; nil keeps all.
	// Variables that a Command adds itself are not asked for.
	Keep func(name string) bool
	// Outside is the workspace: no program is taken from it. Empty means that
	// any folder of PATH may hold a program.
	Outside string
	// Wrap may put a launcher, such as a sandbox, in front of a command; its
	// argument and result start with the absolute path of a program.
	Wrap func(argv []string) []string
	// Spill is a private folder for output that does not fit in memory and for
	// the reports of Command.KeepDir; empty keeps only head and tail, and no
	// folder. Close removes the files.
	Spill string
	// SpillLimit is the most bytes one spill file gets; 0 means 256 MiB.
	SpillLimit int64
	// SpillTotal is the most bytes all spill files have together; 0 means 1 GiB.
	// The oldest are removed for new ones.
	SpillTotal int64
	// Places is how many commands with Command.Queue may live at once, those they
	// left in the background among them; 0 means 64.
	Places int
	// Head and Tail are how many bytes of each stream are kept from its start
	// and from its end; 0 means 64 KiB.
	Head, Tail int
	// Now is the clock of Elapsed; nil means time.Now.
	Now func() time.Time
	// Watchdog starts a process beside the first command that ends what is left of
	// all of them when this process is killed without Close. It needs Linux;
	// elsewhere nothing is started.
	Watchdog bool
	// Ended, if set, is told of each process once nothing of it is left. It is
	// called on a goroutine of the engine and must return soon.
	Ended func(Row)
}

// Engine starts processes and keeps the list of them. All methods may be
// called from any goroutine.
type Engine struct {
	opt  Options
	base []string // Env after Keep
	mark string   // see markName

	system *system

	entering sync.RWMutex // read-held from the start of a process until it is in live

	mu     sync.Mutex
	lastID int
	live   map[int]*process
	ended  []Row        // the last few, oldest first
	spills []*spillFile // oldest first
	closed bool

	script string // the file that bash reads for Command.KeepDir, once it is written

	watchdogStarted bool
	watchdog        *watchdog

	places    chan struct{} // one element for each queued command that lives
	closing   chan struct{} // closed by Close
	hurry     chan struct{} // closed when Close may not wait for the grace
	hurryOnce sync.Once
	running   sync.WaitGroup
}

// Row is one process as /ps shows it.
type Row struct {
	ID      int // from 1, never used again
	PID     int
	Origin  string
	Command string
	// Status is "running", "background", "exited(N)", "signalled",
	// "timed out", "stopped", "cancelled" or "needs a terminal".
	Status  string
	Running bool // Status is "running" or "background"
	Elapsed time.Duration
}

// New returns an engine with nothing running.
func New(o Options) *Engine {
	if o.Head <= 0 {
		o.Head = 64 << 10
	}
	if o.Tail <= 0 {
		o.Tail = 64 << 10
	}
	if o.SpillLimit <= 0 {
		o.SpillLimit = 256 << 20
	}
	if o.SpillTotal <= 0 {
		o.SpillTotal = 1 << 30
	}
	if o.Places <= 0 {
		o.Places = defaultPlaces
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Engine{
		opt: o, base: keepEnv(o.Env, o.Keep), mark: newMark(), live: map[int]*process{}, system: newSystem(),
		places: make(chan struct{}, o.Places), closing: make(chan struct{}), hurry: make(chan struct{}),
	}
}

// Run starts c and waits for it as the package sentence says. A ctx that ends
// kills the command and everything it started. The error is about starting
// alone, except that a panic of c.OnOutput is returned beside the outcome.
func (e *Engine) Run(ctx context.Context, c Command) (Outcome, error) {
	if err := ctx.Err(); err != nil {
		return Outcome{Status: -1, Cancelled: true}, fmt.Errorf("shell: not started: %w", err)
	}
	plan, err := e.plan(c)
	if err != nil {
		return Outcome{Status: -1}, err
	}
	if c.Queue {
		if err := e.takePlace(ctx, c.Timeout); err != nil {
			return Outcome{Status: -1, Cancelled: ctx.Err() != nil}, err
		}
	}
	// Whoever stops processes waits for those that begin: none is passed over.
	e.entering.RLock()
	p, err := e.begin(plan, c)
	if err == nil {
		e.enter(p)
	}
	e.entering.RUnlock()
	if err != nil {
		if c.Queue {
			e.givePlace()
		}
		return Outcome{Status: -1}, err
	}
	go p.supervise(ctx, c.Timeout)
	<-p.returned
	return p.outcome, p.listenerErr
}

// begin starts the process under the next id.
func (e *Engine) begin(pl plan, c Command) (*process, error) {
	id, err := e.claim()
	if err != nil {
		return nil, err
	}
	e.startWatchdog()
	p, err := e.start(id, pl, c)
	if err != nil {
		e.running.Done()
	}
	return p, err
}

// claim takes the next id and holds Close back until the process has ended.
func (e *Engine) claim() (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return 0, ErrClosed
	}
	e.lastID++
	e.running.Add(1)
	return e.lastID, nil
}

func (e *Engine) enter(p *process) {
	e.mu.Lock()
	e.live[p.id] = p
	closed := e.closed
	e.mu.Unlock()
	if closed { // Close has already asked everybody it could see
		p.ask(stopped)
	}
}

// leave moves p to the finished ones before Run returns, so that whoever
// looks next sees it there.
func (e *Engine) leave(p *process) {
	p.mu.Lock()
	p.over = true
	p.mu.Unlock()
	row := p.row(e.opt.Now())
	e.mu.Lock()
	delete(e.live, p.id)
	e.ended = append(e.ended, row)
	if len(e.ended) > kept {
		e.ended = slices.Delete(e.ended, 0, len(e.ended)-kept)
	}
	e.mu.Unlock()
	if p.queued {
		e.givePlace()
	}
	p.release()
	close(p.gone)
	if e.opt.Ended != nil {
		e.opt.Ended(row)
	}
	e.running.Done()
}

// List returns all running processes and the last four that ended, by id.
func (e *Engine) List() []Row {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.opt.Now()
	rows := slices.Clone(e.ended)
	for _, p := range e.live {
		rows = append(rows, p.row(now))
	}
	slices.SortFunc(rows, func(a, b Row) int { return a.ID - b.ID })
	return rows
}

// Stop asks process id and everything it started to end, and does not wait.
func (e *Engine) Stop(id int) error {
	e.begun()
	e.mu.Lock()
	p, ok := e.live[id]
	last := e.lastID
	e.mu.Unlock()
	if ok {
		p.ask(stopped)
		return nil
	}
	if id >= 1 && id <= last {
		return fmt.Errorf("shell: process %d has already ended", id)
	}
	return fmt.Errorf("shell: there is no process %d", id)
}

// StopOrigin stops everything that origin started, waits until it is gone or
// ctx ends, and returns how many processes it asked to end.
func (e *Engine) StopOrigin(ctx context.Context, origin string) int {
	return wait(ctx, e.stop(func(p *process) bool { return p.origin == origin }))
}

// begun waits until every process that was started can be found.
func (e *Engine) begun() {
	e.entering.Lock()
	defer e.entering.Unlock() // only the wait is wanted
}

// stop asks the processes that match to end and returns them.
func (e *Engine) stop(match func(*process) bool) []*process {
	e.begun()
	e.mu.Lock()
	var asked []*process
	for _, p := range e.live {
		if match(p) {
			asked = append(asked, p)
		}
	}
	e.mu.Unlock()
	for _, p := range asked {
		p.ask(stopped)
	}
	return asked
}

func wait(ctx context.Context, ps []*process) int {
	for _, p := range ps {
		select {
		case <-p.gone:
		case <-ctx.Done():
			return len(ps)
		}
	}
	return len(ps)
}

// Close ends everything that is left, also background children: TERM, the
// grace, KILL. When ctx ends first it kills at once. Further calls of Run
// return ErrClosed, also those that wait for a place. The error names processes that even KILL did not end.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	if !e.closed {
		e.closed = true
		close(e.closing)
	}
	e.mu.Unlock()
	e.stop(func(*process) bool { return true })
	all := make(chan struct{})
	go func() { e.running.Wait(); close(all) }()
	if !e.ends(ctx, all) {
		return e.survivors() // the watchdog stays for them
	}
	e.stopWatchdog()
	return e.dropSpills()
}

// ends waits for all, and no longer than hardEnd once everything was done to what is
// left: how long that takes is up to the machine and the number of processes.
func (e *Engine) ends(ctx context.Context, all <-chan struct{}) bool {
	const looks = 20
	done := ctx.Done()
	tick := time.NewTicker(hardEnd / looks)
	defer tick.Stop()
	for idle := 0; idle < looks; {
		select {
		case <-all:
			return true
		case <-done:
			e.hurryOnce.Do(func() { close(e.hurry) })
			done = nil
		case <-tick.C:
			idle++
			if e.ending() {
				idle = 0
			}
		}
	}
	return false
}

// ending tells whether there is a process to which not everything was done yet.
func (e *Engine) ending() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, p := range e.live {
		select {
		case <-p.tried:
		default:
			return true
		}
	}
	return false
}

func (e *Engine) survivors() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var pids []int
	for _, p := range e.live {
		pids = append(pids, p.pid)
	}
	slices.Sort(pids)
	return fmt.Errorf("shell: close: processes %v did not end when killed; they hang inside the kernel", pids)
}
