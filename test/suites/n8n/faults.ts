/** Writes through faults, on a real n8n. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Services from "../../../src/app/Services.ts"
import { type Obj, obj } from "../../../src/base/Json.ts"
import * as N8nClient from "../../../src/n8n/N8nClient.ts"
import * as faults from "../../support/faults.ts"
import { atEachRequest, type Case, cases, playedIn } from "../../support/writing.ts"
import { tag } from "../../support/writingPaths.ts"
import { RealN8n } from "./RealN8n.ts"
import * as scenarios from "./scenarios.ts"

type It = Vitest.MethodsNonLive<RealN8n | N8nClient.N8nClient | Services.Services>

/** Those that do not take half a minute of everybody's time. */
const kinds = faults.all.filter((kind) => kind !== "is silent" && kind !== "drips")

const breaks = [["resets before the request arrived", 1], ["resets after the request arrived", 1]] as const

const played = Effect.fnUntraced(function*(one: Case, wrong: faults.Faults) {
  const n8n = yield* RealN8n
  const asked = <A, E>(effect: Effect.Effect<A, E, RealN8n>) =>
    Effect.orDie(Effect.provideService(effect, RealN8n, n8n))
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
  const state = yield* fs.makeTempDirectoryScoped()
  const others = new Set((yield* asked(scenarios.allWorkflows)).map(({ id }) => id))
  const http = Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, wrong.through)).pipe(
    Layer.provide(FetchHttpClient.layer)
  )
  return yield* playedIn(one, wrong, {
    folder,
    elsewhere: (effect) => effect,
    run: (effect) => effect,
    workflows: Effect.map(
      asked(scenarios.allWorkflows),
      (all) => all.flatMap((each) => others.has(each.id) ? [] : [{ ...obj(each) }])
    ),
    edit: (id, nodes) =>
      asked(Effect.gen(function*() {
        const { connections, name, settings }: Obj = obj(yield* scenarios.fetchJson(`workflows/${id}`)) ?? {}
        const draft = { name, nodes, connections, settings }
        const { status, text } = yield* scenarios.request("PUT", `workflows/${id}?publishIfActive=false`, draft)
        assert.strictEqual(status, 200, text)
      }))
  }).pipe(
    Effect.provide(Layer.merge(
      N8nClient.layer({ url: n8n.url, apiKey: n8n.apiKey }).pipe(Layer.provide(http)),
      Layer.fresh(Services.layer({ filesRoots: [folder], stateFolder: state }))
    ))
  )
}, Effect.scoped)

/** Adds the tests of writing through faults to a suite; without drafts n8n behaves as 1.x. */
export const throughFaults = (it: It, { drafts }: { readonly drafts: boolean }) => {
  const possible = cases.filter(({ version }) => version === (drafts ? "2" : "1"))

  it.effect(
    "writes through a connection that breaks at any request: nothing lost, twice or claimed",
    () =>
      Effect.gen(function*() {
        const names = new Set(["create_workflow active", "update_workflow", "delete_workflow"])
        for (const one of possible.filter(({ path, state }) => state === "published" && names.has(path.name))) {
          assert.deepStrictEqual(yield* atEachRequest(one, played, breaks), [], one.path.name)
        }
      }).pipe(Effect.provide(NodeServices.layer)),
    600_000
  )

  // Pauses between retries are real here.
  it.effect("writes through many faults: nothing lost, twice or claimed", () =>
    Effect.gen(function*() {
      yield* scenarios.tag(tag)
      for (const [seed, one] of possible.entries()) {
        const wrong = faults.make(seed, { kinds, longestPause: 1 })
        const { problems } = yield* played(one, wrong)
        assert.deepStrictEqual(problems, [], `${one.path.name}, ${one.state}: ${wrong.happened.join("; ")}`)
      }
    }).pipe(Effect.provide(NodeServices.layer)), 600_000)
}
