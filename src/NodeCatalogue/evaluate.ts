/** Evaluates the expressions in n8n's own packages that make a node's ports. */
import * as vm from "node:vm"
import type { Evaluate } from "../domain/nodes/Ports.ts"

const timeout = 100

const scripts = new Map<string, vm.Script>()

const scriptOf = (expression: string) => {
  const known = scripts.get(expression)
  if (known !== undefined) return known
  const code = expression.replace(/^=\s*\{\{/, "").replace(/\}\}\s*$/, "")
  const script = new vm.Script(`"use strict";
const { parameters: $parameter, version: $nodeVersion } = JSON.parse(scope);
JSON.stringify((${code}))`)
  scripts.set(expression, script)
  return script
}

/**
 * Runs the expression in a context of its own, without anything of Node's in it, for 100 ms at most.
 *
 * **Details**
 *
 * What goes in and comes out is copied as JSON.
 */
export const evaluate: Evaluate = (expression, scope) => {
  try {
    const context = vm.createContext(Object.assign(Object.create(null), { scope: JSON.stringify(scope) }), {
      codeGeneration: { strings: false, wasm: false }
    })
    const result: unknown = scriptOf(expression).runInContext(context, { timeout })
    return typeof result === "string" ? JSON.parse(result) : undefined
  } catch {
    return undefined
  }
}
