// Package jsonplace reads JSON that people edit into values that know where they
// stand, so that every fault names PATH:LINE:COL; it never touches the disk, never
// blocks, and records all faults instead of the first.
package jsonplace
