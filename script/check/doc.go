// Package check finds mistakes in a plugin without running it, and writes the
// reference from the code that binds the API.
//
// It owns reading, never loading.
package check
