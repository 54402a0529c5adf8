package sse_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"starling/agent/provider/sse"
)

type got struct {
	Name, Data string
	Cut        bool
}

func readAll(t testing.TB, src io.Reader, limit int) ([]got, error) {
	t.Helper()
	r := sse.NewReader(src, limit)
	var all []got
	for {
		e, err := r.Next()
		if err != nil {
			if _, again := r.Next(); !errors.Is(again, err) {
				t.Fatalf("the end was %v, then %v", err, again)
			}
			return all, err
		}
		all = append(all, got{string(e.Name), string(e.Data), e.Cut})
	}
}

func TestEvents(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want []got
	}{
		"nothing":                {"", nil},
		"one":                    {"data: a\n\n", []got{{Data: "a"}}},
		"CRLF":                   {"data: a\r\n\r\ndata: b\r\n\r\n", []got{{Data: "a"}, {Data: "b"}}},
		"CR":                     {"data: a\r\rdata: b\r\r", []got{{Data: "a"}, {Data: "b"}}},
		"mixed ends":             {"data: a\r\n\ndata: b\n\r", []got{{Data: "a"}, {Data: "b"}}},
		"comments":               {": keepalive\n\n: keepalive\n\n:\n\ndata: a\n: x\n\n: y\n\n", []got{{Data: "a"}}},
		"bare fields":            {"event: x\n\nid: 1\n\nretry: 5\n\nevent\n\nfoo: bar\n\n", nil},
		"a name":                 {"event: x\ndata: a\n\ndata: b\n\n", []got{{"x", "a", false}, {Data: "b"}}},
		"a name of nothing":      {"event: x\n\ndata: b\n\n", []got{{Data: "b"}}},
		"no space":               {"data:a\n\ndata:  b\n\n", []got{{Data: "a"}, {Data: " b"}}},
		"several lines":          {"data: a\ndata: b\n: x\ndata:\ndata: c\n\n", []got{{Data: "a\nb\n\nc"}}},
		"empty data":             {"data:\n\ndata\n\n", []got{{}, {}}},
		"colons in data":         {"data: a:b: c\n\n", []got{{Data: "a:b: c"}}},
		"another field's prefix": {"datas: a\ndat: b\n data: c\n\n", nil},
		"no blank line":          {"data: a\n", []got{{Data: "a", Cut: true}}},
		"half a line":            {"data: a\n\ndata: b", []got{{Data: "a"}, {Data: "b", Cut: true}}},
		"half a comment":         {"data: a\n\n: b", []got{{Data: "a"}}},
		"a byte order mark":      {"\xef\xbb\xbfdata: a\n\n", []got{{Data: "a"}}},
		"a mark inside":          {"data: a\n\n\xef\xbb\xbfdata: b\n\n", []got{{Data: "a"}}},
		"UTF-8":                  {"data: 漢字 שלום 🦜\n\n", []got{{Data: "漢字 שלום 🦜"}}},
		"NUL":                    {"data: a\x00b\n\n", []got{{Data: "a\x00b"}}},
	} {
		for how, src := range map[string]io.Reader{
			"whole":     strings.NewReader(c.in),
			"by bytes":  iotest.OneByteReader(strings.NewReader(c.in)),
			"halves":    iotest.HalfReader(strings.NewReader(c.in)),
			"data+EOF":  iotest.DataErrReader(strings.NewReader(c.in)),
			"bytes+EOF": iotest.DataErrReader(iotest.OneByteReader(strings.NewReader(c.in))),
		} {
			all, err := readAll(t, src, 0)
			if d := cmp.Diff(c.want, all); d != "" || !errors.Is(err, io.EOF) {
				t.Errorf("%s, %s: %v (-want +got):\n%s", name, how, err, d)
			}
		}
	}
}

// An event that fits comes whole, however long its line is.
func TestLongLine(t *testing.T) {
	long := strings.Repeat("x", 3<<20)
	all, err := readAll(t, strings.NewReader(": c\n\ndata: "+long+"\n\ndata: b\n\n"), 0)
	if !errors.Is(err, io.EOF) || len(all) != 2 || all[0].Data != long || all[1].Data != "b" {
		t.Fatalf("%d events, %v", len(all), err)
	}
}

func TestLimit(t *testing.T) {
	const limit = 64 << 10
	endless := func(line string) io.Reader {
		return io.MultiReader(strings.NewReader("data: first\n\n"), &repeated{text: line})
	}
	for name, src := range map[string]io.Reader{
		"a line without an end":  endless("data: xxxxxxxxxxxxxxxx"),
		"an event without a end": endless("data: xxxxxxxxxxxxxxxx\n"),
		"an endless comment":     io.MultiReader(strings.NewReader("data: first\n\ndata: x\n"), &repeated{text: ": c"}),
	} {
		all, err := readAll(t, src, limit)
		if !errors.Is(err, sse.ErrTooLong) || len(all) != 1 || all[0].Data != "first" {
			t.Errorf("%s: %v, %v", name, all, err)
		}
	}
	// The limit is the same however the bytes come.
	for extra, want := range map[int]error{0: io.EOF, 1: sse.ErrTooLong} {
		for _, ending := range []string{"\n\n", "\r\n\r\n", ""} {
			in := "data: " + strings.Repeat("x", limit-len("data: ")+extra) + ending
			for _, size := range []int{1 << 20, 1000, 1} {
				if _, err := readAll(t, &pieces{in, slices.Repeat([]int{size}, len(in))}, limit); !errors.Is(err, want) {
					t.Errorf("%d bytes above, %q, by %d: %v", extra, ending, size, err)
				}
			}
		}
	}
}

// Comments never add up, between events or inside one, nor do blank lines.
func TestEndlessKeepAlive(t *testing.T) {
	src := io.MultiReader(
		io.LimitReader(&repeated{text: ": keepalive\n"}, 12*20_000),
		io.LimitReader(&repeated{text: ": keepalive\n\n"}, 13*20_000),
		strings.NewReader("data: a\n"),
		io.LimitReader(&repeated{text: ": keepalive\n"}, 12*20_000),
		strings.NewReader("data: b\n\n"),
	)
	all, err := readAll(t, src, 1<<10)
	if len(all) != 1 || all[0].Data != "a\nb" || !errors.Is(err, io.EOF) {
		t.Errorf("%v, %v", all, err)
	}
}

type repeated struct {
	text string
	at   int
}

func (r *repeated) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = r.text[r.at]
		r.at = (r.at + 1) % len(r.text)
	}
	return len(p), nil
}

func TestReadErrors(t *testing.T) {
	boom := errors.New("boom")
	all, err := readAll(t, io.MultiReader(strings.NewReader("data: a\n\ndata: b\nda"), iotest.ErrReader(boom)), 0)
	if d := cmp.Diff([]got{{Data: "a"}, {Data: "b", Cut: true}}, all); d != "" || !errors.Is(err, boom) {
		t.Errorf("%v\n%s", err, d)
	}
	if _, err := readAll(t, empty{}, 0); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("a reader that gives nothing: %v", err)
	}
}

type empty struct{}

func (empty) Read([]byte) (int, error) { return 0, nil }

// pieces gives a text in pieces of the given sizes, then one by one.
type pieces struct {
	text  string
	sizes []int
}

func (p *pieces) Read(b []byte) (int, error) {
	if p.text == "" {
		return 0, io.EOF
	}
	n := 1
	if len(p.sizes) > 0 {
		n, p.sizes = p.sizes[0], p.sizes[1:]
	}
	n = copy(b, p.text[:min(n, len(p.text))])
	p.text = p.text[n:]
	return n, nil
}

// Any cutting of the bytes gives the same events.
func TestChunkBorders(t *testing.T) {
	part := rapid.SampledFrom([]string{
		"data: a", "data:b", "data", "event: x", ": c", "id: 1", "漢🦜", "\n", "\n\n", "\r", "\r\n", "\r\n\r\n", ":", " ", "\xff", "\xef\xbb\xbf",
	})
	rapid.Check(t, func(t *rapid.T) {
		in := strings.Join(rapid.SliceOfN(part, 0, 40).Draw(t, "parts"), "")
		sizes := rapid.SliceOfN(rapid.IntRange(1, 9), 0, 30).Draw(t, "sizes")
		want, _ := events(strings.NewReader(in))
		have, _ := events(&pieces{in, sizes})
		if d := cmp.Diff(want, have); d != "" {
			t.Fatalf("%q (-whole +pieces):\n%s", in, d)
		}
	})
}

func events(src io.Reader) ([]got, error) {
	r := sse.NewReader(src, 1<<12)
	var all []got
	for {
		e, err := r.Next()
		if err != nil {
			return all, err
		}
		all = append(all, got{string(e.Name), string(e.Data), e.Cut})
	}
}

func FuzzReader(f *testing.F) {
	for _, s := range []string{
		"data: a\n\n", "data: a\r\ndata: b\r\n\r\n: c\n\n", "data: {\"choices\":[]}\n\ndata: [DONE]\n\n",
		"\xef\xbb\xbfdata:\rdata\r\r", "event: x\nid: 1\nretry: 2\n\ndata: 🦜", "data: a\r",
	} {
		f.Add(s, uint8(3))
	}
	f.Fuzz(func(t *testing.T, in string, size uint8) {
		sizes := make([]int, 64)
		for i := range sizes {
			sizes[i] = int(size)%7 + 1
		}
		want, err := events(strings.NewReader(in))
		have, err2 := events(&pieces{in, sizes})
		if d := cmp.Diff(want, have); d != "" || (err == nil) != (err2 == nil) {
			t.Fatalf("%v, %v (-whole +pieces):\n%s", err, err2, d)
		}
		total := 0
		for i, e := range have {
			total += len(e.Data)
			if e.Cut && i != len(have)-1 {
				t.Fatal("an event was cut in the middle")
			}
			if strings.Contains(e.Data, "\r") {
				t.Fatalf("a line end in data: %q", e.Data)
			}
		}
		if total > len(in) {
			t.Fatalf("%d bytes of data from %d", total, len(in))
		}
	})
}

// An event costs no allocation once the buffer stands.
func TestAllocations(t *testing.T) {
	r := sse.NewReader(&repeated{text: "data: {\"choices\":[{\"delta\":{\"content\":\"token\"}}]}\n\n: x\n\ndata: a\ndata: b\n\n"}, 0)
	if n := testing.AllocsPerRun(10_000, func() {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations an event", n)
	}
}

func BenchmarkReader(b *testing.B) {
	const text = "data: {\"id\":\"mock-0123456789abcdef\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":\"mock\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word\"},\"finish_reason\":null}]}\n\n"
	r := sse.NewReader(&repeated{text: text}, 0)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Next(); err != nil {
			b.Fatal(err)
		}
	}
}
