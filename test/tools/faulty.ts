/** A call of a tool of an n8n that fails, drips, resets and redirects, by a seed; and what must hold all the same. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import * as TestClock from "effect/testing/TestClock"
import * as Envelope from "../../src/answer/Envelope.ts"
import type * as Tool from "../../src/answer/Tool.ts"
import { arr, type Obj, obj } from "../../src/base/Json.ts"
import * as TestMark from "../../src/n8n/model/TestMark.ts"
import type * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"
import { succeededExecution } from "../../src/testing/runs.ts"
import * as tools from "../../src/tools/index.ts"
import { hurried, timed, until } from "../support/clock.ts"
import * as faults from "../support/faults.ts"
import { inWorld, type Needs } from "../support/world.ts"
import { calls, seed as seeded, workflow, writeFiles } from "./calls.ts"
import { filesIn, snapshotsIn } from "./files.ts"

const id = String(calls["get_workflow"]?.["id"])

/** The workflow of the calls under another id, name and path. */
const named = (id: string) => ({
  ...workflow,
  id,
  name: id,
  active: false,
  settings: {},
  nodes: workflow.nodes.map((node) =>
    "path" in node.parameters ? { ...node, parameters: { ...node.parameters, path: id } } : node
  )
})

/** One that is published, and has been changed once. */
const live = named("live")

interface Scenario {
  readonly name: string
  readonly tool: Tool.Any<Needs>
  readonly args: Obj
}

const all: ReadonlyArray<Tool.Any<Needs>> = tools.all

const toolOf = (name: string) => {
  const tool = all.find((each) => each.name === name)
  assert.isDefined(tool)
  return tool
}

/** Writes, each of a kind of its own: they are tried more often than the calls of every tool. */
const writes: ReadonlyArray<readonly [tool: string, args: Obj]> = [
  ["create_workflow", { ...workflow, active: false }],
  ["create_workflow", { ...workflow, name: "Tagged", active: true, tags: ["one", "two"] }],
  ["update_workflow", { id, name: "Renamed" }],
  ["update_workflow", { id: "live", nodes: workflow.nodes, connections: {}, name: "All new" }],
  ["update_workflow", { id: "live", active: false }],
  ["update_workflow", { id: "live", settings: { executionTimeout: 60 }, tags: ["one"] }],
  ["workflow_edit", { workflowId: "live", operations: [{ op: "rename", node: "End", to: "Last" }] }],
  ["workflow_edit", { workflowId: "live", operations: [{ op: "remove", node: "End" }] }],
  ["workflow_restore", { id: "live", version: "the first" }],
  ["delete_workflow", { id: "live" }],
  ["deactivate_workflow", { id: "live" }],
  ["activate_workflow", { id: "idle" }],
  ["replace_workflow_from_file", { id: "live", filePath: "orders.json" }],
  ["test_workflow", { workflowId: "live", testData: { order: 7 } }],
  ["test_workflow", { workflowId: "orders.json" }]
]

/** One for each tool, and the writes. */
export const scenarios: ReadonlyArray<Scenario> = [
  ...all.map((tool) => ({ tool, args: calls[tool.name] ?? {} })),
  ...writes.map(([name, args]) => ({ tool: toolOf(name), args }))
].map(({ args, tool }, at) => ({ tool, args, name: `${at}: ${tool.name} ${JSON.stringify(args).slice(0, 60)}` }))

/** What somebody would miss: ids and dates that n8n or we make are none of it. */
const content = (from: Obj) => ({
  nodes: arr(from["nodes"]).map((node) => {
    const { name, parameters, type } = obj(node) ?? {}
    return { name, type, parameters }
  }),
  connections: from["connections"]
})

const stateOf = (workflow: N8nApi.Workflow) => ({
  content: { ...content(workflow), name: workflow.name, settings: workflow["settings"] },
  published: workflow.activeVersion ? content(obj(workflow.activeVersion) ?? {}) : null,
  tags: (workflow.tags ?? []).map(({ name }) => name).toSorted()
})

type State = ReturnType<typeof stateOf>

type Stored = N8nApi.Workflow & { readonly nodes: ReadonlyArray<unknown> }

const isCopy = (workflow: N8nApi.Workflow) => TestMark.isCopy(workflow as Stored)

/** By id; what the call created by its place, since ids differ. Copies of tests are looked at by themselves. */
const stateBy = (known: ReadonlySet<string>) => (stored: ReadonlyArray<N8nApi.Workflow>) => {
  const workflows = stored.filter((workflow) => !isCopy(workflow))
  const news = workflows.filter((each) => !known.has(each.id))
  return new Map<string, State>([
    ...workflows.filter((each) => known.has(each.id)).map((each) => [each.id, stateOf(each)] as const),
    ...news.map((each, at) => [`new ${at}`, stateOf(each)] as const)
  ])
}

/** Counts the fibres that a call starts and that have not ended. */
const fibres = () => {
  let running = 0
  const service: Metric.FiberRuntimeMetricsService = {
    recordFiberStart: () => void running++,
    recordFiberEnd: () => void running--
  }
  return { service, running: () => running }
}

/** Publishes a workflow and changes it; the version before that. */
const publishAndChange = Effect.gen(function*() {
  yield* tools.activateWorkflow.call({ id: "live" })
  const nodes = [...live.nodes, { ...live.nodes[1], id: "id-more", name: "More" }]
  yield* tools.updateWorkflow.call({ id: "live", nodes })
  const { versions } = yield* tools.workflowHistory.call({ id: "live", limit: 20 })
  return versions.find(({ source }) => source === "snapshot")?.version
})

/** The copies of tests, now and after another test an hour later. */
const copiesOf = Effect.fnUntraced(function*(api: N8nApi.N8nApi) {
  const copies = Effect.map(api.workflows, (workflows) => workflows.filter(isCopy).length)
  const left = yield* copies
  yield* TestClock.adjust("2 hours")
  yield* Effect.orDie(hurried(tools.testWorkflow.run({ workflowId: "idle" })))
  return { left, laterLeft: yield* copies }
})

/** What came of a call with these faults, and what is there afterwards. */
const outcome = (scenario: Scenario, version: "1" | "2", wrong: faults.Faults) => {
  let runs = 0
  return inWorld(function*({ api, folder, state }) {
    yield* writeFiles(folder)
    yield* TestClock.setTime(Date.UTC(2027, 0, 1))
    const first = yield* Effect.orDie(hurried(publishAndChange))
    const before = yield* api.workflows
    const args = scenario.args["version"] === "the first" ? { ...scenario.args, version: first } : scenario.args
    const known = stateBy(new Set(before.map(({ id }) => id)))
    const { running, service } = fibres()
    const filesBefore = yield* filesIn(folder)
    wrong.begin()
    const { exit, seconds } = yield* timed(
      scenario.tool.run(args).pipe(Effect.provideService(Metric.FiberRuntimeMetrics, service))
    )
    const isQuiet = yield* until(() => wrong.open() === 0 && running() === 0, 120)
    wrong.end()
    const ran = runs
    return {
      exit,
      seconds,
      leftOpen: wrong.open(),
      leftRunning: running(),
      isQuiet,
      before: known(before),
      now: known(yield* api.workflows),
      filesBefore,
      files: yield* filesIn(folder),
      kept: yield* snapshotsIn(state),
      ran,
      copies: scenario.tool === tools.testWorkflow ? yield* copiesOf(api) : undefined
    }
  }, {
    version,
    runs: (workflow) => {
      runs++
      return succeededExecution({ workflow })
    },
    seed: { ...seeded, workflows: [...seeded.workflows, live, named("idle")] },
    through: wrong.through,
    apiKey: "the-key-of-this-n8n"
  })
}

const flawless = new Map<string, Effect.Success<ReturnType<typeof outcome>>>()

/** What the call comes to where nothing is wrong. */
const expected = (scenario: Scenario, version: "1" | "2") =>
  Effect.gen(function*() {
    const key = `${version} ${scenario.name}`
    const known = flawless.get(key)
    if (known !== undefined) return known
    const nothing = faults.make(0)
    const made = yield* outcome(scenario, version, { ...nothing, begin: () => undefined })
    flawless.set(key, made)
    return made
  })

/** What an error says of a write that took effect. */
const tellsOfEffect = /may have|all the same|was written|put back|read (?:it|what)|still|is there|unpublished|draft/i

const isEqual = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

/** Runs the scenario of this seed and checks it; returns how it ended, and what went wrong on the way. */
export const run = (seed: number) =>
  Effect.gen(function*() {
    const scenario = scenarios[seed % scenarios.length] ?? scenarios[0]
    assert.isDefined(scenario)
    const version = Math.floor(seed / scenarios.length) % 4 === 3 ? "1" : "2"
    const after = yield* expected(scenario, version)
    const wrong = faults.make(seed)
    const got = yield* outcome(scenario, version, wrong)
    const data = Exit.isSuccess(got.exit) ? obj(got.exit.value.data) : undefined
    const succeeded = data !== undefined
    const error = succeeded ? undefined : yield* Effect.orDie(Effect.flip(got.exit))
    const envelope = error === undefined ? undefined : Envelope.fromError(error)
    const story = () =>
      `seed ${seed}, ${scenario.name} on ${version}.x: ${wrong.happened.join("; ")}\n-> ${
        JSON.stringify(envelope ?? data)?.slice(0, 1_000)
      }`

    assert.isBelow(got.seconds, 50.5, story())
    if (envelope !== undefined) {
      assert.isNotEmpty(envelope.hint, story())
      assert.isNotEmpty(envelope.message, story())
      if (envelope.name === "ApiError") {
        assert.isNotEmpty(envelope.context["operation"], story())
        assert.isNotEmpty(envelope.context["errorDetails"], story())
      }
    }
    assert.deepStrictEqual([got.leftOpen, got.leftRunning, got.isQuiet], [0, 0, true], story())
    assert.isFalse(
      wrong.sent.some(({ url, headers }) =>
        url.origin !== "http://n8n.test" || url.hostname === faults.elsewhere &&
          headers["x-n8n-api-key"] !== undefined
      ),
      story()
    )

    const warnings = arr(data?.["warnings"])
    for (const key of new Set([...got.before.keys(), ...after.now.keys(), ...got.now.keys()])) {
      const [was, should, is] = [got.before.get(key), after.now.get(key), got.now.get(key)]
      const tell = () => `${story()}\n${key}: ${JSON.stringify({ was, should, is }, null, 1).slice(0, 3_000)}`
      // A batch that ended early says what is not done, and a push what failed.
      if (data?.["notDone"] !== undefined || obj(data?.["counts"])?.["failed"] !== undefined) {
        assert.isTrue([was, should].some((state) => isEqual(state, is)), tell())
        continue
      }
      if (succeeded) {
        // Nothing is lost: what the answer says is there.
        assert.deepStrictEqual(is?.content, should?.content, tell())
        if (
          warnings.length === arr(after.exit._tag === "Success" ? obj(after.exit.value.data)?.["warnings"] : []).length
        ) {
          assert.deepStrictEqual(is, should, tell())
        }
        continue
      }
      // Nothing is doubled, and nothing is half there.
      assert.isTrue(
        is === undefined ? was === undefined || should === undefined : was !== undefined || should !== undefined,
        tell()
      )
      if (is === undefined) continue
      for (const part of ["content", "published", "tags"] as const) {
        // What is deleted is unpublished before.
        const states = [was?.[part], should?.[part], ...part === "published" && should === undefined ? [null] : []]
        assert.isTrue(was === undefined || states.some((state) => isEqual(state, is[part])), `${part}: ${tell()}`)
      }
      if (!isEqual(was, is)) assert.match(JSON.stringify(envelope), tellsOfEffect, tell())
    }

    // A test runs its workflow once at most, and leaves nothing that the next one does not clear up.
    if (got.copies !== undefined) {
      assert.isAtMost(got.ran, 1, story())
      if (succeeded) assert.deepStrictEqual([got.ran, data["status"]], [1, "success"], story())
      if (!succeeded && got.ran > 0) assert.match(JSON.stringify(envelope), /may have (?:run|taken effect)/, story())
      assert.isAtMost(got.copies.left, 1, story())
      assert.strictEqual(got.copies.laterLeft, 0, story())
    }

    // What was overwritten or deleted is kept.
    for (const [key, was] of got.before) {
      if (isEqual(was.content, got.now.get(key)?.content)) continue
      const states = got.kept.flatMap(({ workflow }) =>
        workflow["id"] === key ? [stateOf(workflow as unknown as N8nApi.Workflow)] : []
      )
      assert.isTrue(states.some(({ content }) => isEqual(content, was.content)), story())
    }
    // Files are whole: as they were, or as they should be.
    for (const [path, text] of got.files) {
      assert.isTrue([got.filesBefore, after.files].some((files) => files.has(path)), `${path}\n${story()}`)
      assert.doesNotThrow(() => JSON.parse(text), path)
      if (succeeded && after.exit._tag === "Success") assert.isTrue(after.files.has(path), story())
    }
    return {
      succeeded,
      tool: scenario.tool.name,
      copiesLeft: got.copies?.left ?? 0,
      kinds: wrong.happened.map((each) => each.split(" ").slice(2).join(" "))
    }
  })
