import { assert, describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import { readFileSync } from "node:fs"
import * as N8nApi from "../../../src/testing/n8nApi/N8nApi.ts"
import { operations } from "../../../src/testing/n8nApi/validation.ts"
import * as contract from "./contract.ts"
import * as corners from "./corners.ts"
import * as credentialTypes from "./credentialTypes.ts"
import * as resources from "./resources.ts"

const subjects = [
  ["contract", contract.exchanges],
  ["resources", resources.exchanges],
  ["corners", corners.exchanges]
] as const

const recorded = (version: "1" | "2", subject: string): ReadonlyArray<contract.Exchange> =>
  JSON.parse(readFileSync(contract.recording(version, subject), "utf8"))

it("credential types of the fake are those of n8n's packages", async () => {
  await expect(credentialTypes.print()).toMatchFileSnapshot(credentialTypes.generated)
})

describe.each(["1", "2"] as const)("the fake n8n %s", (version) => {
  it("has its line in the contract for every endpoint", () => {
    const requests = subjects.flatMap(([subject]) => recorded(version, subject)).map(({ request }) =>
      request.split("?")
    )
    const uncovered = N8nApi.routes.filter(({ method, name, path }) =>
      operations[version][name] !== undefined &&
      !requests.some(([line = ""]) => {
        const [verb, to] = line.split(" ")
        return verb === method && path.test(`/api/v1${to}`)
      })
    )
    assert.deepStrictEqual(uncovered.map(({ name }) => name), [])
  })

  it.effect("says of each other operation of n8n that it has none", () =>
    Effect.gen(function*() {
      const { client } = yield* N8nApi.make({}, { version })
      const others = Object.entries(operations[version]).filter(([, operation]) => operation === null)
      assert.isAbove(others.length, 5)
      for (const [name] of others) {
        const [method = "GET", path = ""] = name.replaceAll("{}", "7").split(" ")
        const request = HttpClientRequest.make(method as "GET")(`http://n8n.test/api/v1${path}`)
        const { json, status } = yield* client.execute(request)
        assert.deepStrictEqual([status, yield* json], [501, {
          message: `this fake has no ${name}: answer it in the option \`before\`, or test it on a real n8n`
        }])
      }
    }))

  it.effect.each(subjects)(
    "answers every request of the %s as a real one did",
    ([subject, send]) =>
      Effect.gen(function*() {
        const apiKey = "the-key"
        const { client } = yield* N8nApi.make({ workflows: [], executions: [] }, { version, apiKey })
        const exchanges = yield* send({ version, apiKey, url: new URL("http://n8n.test/") }).pipe(
          Effect.provideService(HttpClient.HttpClient, client)
        )
        assert.deepStrictEqual(JSON.parse(contract.print(exchanges)), recorded(version, subject))
      })
  )
})
