/** Sequences of writes by a seed, compared after each with a model of what must exist; with faults on the way or none. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import { arr, type Obj, obj, str } from "../../src/base/Json.ts"
import type * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"
import * as tools from "../../src/tools/index.ts"
import { timed } from "../support/clock.ts"
import * as faults from "../support/faults.ts"
import { random as seeded } from "../support/random.ts"
import { node } from "../support/workflows.ts"
import { inWorld, type Needs } from "../support/world.ts"
import { filesIn, snapshotsIn } from "./files.ts"

/** Name, type, and what is set: nodes stand one after another. */
type Chain = ReadonlyArray<readonly [name: string, type: string, value: unknown]>

/** A workflow as it must be. */
interface Held {
  readonly name: string
  readonly chain: Chain
  readonly tags: ReadonlyArray<string>
  readonly published: Chain | null
  /** Whether something else is published than is there. */
  readonly isDraft: boolean
}

interface Model {
  readonly workflows: ReadonlyMap<string, Held>
  readonly files: ReadonlyMap<string, { readonly name: string; readonly chain: Chain }>
  /** Created by the step, whose id n8n chooses. */
  readonly created?: Held
}

interface Step {
  readonly name: string
  readonly run: Effect.Effect<unknown, unknown, Needs | FileSystem.FileSystem>
  readonly next: Model
}

const webhook = (path: string): Chain[number] => ["Hook", "n8n-nodes-base.webhook", path]
const code = (name: string, js: string): Chain[number] => [name, "n8n-nodes-base.code", js]

const nodesOf = (chain: Chain) =>
  chain.map(([name, type, value], at) =>
    node(name, type, 2, type.endsWith("webhook") ? { path: value, httpMethod: "POST" } : { jsCode: value }, {
      id: `id-${name}`,
      position: [200 * at, 0]
    })
  )

const linksOf = (chain: Chain) =>
  Object.fromEntries(
    chain.slice(1).map(([node], at) => [chain[at]?.[0], { main: [[{ node, type: "main", index: 0 }]] }])
  )

const contentOf = (chain: Chain) => ({ nodes: nodesOf(chain), connections: linksOf(chain) })

/** The chain of a workflow's nodes, whose links must be those of a chain. */
const chainOf = (workflow: unknown): Chain => {
  const nodes = arr(obj(workflow)?.["nodes"]).map((node) => obj(node) ?? {})
  const chain = nodes.map(({ name, parameters, type }) =>
    [String(name), String(type), obj(parameters)?.["path"] ?? obj(parameters)?.["jsCode"]] as const
  )
  const links = (from: unknown) =>
    Object.entries(obj(from) ?? {}).flatMap(([source, ports]) =>
      arr(arr(obj(ports)?.["main"])[0]).map((link) => `${source}>${str(obj(link)?.["node"])}`)
    ).toSorted()
  assert.deepStrictEqual(links(obj(workflow)?.["connections"]), links(linksOf(chain)), JSON.stringify(workflow))
  return chain
}

const held = (workflow: N8nApi.Workflow): Held => ({
  name: workflow.name,
  chain: chainOf(workflow),
  tags: (workflow.tags ?? []).map(({ name }) => name).toSorted(),
  published: workflow.activeVersion ? chainOf(workflow.activeVersion) : null,
  isDraft: workflow.active === true && workflow["versionId"] !== workflow["activeVersionId"]
})

const isEqual = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

const withWorkflow = (model: Model, id: string, workflow: Held | undefined): Model => {
  const workflows = new Map(model.workflows)
  if (workflow === undefined) workflows.delete(id)
  else workflows.set(id, workflow)
  return { ...model, workflows }
}

const withFile = (model: Model, path: string, file: { readonly name: string; readonly chain: Chain }): Model => ({
  ...model,
  files: new Map([...model.files, [path, file]])
})

/** The workflow after a change of its content: some tools publish it again, others leave a draft. */
const changed = (before: Held, change: Partial<Held>, publishes: boolean, version: "1" | "2"): Held => {
  const after = { ...before, ...change, tags: [...change.tags ?? before.tags].toSorted() }
  if (before.published === null || isEqual(before.chain, after.chain)) return after
  const isDraft = version === "2" && (!publishes || before.isDraft)
  return { ...after, isDraft, published: isDraft ? before.published : after.chain }
}

/** A snapshot as the model knows it. */
interface Kept {
  readonly id: string
  readonly version: string
  readonly state: Held
}

const stepsFrom = (
  model: Model,
  kept: ReadonlyArray<Kept>,
  version: "1" | "2",
  random: (below: number) => number,
  at: number
): ReadonlyArray<Step> => {
  const pick = <A>(list: ReadonlyArray<A>): A | undefined => list[random(list.length)]
  const fresh = `${at}`
  const [id, workflow] = pick([...model.workflows]) ?? []
  const [path, file] = pick([...model.files]) ?? []
  const snapshot = pick(kept)
  /** n8n takes each path once. */
  const isFree = (chain: Chain, owner: string | undefined) =>
    [...model.workflows].every(([other, { published }]) =>
      other === owner || published === null || published[0]?.[2] !== chain[0]?.[2]
    )
  const found: Array<Step> = []
  const add = (name: string, run: Step["run"], next: Model) => found.push({ name: `${at} ${name}`, run, next })

  const chain = [webhook(`path-${fresh}`), code("A", `a ${fresh}`)]
  const active = random(2) === 0
  const tags = [[], ["one"], ["one", "two"]][random(3)] ?? []
  add(
    "create",
    tools.createWorkflow.run({ name: `W ${fresh}`, ...contentOf(chain), active, tags }),
    { ...model, created: { name: `W ${fresh}`, chain, tags, published: active ? chain : null, isDraft: false } }
  )
  add(
    "draft",
    tools.workflowCreate.run({ name: `F ${fresh}`, filePath: `f${fresh}.json` }),
    withFile(model, `f${fresh}.json`, { name: `F ${fresh}`, chain: [] })
  )
  if (id !== undefined && workflow !== undefined) {
    const write = (name: string, run: Step["run"], change: Partial<Held>, publishes: boolean) =>
      add(name, run, withWorkflow(model, id, changed(workflow, change, publishes, version)))
    const edit = (name: string, operations: ReadonlyArray<Obj>, chain: Chain) =>
      write(`edit ${name}`, tools.workflowEdit.run({ workflowId: id, operations }), { chain }, false)
    const [hook, ...rest] = workflow.chain
    assert.isDefined(hook)
    const last = rest.at(-1)
    const longer = [...workflow.chain, code(`N ${fresh}`, "n")]
    write("update", tools.updateWorkflow.run({ id, ...contentOf(longer) }), { chain: longer }, true)
    write("rename", tools.updateWorkflow.run({ id, name: `R ${fresh}` }), { name: `R ${fresh}` }, true)
    write("tags", tools.updateWorkflow.run({ id, tags }), { tags }, true)
    edit(
      "add",
      [{
        op: "add",
        type: "n8n-nodes-base.code",
        name: `E ${fresh}`,
        after: last?.[0] ?? hook[0],
        parameters: { jsCode: "e" }
      }],
      [...workflow.chain, code(`E ${fresh}`, "e")]
    )
    if (last !== undefined) {
      edit("remove", [{ op: "remove", node: last[0] }], workflow.chain.slice(0, -1))
      edit("rename", [{ op: "rename", node: last[0], to: `X ${fresh}` }], [
        ...workflow.chain.slice(0, -1),
        [`X ${fresh}`, last[1], last[2]]
      ])
      edit("set", [{ op: "set", node: last[0], path: "jsCode", value: `s ${fresh}` }], [
        ...workflow.chain.slice(0, -1),
        [last[0], last[1], `s ${fresh}`]
      ])
    }
    add("delete", tools.deleteWorkflow.run({ id, confirm: true }), withWorkflow(model, id, undefined))
    if (isFree(workflow.chain, id)) {
      add(
        "publish",
        tools.activateWorkflow.run({ id }),
        withWorkflow(model, id, { ...workflow, published: workflow.chain, isDraft: false })
      )
    }
    add(
      "unpublish",
      tools.deactivateWorkflow.run({ id }),
      withWorkflow(model, id, { ...workflow, published: null, isDraft: false })
    )
    const target = random(2) === 0 ? path ?? `s${fresh}.json` : `s${fresh}.json`
    add(
      "save",
      tools.workflowSave.run({ workflowId: id, filePath: target }),
      withFile(model, target, { name: workflow.name, chain: workflow.chain })
    )
    if (path !== undefined && file !== undefined && file.chain.length > 0 && isFree(file.chain, id)) {
      // While a draft waits, what has no draft is held back.
      const change = version === "2" && workflow.isDraft ? { chain: file.chain } : file
      write("replace", tools.replaceWorkflowFromFile.run({ id, filePath: path, confirm: true }), change, true)
    }
  }
  if (path !== undefined && file !== undefined && file.chain.length > 0) {
    const created = { ...file, tags: [], published: null, isDraft: false }
    add("from file", tools.createWorkflowFromFile.run({ filePath: path }), { ...model, created })
    const changedFile = [...file.chain, code(`L ${fresh}`, "l")]
    add(
      "edit file",
      tools.workflowEdit.run({
        workflowId: path,
        operations: [{
          op: "add",
          type: "n8n-nodes-base.code",
          name: `L ${fresh}`,
          after: file.chain.at(-1)?.[0],
          parameters: { jsCode: "l" }
        }]
      }),
      withFile(model, path, { ...file, chain: changedFile })
    )
  }
  if (snapshot !== undefined) {
    const { chain, name, tags } = snapshot.state
    const current = model.workflows.get(snapshot.id)
    const run = tools.workflowRestore.run({ id: snapshot.id, version: snapshot.version, confirm: true })
    if (current === undefined) {
      add("recreate", run, { ...model, created: { chain, name, tags, published: null, isDraft: false } })
    } else if (version === "2" || isFree(chain, snapshot.id)) {
      // What has no draft is held back from a published workflow.
      const isHeld = version === "2" && current.published !== null
      const next = isHeld ? { chain, name: current.name, tags: current.tags } : { chain, name, tags }
      add("restore", run, withWorkflow(model, snapshot.id, changed(current, next, false, version)))
    }
  }
  return found
}

/** Where a sequence is played, without requests of the tools'. */
interface Place {
  readonly version: "1" | "2"
  /** The workflows that the sequence made. */
  readonly workflows: Effect.Effect<ReadonlyArray<N8nApi.Workflow>>
  /** The files root. */
  readonly folder: string
  /** Where snapshots are. */
  readonly state: string
  readonly timed: typeof timed
}

/** The faults of the moment: one set for each step. */
interface Moment {
  current: faults.Faults | undefined
  readonly next: (seed: number) => faults.Faults | undefined
}

/** Plays so many steps of a seed and checks after each; returns what happened, line by line. */
export const playIn = (
  seed: number,
  steps: number,
  { folder, state, timed, version, workflows }: Place,
  moment: Moment
) => {
  const random = seeded(seed)
  let wrong: faults.Faults | undefined
  const told: Array<string> = []

  return Effect.gen(function*() {
    let model: Model = { workflows: new Map(), files: new Map() }
    const kept = new Map<string, Kept>()
    let failed = 0
    for (let at = 0; at < steps; at++) {
      const possible = stepsFrom(model, [...kept.values()], version, random, at)
      const step = possible[random(possible.length)]
      assert.isDefined(step)
      moment.current = wrong = random(2) === 0 ? moment.next(seed * 1_000 + at) : undefined
      wrong?.begin()
      const { exit, seconds } = yield* timed(step.run)
      const story = () =>
        `seed ${seed} on ${version}.x\n${told.join("\n")}\n${step.name}: ${wrong?.happened.join("; ") ?? ""} -> ${
          JSON.stringify(exit).slice(0, 800)
        }`
      wrong?.end()
      told.push(`${step.name}: ${wrong?.happened.join("; ") ?? ""} -> ${exit._tag}`)
      assert.isBelow(seconds, 50.5, story())
      const isDisturbed = (wrong?.happened.length ?? 0) > 0
      if (exit._tag === "Failure") {
        assert.isTrue(isDisturbed && exit.cause.reasons.every(({ _tag }) => _tag === "Fail"), story())
        failed++
      }

      // Of n8n
      const is = new Map((yield* workflows).map((each) => [each.id, held(each)]))
      const news = [...is].filter(([id]) => !model.workflows.has(id))
      const { created } = step.next
      assert.isAtMost(news.length, created === undefined ? 0 : 1, story())
      if (exit._tag === "Success") assert.lengthOf(news, created === undefined ? 0 : 1, story())
      const warnings = exit._tag === "Success" ? arr(obj(obj(exit.value)?.["data"])?.["warnings"]) : []
      const isWhole = exit._tag === "Success" && (warnings.length === 0 || !isDisturbed)
      for (const id of new Set([...model.workflows.keys(), ...is.keys()])) {
        const was = model.workflows.get(id)
        const should = news.some(([each]) => each === id) ? created : step.next.workflows.get(id)
        const now = is.get(id)
        if (isWhole) {
          assert.deepStrictEqual(now, should, `${id}\n${story()}`)
          continue
        }
        if (now === undefined) {
          assert.isUndefined(should, story())
          continue
        }
        for (const part of ["name", "chain", "tags", "published"] as const) {
          const allowed = was === undefined
            ? part === "tags"
              ? [[], should?.tags]
              : part === "published"
              ? [null, should?.published]
              : [should?.[part]]
            : [was[part], should?.[part], ...part === "published" && should === undefined ? [null] : []]
          const isWritten = exit._tag === "Success" && (part === "name" || part === "chain")
          assert.isTrue(
            (isWritten ? [should?.[part]] : allowed).some((each) => isEqual(each, now[part])),
            `${id} ${part} is ${JSON.stringify(now[part])}, not one of ${JSON.stringify(allowed)}\n${story()}`
          )
        }
      }

      // Of the files
      const files = yield* filesIn(folder)
      const next = exit._tag === "Success" ? step.next.files : model.files
      assert.deepStrictEqual([...files.keys()].toSorted(), [...next.keys()].toSorted(), story())
      for (const [path, text] of files) {
        const value = obj(JSON.parse(text))
        assert.deepStrictEqual({ name: value?.["name"], chain: chainOf(value) }, { ...next.get(path) }, story())
      }

      // Of what is kept: the state before this step, whole
      for (const { snapshot, workflow } of yield* snapshotsIn(state)) {
        const name = str(snapshot["version"])
        const id = str(workflow["id"])
        if (name === undefined || id === undefined || kept.has(name)) continue
        const before = model.workflows.get(id)
        // A file's, which workflow_edit keeps too.
        if (before === undefined) continue
        assert.deepStrictEqual(chainOf(workflow), before.chain, story())
        kept.set(name, { id, version: name, state: before })
      }
      for (const [id, was] of model.workflows) {
        if (isEqual(was.chain, is.get(id)?.chain)) continue
        assert.isTrue(
          [...kept.values()].some((each) => each.id === id && isEqual(each.state.chain, was.chain)),
          story()
        )
      }
      model = { workflows: is, files: next }
    }
    return { failed, told }
  })
}

/** Plays on the simulated n8n. */
export const play = (seed: number, options: { readonly steps: number; readonly withFaults: boolean }) => {
  const version = seed % 4 === 0 ? "1" : "2"
  const moment: Moment = { current: undefined, next: (seed) => options.withFaults ? faults.make(seed) : undefined }
  return inWorld(
    ({ api, folder, state }) =>
      playIn(seed, options.steps, { version, workflows: api.workflows, folder, state, timed }, moment),
    { version, through: (client) => faults.switched(client, () => moment.current) }
  )
}
