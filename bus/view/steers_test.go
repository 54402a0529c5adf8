package view_test

import (
	"testing"

	"starling/bus/view"
)

func TestSteers(t *testing.T) {
	for _, r := range "\x00\x1b\r\x7f\u0080\u009b\u202e\u2066\u200f\u2028\U000e0041" {
		if !view.Steers(r) {
			t.Errorf("%U does not steer", r)
		}
	}
	for _, r := range "a é漢\ufffd\u200d👩" {
		if view.Steers(r) {
			t.Errorf("%U steers", r)
		}
	}
}
