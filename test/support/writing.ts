/** A writing path through faults: nothing lost, nothing twice, nothing claimed, and the next call does what was asked. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Hints from "../../src/answer/Hints.ts"
import * as Errors from "../../src/base/Errors.ts"
import { arr, canonical, type Obj, obj, str } from "../../src/base/Json.ts"
import { N8nClient } from "../../src/n8n/N8nClient.ts"
import type * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"
import { Snapshots } from "../../src/workflows/store/Snapshots.ts"
import * as faults from "./faults.ts"
import * as TestTime from "./TestTime.ts"
import { inWorld, type Needs } from "./world.ts"
import { base, type Cell, heldPart, type Path, paths, tagsOf, wordIn } from "./writingPaths.ts"

/** What a workflow is in before it is written. */
type State = "published" | "foreign draft"

/** A call on n8n of one version: n8n 1 has no drafts. */
export interface Case {
  readonly version: "2" | "1"
  readonly path: Path
  readonly state: State
}

/** Paths that are about drafts, versions or pinned data, which n8n 1 does not have. */
const only2 = /draft|^workflow_restore (version|snapshot)/

/** Every path in every state on every version. */
export const cases: ReadonlyArray<Case> = (["2", "1"] as const).flatMap((version) =>
  paths.filter(({ name }) => version === "2" || !only2.test(name)).flatMap((path) =>
    (path.creates === true || version === "1" ? ["published"] as const : ["published", "foreign draft"] as const)
      .map((state) => ({ version, path, state }))
  )
)

/** Settings whose values mean that they are not set. */
const unset: Readonly<Record<string, unknown>> = {
  callerPolicy: "workflowsFromSameOwner",
  availableInMCP: false,
  executionOrder: "v0",
  saveDataErrorExecution: "all",
  saveDataSuccessExecution: "all",
  saveExecutionProgress: false,
  saveManualExecutions: true,
  executionTimeout: -1
}

const isSet = (key: string, value: unknown) =>
  value !== null && value !== undefined && value !== "" && value !== "DEFAULT" && value !== unset[key]

/** JSON of each part of a workflow that has a value. */
export type Parts = Readonly<Record<string, string>>

/** Parts of a workflow, by the path that answers name them with. */
export const partsOf = (workflow: Obj): Parts => {
  const { connections, description, name, nodeGroups, nodes, pinData, settings, staticData } = workflow
  const tags = tagsOf(workflow)
  const whole = {
    nodes: { nodes, connections },
    nodeGroups: arr(nodeGroups).length === 0 ? undefined : nodeGroups,
    name,
    tags: tags.length === 0 ? undefined : tags,
    description: description === "" ? undefined : description,
    pinData: Object.keys(obj(pinData) ?? {}).length === 0 ? undefined : pinData,
    staticData
  }
  const set = Object.entries(obj(settings) ?? {}).filter(([key, value]) => isSet(key, value))
  return Object.fromEntries(
    [...Object.entries(whole), ...set.map(([key, value]) => [`settings.${key}`, value] as const)].flatMap(
      ([key, value]) => value === undefined || value === null ? [] : [[key, canonical(value)] as const]
    )
  )
}

/** The parts that two states do not share. */
export const differing = (before: Parts, after: Parts) =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((key) => before[key] !== after[key]).toSorted()

/** A workflow as n8n has it. */
interface Truth {
  readonly count: number
  readonly isActive: boolean
  readonly parts: Parts
  readonly word: string | undefined
  readonly live: string | undefined
}

const truthOf = (all: ReadonlyArray<Obj>, id: string): Truth => {
  const workflow = (id === "" ? all[0] : all.find((each) => each["id"] === id)) ?? {}
  const isActive = workflow["active"] === true
  const live = obj(workflow["activeVersion"])?.["nodes"] ?? workflow["nodes"]
  return {
    count: all.length,
    isActive,
    parts: partsOf(workflow),
    word: wordIn(workflow["nodes"]),
    live: isActive ? wordIn(live) : undefined
  }
}

const told = (exit: Exit.Exit<Obj, unknown>): { readonly error?: string; readonly data?: Obj } => {
  if (Exit.isSuccess(exit)) {
    const { error, refused, stopped } = exit.value
    const why = str(error) ?? str(stopped) ?? str(obj(arr(refused)[0])?.["why"])
    return why === undefined ? { data: exit.value } : { error: why }
  }
  const error = Option.getOrUndefined(Exit.findErrorOption(exit))
  return {
    error: Errors.isN8nError(error)
      ? `${Errors.inOneLine(error)} ${Hints.text(error.hint)}`
      : `dies: ${String(exit.cause)}`
  }
}

/** The parts of a state that no snapshot has as they were; none where one has all. */
const notInSnapshots = Effect.fnUntraced(function*(id: string, { parts }: Truth) {
  const { instance } = yield* N8nClient
  const snapshots = yield* Snapshots
  const all = yield* snapshots.list(instance, id)
  const states = yield* Effect.forEach(all, ({ version }) => snapshots.read(instance, id, version))
  const missing = states.map(({ workflow }) => differing(partsOf(obj(workflow) ?? {}), parts))
  return missing.toSorted((a, b) => a.length - b.length)[0] ?? ["everything"]
})

type InPlace = Needs | FileSystem.FileSystem

/** Where a case is played, without requests of the tools'. */
interface Place {
  /** The workflows that the case made. */
  readonly workflows: Effect.Effect<ReadonlyArray<Obj>>
  /** Somebody saves these nodes as a draft. */
  readonly edit: (id: string, nodes: ReadonlyArray<Obj>) => Effect.Effect<unknown>
  /** The files root. */
  readonly folder: string
  /** Runs an effect as another process with the same folders would. */
  readonly elsewhere: <A>(effect: Effect.Effect<A, never, InPlace>) => Effect.Effect<A, unknown, InPlace>
  /** Runs an effect to its end. */
  readonly run: <A, E>(effect: Effect.Effect<A, E, InPlace>) => Effect.Effect<A, E, InPlace>
}

/** Plays a call with faults, and then the same call without; the requests of the first, and what is wrong. */
export const playedIn = Effect.fnUntraced(function*(
  { path, state, version }: Case,
  wrong: faults.Faults,
  { edit, elsewhere, folder, run, workflows }: Place
) {
  const n8n = yield* N8nClient
  const hook = `w-${crypto.randomUUID()}`
  const name = `Orders ${hook}`
  const start = path.creates === true ? "" : (yield* n8n.createWorkflow(base(name, hook) as never)).id
  if (start !== "") yield* n8n.publishWorkflow(start)
  const truth = Effect.map(workflows, (all) => truthOf(all, start))
  const cell: Cell = { id: start, name, hook, root: folder, folder: hook, parts: path.parts }
  const origin = yield* truth
  const prepared = yield* Effect.orDie(run(path.prepare?.(cell) ?? Effect.succeed("")))
  if (state === "foreign draft") yield* edit(start, base("", hook, "theirs").nodes)
  yield* Effect.orDie(run(path.ready?.(cell) ?? Effect.void))
  const before = yield* truth
  const asked = path.ofVersion === true
    ? ["nodes"]
    : path.undoes === true && path.counts !== true
    ? differing(origin.parts, before.parts)
    : path.creates === true
    ? []
    : path.parts.filter((part) => version === "2" || part !== "pinData")
  const problems: Array<string> = []
  const check = (isRight: boolean, text: string) => void (isRight || problems.push(text))
  const isDeactivation = path.name === "deactivate_workflow"
  const leavesLive = version === "2" && path.publishes !== true && path.deletes !== true && !isDeactivation &&
    (path.drafts === true || path.promises === "always" || state === "foreign draft")

  const judge = Effect.fnUntraced(function*(call: string, from: Truth, exit: Exit.Exit<Obj, unknown>) {
    const now = yield* truth
    const { data, error } = told(exit)
    const said = `said ${error ?? "success"}`
    const differs = differing(from.parts, now.parts)
    const isUnpublished = before.isActive && !now.isActive && !isDeactivation
    const mayBe = path.deletes === true &&
      (now.count === 0 || wrong.isDeadly || /unpublished|may have been applied/.test(error ?? ""))
    check(!isUnpublished || mayBe, `${call}: left unpublished; ${said}`)
    check(
      !leavesLive || now.live === before.live,
      `${call}: published ${before.live} → ${now.live} without being told to; ${said}`
    )
    check(now.count <= 1, `${call}: ${now.count} workflows`)
    if (error !== undefined && /nothing was (written|changed|done)|earlier draft was put back/i.test(error)) {
      check(
        differs.length === 0 && from.live === now.live && from.count === now.count,
        `${call}: "${error}", and n8n differs in ${differs.join(", ") || `what runs: ${from.live} → ${now.live}`}`
      )
    }
    if (data !== undefined) {
      const all = differing(before.parts, now.parts)
      const held = new Set(arr(data["held"]).map((text) => heldPart(String(text))))
      const warnings = arr(data["warnings"]).join("\n")
      const isTold = (part: string) => held.has(part) || warnings.includes(part.split(".").at(-1) ?? part)
      const lost = asked.filter((part) => !all.includes(part) && !isTold(part))
      check(lost.length === 0, `${call}: succeeded without ${lost.join(", ")}: ${JSON.stringify(data).slice(0, 300)}`)
      const hint = str(data["hint"]) ?? ""
      const claimsLive = data["published"] === true || /equals the published version|change is live/.test(hint)
      check(
        !claimsLive || now.isActive && now.live === now.word,
        `${call}: says that it is published, and ${now.live} runs instead of ${now.word}; ${hint}`
      )
      check(data["active"] !== true || now.isActive, `${call}: says active`)
      check(now.count === (path.deletes === true ? 0 : 1), `${call}: succeeded with ${now.count} workflows`)
    }
    if (start !== "" && differing(before.parts, now.parts).length > 0) {
      const missing = yield* Effect.orDie(notInSnapshots(start, before))
      check(missing.length === 0, `${call}: no snapshot has the state before in ${missing.join(", ")}`)
    }
    return { now, error }
  })

  const past = wrong.sent.length
  wrong.begin()
  const first = yield* run(wrong.process(Effect.exit(path.call(cell, prepared))))
  wrong.end()
  const requests = wrong.sent.slice(past).map(({ method, url }) => `${method} ${url.pathname.replace("/api/v1", "")}`)
  const { error, now } = yield* judge("call", before, first)
  const outcome = { requests, problems, succeeded: error === undefined }
  if (path.creates === true && now.count > 0) {
    check(
      error === undefined || wrong.isDeadly || /list_workflows|may have|was created|created/i.test(error),
      `call: a workflow exists, and it says "${error}"`
    )
    return outcome
  }
  if (path.deletes === true && now.count === 0) return outcome
  const { resume } = path
  const isOpen = Exit.isSuccess(first) && str(first.value["stopped"]) !== undefined
  const next = Effect.exit(isOpen && resume !== undefined ? resume(first.value) : path.call(cell, prepared))
  const second = yield* Effect.orDie(run(wrong.isDeadly ? elsewhere(next) : next))
  // What publishes leads to activate_workflow if n8n has the change as a draft.
  const draft = paths.find(({ name }) =>
    path.publishes === true && state === "published" && name === "activate_workflow"
  )
  const isDraft = draft !== undefined && told(second).error?.includes("activate_workflow(id") === true
  const last = isDraft ? yield* run(Effect.exit(draft.call(cell, ""))) : second
  const again = yield* judge("again", now, last)
  // The plan of a batch that was made and applied in one call is not known to the caller.
  const mayFail = state === "foreign draft" && path.refusesDrafts === true ||
    wrong.isDeadly && path.name.startsWith("bulk_edit")
  check(mayFail || again.error === undefined, `again: ${again.error} (the call said ${error ?? "success"})`)
  return outcome
})

/** Plays a case on an n8n in memory. */
export const played = (one: Case, wrong: faults.Faults) =>
  inWorld(({ api, elsewhere, folder }) =>
    playedIn(one, wrong, {
      workflows: Effect.map(api.workflows, (all) => all.map((each): Obj => ({ ...each }))),
      edit: (id, nodes) => api.edit(id, (workflow) => ({ ...workflow, nodes }) as N8nApi.Workflow),
      folder,
      elsewhere,
      run: TestTime.run
    }), { through: wrong.through, version: one.version })

/** Faults of so many requests in a row. */
type Lines = ReadonlyArray<readonly [kind: faults.Kind, length: number]>

const single: Lines = [
  ["limits requests", 1],
  ["limits requests", Infinity],
  ["fails", 1],
  ["resets after the request arrived", 1],
  ["refuses the connection", Infinity],
  ["is asked by a process that ends before", 1],
  ["is asked by a process that ends after", 1]
]

const ofReads = new Set(["limits requests 1", "refuses the connection Infinity"])

/** Plays a case once for each of its requests and each fault of it; what is wrong. */
export const atEachRequest = <E, R>(
  one: Case,
  play: (one: Case, wrong: faults.Faults) => Effect.Effect<Effect.Success<ReturnType<typeof played>>, E, R>,
  kinds = single
) =>
  Effect.gen(function*() {
    const none = { kind: "fails", from: 0, length: 0 } as const
    const { problems, requests } = yield* play(one, faults.make(0, { only: none }))
    const wrong = problems.map((problem) => `without a fault: ${problem}`)
    for (const [from, request] of requests.entries()) {
      const isRead = /^(GET|OPTIONS)/.test(request)
      for (const [kind, length] of kinds) {
        // A read is retried after any fault. Processes that share a folder are killed in the tests of sync.
        if (isRead && (one.state !== "published" || !ofReads.has(`${kind} ${length}`))) continue
        if (one.path.name.startsWith("sync_") && faults.isDeath(kind)) continue
        const { problems } = yield* play(one, faults.make(from, { only: { kind, from, length } }))
        wrong.push(...problems.map((problem) => `request ${from + 1} (${request}) ${kind} × ${length}: ${problem}`))
      }
    }
    return wrong
  })
