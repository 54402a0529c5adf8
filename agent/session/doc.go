// Package session keeps conversations on disk as append-only trees of JSON
// lines, with the record of what plugins got from the host beside each of them.
//
// It owns the file format, the writer's lock and the masking of secrets in what
// it writes, never the conversation while it runs: what was read is handed out
// as it was stored, and making it fit for a request is the loop's business.
// Failure: what cannot be written stays in memory, is reported by a lasting
// UnsavedError and is written later in order; damaged lines are passed over and
// named in Problems; nothing that was written is ever rewritten. Blocking:
// Append and Flush block for one write and one sync of the disk; reading holds
// nobody up.
//
// # Format, version 1
//
// A session is the file ID.jsonl. Its first line is the header, each further
// line one object, and the field kind says which:
//
//	{"kind":"session","version":1,"id":ID,"cwd":…,"workspace":…,"started":TIME,"model":…,"forked":"ID:NODE","owner":…}
//	{"kind":"message","id":NODE,"parent":NODE,"ts":TIME,"role":…,"blocks":[…],"stop":…,"usage":{…},"model":…,"error":…}
//	{"kind":"head","at":NODE,"ts":TIME}
//	{"kind":"label","node":NODE,"text":…,"ts":TIME}
//
// A message without a parent is a root. A head line says where the next message
// hangs, without at: as a root. The newest label of a node counts; a label
// without a node is the title of the session, and is repeated every few
// kilobytes so that a listing finds it near the end of the file. Lines of
// another kind are kept and passed over. Ids of messages are numbers counted up
// within the file.
//
// Who writes is the owner of the header, which began the session, or what
// ID.jsonl.owner beside it says, who goes on with it. There lie too ID.jsonl.torn-N,
// half lines that were set aside, and ID.plugins.jsonl with the folder blobs, the
// plugin record.
package session
