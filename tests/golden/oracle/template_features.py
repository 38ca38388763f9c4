"""Writes tests/golden/templates/features.jsonl: template snippets with what jinja2 makes of them.

usage: template_features.py OUTPUT.jsonl        (needs: jinja2)

One line per snippet: {"source", "variables", "output"} or {"source", "variables", "fails": "syntax" | "evaluation" |
"raised", "message"}. The environment is the one chat templates are written for: an immutable sandbox, trim_blocks and
lstrip_blocks, loop controls, a tojson without HTML escapes, raise_exception and a fixed clock.
"""

import datetime
import json
import sys

import jinja2
import jinja2.ext
import jinja2.sandbox

NOW = datetime.datetime(2024, 7, 26, 13, 5, 9)


class Generation(jinja2.ext.Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_run"), [], [], body).set_lineno(line)

    def _run(self, caller):
        return caller()


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def environment():
    made = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[jinja2.ext.loopcontrols, Generation])
    made.filters["tojson"] = tojson
    made.globals["raise_exception"] = raise_exception
    made.globals["strftime_now"] = lambda f: NOW.strftime(f)
    return made


MESSAGES = [{"role": "system", "content": " be brief "}, {"role": "user", "content": "Hi é\n"},
            {"role": "assistant", "content": None, "tool_calls": [{"name": "f", "arguments": {"a": 1, "b": [1.0, "x"]}}]},
            {"role": "tool", "content": "42"}]
V = {"messages": MESSAGES, "n": 7, "neg": -3, "f": 1.0, "big": 1e20, "tiny": 1e-7, "t": True, "no": False, "nil": None,
     "s": "Hello World", "u": "Grüße Ωmega ß", "empty": "", "l": [3, 1, 2], "names": ["bob", "Alice", "carol", "Bob"],
     "d": {"b": 1, "a": [1, 2], "C": {"x": None}}, "users": [{"n": "x", "age": 3, "ok": True}, {"n": "y", "age": 1, "ok": False},
     {"n": "z", "age": 2}], "html": "<a href=\"x\">'&'</a>", "spaces": "  \t x y \n", "lines": "a\nb\r\nc\n\nd", "emoji": "a😀b"}

SNIPPETS = r"""
{{ 1 }}|{{ 1.0 }}|{{ 1.5e3 }}|{{ 1e16 }}|{{ 1e22 }}|{{ 0.0001 }}|{{ 0.00001 }}|{{ f }}|{{ big }}|{{ tiny }}|{{ 1_000 }}|{{ 0x1F }}|{{ 0b101 }}|{{ 0o17 }}
{{ true }} {{ True }} {{ none }} {{ None }} {{ false }} {{ nil }} {{ missing }}
{{ 'a' "b" 'c' }} {{ "tab\there" }} {{ 'q\'q' }} {{ "\u00e9\x41\n" }}{{ '\d' }}{{ "\\n" }}
{{ [1, 'a', none, true, 1.5, [2], {'k': 'v'}, (1,), ()] }}
{{ {'a': 1, 'b': [1, 'x'], 3: none} }} {{ d }} {{ "it's" ~ ["it's", 'say "x"', "both ' and \""] }}
{{ ['é', 'a\nb', '\t', '\x00', '\u200b', '😀'] }}
{{ 1 + 2 * 3 }} {{ (1 + 2) * 3 }} {{ 7 / 2 }} {{ 8 / 2 }} {{ 7 // 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 7 % -3 }} {{ 7.5 % 2 }} {{ -7.5 // 2 }}
{{ 2 ** 10 }} {{ 2 ** 3 ** 2 }} {{ 2 ** -1 }} {{ -2 ** 2 }} {{ 2.0 ** 2 }} {{ +3 }} {{ - 3 }} {{ --3 }}
{{ 'a' + 'b' }} {{ 'ab' * 3 }} {{ 3 * 'x' }} {{ [1] + [2] }} {{ [0] * 3 }} {{ (1,) + (2,) }} {{ 'x' * -1 }}|
{{ 1 ~ 'a' ~ none ~ missing ~ 1.0 ~ true ~ [1] }}
{{ 1 < 2 }} {{ 1 < 2 < 3 }} {{ 1 < 3 < 2 }} {{ 1 == 1.0 }} {{ 1 != 2 }} {{ 'a' < 'b' }} {{ 'B' < 'a' }} {{ [1,2] < [1,3] }} {{ 1 >= 1 }} {{ true == 1 }}
{{ 'a' in 'abc' }} {{ 'x' not in 'abc' }} {{ 1 in [1,2] }} {{ 'b' in d }} {{ 'z' in d }} {{ 1 in (1,) }} {{ not 1 in [2] }} {{ 'x' in missing }}
{{ 0 or 'x' }} {{ 1 and 'y' }} {{ '' and 'z' }}| {{ not '' }} {{ not not 1 }} {{ none or missing or 3 }} {{ 1 or 1/0 }}
{{ 'yes' if n > 3 else 'no' }} {{ 'yes' if n > 30 else 'no' }} {{ 'only' if no }}| {{ 1 if no else 2 if no else 3 }}
{{ 1 + 2 if t else 3 }} {{ (1 if no else 2) + 1 }} {{ [1 if t else 2, 3] }}
{{ s[0] }} {{ s[-1] }} {{ s[1:3] }} {{ s[:-3] }} {{ s[::-1] }} {{ s[::2] }} {{ emoji[1] }} {{ emoji[1:] }} {{ emoji|length }} {{ s[99:] }}|{{ s[-99:2] }}
{{ l[0] }} {{ l[-1] }} {{ l[1:] }} {{ l[::-1] }} {{ l[:1] }} {{ l[5] }}| {{ (1,2,3)[1:] }} {{ l[2:0:-1] }} {{ [] [0:1] }}
{{ d.a }} {{ d['a'] }} {{ d.a[1] }} {{ d.a.0 }} {{ d.zzz }}| {{ d['C']['x'] }} {{ d.get('zzz') }} {{ d.get('zzz', 5) }} {{ d.get('b') }}
{{ d.missing.more }}
{{ missing.more }}
{{ missing['more'] }}
{{ missing + 1 }}
{{ missing() }}
{{ s() }}
{{ 'a' + 1 }}
{{ 1 + 'a' }}
{{ none + 1 }}
{{ 1 / 0 }}
{{ 1 < 'a' }}
{{ l.nothing() }}
{{ l.append(1) }}
{{ d.update({'a': 2}) }}
{{ s.nothing }}|
{{ missing|length }} {{ missing|list }} {{ missing|upper }}| {{ missing|default('d') }} {{ missing is defined }}
{{ missing|int }}
{{ s|nofilter }}
{{ s is notest }}
{{ none|length }}
{{ 3|length }}
{% for x in none %}{% endfor %}
{% for x in 3 %}{% endfor %}
{% for x in missing %}a{% else %}empty{% endfor %}
{% for x in [1,2,3] %}{{ x }}{% if not loop.last %}, {% endif %}{% endfor %}
{% for x in 'ab' %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.depth }}{{ loop.depth0 }}{{ x }};{% endfor %}
{% for x in l %}{{ loop.previtem is defined }}{{ loop.previtem }}<{{ x }}>{{ loop.nextitem }} {% endfor %}
{% for x in l %}{{ loop.cycle('a', 'b') }}{% endfor %}
{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}
{% for k, v in d|items %}{{ k }}={{ v }};{% endfor %}
{% for k in d %}{{ k }}{% endfor %} {{ d.keys()|list }} {{ d.values()|list }} {{ d|list }}
{% for (a, b), c in [((1, 2), 3)] %}{{ a }}{{ b }}{{ c }}{% endfor %}
{% for a, b in [(1, 2, 3)] %}{{ a }}{% endfor %}
{% for x in [1,2,3,4] if x is even %}{{ x }}{{ loop.length }}{% endfor %}
{% for x in [1,3] if x is even %}{{ x }}{% else %}none{% endfor %}
{% for x in range(5) %}{% if x == 1 %}{% continue %}{% endif %}{% if x == 3 %}{% break %}{% endif %}{{ x }}{% endfor %}
{% for x in [1,2] %}{% for y in [1,2] %}{% if y == 2 %}{% break %}{% endif %}{{ x }}{{ y }} {% endfor %}{% endfor %}
{% set x = 1 %}{% for i in [1,2] %}{{ x }}{% set x = i + 10 %}{{ x }}{% endfor %}{{ x }}
{% set x = 1 %}{% if true %}{% set x = 2 %}{% endif %}{{ x }}
{% set ns = namespace(a=1, found=false) %}{% for i in l %}{% set ns.a = ns.a + i %}{% endfor %}{{ ns.a }} {{ ns.found }} {{ ns.b is defined }}
{% set ns = namespace({'q': 1}) %}{{ ns.q }}{% set ns.z = [1] %}{{ ns.z }}
{% set d.x = 1 %}
{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set c = 1, 2 %}{{ c }}
{% set x %}block {{ n }}{% endset %}[{{ x }}]
{% set x | upper | trim %}  block {{ n }} {% endset %}[{{ x }}]
{% macro m(a, b=2, c=none) %}<{{ a }},{{ b }},{{ c }}>{% endmacro %}{{ m(1) }}{{ m(1, 3) }}{{ m(c=4, a=5) }}{{ m() }}
{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, 2) }}
{% macro m(a) %}{{ a }}{% endmacro %}{{ m(z=2) }}
{% macro m() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, k=3) }}
{% macro f(n) %}{% if n > 0 %}{{ n }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(5) }}
{% set g = 5 %}{% macro m() %}{{ g }}{% set g = 6 %}{{ g }}{% endmacro %}{{ m() }}{{ g }}
{% macro wrap(t) %}<{{ t }}>{{ caller('in') }}</{{ t }}>{% endmacro %}{% call(x) wrap('b') %}body {{ x }} {{ n }}{% endcall %}
{% macro m() %}a{% endmacro %}{{ m()|upper }} {{ m().startswith('a') }} {{ (m() ~ 'b')|length }} {{ m is callable }}
{% filter upper %}abc {{ s }}{% endfilter %}
{% filter replace('a', 'b')|upper %}banana{% endfilter %}
{% with a = 1, b = 2 %}{{ a }}{{ b }}{% endwith %}{{ a }}|
{% generation %}x{{ n }}{% endgeneration %}
{% raw %}{{ not }} {% this %}{% endraw %}after
{%- raw -%}   {{ x }}   {%- endraw -%}   z
a {# comment #} b
a {#- comment -#} b
{% if n == 1 %}one{% elif n == 7 %}seven{% else %}other{% endif %}
{% if n == 1 %}one{% elif n == 2 %}two{% endif %}|
{% if missing %}a{% else %}b{% endif %}{% if l %}c{% endif %}{% if {} %}d{% endif %}{% if 0.0 %}e{% endif %}
{{ range(3)|list }} {{ range(1, 4)|list }} {{ range(5, 0, -2)|list }} {{ range(3) }} {{ range(0)|list }}
{{ dict(a=1, b='x') }} {{ dict({'q': 1}, z=2) }}
{{ raise_exception('my ' ~ 'message') }}
{{ strftime_now('%d %b %Y') }} {{ strftime_now('%Y-%m-%d %H:%M:%S') }}
{{ spaces|trim }}| {{ 'xxaxx'|trim('x') }} {{ 3|trim }} {{ [' a ']|trim }}
{{ l|length }} {{ s|count }} {{ d|length }} {{ ''|length }} {{ (1,2)|length }}
{{ l|join }} {{ l|join(', ') }} {{ users|join('-', attribute='n') }} {{ ['a', 1, none]|join('/') }} {{ 'abc'|join('.') }}
{{ d|tojson }} {{ s|tojson }} {{ u|tojson }} {{ none|tojson }} {{ true|tojson }} {{ f|tojson }} {{ html|tojson }} {{ "a\n\t\\\"\x01\x7f"|tojson }}
{{ d|tojson(indent=2) }}
{{ [[], {}, [1]]|tojson(indent=4) }}
{{ u|tojson(ensure_ascii=true) }} {{ '😀'|tojson(ensure_ascii=true) }} {{ u|tojson(ensure_ascii=false) }}
{{ d|tojson(separators=(',', ':')) }} {{ d|tojson(sort_keys=true) }} {{ (1,2)|tojson }} {{ {1: 2, none: 3, true: 4}|tojson }}
{{ missing|tojson }}
{{ l|map('string')|tojson }}
{{ missing|default('x') }} {{ ''|default('x') }}| {{ ''|default('x', true) }} {{ none|default('x') }} {{ none|d('x', true) }} {{ missing|default }}|
{{ l|first }} {{ l|last }} {{ s|first }} {{ s|last }} {{ []|first }}| {{ []|last }}| {{ d|first }}
{{ s|lower }} {{ s|upper }} {{ u|upper }} {{ u|lower }} {{ 'hello wORLD'|capitalize }} {{ "hello wORLD it's (foo) a-b"|title }} {{ 'école'|capitalize }}
{{ s|replace('o', '0') }} {{ s|replace('l', 'L', 2) }} {{ 'aaa'|replace('a', 'aa') }} {{ 'ab'|replace('', '-') }} {{ 3|replace(3, 4) }}
{{ 1.0|string }} {{ d|string }} {{ none|string }} {{ true|string ~ 'x' }} {{ s|string is string }}
{{ '42'|int }} {{ '4.7'|int }} {{ 'x'|int }} {{ 'x'|int(9) }} {{ 4.9|int }} {{ -4.9|int }} {{ true|int }} {{ '1f'|int(base=16) }} {{ none|int }} {{ ' 7 '|int }}
{{ '4.5'|float }} {{ 'x'|float }} {{ 3|float }} {{ 'x'|float(1.5) }} {{ '1e3'|float }} {{ none|float }}
{{ l|map('string')|list }} {{ users|map(attribute='n')|list }} {{ users|map(attribute='ok', default='?')|list }} {{ names|map('upper')|join(',') }} {{ ['1','2']|map('int')|sum }}
{{ users|selectattr('ok')|map(attribute='n')|list }} {{ users|rejectattr('ok')|map(attribute='n')|list }} {{ users|selectattr('age', 'gt', 1)|map(attribute='n')|list }} {{ users|selectattr('n', 'equalto', 'x')|list|length }}
{{ l|select('odd')|list }} {{ l|reject('odd')|list }} {{ [0, 1, '', 'a']|select|list }} {{ l|select('in', [1,2])|list }} {{ messages|selectattr('role', '==', 'user')|list|length }}
{{ users|selectattr('ok', 'defined')|list|length }} {{ users|rejectattr('ok', 'undefined')|list|length }}
{{ none|selectattr('x')|list }}
{{ d|dictsort }} {{ d|dictsort(true) }} {{ {'x': 2, 'y': 1}|dictsort(by='value') }} {{ d|dictsort(reverse=true) }}
{{ l|sort }} {{ names|sort }} {{ names|sort(case_sensitive=true) }} {{ l|sort(reverse=true) }} {{ users|sort(attribute='age')|map(attribute='n')|list }}
{{ [1, 'a']|sort }}
{{ names|unique|list }} {{ [1,1,2,1]|unique|list }} {{ names|unique(true)|list }}
{{ l|reverse|list }} {{ s|reverse }} {{ emoji|reverse }}
{{ l|sum }} {{ users|sum(attribute='age') }} {{ []|sum }} {{ [[1],[2]]|sum(start=[]) }} {{ [1.5, 2]|sum }}
{{ l|min }} {{ l|max }} {{ names|min }} {{ names|max }} {{ []|max }}| {{ users|max(attribute='age') }}
{{ -3|abs }} {{ neg|abs }} {{ (-2.5)|abs }} {{ 2.5|round }} {{ 3.5|round }} {{ 2.567|round(2) }} {{ 2.1|round(method='ceil') }} {{ 2.9|round(0, 'floor') }} {{ 42|round }} {{ 2.0|round|int }}
{{ lines|indent }} {{ lines|indent(2, true) }} {{ lines|indent(2, blank=true) }} {{ 'a\nb'|indent('>>') }}
{{ 'a<'|safe + html }} {{ html + '<'|safe }} {{ '<'|e|e }} {{ '<'|safe ~ '<' }} {{ ('<'|safe)[0:1] + '<' }} {{ '<'|e|forceescape }} {{ '<'|e is escaped }} {{ '<' is escaped }}
{{ html|escape }} {{ html|e }} {{ 'plain'|safe }} {{ html|safe }}
{{ '%s is %d and %.2f'|format('x', 3, 2.5) }} {{ '%5d|%-5s|%05.1f|%x|%%' % (3, 'ab', 2.25, 255) }} {{ 'v %s' % 'one' }} {{ '%r' % 'x' }}
{{ 'a b  c'|wordcount }} {{ 'ab'|center(7) }}| {{ [1,2,3,4,5]|batch(2)|list }} {{ [1,2,3]|batch(2, 0)|list }}
{{ messages|length }} {{ messages[0].role }} {{ messages[-1]['content'] }} {{ messages[1:]|map(attribute='role')|list }} {{ messages[2].tool_calls[0].arguments|tojson }}
{{ n is defined }} {{ n is undefined }} {{ nil is none }} {{ s is string }} {{ n is number }} {{ f is number }} {{ t is number }} {{ n is integer }} {{ t is integer }} {{ f is float }} {{ t is boolean }} {{ n is boolean }}
{{ d is mapping }} {{ l is mapping }} {{ l is iterable }} {{ s is iterable }} {{ n is iterable }} {{ nil is iterable }} {{ l is sequence }} {{ s is sequence }} {{ d is sequence }} {{ n is sequence }} {{ missing is iterable }} {{ missing is sequence }}
{{ t is true }} {{ 1 is true }} {{ no is false }} {{ 0 is false }} {{ n is odd }} {{ n is even }} {{ n is divisibleby(7) }} {{ n is divisibleby 3 }} {{ 'A' is upper }} {{ 'a' is lower }} {{ 'A1' is upper }} {{ '1' is upper }}
{{ n is equalto 7 }} {{ n is eq(7) }} {{ n is == 7 }} {{ n is sameas 7 }}
{{ n is eq 7 }} {{ n is ne 7 }} {{ n is gt 3 }} {{ n is lt 3 }} {{ n is ge 7 }} {{ n is le 6 }} {{ 1 is in [1] }} {{ 'x' is in 'abc' }} {{ n is not none }} {{ n is not defined }} {{ range is callable }} {{ 'upper' is filter }} {{ 'odd' is test }}
{{ n is none or n is defined and t }} {{ not n is none }} {{ s is string and s|length > 3 }}
{{ '  a '.strip() }}| {{ '  a '.lstrip() }}| {{ '  a '.rstrip() }}| {{ 'xxaxx'.strip('x') }} {{ '\n\na\n'.lstrip('\n') }}| {{ 'éaé'.strip('é') }}
{{ 'a b  c'.split() }} {{ 'a,b,,c'.split(',') }} {{ 'a,b,c'.split(',', 1) }} {{ 'a,b,c'.rsplit(',', 1) }} {{ ' a b c '.split(none, 1) }} {{ ' a b  c '.rsplit(none, 1) }} {{ ''.split() }} {{ ''.split(',') }} {{ 'x</think>y'.split('</think>')[-1] }}
{{ lines.splitlines() }} {{ lines.splitlines(true) }} {{ 'a'.split('') }}
{{ s.startswith('He') }} {{ s.endswith('ld') }} {{ s.startswith(('x', 'H')) }} {{ s.replace('l', 'L') }} {{ s.replace('l', 'L', 1) }} {{ s.upper() }} {{ s.lower() }} {{ 'hello world'.title() }} {{ 'hELLO'.capitalize() }}
{{ s.find('o') }} {{ s.rfind('o') }} {{ s.find('z') }} {{ 'é😀x'.find('x') }} {{ s.count('l') }} {{ s.index('W') }} {{ 'abc'.removeprefix('a') }} {{ 'abc'.removesuffix('c') }}
{{ 'Hello, World! Straße'.find('o', 5) }} {{ u.find('ß', 4) }} {{ u.find('ß', -1) }} {{ emoji.find('b', 2) }} {{ emoji.find('b', 3) }} {{ s.find('o', 5, 7) }} {{ s.find('o', 5, 8) }} {{ s.find('o', none, -5) }} {{ s.find('H', -99, 99) }} {{ s.find('', 11) }} {{ s.find('', 12) }} {{ s.find('', 3, 2) }} {{ s.find('lo', 3, 4) }} {{ s.find('o', true) }}
{{ s.rfind('o', 5) }} {{ s.rfind('o', 0, 7) }} {{ s.rfind('o', 0, -4) }} {{ s.rfind('') }} {{ s.rfind('', 2, 5) }} {{ s.rfind('', 12) }} {{ u.rfind('ß', 5) }} {{ u.rfind('ß', 0, -1) }} {{ 'aaaa'.rfind('aa', 0, 3) }} {{ 'aaaa'.rfind('aaaaa') }}
{{ s.index('o', 5) }} {{ s.rindex('l', none, 5) }} {{ u.index('Ω', 2) }} {{ u.rindex('ß', -2) }} {{ s.index('', 11) }}
{{ s.index('o', 8) }}
{{ s.rindex('W', 0, 6) }}
{{ s.index('', 12) }}
{{ s.find('o', 'x') }}
{{ s.find('o', 1.0) }}
{{ s.count('l', 4) }} {{ s.count('l', 3, 9) }} {{ s.count('l', -2) }} {{ s.count('', 9) }} {{ s.count('', 12) }} {{ s.count('', 11) }} {{ s.count('', 5, 3) }} {{ emoji.count('', 1) }} {{ 'aaaa'.count('aa', 1) }} {{ u.count('ß', none, 5) }}
{{ s.startswith('World', 6) }} {{ s.startswith('Wor', 6, 8) }} {{ s.startswith('', 11) }} {{ s.startswith('', 12) }} {{ s.startswith(('x', 'W'), -5) }} {{ u.startswith('ßm', 3) }} {{ emoji.startswith('b', 2) }} {{ s.startswith('H', -99) }} {{ s.startswith('', 3, 2) }}
{{ s.endswith('World', 6) }} {{ s.endswith('World', 7) }} {{ s.endswith('Hello', 0, 5) }} {{ s.endswith('o', none, -6) }} {{ s.endswith('', 12) }} {{ s.endswith(('x', 'o'), 0, 5) }} {{ u.endswith('e', 0, 5) }} {{ s.endswith('', 5, 4) }} {{ s.endswith('d', -1) }}
{{ l.index(1, 1) }} {{ l.index(2, -1) }} {{ l.index(3, 0, 1) }} {{ (1, 2, 1).index(1, 1) }} {{ l.index(3, -9, 9) }}
{{ l.index(3, 1) }}
{{ l.index(2, 0, 2) }}
{{ l.index(9) }}
{{ 'a=b=c'.partition('=') }} {{ 'a=b=c'.rpartition('=') }} {{ 'abc'.partition('=') }} {{ 'abc'.rpartition('=') }} {{ u.partition('ße ') }} {{ ''.partition('x') }} {{ 'x</think>y</think>z'.rpartition('</think>')[2] }} {{ 'aaa'.rpartition('aa') }}
{{ 'a'.partition('') }}
{{ 'a'.rpartition('') }}
{{ 'a'.partition(none) }}
{{ '42'.zfill(5) }} {{ '-42'.zfill(5) }} {{ '+1'.zfill(4) }} {{ 'abc'.zfill(2) }} {{ ''.zfill(2) }} {{ 'é'.zfill(3) }} {{ '--1'.zfill(5) }} {{ '-'.zfill(3) }} {{ '1'.zfill(-3) }}
{{ 'ab'.ljust(5) }}|{{ 'ab'.rjust(5) }}|{{ 'ab'.center(5) }}|{{ 'abc'.center(6) }}|{{ 'ab'.center(5, '*') }}|{{ 'abc'.center(6, 'é') }}|{{ 'é'.ljust(3, '.') }}|{{ 'é'.rjust(3, '😀') }}|{{ 'abc'.ljust(2) }}|{{ 'abc'.rjust(-1) }}|{{ ''.center(3, '-') }}|
{{ 'a'.ljust(3, 'xy') }}
{{ 'a'.center(3, '') }}
{{ 'a'.rjust(3, none) }}
{{ 'a'.ljust('3') }}
{{ 'Hello Wörld ß 1'.swapcase() }} {{ s.isascii() }} {{ u.isascii() }} {{ ''.isascii() }}
{{ 'foo bar baz qux'|truncate(9) }} {{ 'foo bar baz qux'|truncate(9, true) }} {{ 'foo bar baz qux'|truncate(11) }} {{ 'foo bar baz qux'|truncate(11, false, '...', 0) }} {{ 'foo bar baz'|truncate(5, true, '', 0) }} {{ 'é😀é😀é😀é😀é😀'|truncate(4, true) }} {{ 'abcdefghijklmnop'|truncate(5) }} {{ 'a b'|truncate }} {{ 'abc def ghi'|truncate(6, end='…', leeway=0) }}
{{ 'foo bar baz qux'|truncate(2) }}
{{ 'foo bar baz qux'|truncate(9, leeway=-1) }}
{{ 1234.5|round(-2) }} {{ 1250|round(-2) }} {{ 1350|round(-2) }} {{ -1250|round(-2) }} {{ 1234|round(-2) }} {{ 1250.0|round(-2) }} {{ 149.9999|round(-2) }} {{ 150.0|round(-2) }} {{ 50.0|round(-2) }} {{ 50.1|round(-2) }} {{ -1250.5|round(-2) }} {{ 7|round(-1) }} {{ 7|round(-30) }} {{ 7.5|round(-30) }} {{ 1e22|round(-21) }} {{ 99.5|round(-1) }}
{{ 1234|round(-2, 'ceil') }} {{ 1234|round(-2, 'floor') }} {{ 1234.5|round(-1, 'floor') }} {{ -7|round(-1, 'ceil') }} {{ 2.5|round(400) }} {{ 0.1|round(301) }} {{ true|round(-1) }}
{{ ', '.join(['a', 'b']) }} {{ ''.join([]) }}| {{ '{} {}'.format('a', 1) }} {{ '{0}{1}{0}'.format(1, 2) }} {{ '{x}'.format(x=3) }} {{ '{{}}'.format() }}
{{ ','.join([1]) }}
{{ s.startswith(1) }}
{{ '12'.isdigit() }} {{ 'ab'.isalpha() }} {{ 'a1'.isalnum() }} {{ ' '.isspace() }} {{ 'AB'.isupper() }} {{ 'ab'.islower() }} {{ ''.isdigit() }} {{ '٣'.isdigit() }}
{{ l.index(2) }} {{ l.count(1) }} {{ (1, 1).count(1) }} {{ d.items()|list }} {{ d.items() }} {{ d.keys() }}
{{ 'a' if 'b' in d and d.b == 1 and not no else 'c' }}
{{ (messages|selectattr('role', 'equalto', 'user')|list|last).content|trim }}
{% for m in messages %}{{ m.role }}{% if m.content is not none and m.content is string %}:{{ m.content|trim }}{% endif %};{% endfor %}
{%- for x in l -%}   {{ x }}   {%- endfor -%}   tail
{%+ if t %} a {%+ endif +%}
{{ "a" -}}   b   {{- "c" }}
{{- 'x' }}  {{ 'y' -}}
{{ {'a': {'b': 1}}['a']['b'] }}{{ {}|length }}{{ {'}}': '%}'}['}}'] }}
{{ '{{' }} {{ "{% if %}" }} {{ '#}' }}
{{ foo.bar if foo is defined else 'unset' }} {{ (foo|default({})).bar }}|
{{ 1 if missing is defined and missing.x else 2 }} {{ n if n else 0 }}
{{ loop is defined }} {{ [l, l]|tojson }} {{ l == [3, 1, 2] }} {{ d == {'a': [1, 2], 'b': 1, 'C': {'x': none}} }} {{ 'a' == 1 }} {{ none == missing }}
{{ l|sort|join(',')|upper ~ '!' }} {{ -l|length }} {{ 2 * l|length + 1 }}
{{ range(100001) }}
{{ 'x'.join(range(3)|map('string')) }} {{ 10 ** 3 }} {{ 5 % 3 }} {{ 1 ~ 2 * 3 }}
{{ 'a' ~ 1 + 2 }}
{{ l|sort|join(',')|upper ~ '!' }} {{ 2 * l|length + 1 }} {{ -l[0] }} {{ -l[0]|abs }} {{ 'a' 'b'|upper }} {{ ('a' ~ 'b')|upper }}
{{ messages|map(attribute='content')|map('string')|join('|') }} {{ users|map(attribute='n')|map('upper')|list }}
{{ users|groupby('n')|list|length if false else 'skip' }}
{{ namespace() is mapping }} {{ (1, 2) is sequence }} {{ n.real if false }}|
{% if %}{% endif %}
{% if t %}
{% endfor %}
{% for x in l %}{% endif %}
{% for in l %}{% endfor %}
{% unknown %}
{{ 1 + }}
{{ (1 }}
{{ [1, 2 }}
{{ 'unterminated }}
{{ 1 2 }}
{{ a.b. }}
{% set x %}
{% set 1 = 2 %}
{% macro %}{% endmacro %}
{% macro m(a=1, b) %}{% endmacro %}
{% break %}
{# open
{{ open
{% raw %} open
{{ m(a=1, 2) }}
{{ ] }}
{{ @ }}
{% if a is b is c %}{% endif %}
""".strip("\n").split("\n")

MULTILINE = [
    "   {% if t %}\n  x\n   {% endif %}\n y\n",
    "{% for x in l %}\n  - {{ x }}\n{% endfor %}\nend\n\n",
    "a\n  {%- if t %}\n b\n  {% endif -%}\n  c",
    "{%+ if t %} a {%+ endif +%}\nb",
    "  {# c #}\nx {# d #}\ny",
    "  {%- set x = 1 %}\n\n  {{ x }}\n  {{- x }}\n",
    "{% if t -%}\n\n  a\n{%- endif %}\n\nb",
    "x\r\n{% if t %}\r\ny\r\n{% endif %}\r\nz\r\n",
    "{% set a %}\n l1\n  l2\n{% endset %}\n{{ a }}",
    "{% macro m(x) %}\n [{{ x }}]\n{% endmacro %}\n{{ m(1) }}\n{{ m(2) }}",
    "  a {% if t %}  \n  b {% endif %}  \n c",
    "{% raw %}\n {{ x }}\n{% endraw %}\n y",
    "{{ n }}\n{{ n }}\n\n",
    "{{\n  n\n  + 1\n}}",
    "{% if t\n  and n %}\n  {%- for m in messages %}\n    {{- m.role + '\\n' }}\n  {%- endfor %}\n{% endif %}\n",
    "\t{% if t %}\t{% endif %}\t\n",
    "{{ 'a' }}\n  {% set x = 2 %}\n  {{ x }}",
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' }}{% endfor %}",
    "{% set x = 1 -%}\n   {% if t -%}\n   y {%- endif %}",
    "line1\n{{ 1 / 0 }}",
    "line1\n\n{% nope %}",
]


def kind(failure):
    if isinstance(failure, jinja2.exceptions.TemplateAssertionError):
        return "evaluation"  # unknown filters and tests: ours fail when they are reached
    if isinstance(failure, (jinja2.exceptions.TemplateSyntaxError, SyntaxError)):
        return "syntax"
    return "raised" if type(failure) is jinja2.exceptions.TemplateError else "evaluation"


def main():
    made = environment()
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        for source in SNIPPETS + MULTILINE:
            row = {"source": source}
            try:
                row["output"] = made.from_string(source).render(**V)
            except Exception as failure:
                row["fails"] = kind(failure)
                row["message"] = str(failure)
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
        out.write(json.dumps({"variables": V}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
