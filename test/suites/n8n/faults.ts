/** Writes through faults, on a real n8n. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Services from "../../../src/app/Services.ts"
import * as N8nClient from "../../../src/n8n/N8nClient.ts"
import type * as N8nApi from "../../../src/testing/n8nApi/N8nApi.ts"
import * as faults from "../../support/faults.ts"
import { playIn } from "../../tools/sequences.ts"
import { RealN8n } from "./RealN8n.ts"
import * as scenarios from "./scenarios.ts"

/** Those that do not take half a minute of everybody's time. */
const kinds = faults.all.filter((kind) => kind !== "is silent" && kind !== "drips")

const all = Effect.map(
  scenarios.allWorkflows,
  (all) => all as unknown as ReadonlyArray<N8nApi.Workflow>
)

/** The seeds are played one after another on one n8n; without drafts it behaves as 1.x. */
export const throughFaults = (version: "1" | "2", seeds: ReadonlyArray<number>, steps: number) =>
  Effect.gen(function*() {
    const n8n = yield* RealN8n
    const { apiKey, url } = n8n
    const listed = Effect.orDie(Effect.provideService(all, RealN8n, n8n))
    const fs = yield* FileSystem.FileSystem
    const told: Array<string> = []
    for (const seed of seeds) {
      const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
      const state = yield* fs.makeTempDirectoryScoped()
      const others = new Set((yield* listed).map(({ id }) => id))
      const moment = {
        current: undefined as faults.Faults | undefined,
        next: (seed: number) => faults.make(seed, { kinds, longestPause: 1 })
      }
      const http = Layer.effect(
        HttpClient.HttpClient,
        Effect.map(HttpClient.HttpClient, (client) => faults.switched(client, () => moment.current))
      ).pipe(Layer.provide(FetchHttpClient.layer))
      const played = yield* playIn(seed, steps, {
        version,
        folder,
        state,
        workflows: Effect.map(listed, (list) => list.filter(({ id }) => !others.has(id))),
        timed: Effect.fnUntraced(function*(effect) {
          const start = yield* Clock.currentTimeMillis
          const exit = yield* Effect.exit(effect)
          return { exit, seconds: ((yield* Clock.currentTimeMillis) - start) / 1000 }
        })
      }, moment).pipe(
        Effect.provide(
          Layer.merge(
            N8nClient.layer({ url, apiKey }).pipe(Layer.provide(http)),
            Layer.fresh(Services.layer({ filesRoots: [folder], stateFolder: state }))
          )
        )
      )
      told.push(...played.told)
    }
    assert.isTrue(told.some((line) => line.endsWith("Failure")))
    assert.isTrue(told.some((line) => line.endsWith("Success")))
    return told
  }).pipe(Effect.provide(NodeServices.layer))
