// Package web writes widget trees and transcripts as HTML.
//
// It owns markup, never a server.
package web
