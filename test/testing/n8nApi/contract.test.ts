import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import { readFileSync } from "node:fs"
import * as N8nApi from "../../../src/testing/n8nApi/N8nApi.ts"
import * as contract from "./contract.ts"
import * as resources from "./resources.ts"

describe.each(["1", "2"] as const)("the fake n8n %s", (version) => {
  it.effect.each(
    [["contract", contract.exchanges], ["resources", resources.exchanges]] as const
  )("answers every request of the %s as a real one did", ([subject, send]) =>
    Effect.gen(function*() {
      const apiKey = "the-key"
      const { client } = yield* N8nApi.make({ workflows: [], executions: [] }, { version, apiKey })
      const exchanges = yield* send({ version, apiKey, url: new URL("http://n8n.test/") }).pipe(
        Effect.provideService(HttpClient.HttpClient, client)
      )
      const recording: unknown = JSON.parse(readFileSync(contract.recording(version, subject), "utf8"))
      assert.deepStrictEqual(JSON.parse(contract.print(exchanges)), recording)
    }))
})
