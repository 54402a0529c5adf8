package command

import (
	"strings"
	"sync"
)

// readSpec is a program that reads and does nothing else, as long as it is given
// no option that is not listed.
type readSpec struct {
	opts   string // see optionTable
	exact  bool
	any    bool   // whatever it is given
	none   bool   // its operands are no files
	names  bool   // it looks at names, not at what is in files
	tree   bool   // it reads what is below a folder
	most   int    // operands beyond which it writes; 0 is no bound, -1 is none
	script string // its first operand is no file, but for these options; "-" when there are none
	at     bool   // @FILE stands for the words in it
	calm   bool   // an option nobody listed makes it read other files at most
}

const (
	lsOptions = "-aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1 --all --almost-all --author --escape --block-size= --ignore-backups --color? --directory " +
		"--classify? --file-type --format= --full-time --group-directories-first --no-group --human-readable --si --dereference --hide= --hyperlink? " +
		"--indicator-style= --inode --ignore= --literal --numeric-uid-gid --quoting-style= --reverse --recursive --size --sort= --time= --time-style= --tabsize= --width="
	sumOptions  = "-btwqz --binary --text --tag --zero --quiet --status --strict --warn --ignore-missing"
	baseOptions = "-di -w= --decode --ignore-garbage --wrap="
	grepOptions = "-acEFGhHiIlLnoPqrsvVwxyzZbTu0123456789 -R^ -ABCmeDd= -f@ --after-context= --before-context= --context? --color? --colour? --count --include= " +
		"--exclude= --exclude-dir= --exclude-from@ --extended-regexp --fixed-strings --basic-regexp --perl-regexp --regexp= --file@ --ignore-case --no-ignore-case " +
		"--invert-match --word-regexp --line-regexp --files-with-matches --files-without-match --max-count= --only-matching --quiet --silent --no-messages " +
		"--byte-offset --with-filename --no-filename --label= --line-number --line-buffered --initial-tab --null --null-data --text --binary-files= " +
		"--directories= --devices= --recursive --dereference-recursive^"
)

// readers are the programs that read. Letters that take a value in one
// implementation and none in another are left out, or listed as those that take
// none: what follows then counts as a file.
var readers = sync.OnceValue(func() map[string]readSpec {
	grep := readSpec{opts: grepOptions, tree: true, script: "-e -f --regexp --file"}
	sum := readSpec{opts: sumOptions}
	any := readSpec{none: true, any: true}
	fd := readSpec{opts: "-HIusigFap01q -L^ -tedEcjS= --hidden --no-ignore --unrestricted --case-sensitive --ignore-case --glob --regex --fixed-strings " +
		"--absolute-path --full-path --print0 --max-results= --quiet --follow^ --type= --extension= --max-depth= --min-depth= --exact-depth= --exclude= " +
		"--color= --threads= --size= --changed-within= --changed-before= --owner= --no-ignore-vcs --prune --relative-path --search-path@", names: true, tree: true, script: "-"}
	all := map[string]readSpec{
		"ls": {opts: lsOptions, names: true}, "dir": {opts: lsOptions, names: true},
		"stat": {opts: "-Lft -c= --format= --printf= --dereference --file-system --terse", names: true},
		"file": {opts: "-bhikLNnprv0E -FeP= --brief --mime --mime-type --mime-encoding --dereference --no-dereference --keep-going --raw --separator= --extension --print0 --version"},
		"du": {opts: "-abcDHhklLmPSsx0 -dBt= -X@ --all --apparent-size --block-size= --bytes --total --dereference --max-depth= --human-readable --summarize " +
			"--separate-dirs --si --one-file-system --exclude= --exclude-from@ --time? --inodes --threshold= --null --count-links", names: true},
		"df":    {opts: "-ahHiklmPT -Btx= --all --block-size= --total --human-readable --si --inodes --local --output? --portability --print-type --type= --exclude-type= --sync", names: true},
		"which": {opts: "-as --all", none: true}, "whereis": {opts: "-bmsul", none: true},
		"cat":  {opts: "-AbeEnstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting"},
		"head": {opts: "-qvz0123456789 -nc= --lines= --bytes= --quiet --silent --verbose --zero-terminated"},
		"tail": {opts: "-qvzrfF0123456789 -ncs= --lines= --bytes= --follow? --quiet --silent --verbose --retry --pid= --sleep-interval= --zero-terminated"},
		"wc":   {opts: "-clmwL --bytes --chars --lines --words --max-line-length --total="},
		"nl": {opts: "-p -bdfhilnsvw= --body-numbering= --header-numbering= --footer-numbering= --line-increment= --number-format= --no-renumber " +
			"--number-separator= --starting-line-number= --number-width= --section-delimiter="},
		"tac": {opts: "-br -s= --before --regex --separator="}, "rev": {},
		"cut":    {opts: "-szn -bcdf= --bytes= --characters= --delimiter= --fields= --only-delimited --complement --output-delimiter= --zero-terminated"},
		"tr":     {opts: "-cCdst --complement --delete --squeeze-repeats --truncate-set1", none: true},
		"paste":  {opts: "-sz -d= --serial --delimiters= --zero-terminated"},
		"join":   {opts: "-iz -aejotv12= --ignore-case --check-order --nocheck-order --header --zero-terminated"},
		"comm":   {opts: "-123iz --total --output-delimiter= --check-order --nocheck-order --zero-terminated"},
		"fold":   {opts: "-bs0123456789 -w= --bytes --spaces --width="},
		"fmt":    {opts: "-cstu0123456789 -wgp= --width= --goal= --prefix= --split-only --uniform-spacing --crown-margin --tagged-paragraph"},
		"expand": {opts: "-i -t= --initial --tabs="}, "unexpand": {opts: "-a -t= --all --first-only --tabs="},
		"column": {opts: "-txeLJ -socNR= --table --json --separator= --output-separator= --table-columns= --table-right= --output-width= --fillrows --keep-empty-lines"},
		"sort": {opts: "-bdfghiMnRrVsuzcCm -ktS= --parallel= --key= --field-separator= --reverse --unique --numeric-sort --human-numeric-sort --version-sort " +
			"--general-numeric-sort --ignore-case --ignore-leading-blanks --dictionary-order --month-sort --random-sort --stable --check? --merge " +
			"--zero-terminated --buffer-size= --batch-size= --sort= --random-source@"},
		"uniq":  {opts: "-cdDiuz -fsw= --count --repeated --all-repeated? --unique --skip-fields= --skip-chars= --check-chars= --ignore-case --group? --zero-terminated", most: 1},
		"tsort": {}, "shuf": {opts: "-erz -in= --echo --repeat --input-range= --head-count= --zero-terminated --random-source@"},
		"numfmt":  {opts: "-z -d= --from= --to= --from-unit= --to-unit= --field= --format= --padding= --grouping --header? --invalid= --round= --suffix= --delimiter=", none: true},
		"strings": {opts: "-afow -net= --all --bytes= --print-file-name --radix= --encoding= --include-all-whitespace", at: true},
		"base64":  {opts: baseOptions}, "base32": {opts: baseOptions}, "grep": grep, "egrep": grep, "fgrep": grep,
		"rg": {
			opts: "-acFHIilnNopqsSuUvwx0Pbh -L^ -ABCdEegjmMrtT= -f@ --after-context= --before-context= --context= --color= --colors= --column --count " +
				"--count-matches --crlf --encoding= --files --files-with-matches --files-without-match --fixed-strings --glob= --iglob= --heading --no-heading " +
				"--hidden --ignore-case --case-sensitive --smart-case --invert-match --json --line-number --no-line-number --line-regexp --max-columns= " +
				"--max-count= --max-depth= --max-filesize= --multiline --multiline-dotall --no-ignore --no-ignore-vcs --no-messages --null --only-matching " +
				"--pcre2 --pretty --quiet --regexp= --replace= --sort= --sortr= --stats --text --threads= --trim --type= --type-not= --type-list --unrestricted " +
				"--vimgrep --word-regexp --passthru --with-filename --no-filename --no-config --path-separator= --type-add= --type-clear= --ignore-file@ --file@ --follow^ --no-follow",
			tree: true, script: "-e -f --regexp --file --files --type-list",
		},
		"fd": fd, "fdfind": fd,
		"tree": {opts: "-adfixspugDFqNQASnCtcUrvJXh -l^ -LIP= --gitignore --dirsfirst --filesfirst --noreport --du --si --prune --filelimit= --timefmt= --charset= " +
			"--sort= --matchdirs --ignore-case --inodes --device --metafirst", names: true, tree: true},
		"diff": {opts: "-abBcdeEfiHnNpqstTuwyZ0123456789 -rP^ -CUWxILFDS= -X@ --brief --unified? --context? --recursive^ --ignore-all-space --ignore-space-change " +
			"--ignore-blank-lines --ignore-case --side-by-side --suppress-common-lines --color? --exclude= --new-file --text --width= --label= --strip-trailing-cr " +
			"--minimal --report-identical-files --exclude-from@ --from-file@ --to-file@", tree: true},
		"cmp":     {opts: "-bls -in= --print-bytes --verbose --quiet --silent --bytes= --ignore-initial="},
		"od":      {opts: "-abcdfFhiIlLosvxDHXBO -AjNt= -Sw? --address-radix= --skip-bytes= --read-bytes= --format= --output-duplicates --width? --endian= --strings?"},
		"hexdump": {opts: "-bcCdovx -nse= -L? --canonical --length= --skip= --no-squeezing"}, "hd": {opts: "-bcCdovx -nse="},
		"xxd":    {opts: "-a -b -C -e -E -i -p -ps -plain -postscript -u -d -v -c= -cols= -g= -l= -len= -o= -s= -seek= -n= -name=", exact: true, most: 1},
		"md5sum": sum, "sha1sum": sum, "sha224sum": sum, "sha256sum": sum, "sha384sum": sum, "sha512sum": sum, "sum": {opts: "-rs --sysv"},
		"b2sum": {opts: sumOptions + " -l= --length="}, "cksum": {opts: sumOptions + " -al= --algorithm= --untagged --raw --base64 --debug --length="},
		"shasum":   {opts: "-bt01U -a= -p --algorithm= --binary --text"},
		"basename": {opts: "-az -s= --multiple --suffix= --zero", none: true}, "dirname": {opts: "-z --zero", none: true}, "pwd": {opts: "-LP --logical --physical", none: true},
		"realpath": {opts: "-emqszLP --canonicalize-existing --canonicalize-missing --quiet --zero --physical --logical --relative-to= --relative-base= --strip --no-symlinks", none: true},
		"readlink": {opts: "-efmnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --quiet --silent --verbose --zero", none: true},
		"seq":      {opts: "-w0123456789 -fst= --equal-width --format= --separator=", none: true}, "sleep": any, "true": any, "false": any, "test": any, "[": any,
		"echo": any, "printf": any, "expr": any, "yes": any, "factor": {none: true},
		"uname":  {opts: "-asnrvmpio --all --kernel-name --nodename --kernel-release --machine --operating-system", none: true},
		"whoami": {none: true}, "id": {opts: "-agGnruzZ --group --groups --name --real --user --zero", none: true}, "groups": {none: true},
		"who": {opts: "-abdHlmpqrstTuw --all --count --heading"}, "uptime": {opts: "-ps --pretty --since", none: true}, "arch": {none: true},
		"nproc": {opts: "--all --ignore=", none: true}, "getconf": {opts: "-a", none: true}, "locale": {opts: "-akcmv --all-locales --charmaps", none: true},
		"tty": {opts: "-s --silent --quiet", none: true}, "free": {opts: "-bkmghltw -sc= --human --total --wide --seconds= --count= --mega --giga", none: true},
		"ps":    {opts: "-AadefFHjlLMTwxycmrv -opuUCtgGs= --sort= --pid= --ppid= --user= --format= --no-headers --forest --width= --cols= --headers", none: true},
		"pgrep": {opts: "-lafnoxivcw -uPdU= --list-name --list-full --full --newest --oldest --exact --ignore-case --count --parent= --delimiter=", none: true},
		"lsof":  {opts: "-anPtlUbwRV -pucd= -i? ", none: true}, "printenv": {opts: "-0 --null", none: true},
		"jq": {opts: "-cCMnrRsSeajV --compact-output --null-input --raw-output --raw-input --slurp --sort-keys --exit-status --color-output --monochrome-output " +
			"--ascii-output --join-output --tab --indent= --arg== --argjson== --slurpfile=@ --rawfile=@ --args --jsonargs --stream --seq --unbuffered --raw-output0", script: "-"},
		"readelf": {opts: "-aehlgtSsnrudVADLcWIvH -pxR= --all --file-header --program-headers --segments --section-headers --sections --symbols --syms --dyn-syms " +
			"--notes --relocs --dynamic --version-info --arch-specific --wide --headers --string-dump= --hex-dump=", at: true},
		"date":     {opts: "-uR -I? -d= -r@ --date= --utc --universal --iso-8601? --rfc-3339= --rfc-email --reference@", none: true},
		"hostname": {opts: "-fsdiIA --fqdn --long --short --domain --ip-address --all-ip-addresses --all-fqdns", most: -1, none: true},
		"cal":      {opts: "-jmsy31 -nAB=", none: true}, "look": {opts: "-adf -t=", script: "-"}, "gofmt": {opts: "-l -d -s -e", exact: true},
		"sed": {opts: "-nEru --quiet --silent --regexp-extended --posix --unbuffered", script: "-"}, "gsed": {opts: "-nEru --quiet --silent --regexp-extended", script: "-"},
		"awk": {opts: "-Fv= --field-separator= --assign=", script: "-"}, "gawk": {opts: "-Fv= --field-separator= --assign=", script: "-"}, "mawk": {opts: "-Fv=", script: "-"},
	}
	for _, name := range strings.Fields("ls dir stat du df cat head tail wc nl tac rev cut paste join comm fold fmt expand unexpand column tsort " +
		"strings base32 grep egrep fgrep cmp od hexdump hd md5sum sha1sum sha224sum sha256sum sha384sum sha512sum sum b2sum cksum shasum look jq readelf") {
		one := all[name]
		one.calm = true
		all[name] = one
	}
	return all
})

// options of a reading program, looked up once.
var optionTables sync.Map

func (s readSpec) table(name string) optionTable {
	if t, ok := optionTables.Load(name); ok {
		return t.(optionTable)
	}
	t := optionsOf(s.opts, s.exact)
	optionTables.Store(name, t)
	return t
}
