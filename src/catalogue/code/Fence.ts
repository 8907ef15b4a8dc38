/**
 * A fence around the code of nodes in a copy that must send nothing, which does not depend on what that code says:
 * before it begins, everything is taken from its globals that is not on a list, and what remains of n8n's helpers and
 * of modules only computes. Pure.
 */
import type { Parse } from "../../base/JavaScript.ts"
import { obj } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import * as Syntax from "../../base/Syntax.ts"
import * as TestMark from "../../n8n/model/TestMark.ts"
import type { Node } from "../../n8n/model/Workflow.ts"
import places from "./fence.json" with { type: "json" }
import lists from "./javascript.json" with { type: "json" }

const list = (...texts: ReadonlyArray<string>) => `${JSON.stringify(texts.join(" "))}.split(" ")`

/** Message of the error with which code ends where n8n gives it more than a fence can take away. */
export const unfenced = "This n8n runs code outside of its sandbox, where a copy cannot keep it from sending"

const mark = `Symbol.for("effect-n8n-mcp fence")`

/**
 * Call that takes away what reaches outside. n8n runs code in three ways: in a context of a task runner, whose global
 * object has n8n's helpers and functions of Node's own realm; in vm2, where `require` and `module` are parameters; and,
 * in the insecure mode of a runner, in Node's own realm, where nothing can be taken away. Code that runs for each item
 * meets the same global object again in a runner, with n8n's variables for the next item.
 */
const take = `(() => {
  const root = globalThis;
  const mark = ${mark};
  const stop = () => { throw new Error(${JSON.stringify(unfenced)}) };
  const isFenced = root[mark] === true;
  if (!isFenced) {
    if (root.process?.stdout || root.fetch) stop();
    const Maker = (root.setTimeout ?? root.items?.constructor)?.constructor ?? Function;
    let made;
    try { if (Maker !== Function) made = Maker("return 1") } catch {}
    if (typeof made === "function") stop();
  }
  const names = ["helpers", "console"];
  const starts = ["setTimeout", "setInterval", "setImmediate"];
  const clears = ["clearTimeout", "clearInterval", "clearImmediate"];
  const owned = [...names, ...starts, ...clears, "require"];
  const own = new Map(isFenced ? [] : owned.map((name) => [name, root[name]]));
  const load = typeof require === "function" ? require : undefined;
  const allowed = new Set(${list(...lists.values, ...lists.namespaces, ...lists.intrinsics)});
  for (const name of Reflect.ownKeys(root)) {
    if (name === mark || allowed.has(name) && !own.has(name) || isFenced && owned.includes(name)) continue;
    try { delete root[name] } catch {}
    if (root[name] !== undefined) root[name] = undefined;
    if (root[name] !== undefined) stop();
  }
  if (isFenced) return;
  const pick = (object, names) => {
    const methods = {};
    for (const name of names) {
      const method = object[name];
      if (typeof method === "function") methods[name] = (...args) => method(...args);
    }
    return methods;
  };
  if (own.get("helpers")) root.helpers = pick(own.get("helpers"), ${list(...lists.helpers)});
  if (own.get("console")) root.console = pick(own.get("console"), ${list(...lists.console)});
  class Timer {
    #real;
    static start(set, callback, rest) {
      const timer = new Timer();
      const call = typeof callback === "function" ? (...args) => callback.apply(timer, args) : callback;
      timer.#real = set(call, ...rest);
      return timer;
    }
    static clear(clear, timer) { clear(#real in Object(timer) ? timer.#real : timer) }
    ref() { this.#real.ref?.(); return this }
    unref() { this.#real.unref?.(); return this }
    hasRef() { return this.#real.hasRef?.() }
    refresh() { this.#real.refresh?.(); return this }
    [Symbol.toPrimitive]() { return Number(this.#real) }
  }
  const { clear, start } = Timer;
  delete Timer.prototype.constructor;
  for (const name of starts) {
    const set = own.get(name);
    if (set) root[name] = (callback, ...rest) => start(set, callback, rest);
  }
  for (const name of clears) {
    const stopTimer = own.get(name);
    if (stopTimer) root[name] = (timer) => clear(stopTimer, timer);
  }
  if (load) {
    const modules = new Set(${list(...lists.modules)});
    require = (name) => {
      const text = String(name);
      if (modules.has(text.replace(/^node:/, ""))) return load(text);
      throw new Error("Cannot find module '" + text + "'");
    };
  }
  if (typeof module === "object") module = { exports: {} };
  if (typeof exports === "object") exports = {};
  Reflect.defineProperty(root, mark, { value: true });
})()`.replace(/\s*\n\s*/g, " ")

/** Head and end of the code's surroundings, on its first and last line, so that lines keep their numbers. */
const surroundings = {
  /** Body of an async function, in which n8n's own has this name too. */
  body: {
    before: `${take}; return await (async function VmCodeWrapper() {${TestMark.codeStart}`,
    after: `\n${TestMark.codeEnd}})()`
  },
  /** Body of an arrow function that compares `a` with `b`; n8n adds no end of line to it. */
  comparator: {
    before: `if (!globalThis[${mark}]) ${take}; return ((a, b) => {${TestMark.codeStart}`,
    after: `${TestMark.codeEnd}})(a, b)`
  }
}

/** Functions as which n8n runs code. */
const functions = {
  body: { before: "(async function() {", after: "\n})" },
  comparator: { before: "((a, b) => {", after: "})" }
}

type Form = keyof typeof surroundings

/** Whether the code is the whole body of the function as which n8n runs it: it neither ends it early nor breaks it. */
const isBody = (code: string, form: Form, parse: Parse): boolean => {
  const { after, before } = functions[form]
  const whole = Syntax.expressionOf(parse(`${before}${code}${after}`, "expression")?.program)
  return Syntax.isFunction(whole) && whole.end === before.length + code.length + after.length - 1
}

const pathsOf = (type: string, form: Form): ReadonlyArray<string> =>
  (places[form] as Readonly<Record<string, ReadonlyArray<string>>>)[type] ?? []

/** Whether code at this path of a node's parameters can be fenced. */
export const isFenceable = (type: string, path: string): boolean =>
  pathsOf(type, "body").includes(path) || pathsOf(type, "comparator").includes(path)

/** Node with its JavaScript in the fence; `undefined` if it has code that cannot be fenced. */
export const fence = (node: Node, parse: Parse): Node | undefined => {
  const own = obj(node.parameters) ?? {}
  let parameters = own
  for (const form of ["body", "comparator"] as const) {
    const { after, before } = surroundings[form]
    for (const path of pathsOf(node.type, form)) {
      const steps = JsonPath.parse(path) ?? []
      const code = JsonPath.get(parameters, steps)
      if (code === undefined || code === "") continue
      if (typeof code !== "string" || !isBody(code, form, parse)) return undefined
      parameters = obj(JsonPath.modify(parameters, steps, () => `${before}${code}${after}`)) ?? {}
    }
  }
  return parameters === own ? node : { ...node, parameters }
}
