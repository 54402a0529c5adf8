// Package mcp offers the tools of MCP servers.
//
// It owns connections to servers, never the trust in one.
package mcp
