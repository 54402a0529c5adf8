package session

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"starling/bus/chat"
)

// texts are strings with what JSON has rules for.
func texts() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.Just(""),
		rapid.String(),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		rapid.StringOf(rapid.RuneFrom([]rune("\"\\/<>&\b\f\n\r\t\x00\x1f\x7f\u2028\u2029\ufffd\U0001f600é"))),
	)
}

func someTime() *rapid.Generator[time.Time] {
	return rapid.Custom(func(t *rapid.T) time.Time {
		at := time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns"))
		if rapid.Bool().Draw(t, "utc") {
			return at.UTC().Truncate(time.Millisecond)
		}
		return at.In(time.FixedZone("", 60*rapid.IntRange(-800, 800).Draw(t, "zone")))
	})
}

func someMessage() *rapid.Generator[chat.Message] {
	text := texts()
	block := rapid.Custom(func(t *rapid.T) chat.Block {
		b := chat.Block{
			Kind: chat.BlockKind(text.Draw(t, "kind")), Text: text.Draw(t, "text"), Signature: text.Draw(t, "signature"),
			ID: text.Draw(t, "id"), Name: text.Draw(t, "name"), Arguments: text.Draw(t, "arguments"),
			IsError: rapid.Bool().Draw(t, "error"), MIME: text.Draw(t, "mime"), Data: rapid.SliceOf(rapid.Byte()).Draw(t, "data"),
		}
		b.Details = json.RawMessage(rapid.SampledFrom([]string{"", "null", " { \"a\" : [ 1 , \"<x>\u2028\" ] } ", `"\u003c"`, "{", "1 2"}).Draw(t, "details"))
		return b
	})
	return rapid.Custom(func(t *rapid.T) chat.Message {
		m := chat.Message{
			Role: chat.Role(text.Draw(t, "role")), Stop: chat.StopReason(text.Draw(t, "stop")),
			Model: text.Draw(t, "model"), Error: text.Draw(t, "failure"),
		}
		if rapid.Bool().Draw(t, "has blocks") {
			m.Blocks = rapid.SliceOfN(block, 0, 3).Draw(t, "blocks")
		}
		if rapid.Bool().Draw(t, "has usage") {
			cost := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1e-6, 9e-7, 1e21, 0.1, 5, math.NaN(), math.Inf(1)}))
			n := rapid.IntRange(-1, 1<<40)
			m.Usage = &chat.Usage{Input: n.Draw(t, "in"), Output: n.Draw(t, "out"), CacheRead: n.Draw(t, "read"), CacheWrite: n.Draw(t, "write"), Cost: cost.Draw(t, "cost")}
		}
		return m
	})
}

// What is written by hand is what encoding/json writes, and fails where that does.
func TestLinesAreThoseOfTheEncoder(t *testing.T) {
	text := texts()
	rapid.Check(t, func(t *rapid.T) {
		l := messageLine{Kind: kindMessage, ID: text.Draw(t, "line"), Parent: text.Draw(t, "parent"), TS: someTime().Draw(t, "ts"), Message: someMessage().Draw(t, "message")}
		want, wrong := encode(l)
		got, err := l.line()
		if (err == nil) != (wrong == nil) || string(got) != string(want) {
			t.Fatalf("by hand %q, %v; by the encoder %q, %v", got, err, want, wrong)
		}
		h := headerLine{
			Kind: kindSession, Version: rapid.Int().Draw(t, "version"), ID: text.Draw(t, "session"), Started: someTime().Draw(t, "started"),
			Meta: Meta{Cwd: text.Draw(t, "cwd"), Workspace: text.Draw(t, "workspace"), Model: text.Draw(t, "model")}, Forked: text.Draw(t, "forked"), Owner: text.Draw(t, "owner"),
		}
		if want, err := encode(h); err != nil || string(h.line()) != string(want) {
			t.Fatalf("by hand %q; by the encoder %q, %v", h.line(), want, err)
		}
	})
}

// The fields of the lines are those that are written by hand: a new one is missed by
// nobody.
func TestEveryFieldIsWritten(t *testing.T) {
	full := messageLine{Kind: "k", ID: "i", Parent: "p", TS: time.Unix(1, 0), Message: chat.Message{
		Role: "r", Stop: "s", Model: "m", Error: "e", Usage: &chat.Usage{Input: 1, Output: 1, CacheRead: 1, CacheWrite: 1, Cost: 1},
		Blocks: []chat.Block{{Kind: "k", Text: "t", Signature: "s", ID: "i", Name: "n", Arguments: "a", IsError: true, Details: json.RawMessage("1"), MIME: "m", Data: []byte{1}}},
	}}
	for _, v := range []any{full, full.Message, *full.Usage, full.Blocks[0], headerLine{Kind: "k", Version: 1, ID: "i", Meta: Meta{"c", "w", "m"}, Started: time.Unix(1, 0), Forked: "f", Owner: "o"}} {
		fields := reflect.ValueOf(v)
		for i := range fields.NumField() {
			if fields.Field(i).IsZero() {
				t.Errorf("%s of %T is not in the line of this test: write it, in write.go and here", fields.Type().Field(i).Name, v)
			}
		}
	}
	want, wrong := encode(full)
	if got, err := full.line(); err != nil || wrong != nil || string(got) != string(want) {
		t.Errorf("by hand %s, %v; by the encoder %s, %v", got, err, want, wrong)
	}
}
