// Package golden holds what a test made against a file of its testdata: it fails the
// test at a difference, writes the files anew under -update, and is imported by tests
// only.
package golden
