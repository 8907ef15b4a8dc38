/** The capabilities that are tested on a real n8n, the releases on which each is, and those that share an n8n. */
import { assert, it as always, layer, type Vitest } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Services from "../../../src/app/Services.ts"
import * as N8nClient from "../../../src/n8n/N8nClient.ts"
import { balanced } from "./balanced.ts"
import { building } from "./building.ts"
import { cases } from "./cases.ts"
import { changingMany } from "./changingMany.ts"
import { choosing } from "./choosing.ts"
import { demonstrating } from "./demonstrating.ts"
import { drilling } from "./drilling.ts"
import * as elsewhere from "./elsewhere.ts"
import { examining } from "./examining.ts"
import { extracting } from "./extracting.ts"
import { throughFaults } from "./faults.ts"
import { fencing } from "./fencing.ts"
import { guarding } from "./guarding.ts"
import { guides } from "./guides.ts"
import { health } from "./health.ts"
import { instance } from "./instance.ts"
import { manyRuns } from "./manyRuns.ts"
import { mapping } from "./mapping.ts"
import { proving } from "./proving.ts"
import { provingCallers } from "./provingCallers.ts"
import { provingOthers } from "./provingOthers.ts"
import { publishing } from "./publishing.ts"
import { publishingVersions } from "./publishingVersions.ts"
import { reading, Sent } from "./reading.ts"
import { RealN8n } from "./RealN8n.ts"
import { referring } from "./referring.ts"
import { isWhole, type Major, notTestable, ofMajor } from "./releases.ts"
import { replaying } from "./replaying.ts"
import { reshaping } from "./reshaping.ts"
import { resources } from "./resources.ts"
import { retrying } from "./retrying.ts"
import { sendingByAddress, sendingNothing } from "./sending.ts"
import { sent } from "./sent.ts"
import { syncing } from "./syncing.ts"
import { testing } from "./testing.ts"
import { testingLeftovers } from "./testingLeftovers.ts"
import { triage } from "./triage.ts"
import { upgradingAi } from "./upgrading/ai.ts"
import { core } from "./upgrading/core.ts"
import { upgradingRequests } from "./upgrading/requests.ts"
import { upgradingServices } from "./upgrading/services.ts"
import { upgradingWhole } from "./upgrading/whole.ts"
import { validation } from "./validation.ts"
import { versions } from "./versions.ts"
import { watching } from "./watching.ts"
import { writes } from "./writes.ts"
import { writingPaths } from "./writingPaths.ts"

const client = Layer.unwrap(Effect.gen(function*() {
  const { apiKey, url } = yield* RealN8n
  const sent = yield* Sent
  const counting = Layer.effect(
    HttpClient.HttpClient,
    Effect.map(HttpClient.HttpClient, HttpClient.tapRequest(() => Effect.sync(() => sent.count++)))
  ).pipe(Layer.provide(FetchHttpClient.layer))
  return N8nClient.layer({ url, apiKey }).pipe(Layer.provide(counting))
}))

const everything = (version: string) =>
  Layer.mergeAll(client, Services.layerMemory).pipe(
    Layer.provideMerge(Layer.merge(RealN8n.layer(version), Layer.sync(Sent, () => ({ count: 0 }))))
  )

type It = Vitest.MethodsNonLive<RealN8n | N8nClient.N8nClient | Services.Services | Sent>

/** A release, with what differs in it. */
interface Release {
  readonly version: string
  readonly v2: boolean
  /** Whether its API has drafts and versions. */
  readonly drafts: boolean
}

/**
 * A capability on every release, or, where no release differs from the newest, on the newest alone.
 *
 * **Details**
 *
 * `everywhere` is for what n8n 1 does in its own way: what is published, sent, retried and stored, and how it is written.
 */
type Capability = readonly ["everywhere" | "newest", add: (it: It, release: Release) => void]

/** The capabilities that run on one n8n, in order. */
const parts: Readonly<Record<Part, ReadonlyArray<Capability>>> = {
  reading: [
    // First: what others have left would be in its reports.
    ["everywhere", watching],
    ["everywhere", health],
    ["everywhere", reading],
    ["newest", (it, { version }) => choosing(it, version)],
    ["newest", triage],
    ["newest", manyRuns],
    ["newest", (it, { v2 }) => examining(it, v2)],
    ["newest", reshaping],
    ["newest", (it, { version }) => validation(it, version)],
    ["newest", referring],
    ["newest", (it, { v2 }) => guides(it, v2)],
    ["newest", mapping],
    ["newest", (it, { version }) => instance(it, version)],
    ["newest", (it, { v2, version }) => v2 ? core(it, version) : undefined],
    ["newest", upgradingAi],
    ["newest", upgradingRequests],
    ["newest", upgradingWhole],
    ["newest", upgradingServices]
  ],
  writing: [
    ["everywhere", writes],
    ["everywhere", throughFaults],
    ["everywhere", versions],
    ["everywhere", (it, { version }) => resources(it, version)],
    ["everywhere", publishing],
    ["everywhere", publishingVersions],
    ["everywhere", writingPaths],
    ["everywhere", (it, { v2 }) => changingMany(it, v2)],
    ["everywhere", (it, { v2 }) => guarding(it, v2)],
    ["everywhere", (it, { v2 }) => syncing(it, v2)],
    ["newest", building],
    ["newest", extracting],
    ["newest", (it, { v2 }) => v2 ? balanced(it) : undefined]
  ],
  // Apart from the others: the executions of its copies are gone, and the ids after the newest that is listed taken.
  running: [
    ["everywhere", replaying],
    ["everywhere", fencing],
    ["everywhere", sendingNothing],
    ["everywhere", sendingByAddress],
    ["everywhere", (it, { v2 }) => retrying(it, v2)],
    ["newest", (it, { v2 }) => testing(it, v2)],
    ["newest", sent],
    ["newest", testingLeftovers],
    ["newest", (it, { v2 }) => v2 ? demonstrating(it) : undefined]
  ],
  proving: [
    ["newest", proving],
    ["newest", provingOthers],
    ["newest", provingCallers],
    ["newest", (it, { v2 }) => drilling(it, v2)],
    ["newest", cases]
  ]
}

/** The capabilities of one n8n. */
type Part = "reading" | "writing" | "running" | "proving"

/** Tests parts on each release of a major version that is asked for; on an n8n elsewhere, one file tests all of them. */
export const suite = (major: Major, ...asked: ReadonlyArray<Part>) => {
  always("N8N_MCP_VERSIONS names whole versions", () => assert.deepStrictEqual(notTestable, []))
  const all = ["reading", "writing", "running", "proving"] as const
  const wanted = elsewhere.named === undefined ? asked : asked.includes("reading") ? all : []
  for (const version of wanted.length === 0 ? [] : ofMajor(major)) {
    const release = { version, v2: major === "2", drafts: N8nClient.writesDrafts(version) }
    layer(everything(version), { timeout: "15 minutes", excludeTestServices: true })(`n8n ${version}`, (it) => {
      for (const [on, add] of wanted.flatMap((part) => parts[part])) {
        if (on === "everywhere" || isWhole(version)) add(it, release)
      }
    })
  }
}
