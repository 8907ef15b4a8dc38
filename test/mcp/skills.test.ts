import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { z } from "zod"
import * as Services from "../../src/app/Services.ts"
import { sha256 } from "../../src/base/Hash.ts"
import * as McpServer from "../../src/mcp/McpServer.ts"
import * as FakeN8n from "../../src/testing/FakeN8n.ts"
import * as tools from "../../src/tools/index.ts"
import * as skills from "../../src/tools/Skills.ts"
import { connected } from "../support/connected.ts"

const n8n = Layer.merge(FakeN8n.layer({ workflows: [], executions: [] }), Services.layerMemory)

const entry = z.object({
  uri: z.string(),
  frontmatter: z.record(z.string(), z.string()),
  resources: z.array(z.object({ uri: z.string(), digest: z.string(), size: z.number() }))
})

const open = connected(
  McpServer.serve({ name: "some", version: "1", tools: [tools.nodeGet], skills: skills.all }).pipe(Effect.provide(n8n))
)

describe("skills of a server", () => {
  it.live("are listed with the digest and size of each file, which can be read", () =>
    Effect.gen(function*() {
      const client = yield* open
      const request = (method: string, params: object, result: z.ZodType) =>
        Effect.promise(() => client.request({ method, params } as never, result as never))
      const { skills: [skill] } = (yield* request("skills/list", {}, z.object({ skills: z.array(entry) }))) as {
        readonly skills: ReadonlyArray<z.infer<typeof entry>>
      }
      assert.isDefined(skill)
      assert.strictEqual(skill.uri, "skill://n8n/SKILL.md")
      assert.strictEqual(skill.frontmatter["name"], "n8n")
      assert.match(skill.frontmatter["description"] ?? "", /^Debug, build/)
      assert.isAbove(skill.resources.length, 5)
      for (const { digest, size, uri } of skill.resources) {
        const { contents: [file] } = yield* Effect.promise(() => client.readResource({ uri }))
        const text = file !== undefined && "text" in file ? file.text : ""
        assert.strictEqual(file?.mimeType, "text/markdown")
        assert.deepStrictEqual([digest, size], [`sha256:${sha256(text)}`, Buffer.byteLength(text)])
      }
      const one = yield* request("skills/get", { uri: skill.uri }, z.object({ skill: entry }))
      assert.deepStrictEqual(one, { skill })
      assert.deepStrictEqual(client.getServerCapabilities()?.["extensions"], { "io.modelcontextprotocol/skills": {} })
    }))

  it.live("that do not exist are refused with the ones that do", () =>
    Effect.gen(function*() {
      const client = yield* open
      const failure = yield* Effect.flip(Effect.tryPromise({
        try: () => client.request({ method: "skills/get", params: { uri: "skill://x/SKILL.md" } } as never, z.any()),
        catch: String
      }))
      assert.include(failure, "skill://n8n/SKILL.md")
      assert.include(failure, "-32602")
    }))
})
