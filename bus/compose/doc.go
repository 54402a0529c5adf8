// Package compose decides when a component runs: it mounts its apply when the
// services it needs exist, and undoes everything when they go.
//
// It owns the graph of components, services and realms; one goroutine changes
// it, everybody else sends requests. It knows no script, no terminal, no agent.
//
// Failure: an apply that fails leaves nothing behind and its reason in the
// roster; an undo that fails is reported and never stops the rest.
//
// Blocking: apply and undos run on a worker, one after another, with limits;
// reading the roster takes no lock.
package compose
