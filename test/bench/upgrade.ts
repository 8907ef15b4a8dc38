/**
 * `[N8N_URL=… N8N_API_KEY=…] pnpm bench upgrade FOLDER [TYPE…]`: upgrades every outdated node of the workflows below a
 * folder. Prints, by type, how many reach the newest version without a hand, and why the others do not. With an n8n,
 * nodes that only compute run there before and after their upgrade, with their own parameters and with items that have
 * values at the paths that their expressions read; differences are printed, and exit with 2.
 */
import * as Cause from "effect/Cause"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import * as JavaScript from "../../src/base/JavaScript.ts"
import { type Obj, obj } from "../../src/base/Json.ts"
import { reachesOutside } from "../../src/catalogue/types/Outside.ts"
import * as Workflow from "../../src/n8n/model/Workflow.ts"
import { outdated } from "../../src/workflow/Outdated.ts"
import * as Upgrade from "../../src/workflow/upgrade/Upgrade.ts"
import * as NodeLookups from "../../src/workflows/NodeLookups.ts"
import { differences, itemsNode, oddItems, type Pair } from "../suites/n8n/pairs.ts"
import { catalogue } from "../support/catalogue.ts"
import { random } from "../support/random.ts"
import { main } from "./main.ts"

const place = { url: process.env["N8N_URL"] ?? "", apiKey: process.env["N8N_API_KEY"] ?? "" }

/** Values of which each path of an item gets some: ordinary ones twice. */
// dprint-ignore
const values: ReadonlyArray<unknown> = [
  "text", 3, true, "2024-02-29", "text", 3,
  undefined, null, "", 0, "0", " 7 ", "12.5", false, "false", "TRUE", -1, 1e21,
  [], ["a", "b"], [1, { x: 2 }], {}, { x: 1 }, "日本語", "a,b;c\"d'", "2024-02-29T12:00:00.000Z", 1709208000000
]

const reading = /(?:json|item|data|body|query)((?:\??\.[A-Za-z_$][\w$]*|\[(?:"[^"]+"|'[^']+')\])+)/g

const stepsIn = (path: string) =>
  [...path.matchAll(/\.([A-Za-z_$][\w$]*)|\[["']([^"']+)["']\]/g)].map(([, name, quoted]) => name ?? quoted ?? "")

/** Paths of the input that the node reads, and names of plain fields that it may mean. */
const pathsOf = (node: Obj): ReadonlyArray<ReadonlyArray<string>> => {
  const text = JSON.stringify(node["parameters"] ?? {}).replaceAll("\\\"", "\"")
  const read = [...text.matchAll(reading)].map(([, path = ""]) => stepsIn(path)).filter((steps) => steps.length < 6)
  const named = [...text.matchAll(/"(?:[a-zA-Z]*[fF]ield[a-zA-Z]*|propertyName\w*|name)":"([^"={}]{1,60})"/g)]
    .map(([, name = ""]) => name.split("."))
  return [...new Map([...read, ...named].map((steps) => [steps.join("."), steps])).values()].slice(0, 40)
}

const put = (target: Record<string, unknown>, [key = "", ...rest]: ReadonlyArray<string>, value: unknown): void => {
  if (key === "" || key === "__proto__" || value === undefined) return
  if (rest.length === 0) {
    target[key] ??= value
    return
  }
  const inner = obj(target[key]) as Record<string, unknown> | undefined
  if (inner === undefined) target[key] = {}
  put(target[key] as Record<string, unknown>, rest, value)
}

const setsOf = (node: Obj, seed: number): ReadonlyArray<ReadonlyArray<Obj>> => {
  const paths = pathsOf(node)
  const next = random(seed)
  const item = (isOrdinary: boolean) => {
    const made: Record<string, unknown> = { a: next(3), b: "x" }
    for (const path of paths) put(made, path, values[next(isOrdinary ? 6 : values.length)])
    return made
  }
  return [
    [item(true), item(true), item(true)],
    [item(false), item(false), item(false), item(false)],
    ...(oddItems.slice(next(oddItems.length)).slice(0, 1))
  ]
}

/** The node alone: what it reads from other nodes it reads from the node before it. */
const alone = (node: Obj, names: ReadonlyArray<string>): Obj => {
  let text = JSON.stringify(node)
  for (const name of names) {
    const inside = JSON.stringify(name).slice(1, -1)
    for (const quote of ["\\\"", "'", "`"]) {
      for (const start of ["$(", "$node[", "$items(", "$item(0).$node["]) {
        text = text.replaceAll(`${start}${quote}${inside}${quote}`, `${start}${quote}${itemsNode}${quote}`)
      }
    }
    text = text.replaceAll(`$node.${inside}.`, `$node[\\"${itemsNode}\\"].`)
  }
  const { credentials: _, disabled: __, ...rest } = JSON.parse(text) as Obj
  return rest
}

interface Count {
  all: number
  newest: number
  /** Those that a choice brings to the newest version. */
  chosen: number
  readonly left: Map<string, number>
  readonly places: Map<string, string>
}

/** Whether a choice, and the ways of n8n of what it leaves, brings a node to the newest version. */
const reachesNewest = (workflow: Obj, node: string, key: string, lookups: Upgrade.Lookups): boolean => {
  const first = Upgrade.upgrade(workflow, [node], lookups, { [node]: key })
  const [left] = first.left
  return left === undefined
    ? !outdated(first.workflow, lookups as never).some((each) => each.node === node)
    : left.choices.some(({ key }) => key === "asN8n")
}

const isWorkflow = (value: unknown): value is Obj => Array.isArray(obj(value)?.["nodes"])

const report = Effect.fnUntraced(function*({ folder, only }: {
  readonly folder: string
  readonly only: ReadonlyArray<string>
}) {
  const counts = new Map<string, Count>()
  const pairs: Array<Pair> = []
  const files = yield* Effect.promise(() => readdir(folder, { recursive: true }))
  const parse = yield* JavaScript.parser
  for (const [index, file] of files.filter((file) => file.endsWith(".json")).toSorted().entries()) {
    const text = yield* Effect.promise(() => readFile(join(folder, file), "utf8"))
    const workflow = yield* Effect.try((): unknown => JSON.parse(text)).pipe(Effect.orElseSucceed(() => undefined))
    if (!isWorkflow(workflow)) continue
    const types = Upgrade.types(workflow)
    const lookups = { ...(yield* NodeLookups.make(types)), newId: () => crypto.randomUUID() }
    const { left, workflow: after } = Upgrade.upgrade(workflow, undefined, lookups)
    const names = Workflow.nodes(workflow).map(Workflow.nameOf)
    for (const { node, type } of outdated(workflow, lookups)) {
      if (only.length > 0 && !only.includes(type.replace(/^.*\./, ""))) continue
      const count = counts.get(type) ?? { all: 0, newest: 0, chosen: 0, left: new Map(), places: new Map() }
      counts.set(type, count)
      count.all++
      const undecided = left.find((each) => each.node === node)
      if (undecided === undefined) count.newest++
      else {
        if (undecided.choices.some(({ key }) => reachesNewest(workflow, node, key, lookups))) count.chosen++
        const why = `${undecided.choices.map(({ key }) => key).join(" ")}: ${undecided.why} → ${undecided.decision}`
          .replaceAll(node, "X")
        count.left.set(why, (count.left.get(why) ?? 0) + 1)
        count.places.set(why, file)
      }
      const [old, made] = [workflow, after].map((each) => Workflow.nodes(each).find(({ name }) => name === node) ?? {})
      if (old === undefined || made === undefined || old === made) continue
      const nodeType = lookups.find(type)
      const isAlone = nodeType?.descriptions[0]?.group.includes("trigger") === false &&
        !reachesOutside(nodeType, old as never, parse) && type.startsWith("n8n-nodes-base.")
      if (!isAlone) continue
      const hasSecond = type.endsWith(".merge")
      pairs.push({
        id: `${file} ${node}`,
        before: alone(old, names),
        after: alone(made, names),
        sets: setsOf(old, index),
        ...(hasSecond ? { hasSecond } : {})
      })
    }
  }
  const sum = (key: "all" | "chosen" | "newest") => [...counts.values()].reduce((total, count) => total + count[key], 0)
  for (const [type, { all, left, newest, places }] of [...counts].toSorted(([, a], [, b]) => b.all - a.all)) {
    yield* Console.log(`${type.padEnd(50)} ${String(newest).padStart(5)} of ${all}`)
    for (const [why, count] of [...left].toSorted(([, a], [, b]) => b - a)) {
      yield* Console.log(`${String(count).padStart(8)}  ${why.slice(0, 200)} (${places.get(why) ?? ""})`)
    }
  }
  const share = (count: number) => `${count} (${(100 * count / sum("all")).toFixed(1)} %)`
  yield* Console.log(
    `Of ${sum("all")} outdated nodes: ${share(sum("newest"))} without a hand, ${share(sum("chosen"))} with a choice, ${
      share(sum("all") - sum("newest") - sum("chosen"))
    } left`
  )
  if (place.url === "") return
  let compared = 0
  let different = 0
  const waiting = Array.from({ length: Math.ceil(pairs.length / 30) }, (_, at) => pairs.slice(at * 30, at * 30 + 30))
  for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
    const result = yield* Effect.exit(differences(place, part))
    if (Exit.isFailure(result)) {
      // One node that n8n refuses keeps the others of its workflow from running.
      const half = Math.ceil(part.length / 2)
      if (part.length > 1) waiting.unshift(part.slice(0, half), part.slice(half))
      else yield* Console.log(`NOT RUN ${part[0]?.id ?? ""}: ${String(Cause.squash(result.cause)).slice(0, 300)}`)
      continue
    }
    compared += result.value.compared
    for (const { after, before, id, items } of result.value.differences) {
      different++
      yield* Console.log(`DIFFERENT ${id}`)
      for (const [label, value] of Object.entries({ items, before, after })) {
        yield* Console.log(`  ${label.padEnd(6)} ${JSON.stringify(value).slice(0, 600)}`)
      }
    }
  }
  yield* Console.log(`${pairs.length} nodes, ${compared} runs compared, ${different} different`)
  if (different > 0) process.exitCode = 2
}, Effect.provide(catalogue))

const folder = Argument.String("folder").pipe(Argument.withDefault("."))
const only = Argument.String("type").pipe(Argument.variadic())
main(
  Command.make("upgrade", { folder, only }, report).pipe(Command.withDescription("Upgrade all workflows of a folder"))
)
