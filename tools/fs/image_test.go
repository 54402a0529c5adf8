package fs_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"starling/bus/chat"
	"starling/bus/spec"
	"starling/tools/fs"
	"starling/trust"
)

const png = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"

// An image is told by its first bytes and not by its name, and given as it is to a model
// that sees; another one is told that it does not.
func TestReadImages(t *testing.T) {
	blind := false
	d := deskWith(t, filepath.Join(t.TempDir()), fs.Options{Blind: func() bool { return blind }})
	for name, c := range map[string]struct{ content, kind, mime string }{
		"a.png":  {png, "PNG image", "image/png"},
		"b.txt":  {"\xff\xd8\xff\xe0", "JPEG image", "image/jpeg"},
		"c":      {"GIF89a\x00", "GIF image", "image/gif"},
		"d.webp": {"RIFF\x00\x00\x00\x00WEBPVP8 ", "WebP image", "image/webp"},
	} {
		d.put(name, []byte(c.content))
		blind = false
		r, err := d.call("read", args{"path": name})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(r.Content, "["+name+": "+c.kind+", ") || len(r.Images) != 1 || r.Images[0].Kind != chat.Image || r.Images[0].MIME != c.mime || string(r.Images[0].Data) != c.content {
			t.Errorf("%s: %+v", name, r)
		}
		blind = true
		if _, err = d.call("read", args{"path": name}); err == nil || !strings.Contains(err.Error(), name+" is a "+c.kind) || !strings.Contains(err.Error(), "this model takes no images") {
			t.Errorf("%s, a blind model: %v", name, err)
		}
	}
	blind = false
	d.put("large.png", append([]byte(png), make([]byte, fs.MaxImage)...))
	if _, err := d.call("read", args{"path": "large.png"}); err == nil || !strings.Contains(err.Error(), "at most 10485760 are shown") {
		t.Errorf("a large one: %v", err)
	}
}

// A person sends along what they name, wherever it lies; what a tool may reach is no
// wider by it.
func TestAttach(t *testing.T) {
	root := t.TempDir()
	ws := filepath.Join(root, "ws")
	for name, content := range map[string]string{"ws/notes.txt": "one\ntwo\n", "shot.png": png, "ws/zip": "PK\x03\x04"} {
		if err := errors.Join(os.MkdirAll(ws, 0o755), os.WriteFile(filepath.Join(root, name), []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	jail, err := trust.NewJail(ws)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { jail.Close() })
	files := fs.NewWith(jail, fs.Options{Home: root})
	b, err := files.Attach(t.Context(), "notes.txt")
	if err != nil || len(b) != 1 || b[0].Text != "notes.txt:\n1\tone\n2\ttwo\n" {
		t.Errorf("%+v, %v", b, err)
	}
	for _, path := range []string{filepath.Join(root, "shot.png"), "../shot.png", "~/shot.png"} {
		b, err := files.Attach(t.Context(), path)
		if err != nil || len(b) != 2 || !strings.HasSuffix(b[0].Text, "shot.png: PNG image, 16 bytes]") || string(b[1].Data) != png {
			t.Errorf("%s: %+v, %v", path, b, err)
		}
	}
	for path, want := range map[string]string{"absent": "absent: no such file", "zip": "zip is binary (ZIP archive", "": "empty", ws: "is a directory"} {
		if _, err := files.Attach(t.Context(), path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", path, err)
		}
	}
	var outside *trust.OutsideError
	if _, err := files.Read().Execute(t.Context(), spec.ToolCall{Name: "read", Arguments: []byte(`{"path": "../shot.png"}`)}); !errors.As(err, &outside) {
		t.Errorf("the tool reads it too: %v", err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := files.Attach(stopped, "notes.txt"); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}
