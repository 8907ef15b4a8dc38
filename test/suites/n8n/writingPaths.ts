/**
 * Every writing path in every state of a workflow: what the tool says of a write, compared with what n8n has and what its
 * production webhook answers, before and after.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Services from "../../../src/app/Services.ts"
import * as Errors from "../../../src/base/Errors.ts"
import { arr, type Obj, obj, str } from "../../../src/base/Json.ts"
import type { N8nClient } from "../../../src/n8n/N8nClient.ts"
import * as WorkflowFiles from "../../../src/workflows/files/WorkflowFiles.ts"
import { folderWith } from "../../support/folders.ts"
import { differing, type Parts, partsOf } from "../../support/writing.ts"
import {
  base,
  type Cell,
  changesOf,
  heldPart,
  type Part,
  type Path,
  paths,
  tag,
  wordIn
} from "../../support/writingPaths.ts"
import type { RealN8n } from "./RealN8n.ts"
import * as scenarios from "./scenarios.ts"

type It = Vitest.MethodsNonLive<RealN8n | N8nClient | Services.Services>

const states = ["published", "foreign draft", "unpublished", "archived", "grouped since"] as const
type State = typeof states[number]

/** Answer of the production webhook; `-` where n8n knows none. */
interface Answer {
  readonly word: string
  readonly zone: string
  readonly name: string
}

/** A workflow as n8n has it and runs it. */
interface Truth {
  readonly isActive: boolean
  readonly parts: Parts
  readonly word: string | undefined
  readonly runs: Answer
}

const none: Answer = { word: "-", zone: "-", name: "-" }

const answered = Effect.fnUntraced(function*(hook: string) {
  const { body, status } = yield* scenarios.postWebhook(hook)
  const { name, word, zone } = obj(body) ?? {}
  return status === 404 ? none : { word: String(word), zone: String(zone), name: String(name) }
})

const settling = Schedule.spaced("100 millis")

/** Reads a workflow, and calls its webhook until it answers by the version that n8n calls published. */
const truthOf = Effect.fnUntraced(function*({ hook, id }: Cell, home: string) {
  const workflow = obj(yield* scenarios.fetchJson(`workflows/${id}`)) ?? {}
  const isActive = workflow["active"] === true
  const live = obj(workflow["activeVersion"])?.["nodes"] ?? workflow["nodes"]
  const parts = partsOf(workflow)
  const zone: unknown = parts["settings.timezone"] === undefined ? home : JSON.parse(parts["settings.timezone"])
  const runs = yield* scenarios.live(Effect.repeat(answered(hook), {
    until: (answer) => isActive ? answer.word === wordIn(live) && answer.zone === zone : answer.word === "-",
    schedule: settling,
    times: 50
  }))
  const isSettled = isActive ? runs.word === wordIn(live) && runs.zone === zone : runs.word === "-"
  return { isActive, parts, word: wordIn(workflow["nodes"]), runs, isSettled }
})

/** What a write says of itself. */
interface Said {
  /** Parts that it says it changed. */
  readonly named?: ReadonlyArray<string>
  readonly published?: boolean
  readonly inForce: ReadonlyArray<string>
  readonly held: ReadonlyArray<string>
  readonly error?: string
  /** Whether it says that a draft was reset to what runs, which is no publication. */
  readonly isReset: boolean
}

const outside = /^(settings\.\w+|settings|name|description|tags|pinData|staticData)$/

/** Parts that a line of changes names. */
const namedIn = (line: string): ReadonlyArray<string> => {
  const bare = line.split("; ")[0] ?? ""
  const parts = bare.replaceAll(/\([^)]*\)/g, "").replaceAll(/'[^']*'/g, "''").split(", ").map((part) => part.trim())
  return parts.flatMap((part) => part === "nothing" || part === "" ? [] : outside.test(part) ? [part] : ["nodes"])
}

/** Part that a line of workflow_edit names, or a group of a plan. */
const namedBy = (line: string): string =>
  line.startsWith("settings.timezone")
    ? "settings.timezone"
    : line.startsWith("renamed the workflow")
    ? "name"
    : "nodes"

/** What an answer says; a batch says it of its only workflow. */
const saidBy = (data: Obj): Said => {
  const { changed, changes, detail, drafts, error, held, hint, inForce, published, refused, stopped } = data
  const lines = arr(changes).map((each) => str(each) ?? str(obj(each)?.["change"]) ?? "")
  const text = str(changed) ?? (Array.isArray(changes) ? lines.join(", ") || "nothing" : undefined)
  const named = typeof changed === "string" ? namedIn(changed) : lines.map(namedBy)
  const isLive = typeof published === "boolean" ? published : published === 1 ? true : drafts === 1 ? false : undefined
  const why = str(error) ?? str(stopped) ?? str(obj(arr(refused)[0])?.["why"]) ?? str(detail)
  return {
    ...(text === undefined ? {} : { named: [...new Set(named)] }),
    ...(isLive === undefined ? {} : { published: isLive }),
    ...(why === undefined ? {} : { error: why }),
    inForce: arr(inForce).map(String),
    held: arr(held).map(String),
    isReset: /equals the published version again/.test(str(hint) ?? "")
  }
}

const isMissingFrom = (list: ReadonlyArray<string>) => (part: string) => !list.includes(part)

interface Case {
  readonly path: Path
  readonly state: State
  readonly parts: ReadonlyArray<Part>
  readonly drafts: boolean
}

/** Parts that a call asks for: an undo asks for all that differs from what was. */
const asksFor = ({ parts, path }: Case, origin: Truth, before: Truth): ReadonlyArray<string> =>
  path.ofVersion === true
    ? ["nodes"]
    : path.undoes === true && path.counts !== true
    ? differing(origin.parts, before.parts)
    : parts

/** Violations of what a write promises. */
const violations = (
  it: Case,
  origin: Truth,
  before: Truth,
  said: Said,
  after: Truth & { readonly isSettled: boolean }
) => {
  const { drafts, path, state } = it
  const differs = differing(before.parts, after.parts)
  const outsideOfVersions = differs.filter((part) => part !== "nodes" && part !== "nodeGroups")
  const problems: Array<string> = []
  const check = (isRight: boolean, text: string) => void (isRight || problems.push(text))
  const isDeactivation = path.name === "deactivate_workflow"
  const movesLive = before.runs.word !== after.runs.word

  check(after.isSettled, `the webhook never answered as the version that n8n calls published: ${after.runs.word}`)
  check(!before.isActive || after.isActive || isDeactivation, "a published workflow was unpublished")
  check(before.isActive || !after.isActive || path.publishes === true, "an unpublished workflow was published")
  if (said.error !== undefined) {
    check(differs.length === 0, `an error, and these differ: ${differs.join(", ")}`)
    check(!movesLive, `an error, and what runs is another: ${before.runs.word} → ${after.runs.word}`)
  }
  if (state === "archived") {
    const isRight = isDeactivation && said.error === undefined || /archived/i.test(said.error ?? "")
    check(isRight, `does not say that it is archived: ${said.error}`)
    check(differs.length === 0, `it is archived, and these differ: ${differs.join(", ")}`)
    return problems
  }
  if (said.error !== undefined) {
    const mayRefuse = state === "foreign draft" && path.refusesDrafts === true || state === "grouped since"
    check(mayRefuse, `refused: ${said.error}`)
    return problems
  }

  // a. What it says is what differs.
  const { named } = said
  if (path.creates !== true && path.counts !== true) {
    check(
      named !== undefined || differs.length === 0 || path.name === "node_add",
      `changed is missing, and these differ: ${differs.join(", ")}`
    )
    if (named !== undefined) {
      // Of a publication it says what changed for the version that ran: a draft that is reset to it is no change.
      const isDraftReset = said.published === true && !movesLive
      const unnamed = differs.filter(isMissingFrom(named)).filter((part) => part !== "nodes" || !isDraftReset)
      const extra = named.filter(isMissingFrom(differs)).filter((part) => part !== "nodes" || !movesLive)
      check(unnamed.length === 0, `changed does not name ${unnamed.join(", ")}`)
      check(extra.length === 0, `changed names ${extra.join(", ")}, which did not change`)
    }
  }

  // b. What it says of publication is what the webhook answers.
  if (after.isActive) {
    const isLive = after.runs.word === after.word
    if (path.counts !== true || said.published !== undefined) {
      check(
        said.published === isLive || said.isReset && isLive ||
          // A push that wrote nothing says nothing of what runs.
          said.published === undefined && differs.length === 0 && path.name.startsWith("sync_"),
        `published is ${said.published}, and the webhook answers by the ${isLive ? "new" : "old"} nodes`
      )
    }
  } else {check(
      said.published === undefined || said.published === false && isDeactivation,
      `published is ${said.published} for an unpublished workflow`
    )}

  // c. What took effect at once is told, what is held did not.
  const held = said.held.map(heldPart)
  const waits = after.isActive && after.runs.word !== after.word
  if (waits) {
    const untold = outsideOfVersions.filter(isMissingFrom(said.inForce))
    check(untold.length === 0, `in force at once and not told: ${untold.join(", ")}`)
  }
  const idle = said.inForce.filter(isMissingFrom(differs))
  check(idle.length === 0, `inForce names ${idle.join(", ")}, which did not change`)
  const leaked = held.filter((part) => differs.includes(part))
  check(leaked.length === 0, `held names ${leaked.join(", ")}, which n8n has`)
  check(held.length === 0 || before.isActive && drafts, `held without anything that runs: ${held.join(", ")}`)
  if (path.creates !== true) {
    const asked = asksFor(it, origin, before)
    const lost = asked.filter((part) => !differs.includes(part) && !held.includes(part))
    check(lost.length === 0, `asked for, neither written nor held: ${lost.join(", ")}`)
    const unasked = differs.filter(isMissingFrom(asked))
    check(unasked.length === 0, `changed without being asked: ${unasked.join(", ")}`)
  }

  // d. What runs is left alone by what promises it.
  if (before.isActive && drafts) {
    const keeps = path.promises === "always" || path.promises === "draft" && state === "foreign draft"
    const isWaiting = path.drafts === true || state === "foreign draft" && path.publishes !== true
    if (keeps) {
      check(outsideOfVersions.length === 0, `promised to leave what runs, and changed ${outsideOfVersions.join(", ")}`)
    }
    if ((keeps || isWaiting) && !isDeactivation) {
      check(!movesLive, `published ${before.runs.word} → ${after.runs.word} without being told to`)
    }
  }

  // f. An undo brings back everything.
  const isWhole = !drafts || state === "unpublished" || path.publishes === true || path.promises === undefined
  if (path.undoes === true && isWhole && state !== "foreign draft") {
    const left = differing(origin.parts, after.parts).filter((part) => part !== "nodeGroups")
    check(left.length === 0, `the undo left ${left.join(", ")}`)
    const isSame = origin.runs.word === after.runs.word || !before.isActive && path.publishes === true
    check(isSame, `the undo left ${after.runs.word} running`)
  }
  return problems
}

/** Whether n8n 1.x lost its database's connection, which happens when a run is stored meanwhile. */
const isBroken = (error: unknown) => String(error).includes("SQLITE_")

const played = Effect.fnUntraced(function*(it: Case, index: number, root: string, home: string) {
  const { parts, path, state } = it
  const hook = `w-${crypto.randomUUID()}`
  const name = `Path ${hook.slice(2, 10)}`
  const at = { name, hook, root, folder: `${path.name.replaceAll(" ", "-")}-${index}`, parts }
  const start = path.creates === true ? undefined : yield* scenarios.create(base(name, hook))
  const cell = { ...at, id: start ?? "" }
  if (start !== undefined && state !== "unpublished") yield* scenarios.publish(start)
  const blank = { isActive: false, parts: {}, word: undefined, runs: none, isSettled: true }
  const origin = start === undefined ? blank : yield* truthOf(cell, home)
  const prepared = yield* path.prepare?.(cell) ?? Effect.succeed("")
  if (start !== undefined && state === "foreign draft") {
    const { connections, name, settings } = obj(yield* scenarios.fetchJson(`workflows/${start}`)) ?? {}
    const { nodes } = base("", hook, "theirs")
    const draft = { name, nodes, connections, settings }
    const { status, text } = yield* scenarios.request("PUT", `workflows/${start}?publishIfActive=false`, draft)
    assert.strictEqual(status, 200, text)
  }
  if (start !== undefined && state === "grouped since") {
    const { connections, name, nodes, settings } = obj(yield* scenarios.fetchJson(`workflows/${start}`)) ?? {}
    const nodeGroups = [{ id: "g", name: "Theirs", nodeIds: ["id of Say"] }]
    const group = { name, nodes, connections, settings, nodeGroups }
    const { status, text } = yield* scenarios.request("PUT", `workflows/${start}`, group)
    assert.strictEqual(status, 200, text)
  }
  if (start !== undefined && state === "archived") yield* scenarios.archive(start)
  yield* path.ready?.(cell) ?? Effect.void
  const before = start === undefined ? blank : yield* truthOf(cell, home)
  const { id = start ?? "", said } = yield* Effect.matchEager(path.call(cell, prepared), {
    onFailure: (error) => ({
      id: undefined,
      said: {
        inForce: [],
        held: [],
        isReset: false,
        error: Errors.isN8nError(error) ? Errors.inOneLine(error) : String(error)
      } as Said
    }),
    onSuccess: (data) => ({ id: str(data["id"]), said: saidBy(data) })
  })
  const after = id === "" ? blank : yield* truthOf({ ...cell, id }, home)
  const problems = violations(it, origin, before, said, after)
  if (said.held.length > 0 && path.publish !== undefined) {
    const exit = yield* Effect.exit(path.publish(cell, prepared))
    if (exit._tag === "Failure") problems.push(`held, and the publication fails: ${String(exit.cause).slice(0, 300)}`)
    const published = yield* truthOf(cell, home)
    const differs = differing(before.parts, published.parts)
    const lost = asksFor(it, origin, before).filter(isMissingFrom(differs))
    if (lost.length > 0) problems.push(`held, and not written with the publication: ${lost.join(", ")}`)
  }
  const what = `${path.name}, ${state}, ${parts.join("+") || "-"}`
  return { problems: problems.map((problem) => `${what}: ${problem}`), isBroken: isBroken(said.error) }
})

/**
 * Adds the tests of every writing path to a suite. The releases differ: without drafts two states and some paths are
 * missing, and n8n 1 archives nothing and keeps neither pinned data nor who may call.
 */
export const writingPaths = (it: It, { drafts, v2 }: { readonly drafts: boolean; readonly v2: boolean }) => {
  const possible = states.filter((state) =>
    state === "foreign draft" || state === "grouped since" ? drafts : state === "archived" ? v2 : true
  )
  for (const path of paths.filter(({ deletes, needsDrafts }) => deletes !== true && (drafts || needsDrafts !== true))) {
    it.effect(`writing: ${path.name} says what n8n has afterwards, and what runs`, () =>
      Effect.gen(function*() {
        const root = yield* folderWith()
        yield* scenarios.tag(tag)
        const hook = `w-${crypto.randomUUID()}`
        yield* scenarios.publish(yield* scenarios.create(base("Zone", hook)))
        const { body } = yield* scenarios.callWebhook(hook)
        const home = str(obj(body)?.["zone"]) ?? ""
        const changes = changesOf(path).filter((parts) =>
          v2 || !parts.some((part) => part === "pinData" || part === "settings.callerPolicy")
        )
        const inStates = path.creates === true
          ? ["unpublished" as const]
          : possible.filter((state) => path.counts === true || state !== "grouped since")
        const cases = inStates.flatMap((state) => changes.map((parts): Case => ({ path, state, parts, drafts })))
        const results = yield* Effect.forEach(cases, (each, index) =>
          played(each, index, root, home).pipe(
            Effect.retry({ while: isBroken, times: 3 }),
            Effect.repeat({ while: ({ isBroken }) => isBroken, times: 3 })
          ), {
          // n8n 1.x loses its database's connection when writes overlap.
          concurrency: v2 ? 4 : 1
        })
          .pipe(Effect.provide(WorkflowFiles.layer({ roots: [root] })))
        assert.deepStrictEqual(results.flatMap(({ problems }) => problems), [])
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)), 120_000)
  }
}
