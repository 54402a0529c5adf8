package command_test

import (
	"strings"
	"testing"

	"starling/trust/command"
)

// TestOutputs: what programs write besides their input is lost as what cp
// overwrites is.
func TestOutputs(t *testing.T) {
	for line, want := range map[string]string{
		"sort -o main.c x": "main.c", "sort -uo main.c x": "main.c", "sort --output=main.c x": "main.c", "sort -omain.c x": "main.c", "shuf -o main.c x": "main.c",
		"tar xf x.tar": ".", "tar -x -f x.tar": ".", "tar -xzf x.tgz -C sub": "sub", "tar xzf x.tgz -C sub": "sub", "tar --extract --file=x.tar --directory=sub": "sub", "tar xfC x.tar sub": "sub",
		"tar xf x.tar main.c": "main.c", "tar -xf x.tar -C sub e.txt": "sub/e.txt", "tar xkf x.tar": "", "tar xf x.tar --skip-old-files": "", "tar tf x.tar": "", "tar xOf x.tar": "",
		"tar cf main.c sub": "main.c", "tar -czf main.c sub": "main.c", "tar c sub": "", "tar xf x.tar 'm*'": ".", "bsdtar xf x.tar": ".",
		"unzip -o x.zip": ".", "unzip x.zip": "", "unzip -o x.zip main.c": "main.c", "unzip -o x.zip -d sub": "sub", "unzip -l x.zip": "", "zip main.c sub": "main.c",
		"7z x a.7z": ".", "7z x a.7z -osub": "sub", "7z a main.c sub": "main.c", "cpio -idu": ".", "cpio -id": "", "jar xf x.jar": ".", "ar x l.a": ".", "ar rc main.c x": "main.c",
		"sed 'w main.c' x": "main.c", "sed -n '/a/w main.c' x": "main.c", "sed 's/a/b/w main.c' x": "main.c", "sed -n 'w main.c\np' x": "main.c", "sed s/a/b/ x": "",
		"sed -n '/a/{w main.c\n}' x": "main.c",
		`awk '{print > "main.c"}' x`: "main.c", `awk '{printf "%s", $1 >"main.c"}' x`: "main.c", `awk '{print >> "main.c"}' x`: "", `awk '{print > $1}' x`: "all",
		`awk '{print > ("a" $1)}' x`: "all", `awk '{print > "a" $1}' x`: "a all", `awk '$1 > 3 {print}' x`: "", `awk '{if ($1 > x) print}' y`: "", `awk -i inplace '{print}' main.c`: "main.c",
		"gcc -o main.c x.c": "main.c", "gcc -fno-common -O2 x.c -o main.c": "main.c", "gcc -c x.c": "", "clang++ -omain.c x": "main.c", "go build -o main.c .": "main.c", "go build ./...": "",
		"uniq x main.c": "main.c", "xxd -r x main.c": "main.c", "openssl enc -in x -out main.c": "main.c", "rustc -o main.c x": "main.c",
	} {
		got := lost(line, shelf())
		got = strings.TrimSuffix(strings.ReplaceAll(got, "a/main.c ", ""), " ")
		if got != want {
			t.Errorf("%s: %q is lost, want %q", line, got, want)
		}
	}
	for line, want := range map[string]string{
		"tar xf x.tar -C ~": "home directory", "unzip x.zip -d ~": "home directory", "tar -xf x.tar -C ~/..": "home directory", "tar xf h.tar -C .git/hooks": ".git", "unzip x.zip -d .git/hooks": ".git",
		"7z x a.7z -o/home/ann": "home directory", "cd ~ && tar xf x.tar": "home directory", "sort -o .git/config x": ".git", "sed 'w .git/config' x": ".git", "tar cf .git/config x": ".git",
		`awk '{print >> ".git/config"}' x`: ".git", "gcc -o ~/.bashrc x.c": ".bashrc", "tar xf x.tar .github/workflows/ci.yml": "workflows", "tar xf x.tar": "", "tar xf x.tar -C sub": "",
	} {
		said := ""
		for _, f := range command.Read(line, shop).Floor {
			if f.Loss == nil {
				said += f.Why + "; "
			}
		}
		if (said != "") != (want != "") || !strings.Contains(said, want) {
			t.Errorf("%s: %q, want %q", line, said, want)
		}
	}
}
