/** AI nodes before and after their upgrade on a real n8n: equal requests to the models, and equal items. */
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { randomUUID } from "node:crypto"
import { arr, canonical, type Obj, obj, str, without } from "../../../../src/base/Json.ts"
import * as Workflow from "../../../../src/n8n/model/Workflow.ts"
import * as Upgrade from "../../../../src/workflow/upgrade/Upgrade.ts"
import * as NodeLookups from "../../../../src/workflows/NodeLookups.ts"
import { catalogue } from "../../../support/catalogue.ts"
import { RealN8n } from "../RealN8n.ts"
import * as scenarios from "../scenarios.ts"
import { items, type Lane, lanes } from "./aiLanes.ts"
import * as RecordingModels from "./RecordingModels.ts"

/** The nodes of a lane, linked: a webhook, its items, and the node with its sub-nodes. */
const laneOf = ({ id, root, subs = [] }: Lane, ids: Readonly<Record<string, string>>) => {
  const nodes: Array<Obj> = []
  const connections: Record<string, Obj> = {}
  const link = (from: string, to: string, type: string) => {
    connections[from] = { [type]: [[{ node: to, type, index: 0 }]] }
  }
  const add = (name: string, { credentials, id: _, name: __, ...node }: Obj, below: NonNullable<Lane["subs"]>) => {
    nodes.push({
      name,
      position: [200 * nodes.length, 0],
      ...node,
      ...(credentials === undefined ? {} : {
        credentials: Object.fromEntries(
          Object.keys(obj(credentials) ?? {}).map((type) => [type, { id: ids[type], name: type }])
        )
      })
    })
    below.forEach((sub, index) => {
      const own = `${name} ${index}`
      add(own, sub.node, sub.subs ?? [])
      link(own, name, sub.via)
    })
  }
  add(`Hook ${id}`, {
    type: "n8n-nodes-base.webhook",
    typeVersion: 2.1,
    webhookId: randomUUID(),
    parameters: { path: randomUUID(), httpMethod: "POST", responseMode: "lastNode" }
  }, [])
  add(`Items ${id}`, {
    type: "n8n-nodes-base.splitOut",
    typeVersion: 1,
    parameters: { fieldToSplitOut: "body.items", options: {} }
  }, [])
  add(id, root, subs)
  link(`Hook ${id}`, `Items ${id}`, "main")
  link(`Items ${id}`, id, "main")
  return { nodes, connections }
}

/**
 * Questions without their order, which is not that of the items where a node asks about several at once; without
 * streaming, which is between n8n and the provider; and with all texts of a store's embeddings together.
 */
const questionsIn = (asked: ReadonlyArray<RecordingModels.Asked>) => {
  const embedded = asked.filter(({ path }) => path.endsWith("/embeddings"))
  const together = embedded.flatMap(({ body }) => obj(body)?.["input"])
  return [
    ...asked.filter((each) => !embedded.includes(each)).map(({ body, path }) => ({
      path,
      body: obj(body) === undefined ? body : without(obj(body) ?? {}, (_, key) => key.startsWith("stream"))
    })),
    ...embedded.slice(0, 1).map(({ body, path }) => ({ path, body: { ...obj(body), input: together } }))
  ].map(canonical).toSorted()
}

/** Asks for each lane and returns, by lane, what the models were asked and what came out. */
const run = Effect.fnUntraced(function*(name: string, workflow: Obj, asked: Array<RecordingModels.Asked>) {
  const id = yield* scenarios.create(Object.assign({ name, settings: { executionOrder: "v1" } }, workflow))
  yield* scenarios.publish(id)
  const questions = new Map<string, ReadonlyArray<string>>()
  for (const { id, items: own = items } of lanes) {
    const hook = Workflow.nodes(workflow).find((node) => node["name"] === `Hook ${id}`)
    asked.length = 0
    yield* scenarios.callWebhook(String(Workflow.parametersOf(hook)["path"]), { body: { items: own } })
    questions.set(id, questionsIn(asked))
  }
  const executions = yield* scenarios.fetchJson(`executions?workflowId=${id}&includeData=true&limit=100`)
  yield* scenarios.remove(id)
  return new Map(
    arr(obj(executions)?.["data"]).flatMap((execution): ReadonlyArray<readonly [string, Obj]> => {
      const result = obj(obj(obj(execution)?.["data"])?.["resultData"]) ?? {}
      const runData = obj(result["runData"]) ?? {}
      const lane = lanes.find(({ id }) => Object.hasOwn(runData, `Hook ${id}`))
      if (lane === undefined) return []
      const error = obj(result["error"])
      const outputs = arr(runData[lane.id]).flatMap((each) =>
        arr(obj(obj(each)?.["data"])?.["main"]).map((of) => arr(of).map((item) => obj(item)?.["json"]))
      )
      return [[lane.id, {
        asked: questions.get(lane.id),
        outputs: JSON.parse(JSON.stringify(outputs).replaceAll(/"id":"filesystem[^"]*"/g, "\"id\":\"\"")) as unknown,
        ...(error === undefined ? {} : { error: `${String(error["message"])} ${String(error["description"])}` })
      }]]
    })
  )
})

/** Runs all lanes before and after their upgrade. */
const compare = Effect.fnUntraced(function*(version: string) {
  const models = yield* RecordingModels.serve
  const credentials = {
    openAiApi: { apiKey: "k", url: `${models.url}/v1`, header: false },
    anthropicApi: { apiKey: "k", url: models.url, header: false },
    googlePalmApi: { apiKey: "k", host: models.url }
  }
  const ids: Record<string, string> = {}
  for (const [type, data] of Object.entries(credentials)) {
    const { body } = yield* scenarios.request("POST", "credentials", { name: `${type} ${randomUUID()}`, type, data })
    ids[type] = String(obj(body)?.["id"])
  }
  const built = lanes.map((lane) => laneOf(lane, ids))
  const before = {
    nodes: built.flatMap(({ nodes }) => nodes),
    connections: Object.assign({}, ...built.map(({ connections }) => connections)) as Obj
  }
  const lookups = yield* NodeLookups.make(Upgrade.types(before), version)
  const { upgraded, workflow: after } = Upgrade.upgrade(before, undefined, lookups)
  const [old, made] = [yield* run("AI before", before, models.asked), yield* run("AI after", after, models.asked)]
  return lanes.map(({ id }) => ({
    id,
    before: old.get(id),
    after: made.get(id),
    upgraded: upgraded.filter(({ node }) => node.startsWith(id))
  }))
}, Effect.scoped)

/** Adds the test of AI nodes to a suite; the releases do not differ in it. */
export const upgradingAi = (it: Vitest.MethodsNonLive<RealN8n>) =>
  it.effect("upgraded AI nodes ask models the same, and answer the same", () =>
    Effect.gen(function*() {
      const { version } = yield* RealN8n
      for (const { after, before, id, upgraded } of yield* compare(version)) {
        assert.isAbove(upgraded.length, 0, id)
        assert.isUndefined(str(before?.["error"]), id)
        assert.isNotEmpty([...arr(before?.["asked"]), ...arr(before?.["outputs"]).flatMap(arr)], id)
        assert.strictEqual(canonical(after), canonical(before), id)
      }
    }).pipe(Effect.provide(catalogue), scenarios.live), 300_000)
