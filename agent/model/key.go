package model

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// Run runs a shell command and returns what it printed on its standard output.
// Its error must not hold that output.
type Run func(ctx context.Context, command string) (string, error)

// Key reads the key of one model. It is safe for concurrent use.
type Key struct {
	variable, command string
	env               func(string) string
	run               Run

	turn  chan struct{} // held by who runs the command
	mu    sync.Mutex
	value string
}

// NewKey returns the key of m. env reads variables; run is needed for a model
// with a command only.
func NewKey(m Model, env func(string) string, run Run) *Key {
	return &Key{variable: m.KeyEnv, command: m.KeyCommand, env: env, run: run, turn: make(chan struct{}, 1)}
}

// Get returns the key, "" for a model without one. What a command printed is
// kept until Drop. Errors name the variable or say that the command failed, and
// never hold a key.
func (k *Key) Get(ctx context.Context) (string, error) {
	if k.variable != "" {
		if key := strings.TrimSpace(k.env(k.variable)); key != "" {
			return key, checkKey(key, "the value of "+k.variable)
		}
		if k.command == "" {
			return "", fmt.Errorf("the key is missing: set %s", k.variable)
		}
	}
	if k.command == "" {
		return "", nil
	}
	if k.run == nil {
		return "", errors.New("the key is missing: api_key_command cannot be run here")
	}
	select {
	case k.turn <- struct{}{}:
		defer func() { <-k.turn }()
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	return k.fromCommand(ctx)
}

func (k *Key) fromCommand(ctx context.Context) (string, error) {
	k.mu.Lock()
	value := k.value
	k.mu.Unlock()
	if value != "" {
		return value, nil
	}
	out, err := k.run(ctx, k.command)
	if err != nil {
		return "", fmt.Errorf("api_key_command failed: %w", err)
	}
	value = strings.TrimSpace(out)
	if value == "" {
		return "", errors.New("api_key_command printed nothing: it must print the key alone")
	}
	if err := checkKey(value, "what api_key_command printed"); err != nil {
		return "", err
	}
	k.mu.Lock()
	k.value = value
	k.mu.Unlock()
	return value, nil
}

// Drop forgets what the command printed, so that the next Get runs it again: for
// a key that the server refused because it is too old.
func (k *Key) Drop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.value = ""
}

// checkKey refuses what cannot stand in a header, without showing it.
func checkKey(key, what string) error {
	for _, r := range key {
		if r < ' ' || r == 0x7f {
			return fmt.Errorf("%s is no key: it has more than one line or control characters", what)
		}
	}
	return nil
}
