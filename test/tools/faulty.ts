/** A call of a tool of an n8n that fails, drips, resets and redirects, by a seed; and what must hold all the same. */
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import * as TestClock from "effect/testing/TestClock"
import * as Envelope from "../../src/answer/Envelope.ts"
import type * as Tool from "../../src/answer/Tool.ts"
import { type Obj, obj } from "../../src/base/Json.ts"
import * as TestMark from "../../src/n8n/model/TestMark.ts"
import type * as N8nApi from "../../src/testing/n8nApi/N8nApi.ts"
import { succeededExecution } from "../../src/testing/runs.ts"
import * as tools from "../../src/tools/index.ts"
import * as faults from "../support/faults.ts"
import * as TestTime from "../support/TestTime.ts"
import { inWorld, type Needs } from "../support/world.ts"
import { calls, seed as seeded, workflow, writeFiles } from "./calls.ts"
import { filesIn } from "./files.ts"

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

/** One for each tool, and those that write files or test: what is written on n8n has tests of its own. */
export const scenarios: ReadonlyArray<Scenario> = [
  ...all.map((tool) => [tool.name, calls[tool.name] ?? {}] as const),
  ["workflow_edit", { workflowId: "orders.json", operations: [{ op: "remove", node: "End" }] }] as const,
  ["test_workflow", { workflowId: "live", testData: { order: 7 } }] as const,
  ["test_workflow", { workflowId: "orders.json" }] as const
].map(([name, args], at) => ({
  tool: toolOf(name),
  args,
  name: `${at}: ${name} ${JSON.stringify(args).slice(0, 60)}`
}))

const isCopy = ({ name }: N8nApi.Workflow) => TestMark.ownerOf(name) !== undefined

/** Counts the fibres that a call starts and that have not ended. */
const fibres = () => {
  let running = 0
  const service: Metric.FiberRuntimeMetricsService = {
    recordFiberStart: () => void running++,
    recordFiberEnd: () => void running--
  }
  return { service, running: () => running }
}

/** The copies of tests, now and after another test an hour later. */
const copiesOf = Effect.fnUntraced(function*(api: N8nApi.N8nApi) {
  const copies = Effect.map(api.workflows, (workflows) => workflows.filter(isCopy).length)
  const left = yield* copies
  yield* TestClock.adjust("2 hours")
  yield* Effect.orDie(TestTime.run(tools.testWorkflow.run({ workflowId: "idle" })))
  return { left, laterLeft: yield* copies }
})

/** Runs the scenario of this seed and checks it; returns how it ended, and what went wrong on the way. */
export const run = (seed: number) => {
  const scenario = scenarios[seed % scenarios.length] ?? scenarios[0]
  assert.isDefined(scenario)
  const version = Math.floor(seed / scenarios.length) % 4 === 3 ? "1" : "2"
  const wrong = faults.make(seed)
  let runs = 0
  return inWorld(function*({ api, folder }) {
    yield* writeFiles(folder)
    yield* TestClock.setTime(Date.UTC(2027, 0, 1))
    const known = (yield* api.workflows).length
    const { running, service } = fibres()
    wrong.begin()
    const { exit, seconds } = yield* TestTime.measure(
      scenario.tool.run(scenario.args).pipe(Effect.provideService(Metric.FiberRuntimeMetrics, service))
    )
    const isQuiet = yield* TestTime.until(() => wrong.open() === 0 && running() === 0, { within: "2 minutes" })
    wrong.end()
    const data = Exit.isSuccess(exit) ? obj(exit.value.data) : undefined
    const envelope = data === undefined ? Envelope.fromError(yield* Effect.orDie(Effect.flip(exit))) : undefined
    const story = `seed ${seed}, ${scenario.name} on ${version}.x: ${wrong.happened.join("; ")}\n-> ${
      JSON.stringify(envelope ?? data)?.slice(0, 1_000)
    }`

    assert.isBelow(seconds, 50.5, story)
    if (envelope !== undefined) {
      assert.isNotEmpty(envelope.hint, story)
      assert.isNotEmpty(envelope.message, story)
      if (envelope.name === "ApiError") {
        assert.isNotEmpty(envelope.context["operation"], story)
        assert.isNotEmpty(envelope.context["errorDetails"], story)
      }
    }
    assert.deepStrictEqual([wrong.open(), running(), isQuiet], [0, 0, true], story)
    // The key goes nowhere else.
    for (const { url } of wrong.sent) assert.strictEqual(url.origin, "http://n8n.test", story)
    // Files are whole.
    for (const [path, text] of yield* filesIn(folder)) assert.doesNotThrow(() => JSON.parse(text), path)
    assert.isAtMost((yield* api.workflows).filter((each) => !isCopy(each)).length, known + 1, story)

    // A test runs its workflow once at most, and leaves nothing that the next one does not clear up.
    const ran = runs
    const copies = scenario.tool === tools.testWorkflow ? yield* copiesOf(api) : { left: 0, laterLeft: 0 }
    if (scenario.tool === tools.testWorkflow) {
      assert.isAtMost(ran, 1, story)
      if (data !== undefined) assert.deepStrictEqual([ran, data["status"]], [1, "success"], story)
      if (data === undefined && ran > 0) {
        assert.match(JSON.stringify(envelope), /may have (?:run|taken effect)/, story)
      }
      assert.isAtMost(copies.left, 1, story)
      assert.strictEqual(copies.laterLeft, 0, story)
    }
    return { succeeded: data !== undefined, kinds: wrong.happened.map((each) => each.split(" ").slice(2).join(" ")) }
  }, {
    version,
    runs: (workflow) => {
      runs++
      return succeededExecution({ workflow })
    },
    seed: { ...seeded, workflows: [...seeded.workflows, named("live"), named("idle")] },
    through: wrong.through,
    apiKey: "the-key-of-this-n8n"
  })
}
