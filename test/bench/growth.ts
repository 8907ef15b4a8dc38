/**
 * `pnpm bench growth`: what must take time in proportion to its input. Each case runs with an input and with twice of it;
 * the exit code is 1 if that takes three times as long or more. CPU milliseconds, the least of five.
 */
import * as Command from "effect/cli/Command"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { redact, redactText } from "../../src/base/Redact.ts"
import { problems } from "../../src/workflow/check/WorkflowProblems.ts"
import { costly } from "../base/costly.ts"
import { joined } from "../support/workflows.ts"
import { base, edit, flow, hook, lookups, set } from "../workflow/edit/edits.ts"
import { main } from "./main.ts"
import { cpuMillis } from "./results.ts"

const chain = (count: number) => {
  const names = Array.from({ length: count }, (_, index) => `N${index}`)
  return flow(
    names.map((name, index) =>
      set(name, { parameters: { value: `={{ $('N${Math.max(index - 1, 0)}').item.json.x }}` } })
    ),
    joined(...names.slice(1).map((name, index) => [`N${index}`, name] as const))
  )
}

const fan = (count: number) => {
  const names = Array.from({ length: count }, (_, index) => `N${index}`)
  return flow([hook, ...names.map((name) => set(name))], joined(...names.map((name) => ["Hook", name] as const)))
}

const items = (count: number) =>
  Array.from({ length: count }, (_, id) => ({
    json: { id, email: `user${id}@example.com`, body: "lorem ipsum dolor sit amet ".repeat(4), token: `t${id}` }
  }))

/** By name: prepares an input of this size, and returns what is measured. */
const cases: { readonly [name: string]: readonly [size: number, prepare: (size: number) => () => unknown] } = {
  "edit nodes": [1_000, (size) => {
    const workflow = chain(size)
    return () =>
      edit(
        workflow,
        { op: "rename", node: "N7", to: "Seven" },
        { op: "add", type: `${base}set`, after: "Seven" },
        { op: "remove", node: "N9" }
      )
  }],
  "problems of nodes": [2_500, (size) => {
    const workflow = fan(size)
    return () => problems(workflow, lookups())
  }],
  "redact items": [50_000, (size) => {
    const all = items(size)
    return () => redact(all)
  }],
  ...Object.fromEntries(
    costly.map((piece) => [
      `redact ${JSON.stringify(piece)}`,
      [2_000_000, (size: number) => {
        const text = piece.repeat(size / piece.length)
        return () => redactText(text)
      }] as const
    ])
  )
}

const milliseconds = (work: () => unknown) =>
  Math.min(...Array.from({ length: 5 }, () => {
    const before = process.cpuUsage()
    work()
    return cpuMillis(before)
  }))

const report = Effect.forEach(Object.entries(cases), ([name, [size, prepare]]) =>
  Effect.gen(function*() {
    const [once, twice] = [milliseconds(prepare(size)), milliseconds(prepare(2 * size))]
    // Below some milliseconds the ratio says nothing.
    const isMet = twice < 3 * once || twice < 20
    if (!isMet) process.exitCode = 1
    const times = `${once.toFixed(0).padStart(6)} ms ${twice.toFixed(0).padStart(6)} ms`
    yield* Console.log(`${name.padEnd(44)}${times}  ${isMet ? "" : "grows too fast"}`)
  }), { discard: true })

main(Command.make("growth", {}, () => report).pipe(Command.withDescription("Measure what must grow in proportion")))
