import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Profiles from "../../../src/app/config/Profiles.ts"
import { sha256 } from "../../../src/base/Hash.ts"
import { folderWith, platform } from "../../support/folders.ts"

const load = (text: string, env: Readonly<Record<string, string>> = {}) =>
  Effect.flatMap(folderWith({ "n8n.json": text }), (folder) => Profiles.load({ file: `${folder}/n8n.json` }, env)).pipe(
    Effect.provide(platform)
  )

const profile = (more: object = {}) => ({ name: "prod", url: "https://n8n.example.com", apiKey: "k", ...more })

describe("Profiles", () => {
  it.effect("keys and tokens come from the file or from variables; comments and a trailing comma are allowed", () =>
    Effect.gen(function*() {
      const [prod, staging] = yield* load(
        `{
          // the real one
          "profiles": [
            { "name": "prod", "url": "https://n8n.example.com", "apiKeyEnv": "PROD_KEY", "readOnly": true, "tokensEnv": "PROD_TOKENS" },
            { "name": "staging", "url": "http://localhost:5678", "apiKey": "k2", "tokens": ["t3"], "webhookUrl": "http://localhost:9" },
          ]
        }`,
        { PROD_KEY: "k1", PROD_TOKENS: "t1, t2" }
      )
      assert.deepStrictEqual([prod?.readOnly, staging?.readOnly], [true, false])
      assert.strictEqual(Redacted.value(prod?.apiKey ?? Redacted.make("")), "k1")
      assert.deepStrictEqual(prod?.tokens.map(Redacted.value), ["t1", "t2"])
      assert.deepStrictEqual(staging?.tokens.map(Redacted.value), ["t3"])
      assert.strictEqual(staging?.webhookUrl, "http://localhost:9")
    }))

  const one = (entry: unknown) => JSON.stringify({ profiles: [entry] })

  it.effect.each<readonly [string, string, RegExp]>([
    ["no JSON", "{\n\"profiles\": [}", /not JSON: a value is missing in line 2, column 14\b/],
    ["two commas", "{\"a\": 1 , , \"b\": 2}", /not JSON: one comma too many in line 1, column 11\b/],
    ["no object", "[]", /arguments must be a JSON object|object/],
    ["no profiles", "{}", /profiles/],
    ["none", "{\"profiles\": []}", /profiles/],
    [
      "an unknown key",
      one(profile({ readonly: true })),
      /profile 1: Unknown parameter 'readonly'.*Did you mean 'readOnly'/
    ],
    ["no url", one({ name: "prod", apiKey: "k" }), /profile 1: .*url/],
    ["no key", one({ name: "prod", url: "http://x" }), /profile 1 'prod': one of apiKey and apiKeyEnv/],
    ["two keys", one(profile({ apiKeyEnv: "KEY" })), /profile 1 'prod': one of apiKey and apiKeyEnv/],
    [
      "a variable that is not set",
      one({ name: "prod", url: "http://x", apiKeyEnv: "KEY" }),
      /profile 1 'prod': KEY is not set/
    ],
    ["tokens that are not set", one(profile({ tokensEnv: "TOKENS" })), /profile 1 'prod': TOKENS is not set/],
    ["an empty folder", one(profile({ filesRoot: "" })), /profile 1: .*filesRoot/],
    ["two states", one(profile({ state: "/s", stateEnv: "STATE" })), /profile 1 'prod': one of state and stateEnv/],
    ["a state that is not set", one(profile({ stateEnv: "STATE" })), /profile 1 'prod': STATE is not set/],
    [
      "another database",
      one(profile({ state: "mysql://n8n:hunter2@host/db" })),
      /profile 1 'prod': state is neither a folder nor postgres:\/\/user(?!.*hunter2)/
    ],
    ["two of a name", JSON.stringify({ profiles: [profile(), profile()] }), /two profiles are named 'prod'/]
  ])("refuses %s", ([, text, message]) =>
    Effect.gen(function*() {
      const refused = yield* Effect.flip(load(text))
      assert.match(refused.message, /n8n\.json: /)
      assert.match(refused.message, message)
    }))

  it.effect("relative folders start at the file's folder, and the state folder may come from a variable", () =>
    Effect.gen(function*() {
      const url = "postgres://n8n:hunter2@db.example.com/n8n"
      const text = JSON.stringify({
        profiles: [
          profile({ name: "a", filesRoot: "a/files", state: "a/state" }),
          profile({ name: "b", filesRoot: ["/b", "b2"], stateEnv: "B_STATE" }),
          profile({ name: "c", filesRoot: [] }),
          profile({ name: "d" })
        ]
      })
      const folder = yield* folderWith({ "n8n.json": text })
      const [a, b, c, d] = yield* Profiles.load({ file: `${folder}/n8n.json` }, { B_STATE: url })
      assert.deepStrictEqual(
        [a, b, c, d].map((each) => each?.filesRoots),
        [[`${folder}/a/files`], ["/b", `${folder}/b2`], [], undefined]
      )
      assert.deepStrictEqual(
        [a, b, c, d].map((each) => each?.state?._tag === "Database" ? each.state.key : each?.state?.folder),
        [`${folder}/a/state`, sha256(url), undefined, undefined]
      )
      assert.notInclude(`${JSON.stringify(b)} ${String(b?.state)}`, "hunter2")
    }).pipe(Effect.provide(platform)))

  it.effect("a file that is not there", () =>
    Effect.gen(function*() {
      const refused = yield* Effect.flip(
        Profiles.load({ file: "/nowhere/n8n.json" }, {}).pipe(Effect.provide(platform))
      )
      assert.match(refused.message, /\/nowhere\/n8n\.json/)
    }))

  it.effect("picks by name; a single profile needs no name", () =>
    Effect.gen(function*() {
      const both = yield* load(JSON.stringify({ profiles: [profile(), profile({ name: "staging" })] }))
      assert.strictEqual((yield* Profiles.pick(both, "staging"))?.name, "staging")
      assert.isUndefined(yield* Profiles.pick(both, undefined))
      assert.strictEqual((yield* Profiles.pick(both.slice(0, 1), undefined))?.name, "prod")
      assert.match((yield* Effect.flip(Profiles.pick(both, "stagin"))).message, /Did you mean 'staging'/)
    }))
})
