import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { arr, type Obj, obj } from "../../../src/base/Json.ts"
import * as tools from "../../../src/tools/index.ts"
import {
  branches,
  type MisshapenNode,
  misshapenNodes,
  misshapenOutputs,
  outputs,
  unreadable
} from "../../support/scenarios/misshapen.ts"
import { main, node, workflow } from "../../support/workflows.ts"
import { inWorld } from "../../support/world.ts"

const same = (actual: unknown, expected: unknown) => assert.deepStrictEqual(actual, expected as never)

const start = node("Start", "manualTrigger")

const flow = ({ parameters, type, version }: Pick<MisshapenNode, "parameters" | "type" | "version">) => ({
  name: "Flow",
  nodes: [start, node("N", type, version, parameters)],
  connections: { Start: main("N") },
  settings: { executionOrder: "v1" }
})

const write = (path: string, value: unknown) =>
  FileSystem.FileSystem.use((fs) => fs.writeFileString(path, JSON.stringify(value)))

const read = (path: string) =>
  Effect.map(FileSystem.FileSystem.use((fs) => fs.readFileString(path)), (text) => obj(JSON.parse(text)) ?? {})

const parametersOf = (workflow: unknown) =>
  obj(arr(obj(workflow)?.["nodes"]).map(obj).find((each) => each?.["name"] === "N"))?.["parameters"]

/** All ways to write a whole workflow; each returns what n8n then has, and the warnings. */
const writes = {
  create_workflow: (input: Obj) => tools.createWorkflow.call({ ...input, raw: true } as never),
  create_workflow_from_file: (input: Obj, folder: string) =>
    Effect.andThen(
      write(`${folder}/x.json`, input),
      tools.createWorkflowFromFile.call({ filePath: "x.json", raw: true })
    ),
  update_workflow: (input: Obj) => tools.updateWorkflow.call({ id: "w", ...input, raw: true } as never),
  replace_workflow_from_file: (input: Obj, folder: string) =>
    Effect.andThen(
      write(`${folder}/x.json`, input),
      tools.replaceWorkflowFromFile.call({ id: "w", filePath: "x.json", raw: true })
    )
} as const

const seed = () => ({ workflows: [workflow("w", [start])], executions: [] })

describe.each(Object.entries(writes))("%s", (_, send) => {
  it.effect("repairs what has one meaning, names what has none, and writes nothing that loses data", () =>
    inWorld(function*({ api, folder }) {
      for (const each of misshapenNodes.filter(({ meant }, at) => at < 2 || meant === undefined)) {
        const { meant, parameters } = each
        const { warnings = [], ...written } = yield* send(flow(each), folder)
        same(parametersOf(written.workflow), meant ?? parameters)
        const said = meant === undefined ? `'N' ${each.at}: ` : `Repaired the shape of parameters: 'N' ${each.at}`
        assert.lengthOf(warnings.filter((warning) => warning.startsWith(said)), 1, warnings.join("\n"))
      }
      const before = yield* api.workflows
      const lost = yield* Effect.flip(send(flow(unreadable), folder))
      assert.include(lost.message, "takes each character for an item")
      const noOutput = { name: "Flow", ...branches(start, { yes: [[]], main: [] }) }
      assert.include((yield* Effect.flip(send(noOutput, folder))).message, "write main: [[links of output 0]")
      same(yield* api.workflows, before)
    }, { seed: seed() }))

  it.effect.each(Object.entries(misshapenOutputs))(
    "connections: %s",
    ([, connections]) =>
      inWorld(function*({ folder }) {
        const { warnings = [], ...written } = yield* send({ name: "Flow", ...branches(start, connections) }, folder)
        same(obj(obj(written.workflow)?.["connections"])?.["Check"], outputs)
        assert.isTrue(warnings.some((warning) => warning.includes("connections.Check")), warnings.join("\n"))
      }, { seed: seed() })
  )
})

describe("workflow_edit", () => {
  const repairable = misshapenNodes.filter(({ meant }) => meant !== undefined)

  it.effect.each(repairable)(
    "of a file, $name",
    ({ at, meant, parameters, type, version }) =>
      inWorld(function*({ folder }) {
        yield* write(`${folder}/x.json`, flow({ type, version, parameters: {} }))
        const { changes, problems } = yield* tools.workflowEdit.call({
          workflowId: "x.json",
          operations: [{ op: "update", node: "N", parameters: parameters as never }]
        })
        const after = yield* read(`${folder}/x.json`)
        same(parametersOf(after), meant)
        assert.include(changes.join("\n"), `repaired the shape of ${at}`)
        assert.isFalse(problems.some(({ path }) => String(path).includes(at)))
      })
  )
})

describe("settings of a new workflow", () => {
  const plain = { name: "Flow", nodes: [start], connections: {} }
  const order = (written: { readonly workflow?: unknown }) =>
    obj(obj(written.workflow)?.["settings"])?.["executionOrder"]

  it.effect.each<[string, Obj | undefined, unknown]>([
    ["none", undefined, "v1"],
    ["a time zone alone", { timezone: "Europe/Berlin" }, "v1"],
    ["the old order", { executionOrder: "v0" }, "v0"]
  ])("%s", ([, settings, expected]) =>
    inWorld(function*({ folder }) {
      const input = { ...plain, ...settings && { settings } }
      const created = yield* writes.create_workflow(input)
      const ofFile = yield* writes.create_workflow_from_file({ ...input, name: "Of a file" }, folder)
      same([order(created), order(ofFile)], [expected, expected])
      const said = ["Set executionOrder to 'v1', as n8n's editor does for new workflows."]
      same([created.warnings ?? [], ofFile.warnings ?? []], [[], expected === "v1" ? said : []])
    }))

  it.effect("an existing one has those of n8n", () =>
    inWorld(function*({ folder }) {
      const updated = yield* writes.update_workflow({ nodes: [{ ...start, disabled: true }] })
      const replaced = yield* writes.replace_workflow_from_file(plain, folder)
      same([order(updated), order(replaced)], [undefined, undefined])
    }, { seed: seed() }))

  it.effect("drafts and pushed files", () =>
    inWorld(function*({ api, folder }) {
      const { workflowData } = yield* tools.workflowCreate.call({ name: "Draft", settings: { timezone: "UTC" } })
      same(obj(workflowData)?.["settings"], { executionOrder: "v1", timezone: "UTC" })
      yield* FileSystem.FileSystem.use((fs) => fs.makeDirectory(`${folder}/sync`))
      yield* write(`${folder}/sync/flow.json`, plain)
      const { warnings } = yield* tools.syncPush.call({ folder: "sync" })
      same((yield* api.workflows).map((workflow) => order({ workflow })), ["v1"])
      assert.include(JSON.stringify(warnings), "Set executionOrder to 'v1'")
      const again = yield* tools.syncStatus.call({ folder: "sync" })
      same(again.counts, { same: 1 })
    }))
})
