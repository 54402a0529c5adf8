package view

import (
	"encoding/json"
	"time"
)

// AnswerTime is how long a person has for an answer; then it is no.
const AnswerTime = 5 * time.Minute

// Answer is what a person says to a question.
type Answer struct {
	// Value is one of the question's options; of a question with free text, the
	// text.
	Value string
	// Why is a line behind a no, which the model reads.
	Why string
	// Everywhere keeps an always for this workspace; else it ends with the session.
	Everywhere bool
	// Arguments in the place of the call's, for AnswerEdit.
	Arguments json.RawMessage
}

// The answers to a permission question.
const (
	AnswerYes    = "yes"
	AnswerAlways = "always"
	AnswerNo     = "no"
	AnswerEdit   = "edit"
)

// The answers to a question about trust; AnswerNo is the third.
const (
	AnswerTrust      = "version" // exactly these bytes
	AnswerTrustEdits = "edits"   // these, and what they become in this session
)
