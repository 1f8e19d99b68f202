"""CEL that contracts write themselves, against protovalidate over random messages."""

from __future__ import annotations

import random
import time

import pytest

from protocontract import _cel
from tests.cel.messages import FIELDS, fill
from tests.cel.support import (
    COMPILER,
    function_of,
    reference,
    schema,
    this_of_message,
)

EXPRESSIONS = r"""
this.l > 5
this.l + this.i > 7
this.l - this.i < 0
this.l * this.l > 10
this.l / this.i > 0
this.l % this.i == 0
-this.l > 0
this.u + 1u > 5u
this.u - 5u > 5u
this.u * 2u > 10u
this.u / this.u == 1u
this.u % 7u == 0u
this.d + 1.5 > 2.0
this.d / this.d > 1.0
-this.d < 0.0
this.d * 2.0 >= this.d - 1.0
this.d == this.d
this.d != this.d
this.d < 5.0
!(this.d < 5.0)
this.d <= 0.0 || this.d > 1.0
this.d > -1.0 && this.d < 1.0
this.l < this.d
this.l == this.d
this.u >= this.d
this.l <= this.u
this.l == this.u
this.u != this.i
this.l in [1, 2, 5]
this.l in [1u, 5u]
this.d in [0.0, 1.5]
this.s in ['a', 'b', 'abc', '', '日本']
this.s in this.rs
!(this.s in this.rs)
this.l in this.ri
this.u in this.ri
this.d in this.rd
this.s in this.ms
this.l in this.mi
this.u in this.mi
this.l in this.mu
this.b in this.mb
'a' in this.ms && this.ms['a'] > 3
this.ms['a'] > 3
this.ms.a > 3
this.mi[5] == 'a'
this.mi[this.l] == 'a'
this.mu[7u] == 'a'
this.mb[true] == 'a'
this.mm['a'].a > 0
this.mt['a'] > this.t
has(this.mt.a) ? this.mt.a > timestamp(0) : true
this.rs[0] == 'a'
this.ri[this.l] > 0
this.rs[this.i] == 'a' || this.i > 2
this.rm[0].s == 'a'
this.rt[0] > this.t
this.rw[0] > 3
has(this.i)
has(this.d)
has(this.fl)
has(this.s)
has(this.y)
has(this.b)
has(this.e)
has(this.t)
has(this.sub)
has(this.sub.s)
has(this.sub.t)
has(this.sub.o)
has(this.sub.d)
has(this.sub.l)
has(this.w)
has(this.o)
has(this.os)
has(this.rs)
has(this.ms)
has(this.ms.a)
has(this.rm) && has(this.rm[0].s)
this.w > 3
this.w == 5
this.w != 5
this.w == null
this.w != null && this.w > 3
this.w == null || this.w > 3
this.w + 1 > 3
this.ws == 'a'
this.ws.startsWith('a')
this.ws == this.s
size(this.ws) > 1
this.o > 3
this.os == ''
this.e == 1
this.e in [0, 1]
this.re.all(x, x >= 0)
this.sub.a > 0
this.sub.s == this.s
this.sub.t > this.t
this.sub.l.exists(x, x == this.s)
this.s.size() > 2
size(this.s) <= 3
size(this.y) > 1
this.rs.size() > 2
size(this.ms) == 2
this.s.contains('b')
this.s.contains(this.s2)
this.s.startsWith('a')
this.s.startsWith('a') || this.s.startsWith('é') || this.s.startsWith(' ')
this.s.endsWith(this.s2)
this.y.startsWith(b'a')
this.y.endsWith(b'c')
this.y.contains(b'b')
this.s.matches('^a+$')
this.s.matches('[[:alpha:]]')
this.s.matches('(?i)k')
this.s.matches(r'^\w+$')
this.s < this.s2
this.s >= 'b'
this.y < b'b'
this.b < true
this.b == true
this.b != true
this.b == false
this.b ? this.l > 1 : this.l < 1
(this.b ? this.l : this.i) > 3
this.b ? 'yes' : 'no'
this.b ? (this.l > 3 ? 'large' : '') : 'not set'
this.l > 3 ? 'one' : this.l > 1 ? 'two' : ''
this.l > 3 && this.b ? '' : 'no'
this.s + this.s2
'<' + this.s + '>'
this.s + this.s2 == 'ab'
this.y + b'x' == b'ax'
string(this.l)
string(this.u) + string(this.b)
string(this.d)
string(this.fl)
string(this.y)
string(this.t)
string(this.du)
string(this.e)
int(this.d) > 1
int(this.u) > 1
int(this.s) > 1
int(this.t) > 1
int(this.b) == 1
uint(this.l) > 1u
uint(this.d) > 1u
uint(this.s) > 1u
double(this.l) > 1.0
double(this.u) > 1.0
double(this.s) > 1.0
bool(this.s)
bytes(this.s) == this.y
size(bytes(this.s)) > 2
uint(size(this.s)) > 2u
this.t > this.t2
this.t == this.t2
this.t <= timestamp('2020-01-01T00:00:00Z')
this.t > timestamp('2020-01-01T08:00:00.5+08:00')
this.t + this.du > this.t2
this.du + this.t > this.t2
this.t - this.du > this.t2
this.t - this.t2 > duration('1h')
this.t - this.t2 < this.du
this.du + this.du > duration('1s')
this.du - duration('1h') > duration('0s')
this.du >= duration('1.5s')
this.du == duration('3600s')
this.du in [duration('1h'), duration('1s'), duration('0s'), duration('59s')]
timestamp(this.l) > this.t
this.t < now
this.t > now - duration('1h') && this.t < now + duration('1h')
this.t.getFullYear() == 1970
this.t.getMonth() == 0
this.t.getDayOfYear() > 10
this.t.getDayOfMonth() == 0
this.t.getDate() == 1
this.t.getDayOfWeek() == 4
this.t.getHours() > 0
this.t.getMinutes() > 0
this.t.getSeconds() > 0
this.t.getMilliseconds() > 0
this.t.getHours('America/New_York') > 12
this.t.getDate('Asia/Shanghai') == 1
this.t.getFullYear('America/New_York') == 1969
this.t.getHours('Europe/Berlin') == 3
this.t.getHours('+08:30') > 12
this.t.getMinutes('-00:30') == 30
this.t.getDayOfWeek('UTC') == 3
this.t.getDayOfYear('Australia/Sydney') == 0
'%s'.format([this.t.getFullYear('Asia/Kolkata')])
this.du.getHours() > 0
this.du.getMinutes() > 60
this.du.getSeconds() > 60
this.du.getMilliseconds() > 0
this.rs.all(x, x != '')
!this.rs.all(x, x != '')
this.rs.exists(x, x == 'a')
!this.rs.exists(x, x == 'a')
this.rs.exists_one(x, x == 'a')
this.rs.filter(x, x != '').size() > 1
this.rs.map(x, x + 'x') == ['ax']
this.ri.map(x, x > 0, x + 1).size() > 1
this.ri.all(x, x + 1 > 0)
this.ri.exists(x, 10 / x > 1)
this.ri.all(x, 10 / x < 5)
this.ri.exists_one(x, 10 / x > 1)
this.ri.filter(x, 10 % x == 0).size() == 1
this.rm.all(x, x.a > 0)
this.rm.exists(x, x.s == this.s)
this.rm.all(x, x.l.all(y, y != x.s))
this.rm.exists(x, has(x.t) && x.t > this.t)
this.rm.all(x, x.o == 0)
this.rm.map(x, x.s).unique()
this.rm.map(x, x.a).all(a, a in [0, 1, 5])
this.rm.filter(x, x.a > 0).all(y, y.s != '')
this.rm.map(x, x.t).exists(t, t > timestamp(0))
this.rt.all(x, x > timestamp(0))
this.rt.exists(x, x == this.t)
this.rw.all(x, x > 0)
this.ms.all(k, k != '')
this.ms.exists(k, this.ms[k] > 5)
this.ms.all(k, this.ms[k] + 1 > 0)
this.mi.exists_one(k, k > 0)
this.mb.all(k, k)
this.mm.all(k, this.mm[k].a > 0)
this.mt.exists(k, this.mt[k] > timestamp(0))
this.ms.filter(k, k != '').size() == 1
this.ms.map(k, this.ms[k]).exists(v, v == 5)
['a', 'b'].exists(x, this.s.contains(x))
['a', 'b', 'x'].all(x, !this.s.startsWith(x))
[this.s, this.s2].all(x, x.size() > 1)
[this.l, this.i].exists(x, x > 5)
[1, 2, 3].map(x, x * this.l).size() == 3
{'a': this.l}['a'] > 3
{'a': 1, 'b': 2}[this.s] == 1
this.s in {'a': 1, 'b': 2} ? '' : 'unknown'
{this.s: 1, this.s2: 2}.size() == 2
this.rs.unique()
this.ri.unique()
this.rd.unique()
this.rb.unique()
this.ry.unique()
this.re.unique()
this.rs == ['a']
this.rs != this.rs
this.ri == [1, 2]
this.rd == this.rd
this.ri == this.ru
this.ms == {'a': 1}
this.rs + ['x'] == ['x']
(this.rs + this.rs).size() > 2
this.rs.join(',')
this.rs.join() == 'ab'
this.s.split(',').size() > 1
this.s.split('').join('-')
this.s.split(',', this.i).size() > 1
this.s.replace('a', 'b')
this.s.replace('', '.', this.i)
this.s.replace(this.s2, 'x')
this.s.substring(1)
this.s.substring(0, 1)
this.s.substring(this.i, 3)
this.s.charAt(this.i)
this.s.indexOf('b') > 0
this.s.indexOf(this.s2, this.i) > 0
this.s.lastIndexOf('a') > 0
this.s.lastIndexOf(this.s2, this.i) >= 0
this.s.lowerAscii()
this.s.upperAscii() == this.s
this.s.trim()
this.s.reverse()
this.s.isEmail()
this.s.isHostname() || this.s.isIp()
this.s.isIp(this.i)
this.s.isIpPrefix(4, this.b)
this.s.isUri()
this.s.isUriRef()
this.s.isHostAndPort(this.b)
this.d.isNan()
this.d.isInf()
this.d.isInf(this.i)
this.rd.exists(x, x.isNan())
'%s is %s'.format([this.s, this.l])
'%d of %x, %X, %o, %b'.format([this.l, this.l, this.u, this.u, this.l])
'%.2f %e %s'.format([this.d, this.d, this.d])
'%f'.format([this.fl])
'%s'.format([this.rs])
'%s'.format([this.rd])
'%s'.format([this.ms])
'%s'.format([this.mb])
'%s %s'.format([this.t, this.b])
'%s'.format([[this.s, this.s2]])
'%x'.format([this.y])
'%X'.format([this.s])
'%%%s%%'.format([this.e])
this.l / this.i > 0 || this.b
this.b || this.l / this.i > 0
this.l / this.i > 0 && this.b
this.b && this.l / this.i > 0
!(this.l / this.i > 0 || this.b)
this.l / this.i > 0 || this.ri[0] > 1 || this.b
(this.l / this.i > 0 || this.b) && (this.b || this.ri[0] > 0)
this.l / this.i > 0 ? this.b : !this.b
this.b ? this.l / this.i > 0 : true
this.b ? (this.l / this.i > 0 ? 'x' : '') : ''
this.l / this.i > 0 ? 'x' : ''
this.l / this.i > 0 ? '' : (this.b ? 'y' : '')
this.rm.all(x, 10 / x.a > 1 || this.b)
this.ri.exists(x, x > 5 || 10 / x > 1)
this.ri.all(x, this.ri.exists(y, y / x > 1))
this.ri.all(x, this.ri.all(y, x + y > 0))
this.rs.all(x, this.rs.exists(y, x == y + 'a' || y == x))
this.rs.map(x, x.size()).filter(n, n > 1).size() == 2
this.rs.filter(x, this.b ? x == 'a' : x == 'b').size() == 1
this.rdu.all(x, x > duration('1s'))
this.rdu.exists(x, x > duration('1h'))
this.rdu.filter(x, x > duration('1s')).exists(x, x < duration('1h'))
this.rdu.map(x, x.getSeconds()).exists(x, x == 59)
this.rdu.size() > 1
this.rdu.all(x, this.t + x > this.t2)
has(this.du) && this.b
this.du > duration('5s') || this.b
size(this.md) > 1
this.md.all(k, k != '')
this.s.substring(this.i).matches('^a+$') || this.b
this.b || this.s.substring(this.i).matches('^a+$')
this.ws.matches('a') || this.l == this.l
this.rs.exists(x, x.charAt(this.i).matches('a') || x == 'a')
'%s'.format([this.y])
'%s %s'.format([this.ry, this.y])
this.b ? '%s!'.format([b'\xff']) : ''
this.s.charAt(this.i).matches('a') && false
this.s.charAt(this.i).matches('a') || true
false && this.s.charAt(this.i).matches('a')
this.b && true && this.l / 0 > 1 && false
dyn(this.l) < 5.0
dyn(this.s) == 'a'
type(this.l) == int
this.l > 1 && this.l < 10
this.l < 1 || this.l > 10
1 < this.l && this.l <= 10
this.l >= 1 && this.l <= 10 && this.l != 5
!(this.l > 1 && this.l < 10)
!(this.s == 'a' || this.l > 3)
!this.b
!!this.b
this.l == 9223372036854775807
this.u == 18446744073709551615u
this.d == 1e300
google.protobuf.Timestamp{seconds: 5} < this.t
google.protobuf.Duration{seconds: 5, nanos: 3} < this.du
google.protobuf.StringValue{value: 'a'} == this.s
getField(this, 's') == 'a'
getField(getField(this, 'sub'), 's') == 'a'
1/0 > 0 || this.b
true ? this.b : 1/0 > 0
[1, 0].exists(x, 1 / x > 0) && this.b
"""
TRANSLATABLE = EXPRESSIONS.strip().splitlines()
MESSAGE_TYPE = schema(FIELDS)


@pytest.mark.parametrize("expression", TRANSLATABLE)
def test_agrees_with_protovalidate(expression: str) -> None:
    rng = random.Random(expression)
    judged = schema(FIELDS, [expression])
    rule = function_of(COMPILER.compile(expression, this=this_of_message(MESSAGE_TYPE.DESCRIPTOR)))
    for _ in range(40):
        message = judged()
        fill(message, rng)
        theirs = reference(message)
        try:
            said = rule(message, time.time_ns())
        except _cel.CelRuntimeError:
            ours = "error"
        else:
            ours = "kept" if said in (None, False, "") else "broken" if said is True else str(said)
        if isinstance(theirs, str):
            wanted = "error"
        elif not theirs:
            wanted = "kept"
        else:
            wanted = "broken" if theirs[0][1].endswith("returned false") else theirs[0][1]
        assert ours == wanted, message
