// Package model is the catalogue: resolving names, thinking levels and prices.
//
// It owns what is known about models, never a connection to one.
package model
