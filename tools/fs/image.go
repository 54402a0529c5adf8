package fs

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"starling/bus/chat"
)

// MaxImage is the most bytes of an image that a model is shown.
const MaxImage = 10 << 20

// picture takes the whole of an image. Its error goes on behind the path.
func (f *Files) picture(v *view, in io.Reader, kind string, size int64) error {
	if f.opt.Blind != nil && f.opt.Blind() {
		return fmt.Errorf("is a %s of %d bytes: this model takes no images", kind, size)
	}
	data, err := io.ReadAll(io.LimitReader(in, MaxImage+1))
	if err != nil {
		return fmt.Errorf("could not be read: %w", err)
	}
	if len(data) > MaxImage {
		return fmt.Errorf("is a %s of %d bytes: at most %d are shown; make a smaller one", kind, size, MaxImage)
	}
	v.kind, v.image = kind, &chat.Block{Kind: chat.Image, MIME: mimes[kind], Data: data}
	return nil
}

// Attach reads a file that a person sends along with a prompt, wherever it lies: a text
// as read shows it, or an image with its name. What they attach counts as read.
func (f *Files) Attach(ctx context.Context, path string) ([]chat.Block, error) {
	at, err := f.locate(path)
	if err != nil {
		return nil, err
	}
	at, done, err := f.open(Permit(ctx, at.abs, at.name), path)
	if err != nil {
		return nil, err
	}
	defer done()
	v, err := f.view(ctx, at, path, 1, MaxLines)
	if err != nil {
		return nil, err
	}
	if v.image != nil {
		return []chat.Block{{Kind: chat.Text, Text: v.String()}, *v.image}, nil
	}
	return []chat.Block{{Kind: chat.Text, Text: fmt.Sprintf("%s:\n%s", v.path, v)}}, nil
}

// mimes are the types of the images that models take, by kind.
var mimes = map[string]string{
	"PNG image": "image/png", "JPEG image": "image/jpeg", "GIF image": "image/gif", "WebP image": "image/webp",
}

// binary names the kind of a file that is no text; "" for text.
func binary(head []byte) string {
	for _, k := range []struct{ magic, name string }{
		{"\x89PNG\r\n\x1a\n", "PNG image"},
		{"\xff\xd8\xff", "JPEG image"},
		{"GIF87a", "GIF image"},
		{"GIF89a", "GIF image"},
		{"%PDF-", "PDF document"},
		{"PK\x03\x04", "ZIP archive"},
		{"\x1f\x8b", "gzip archive"},
		{"\x7fELF", "ELF program"},
		{"\xff\xfe", "UTF-16 text"},
		{"\xfe\xff", "UTF-16 text"},
	} {
		if bytes.HasPrefix(head, []byte(k.magic)) {
			return k.name
		}
	}
	if len(head) > 11 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP" {
		return "WebP image"
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return "unknown kind"
	}
	return ""
}
