package limits

import (
	"testing"

	"go.starlark.net/lib/json"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

func plainNames() starlark.StringDict {
	return starlark.StringDict{"json": json.Module, "struct": starlark.NewBuiltin("struct", starlarkstruct.Make)}
}

// Each program behaves the same with and without the rewrite.
var same = []string{
	// operators and their in-place forms
	"return [1 + 2, 'a' + 'b', [1] + [2], (1,) + (2,), b'a' + b'b', 1.5 + 2]",
	"x = 'a'\nx += 'b'\nreturn x",
	"x = [1]\ny = x\nx += [2]\nx += (3, 4)\nx += {5: 6}\nreturn y",
	"x = [1]\ny = x\nx = x + [2]\nreturn [x, y]",
	"x = [1, 2]\nx += x\nx *= 2\nreturn x",
	"x = (1,)\nx += (2,)\nreturn x",
	"x = [1]\nx += 'ab'\nreturn x",
	"x = [1]\nx += 5\nreturn x",
	"x = [1]\nx += 'ab'.elems()\nreturn x",
	"x = [1]\ny = (2, 3)\nx += y\nreturn x",
	"x = [1]\nfor i in x:\n  x += [i]\nreturn x",
	"x = [1]\ny = [2]\nfor i in x:\n  x += y\nreturn x",
	"x = {1: 2}\ny = x\nx |= {3: 4}\nreturn y",
	"x = {1: 2}\ny = {1: 3, 2: 1}\nreturn [x | y, y | x]",
	"x = {1: 2}\nfor k in x:\n  x |= {}\nreturn x",
	"x = {1: 2}\nx |= 5\nreturn x",
	"x = {1: 2}\nx |= x\nreturn x",
	"x = set([1])\nx |= set([2])\nreturn [x, x | set([3]), x ^ set([1]), x & set([1]), x - set([2])]",
	"return [6 | 1, 6 ^ 3, 1 << 5, 7 * 6, -3 * 2000, 'ab' * 3, 2 * 'ab', [0] * 3, 3 * (1,), b'x' * 2, 2.5 * 2]",
	"a = 3\nb = 'x'\nreturn [a * b, b * a, b * -1, [1, 2] * a, a * (1,)]",
	"a = 1 << 40\nreturn [a * a, a * 3, -a * 1000, a << 100]",
	"return 1 << 600",
	"return 1 << -1",
	"a = 'x'\nreturn a << 2",
	"x = 2\nx <<= 3\nx *= x\nx |= 1\nx ^= 3\nx %= 7\nx -= 1\nx //= 1\nreturn x",
	"a = 'x'\nb = {}\nreturn a + b",
	"a = []\nb = ()\nreturn a + b",
	"a = {}\nreturn a * 2",
	"a = None\nb = [1]\nreturn a * b",
	// order of evaluation
	"def p(x):\n  print(x)\n  return x\nd = {'k': ['v']}\nd[p('k')][p(0)] += p('w')\nreturn d",
	"def p(x):\n  print(x)\n  return x\ndef q():\n  print('q')\n  return {'a': 2}\nq()[p('a')] *= p(3)\nreturn p(1) + p(2) * p(3) - p(4)",
	"def p(x):\n  print(x)\n  return x\nreturn [p('a') + p('b') + p('c'), p([1]) == p([1]), p(1) in p([1]), p('x').join(p(['y', 'z']))]",
	"def p(x):\n  print(x)\n  return x\nreturn p('a') + p(1) + p('c')",
	"def p(x):\n  print(x)\n  return x\nreturn (p(0) and p([1]) == p([1])) or p('') or p('a') + p('b')",
	"l = [[1], [2]]\ndef take():\n  return l.pop()\ntake()[0] += 5\nreturn l",
	"l = [1, 2]\nl[-1] *= 4\nl[0] += 1\nreturn l",
	"d = {}\nd['x'] += 1\nreturn d",
	"d = {'x': 'a'}\nd['x'] *= 3\nd['x'] += 'b'\nd['x'] %= ()\nreturn d",
	"x, y = '%s-%s', ('a', 'b')\nx %= y\nreturn x",
	"l = ['%s', 2, 7]\nl[0] %= 'x'\nl[-1] %= 4\nl[1] <<= 3\nreturn l",
	"l = ['%s']\nl[3] %= 'x'",
	"l = []\nl[-1] %= 'x'",
	"l = ['a']\nl['a'] <<= 2",
	"t = ('%s',)\nt[0] %= 1",
	"d = {}\nd['k'] %= 3",
	"d = {'k': '%s', 'n': 3}\nd['k'] %= [1]\nd['n'] <<= 70\nd['n'] <<= 3\nreturn d",
	"d = {'k': 'a'}\nd['k'] <<= 1",
	"d = {'k': 'a'}\nd[[]] %= 1",
	"s = struct(a = '%s')\ns.a %= 'x'",
	"s = struct(a = 1)\ns.b %= 'x'",
	"x = 5\nx[0] %= 2",
	"x = 5\nx.y <<= 2",
	"x = 'abc'\nx[1] %= ()",
	// comparisons
	"return [[1, [2]] == [1, [2]], [1] != [2], (1, 2) < (1, 3), [3] > [2, 9], {1: [2]} == {1: [2]}, set([1]) <= set([1, 2]), [1] == (1,), 1 == 1.0]",
	"a, b = [1], [1]\nreturn [a == b, a != b, a < b, a <= b, a > b, a >= b, a == None, None == a, a == 1]",
	"a, b = (1, 'x'), (1, 2)\nreturn a < b",
	"a, b = {}, {}\nreturn a < b",
	"a, b = {1: 1, 2: [1]}, {2: [1], 1: 1}\nreturn [a == b, a != b, a == {}]",
	"a = struct(x = 1, y = [2])\nb = struct(x = 1, y = [2])\nreturn [a == b, a != b, a == struct(x = 1), a.x, a]",
	"a, b = struct(x = 1), struct(x = 1)\nreturn a < b",
	"a, b = [1], (1,)\nreturn a < b",
	"a, b = 1, [1]\nreturn a < b",
	"l = []\nl.append(l)\nm = []\nm.append(m)\nreturn l == m",
	"a, b = set([1, 2]), set([2, 1])\nreturn [a == b, a < b, a >= b]",
	"n = float('nan')\nreturn [[n] == [n], n == n, n in [n]]",
	// membership
	"x, l = 'a', ['a', 'b']\nreturn [x in l, x not in l, 'z' in l, [1] in [[1]], (1,) in ((1,), 2), 'a' in 'abc', 1 in {1: 2}, 2 not in set([1]), 3 in range(5)]",
	"x = 5\nreturn 1 in x",
	"x = 'abc'\ny = 1\nreturn y in x",
	"l = [[1], [2]]\nx = [2]\nreturn [x in l, l.index(x), l.index([1])]",
	"l = [[1], [2], [2]]\nx = [2]\nl.remove(x)\nreturn l",
	"l = [[1]]\nreturn l.index([3])",
	"l = [[1]]\nreturn l.remove([3])",
	"l = [1, 2, 1]\nreturn [l.index(1, 1), l.index(1), 'abc'.index('c')]",
	"x = [1]\ny = {}\nreturn x in y",
	// methods, direct and saved
	"s = ','\nj = s.join\nreturn [j(['a', 'b']), s.join(('x',)), s.join([]), type(j), str(j), repr(s.join)]",
	"return ','.join([1])",
	"return ','.join('abc')",
	"return ','.join()",
	"return ','.join(['a'], ['b'])",
	"return ','.join(x = ['a'])",
	"return ','.join('abc'.elems())",
	"return ','.join({'a': 1, 'b': 2})",
	"return ['aXbX'.replace('X', 'yy'), 'aXbX'.replace('X', 'yy', 1), 'abc'.replace('', '-'), 'abc'.replace('', '-', 2)]",
	"return 'a'.replace(1, 2)",
	"return ['a b  c'.split(), 'a,b,c'.split(','), 'a,b,c'.split(',', 1), 'a,b,c'.rsplit(',', 1), 'a b c'.rsplit(None, 1), 'a\\nb\\n'.splitlines(), 'a\\nb'.splitlines(True), ''.splitlines()]",
	"return 'a'.split('')",
	"return ['{} {}'.format(1, 'a'), '{0}{1}{0}'.format(1, 2), '{x!r}'.format(x = 'q'), '{{}}'.format(), '{}'.format([1, 'a'])]",
	"return '{}{0}'.format(1)",
	"return '{'.format(1)",
	"return '{x}'.format()",
	"return '{:5}'.format(1)",
	"return ['%s %d %r %% %c %x %f' % ('a', 2, 'b', 'c', 255, 1.5), '%s' % [1], '%(a)s%(a)r' % {'a': 'x'}, '%s' % (1,), '%d' % 3]",
	"return '%s %s' % 'a'",
	"return '%s' % ('a', 'b')",
	"return '%(a)s' % {}",
	"return '%q' % 1",
	"a, b = 7, 3\nreturn [a % b, -a % b, 7.5 % b, a % 2.5]",
	"return [' a '.strip(), 'xxaxx'.strip('x'), 'xxa'.lstrip('x'), 'axx'.rstrip('xy'), 'abcab'.strip('abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz' + 'é')]",
	"p = ('a', 'b')\nreturn ['abc'.startswith(p), 'abc'.endswith(('c',)), 'abc'.startswith('b', 1), 'abc'.startswith([])]",
	"s = struct(join = 5, items = lambda: 'mine', update = [1])\nreturn [s.join, s.items(), s.update, getattr(s, 'join')]",
	"return struct(a = 1).join",
	"return (5).join",
	"return 'a'.joyn",
	"return [].jion([])",
	"return {}.item()",
	"x = 'a'\nreturn x.items()",
	"return [getattr('-', 'join')(['a', 'b']), getattr('a', 'nope', 7), getattr([], 'extend', None) != None, hasattr('', 'join'), dir('')[0]]",
	"return getattr('a', 'nope')",
	"return getattr('a')",
	"l = [1]\nl.extend([2])\nl.extend((3,))\nl.extend(l)\nl.extend({4: 5})\nl.extend('ab'.elems())\nreturn l",
	"l = [1]\nl.extend(5)\nreturn l",
	"l = [1]\nfor x in l:\n  l.extend([1])\nreturn l",
	"d = {'a': 1}\nd.update([('b', 2)], c = 3)\nd.update({'a': 4})\nd.update(e = 5)\nd.update(d)\nreturn [d, d.items(), d.popitem()]",
	"d = {}\nd.update([1])\nreturn d",
	"d = {}\nd.update([('a',)])\nreturn d",
	"d = {}\nd.update(5)\nreturn d",
	"d = {'a': 1}\nfor k in d:\n  d.update({'b': 2})\nreturn d",
	"d = {(1, (2, 3)): 4}\nreturn [d.items(), d[(1, (2, 3))], (1, (2, 3)) in d, d.popitem()]",
	"s = set([1, 2])\ns.update([3], (4,))\nreturn [s, s.union([9]), s.difference([1]), s.intersection([1, 2]), s.symmetric_difference([1, 7]), s.issubset(range(9)), s.issuperset([1])]",
	"s = set([1])\nreturn s.union(5)",
	"s = set([1])\nreturn s.union([[]])",
	"l = [2, 1]\nreturn l.union([1])",
	"m = {}\nf2 = m.update\nf2({'a': 1})\nreturn m",
	// defaults, lambdas, comprehensions, nested functions, star arguments
	"def g(x = ','.join(['a', 'b']), y = 'a' * 3, z = [1] + [2]):\n  return [x, y, z]\nreturn g()",
	"g = lambda x, y = 'q' * 2: x + y\nreturn g('a')",
	"return [a + b for a in ['x', 'y'] for b in ['1', '2'] if a + b != 'x2']",
	"n = 1\nreturn [[n + n for n in ['a', 'b']], n + n, {n * 2: n + 1 for n in [1, 2]}]",
	"n = 0\nfor i in range(5):\n  n += i * 2\nm = 'a'\nfor n in ['x']:\n  m += n\nreturn [m, n]",
	"def g(*args, **kw):\n  'doc'\n  return [args, kw, len(args)]\nreturn [g(1, *[2, 3], **{'a': 'b'}), g(*'ab'.elems()), g(*range(3)), g(*{'k': 1})]",
	"g = lambda *args: args\nreturn [g(), g(1, 2), g(*(3,))]",
	"def g(a, *, b = 2):\n  return a + b\nreturn [g(1), g(1, b = 5)]",
	"def g(*args):\n  return args\nreturn g(*5)",
	"def outer(x):\n  def inner(y):\n    return x + y\n  return inner\nreturn [outer('a')('b'), outer(1)(2)]",
	"x = 5\nx = 'a' if x == 5 else 3\nreturn x + 'b'",
	"i = 0\nfor i, s in enumerate(['a']):\n  i += 1\n  s += 'b'\nreturn [i, s]",
	"a, b = (1, 2), [3]\n(c, d), e = (a, b)\n" + "return [a, b]",
	"a, b = 'x', 'y'\na, b = b, a\nreturn (a, b)",
	"t = (1, 'a', (2,))\nreturn [t, t + t, t * 2, t[1:], (t, t)]",
	"return undefined_local if False else 1",
	"if False:\n  x = 1\nreturn x + 1",
	// builtins
	"return [range(3), list(range(1, 9, 2)), range(5)[1:], len(range(10)), list(), tuple(), tuple([1]), set([1, 1]), dict([('a', 1)], b = 2), dict(a = 1)]",
	"return [int('12'), int('ff', 16), int('0b11', 0), int(3.9), int(True), int('-7'), int(x = '5', base = 6)]",
	"return int('zz')",
	"return int('1', 99)",
	"return [str([1, 'a', None, (1,), {'a': b'x'}, set([1])]), str('é\\n'), repr('é\\n'), str(b'ab'), str(1.5), str(len), str(struct(a = 'b'))]",
	"l = []\nl.append(l)\nd = {}\nd['d'] = d\nreturn [str(l), str(d), '%s' % [l], '{}'.format(d)]",
	"return [bytes([1, 2]), bytes('a'), bytes('ab'.elem_ords()), b'ab'.elems()]",
	"return bytes([300])",
	"print(1, 'a', [2], sep = '-')\nprint()\nreturn 1",
	"fail('bad', [1], sep = ':')",
	"return [enumerate(['a', 'b'], 1), reversed([1, 2]), any([0, 1]), all([]), all([1, 0]), zip([1, 2], 'ab'.elems(), (3,)), zip()]",
	"return zip(5)",
	"return [sorted([3, 1, 2]), sorted(['b', 'a'], reverse = True), sorted([[2], [1, 5]]), sorted([3, -4], key = lambda x: x * x), sorted((1,))]",
	"return sorted([(1, 'b'), (0, 'a'), (1, 'a')], key = lambda p: p[0], reverse = True)",
	"return sorted([1, 'a'])",
	"return sorted(5)",
	"l = [2, 1]\ndef k(x):\n  l.append(3)\n  return x\nreturn sorted(l, key = k)",
	"return [min(3, 1), max([1, 5, 2]), max('a', 'b'), min([[2], [1]]), max([-3, 2], key = lambda x: x * x), max([(1, 'a')], key = lambda p: p[0])]",
	"return max([])",
	"return min(1, 'a')",
	"return min(5)",
	"return max(key = 1)",
	"return [set([(1, (2,))]), {(1, 2): 3}[(1, 2)], hash('a'), len('abc'), ord('a'), chr(98), abs(-2), bool([])]",
	"return set([[]])",
	"return set(5)",
	"return {[]: 1}",
	"return {'a': 1, 'a': 2}",
	"return {1: 2}[(1, 2)]",
	// JSON
	"return [json.encode({'b': [1, 2.5, None, True, 'é<'], 'a': struct(x = (1,))}), json.decode('{\"a\": [1, {\"b\": null}]}'), json.indent('{\"a\":[1]}'), json.encode_indent([1, {'a': 2}], indent = ' ', prefix = '>')]",
	"return [json.decode('nope', default = 3), json.decode('[1', None), json.encode(range(3)), json.encode('a' + '\\n')]",
	"return json.decode('nope')",
	"return json.decode(5)",
	"return json.encode(len)",
	"return json.encode_indent(len)",
	"return json.encode({1: 2})",
	"return json.encode(float('nan'))",
	"l = []\nl.append(l)\nreturn json.encode(l)",
	"return json.indent('nope')",
	// things the guards must not confuse
	"x = 'abc'\nreturn [x[0], x[-1], x[::2], x[::-1], x.upper().title(), x.count('b'), x.find('z')]",
	"d = {1: 2}\nd[1] -= 1\nd[2] = 5 // 2\nreturn [d, d.get(1), d.setdefault(7, 8), d.pop(1), d.keys(), d.values()]",
	"x = [3]\nx.append(4)\nx.insert(0, 1)\nreturn [x, x.pop(), x[:1], not x, -x[0], ~x[0]]",
	"return [1 < 2 and 'a' + 'b' or 0, not [1] == [1], 1 if [1] == [1] else 2]",
	"x = 10\nreturn [y for y in range(20) if y % 3 == 0 and y in range(x)]",
}

func TestSameAsUnchecked(t *testing.T) {
	for _, body := range same {
		src := "def f():\n" + indent(body)
		want, got := call(src, false, Limits{}), call(src, true, Defaults())
		if got != want {
			t.Errorf("%s\ngot  %+v\nwant %+v", body, got, want)
		}
	}
}

// The builtins loop over long values in another way than over short ones.
func TestSameForLongValues(t *testing.T) {
	for _, body := range []string{
		"r = range(3000)\nreturn [len(list(r)), len(tuple(r)), len(set(r)), max(r), min(r), any(r), all(r), len(enumerate(r)), reversed(r)[0], sorted(r, reverse = True)[0]]",
		"r = range(3000)\nl = [5]\nl.extend(r)\nl += r\nreturn [len(l), l[-1], len(zip(r, l)), zip(r, l)[7], len(dict(zip(r, r)))]",
		"r = range(6000)\ns = set(r)\nreturn [len(s | set([-1])), len(s.union(range(7000))), len(s ^ set([1])), s == set(range(6000)), s.issubset(range(6001)), len(s.difference(range(5000)))]",
		"r = [str(i) for i in range(5000)]\nreturn [','.join(r), len(','.join(r).split(',')), len(sorted(r)), r == list(r), '4999' in r, ('x' * 100) in r, r.index('4999' + '')]",
		"d = dict([(i, i) for i in range(5000)])\ne = {i + 2500: 0 for i in range(5000)}\nreturn [len(d | e), len(d.items()), d == dict(d), d != e]",
		"l = [3] * 50000\nreturn [len(set(l)), len(l + l), len(l * 2), set(l)]",
		"l = [i % 7 for i in range(20000)]\nreturn [len(set(l)), len(dict([(i, 1) for i in l])), len(set([1]).union(l))]",
		"def g(*a):\n  return len(a)\nreturn [g(*range(2000)), g(*('x' * 3000).elems()), g(*('x' * 3000).codepoints())]",
	} {
		src := "def f():\n" + indent(body)
		want, got := call(src, false, Limits{}), call(src, true, Defaults())
		if got != want {
			t.Errorf("%s\ngot  %.300v\nwant %.300v", body, got, want)
		}
	}
}

// A frozen value refuses as it does unchecked.
func TestSameForFrozenGlobals(t *testing.T) {
	for _, stmt := range []string{"l += [1]", "l += r", "l.extend(r)", "d |= {}", "d |= {1: 2}", "d.update(r)", "s.update(r)", "l.remove(1)", "s |= set([4])"} {
		src := "L = [1]\nD = {1: 2}\nS = set([1])\ndef f():\n  l, d, s, r = L, D, S, [[1, 2]]\n  " + stmt + "\n"
		run := func(checked bool) string {
			g, err := program(src, checked, Defaults(), nil)
			if err != nil {
				t.Fatal(err)
			}
			g.Freeze()
			_, err = starlark.Call(&starlark.Thread{}, g["f"], nil, nil)
			if err == nil {
				return ""
			}
			return err.Error() + " at " + position(err)
		}
		if got, want := run(true), run(false); got != want {
			t.Errorf("%s: got %q, want %q", stmt, got, want)
		}
	}
}
