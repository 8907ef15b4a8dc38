import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Arguments from "../../../src/answer/Arguments.ts"
import * as Commands from "../../../src/app/commands/tools.ts"
import * as Services from "../../../src/app/Services.ts"
import { CredentialEnv } from "../../../src/credentials/CredentialValues.ts"
import * as Demo from "../../../src/demo/Demo.ts"
import * as Protocol from "../../../src/mcp/Protocol.ts"
import * as FakeN8n from "../../../src/testing/FakeN8n.ts"
import type * as Choice from "../../../src/tools/Choice.ts"
import * as tools from "../../../src/tools/index.ts"
import * as Toolsets from "../../../src/tools/Toolsets.ts"
import { folderWith, platform } from "../../support/folders.ts"

describe("tools NAME", () => {
  it.effect.each(tools.all.map(({ name }) => [name] as const).filter(([name]) => !Commands.notInDemo.includes(name)))(
    "%s has an example that works with --demo",
    ([name]) =>
      Effect.gen(function*() {
        const tool = Protocol.find(tools.all, name)
        assert.isDefined(tool)
        const folder = yield* folderWith()
        const world = Layer.mergeAll(
          FakeN8n.layer(Demo.seed),
          Services.layer({ filesRoots: [folder], stateFolder: `${folder}/.state` }),
          Layer.succeed(CredentialEnv, new Map([["SHOP_KEY", Redacted.make("s3cret-s3cret")]]))
        )
        const { content, isError = false } = yield* Protocol.respond(tool, Commands.examples[name] ?? {}).pipe(
          Effect.provide(world)
        )
        const text = JSON.stringify(content)
        assert.isFalse(isError, `${text}: examples.json has the arguments of tools that require some`)
      }).pipe(Effect.scoped, Effect.provide(Layer.merge(platform, NodeServices.layer)))
  )

  it.effect.each(
    tools.all.filter(({ name }) => Commands.notInDemo.includes(name)).map((tool) => [tool.name, tool] as const)
  )(
    "%s, which the demo lacks something for, has an example that it accepts",
    ([name, tool]) =>
      Arguments.decoder<unknown, never>(name, tool.input as never, tool.inputSchema)(Commands.examples[name] ?? {})
        .pipe(
          Effect.map((decoded) => assert.isObject(decoded))
        )
  )

  it.each(tools.all.map((tool) => [tool.name, tool] as const))("%s is shown with every parameter", (_, tool) => {
    const parameters = Commands.parametersOf(tool)
    const lines = Commands.page(tool)
    for (const [name] of parameters) assert.isTrue(lines.some((line) => line.startsWith(`  ${name}`)), name)
    for (const line of lines.slice(0, lines.indexOf("Example"))) assert.isAtMost(line.length, 100, line)
    const required = (tool.inputSchema["required"] ?? []) as ReadonlyArray<string>
    for (const name of required) assert.match(parameters.find(([each]) => each === name)?.[1] ?? "", /Required\./)
  })

  it("of a tool that is off says which option adds it, and that option does", () => {
    const nothing: Choice.Selection = {
      toolsets: [],
      tools: [],
      excludeTools: [],
      hasFiles: true,
      credentialEnv: false
    }
    const names = (selection: Partial<Choice.Selection>) => {
      const result = Toolsets.select({ ...nothing, ...selection })
      return result._tag === "Success" ? result.success.map(({ name }) => name as string) : []
    }
    for (const { name } of tools.all.filter(({ name }) => !names({}).includes(name))) {
      const reason = Toolsets.absence(name, nothing) ?? ""
      const [, toolset] = /--toolsets (\w+)/.exec(reason) ?? []
      assert.include(names(toolset === undefined ? { credentialEnv: true } : { toolsets: [toolset] }), name, reason)
      assert.include(reason, toolset === undefined ? "--credential-env" : toolset)
    }
    assert.include(Toolsets.absence("get_execution", { excludeTools: ["get_execution"] }), "--exclude-tools")
    assert.isUndefined(Toolsets.absence("get_executio", nothing))
  })

  it("lists the operations of an edit with their fields", () => {
    const lines = Commands.page(tools.workflowEdit, 90)
    for (
      const line of [
        /^ {4}rename +node, to$/,
        /^ {4}connect, disconnect +from, to, /,
        /^ {4}set +node, path \(a\.b\[2\]; /
      ]
    ) {
      assert.isTrue(lines.some((each) => line.test(each)), String(line))
    }
    for (const line of lines.slice(0, -3)) assert.isAtMost(line.length, 90)
  })
})
