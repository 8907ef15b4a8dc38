import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as JavaScript from "../../../src/base/JavaScript.ts"
import * as Reach from "../../../src/catalogue/code/Reach.ts"
import { escapes } from "../../support/scenarios/escapes.ts"
import { harmless, senders } from "../../support/scenarios/senders.ts"

type Row = readonly [code: unknown, reach: "outside" | "state" | "inside"]

/** A function that no parse can know: out of a computed read. */
const any = "const k = $json.k; const any = [][k][k];"

const forms: { readonly [form: string]: ReadonlyArray<Row> } = {
  "a scope of its own": [
    ["const f = (h = helpers) => { var helpers; return h }; return f()", "outside"],
    ["function f(a = fetch) { var fetch = 1; return a } return f()", "outside"],
    ["const f = ({ [helpers.x]: a }) => { var helpers; return a }; return f({})", "outside"],
    ["class A { [process.x]() { const process = 1 } } return 1", "outside"],
    ["class A extends process { m(process) {} } return 1", "outside"],
    ["class A extends this.x {} return 1", "outside"],
    ["return class A { m() { return A } }", "inside"],
    ["function f() { return arguments[0] } return f(1)", "inside"],
    ["const f = ({ a: b = 1, ...rest }) => [b, rest]; return f($json)", "inside"],
    ["switch (fetch) { case 1: let fetch } return 1", "outside"],
    ["{ const fetch = 1 } return fetch", "outside"],
    ["{ var fetch = 1 } return fetch", "inside"],
    ["const f = (fetch, a = fetch) => a; return f(1)", "inside"],
    ["try { null.x } catch (process) { return process.x }", "inside"],
    ["class A { static { var process = 1 } } return process", "outside"],
    ["for (const process of []) { process.x } return 1", "inside"],
    ["for (const x of []) {} return process", "outside"],
    ["fetch: for (;;) break fetch; return { fetch: 1 }.fetch", "inside"],
    ["total = 1; return total", "inside"],
    ["helpers = 1; return helpers.request", "outside"],
    ["const { fetch } = $json; return fetch", "inside"],
    ["const { a = fetch } = $json; return a", "outside"]
  ],
  "a function out of a computed read": [
    [`${any} return any('return 1')()`, "outside"],
    [`${any} return any`, "inside"],
    [`${any} return any === 1 ? typeof any : String(any)`, "inside"],
    ["const k = $json.k; return $json[k][k] + 1", "inside"],
    ["const f = (g) => g(); const k = $json.k; return f(() => -$json[k] + `${$json[k]}`)", "inside"],
    ["const k = $json.k; return ($json[k])()", "outside"],
    ["const k = $json.k; $json[k].call(1); return 1", "outside"],
    ["const k = $json.k; const b = $json[k].bind(1); return b()", "outside"],
    ["const k = $json.k; return `${$json[k]}`", "inside"],
    ["const k = $json.k; if ($json[k]) return 1", "inside"],
    ["const k = $json.k; const a = $json[k] || 1; return a()", "outside"],
    ["const k = $json.k; const { [k]: a } = $json; return a()", "outside"],
    ["const i = 1; const a = $json[i]; return a()", "inside"],
    ["const i = 1 + 2; const a = $json[i]; return a()", "inside"],
    ["let i; const a = $json[i]; return a()", "outside"],
    ["let i = 0; i -= $json.n; const a = $json[i]; return a()", "inside"],
    ["let i = 0; i += $json.k; const a = $json[i]; return a()", "outside"],
    ["let i = 0; [i] = $json.list; const a = $json[i]; return a()", "outside"],
    ["for (let i in $json) { const a = $json[i]; a() } return 1", "outside"],
    ["const a = $json['item ' + $json.k]; return a()", "inside"],
    ["const a = $json['con' + $json.k]; return a()", "outside"],
    ["const k = $json.k; const f = ($json[k] ||= 1); return f()", "outside"],
    [`${any} const f = $json.a ? Number : any; return f('return 1')`, "outside"],
    [`${any} const f = any || Number; return f('return 1')`, "outside"],
    [`${any} var f = Number; var [f] = [any]; return f('return 1')`, "outside"],
    [`${any} let f = Number; for (f of [any]) f('return 1')`, "outside"],
    [`${any} var f = Number; for (var f of [any]) f('return 1')`, "outside"],
    [`${any} return any\`return 1\``, "outside"],
    [`${any} class A extends any {} return 1`, "outside"],
    [`${any} return new any('return 1')`, "outside"],
    [`${any} return any?.('return 1')`, "outside"]
  ],
  "a call by the language": [
    ...["then", "toJSON", "toString", "valueOf", "toLocaleString", "next", "return", "get", "exec"].map(
      (name): Row => [`${any} return { ${name}: any }`, "outside"]
    ),
    ...["iterator", "asyncIterator", "toPrimitive", "dispose", "replace", "hasInstance", "species"].map(
      (name): Row => [`${any} return { [Symbol.${name}]: any }`, "outside"]
    ),
    [`${any} const o = {}; o.valueOf = any; return o`, "outside"],
    [`${any} const o = {}; o[$json.x] = any; return o`, "outside"],
    [`${any} const o = {}; ({ a: o.then } = { a: any }); return o`, "outside"],
    [`${any} class A { then = any } return new A()`, "outside"],
    [`${any} class A { then } return new A()`, "outside"],
    [`${any} const { then: a } = $json; return a`, "inside"],
    [`${any} return { other: any }`, "inside"],
    [`${any} const o = { other: any }; return o.other('return 1')`, "outside"],
    ["const o = {}; for (const k of Object.keys($json)) o[k.trim()] = $json[k]; return o", "inside"],
    ["return new Promise((resolve) => resolve($json[$json.k]))", "inside"],
    ["return { then() { return 1 }, toString: () => 'a', valueOf: function() { return 1 } }", "inside"],
    [`${any} return { toString: () => 'a' }`, "inside"],
    [`${any} return Object.defineProperty({}, 'then', { get: any })`, "outside"]
  ],
  "a call by a function of the language": [
    ...["map", "forEach", "sort", "reduce", "then", "catch", "finally", "flatMap", "find", "some"].map(
      (name): Row => [`${any} return [1].${name}(any)`, "outside"]
    ),
    ...[
      "Promise.try(any)",
      "new Promise(any)",
      "Array.from([1], any)",
      "Array.fromAsync([1], any)",
      "JSON.parse('1', any)",
      "JSON.stringify({}, any)",
      "Object.groupBy([1], any)",
      "'a'.replace('a', any)",
      "'a'.replaceAll('a', any)",
      "Promise.resolve(1).then(null, any)",
      "[1].map(...[any])",
      "JSON.parse(...['1', any])"
    ].map((call): Row => [`${any} return ${call}`, "outside"]),
    ["setTimeout('x', 0); return 1", "outside"],
    ["const later = setTimeout; return 1", "outside"],
    ["setTimeout(() => 1, 0); return [1].map(Number).map((x) => x)", "inside"],
    ["const f = (x) => x; return [1].map(f)", "inside"],
    ["let f = (x) => x; f = $json.f; return [1].map(f)", "inside"],
    ["let f = (x) => x; f = $json[$json.k]; return [1].map(f)", "outside"],
    ["const f = $json.a ? (x) => x : Number; return [1].map(f)", "inside"]
  ],
  "a way to functions that make functions": [
    ...["constructor", "__proto__", "caller", "callee", "__lookupGetter__", "_onTimeout"].map(
      (name): Row => [`return ((a) => a.${name})($json)`, "outside"]
    ),
    ["const { constructor: C } = $json; return C", "outside"],
    ["const { ['constructor']: C } = $json; return C", "outside"],
    ["return $json[`constructor`]", "outside"],
    ["return [$json.constructor === Object, $json.constructor.name]", "inside"],
    ["return Object.getPrototypeOf($json)", "outside"],
    ["const O = Object; return O", "outside"],
    ["return Array.prototype", "outside"],
    ["Array.prototype.map = 1; return 1", "outside"],
    ["Math.max = 1; return 1", "outside"],
    ["return Math[$json.k]", "outside"],
    ["return import('http')", "outside"],
    ["return new.target", "outside"],
    ["with ($json) { a } return 1", "outside"],
    ["return this", "outside"],
    ["return this.other", "outside"],
    ["return this[$json.k]", "outside"],
    ["class A { a = 1; m() { return this } } return new A().m()", "inside"],
    ["class A { [this.x] = 1 } return 1", "outside"],
    ["return eval('1')", "outside"],
    ["return console.log(1) ?? 1", "inside"],
    ["return console", "outside"],
    ["return console.Console", "outside"]
  ],
  "n8n's variables and modules": [
    ["return $getWorkflowStaticData('global')", "state"],
    ["return this.getWorkflowStaticData('node')", "state"],
    ["const data = $getWorkflowStaticData('global'); data.n = (data.n ?? 0) + 1; return [{ json: data }]", "state"],
    ["const data = getWorkflowStaticData('node'); return data.items ?? []", "state"],
    ["const read = $getWorkflowStaticData; return [{ json: read('global') }]", "state"],
    ["return fetch($getWorkflowStaticData('global').url)", "outside"],
    ["return helpers.getBinaryDataBuffer(0, 'a')", "inside"],
    ["return this.helpers.httpRequest({})", "outside"],
    ["const h = this.helpers; return h", "outside"],
    ["return require('crypto') && require('node:util')", "inside"],
    ["return require('http')", "outside"],
    ["return require($json.name)", "outside"],
    ["return $evaluateExpression('1')", "outside"],
    ["return unknownGlobal", "outside"],
    ["return typeof unknownGlobal", "inside"],
    ["=return 1", "outside"],
    ["return {", "outside"],
    [`return ${"[".repeat(50_000)}`, "outside"],
    [`return a${".b".repeat(2_000)}`, "outside"],
    [["return 1"], "outside"]
  ],
  "a way to send": [
    ...escapes("http://x").map(({ code }): Row => [code, "outside"]),
    ...senders.map((code): Row => [`const url = 'http://x'\n${code}`, "outside"])
  ],
  "a computation": harmless.map((code): Row => [code, "inside"])
}

const sql: ReadonlyArray<Row> = [
  ["SELECT a.id, COUNT(*) FROM input1 a LEFT JOIN input2 b ON a.id = b.id GROUP BY a.id", "inside"],
  ["WITH x AS (SELECT 1) SELECT 'a text', UPPER(name) -- FILE()\nFROM x;", "inside"],
  ["=SELECT * FROM input1", "outside"],
  ["SELECT {{ $json.a }} FROM input1", "outside"],
  ["SELECT * FROM FILE('a.json')", "outside"],
  ["SELECT * FROM CSV('x')", "outside"],
  ["SELECT * FROM 'data'", "outside"],
  ["SELECT * FROM input1 JOIN [x]", "outside"],
  ["SELECT 'a.csv' FROM input1", "outside"],
  ["SELECT 'dir/a' FROM input1", "outside"],
  ["SELECT 1; DROP TABLE input1", "outside"],
  ["INSERT INTO input1 VALUES (1)", "outside"],
  ["SELECT * INTO input2 FROM input1", "outside"],
  ["SELECT * INTO HTML('#a') FROM input1", "outside"],
  ["SELECT a->b FROM input1", "outside"],
  ["SELECT `x` FROM input1", "outside"],
  ["SELECT unknown(1) FROM input1", "outside"],
  ["", "outside"]
]

const cases = [
  ...Object.entries(forms).flatMap(([form, rows]) => rows.map((row) => [`js, ${form}`, "js", ...row] as const)),
  ...sql.map((row) => ["sql", "sql", ...row] as const),
  ...["py", "html", undefined].map((extension) => ["others", extension, "=import os", "inside"] as const)
]

describe("the reach of code", () => {
  it.effect.each(cases.map((each) => [`${each[0]}: ${String(each[2]).slice(0, 120)}`, each] as const))(
    "%s",
    ([, [, extension, code, reach]]) =>
      Effect.map(JavaScript.parser, (parse) => {
        const { outside, state } = Reach.of(extension, code, parse)
        assert.strictEqual(outside ? "outside" : state ? "state" : "inside", reach)
      })
  )
})
