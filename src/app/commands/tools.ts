/** `tools` and `call`: lists the tools, shows one with an example, and runs one. */
import * as Argument from "effect/cli/Argument"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import { text as textOf } from "node:stream/consumers"
import * as Hints from "../../answer/Hints.ts"
import type * as Tool from "../../answer/Tool.ts"
import { arr, obj, str } from "../../base/Json.ts"
import { nearest } from "../../base/Nearest.ts"
import * as Visible from "../../base/Visible.ts"
import * as Protocol from "../../mcp/Protocol.ts"
import * as all from "../../tools/index.ts"
import * as Toolsets from "../../tools/Toolsets.ts"
import * as ConfigFile from "../config/ConfigFile.ts"
import * as Options from "../config/Options.ts"
import * as Mcp from "../Mcp.ts"
import * as Layout from "../report/Layout.ts"
import * as Terminal from "../Terminal.ts"
import json from "./examples.json" with { type: "json" }
import * as flags from "./flags.ts"
import { didYouMean, maxWidth } from "./help.ts"
import excluded from "./notInDemo.json" with { type: "json" }
import { exit, name as program, offeredTools, onN8n, row } from "./row.ts"

/** Arguments by tool, which work with `--demo`. */
export const examples: { readonly [tool: string]: object } = json

/** Tools whose example needs what the demo lacks: a file, a credential, a licence, or an n8n that runs workflows. */
export const notInDemo: ReadonlyArray<string> = excluded

const isWriting = ({ annotations }: Tool.Any) => !annotations.readOnlyHint

const typeOf = (schema: unknown): string => {
  const { anyOf, const: constant, enum: choices, items, properties, type } = obj(schema) ?? {}
  if (constant !== undefined) return JSON.stringify(constant)
  if (Array.isArray(choices)) return choices.map((each) => JSON.stringify(each)).join(" | ")
  if (Array.isArray(anyOf)) return [...new Set(anyOf.map(typeOf))].join(" | ")
  if (type === "array") return `list of ${typeOf(items)}`
  if (type === "object" && properties !== undefined) {
    return `{${Object.entries(obj(properties) ?? {}).map(([name, each]) => `${name}: ${typeOf(each)}`).join(", ")}}`
  }
  return [type].flat().filter((each) => typeof each === "string").join(" | ") || "any JSON"
}

const boundsOf = (schema: unknown) => {
  const { maximum, minimum } = obj(schema) ?? {}
  return typeof minimum === "number" && typeof maximum === "number" ? `, ${minimum} to ${maximum}` : ""
}

/** Parameters of a tool: name, type, default and description. */
export const parametersOf = ({ inputSchema }: Tool.Any): ReadonlyArray<Layout.Pair> =>
  Object.entries(obj(inputSchema.properties) ?? {}).flatMap(([name, schema]) => {
    const { default: usual, description } = obj(schema) ?? {}
    const isRequired = arr(inputSchema["required"]).includes(name)
    const about = [
      `${typeOf(schema)}${boundsOf(schema)}${usual === undefined ? "" : `, default ${JSON.stringify(usual)}`}.`,
      ...(isRequired ? ["Required."] : []),
      ...(str(description) === undefined ? [] : [str(description)])
    ]
    return [[name, about.join(" ")] as const, ...operationsOf(schema)]
  })

/** Operations of a parameter that takes several kinds: the fields of each, by its name. */
const operationsOf = (schema: unknown): ReadonlyArray<Layout.Pair> =>
  (str(obj(obj(schema)?.["items"])?.["description"]) ?? "").split(/; (?![^(]*\))/).flatMap((each) => {
    const [, names, fields = ""] = /^([\w, ]+)(?:: (.*))?$/s.exec(each) ?? []
    return names === undefined ? [] : [[`  ${names}`, fields] as const]
  })

const toolsetOf = (tool: Tool.Any) =>
  Object.entries(all.toolsets).find(([, tools]: [string, ReadonlyArray<Tool.Any>]) =>
    tools.some(({ name }) => name === tool.name)
  )?.[0] ?? ""

export const page = (tool: Tool.Any, screen = Infinity): ReadonlyArray<string> => {
  const width = Math.min(screen, maxWidth)
  const toolset = toolsetOf(tool)
  const isOptional = (all.optional as ReadonlyArray<string>).includes(toolset)
  const parameters = parametersOf(tool)
  const demo = notInDemo.includes(tool.name) ? [] : ["--demo"]
  const option = isOptional
    ? ["--toolsets", toolset]
    : tool.name === "credential_create"
    ? ["--credential-env", "SHOP_KEY"]
    : []
  return [
    `${tool.name}: ${tool.description}`.split("\n").flatMap((line) => Layout.wrap(line, width)),
    "",
    `Toolset ${toolset}${isOptional ? `, off by default (--toolsets ${toolset})` : ""}; ${
      isWriting(tool) ? "changes something" : "only reads"
    }.`,
    "",
    ...(parameters.length === 0 ? ["It takes no parameters."] : ["Parameters", ...Layout.pairs(parameters, width)]),
    "",
    "Example",
    `  ${
      [program, ...demo, ...option, "call", tool.name, Layout.shellWord(JSON.stringify(examples[tool.name] ?? {}))]
        .join(" ")
    }`,
    ...(demo.length === 0
      ? ["  (use a name or id of your own)"]
      : isWriting(tool)
      ? ["  (--demo changes an n8n in memory only)"]
      : [])
  ].flat()
}

const list = (served: ReadonlyArray<Tool.Any>, width: number) =>
  Object.entries(all.toolsets).flatMap(([toolset, tools]: [string, ReadonlyArray<Tool.Any>]) => {
    const on = tools.filter(({ name }) => served.some((tool) => tool.name === name))
    const option = (all.optional as ReadonlyArray<string>).includes(toolset) ? ` (off: --toolsets ${toolset})` : ""
    return on.length === 0 ? option === "" ? [] : [`${toolset}${option}`] : [
      toolset,
      ...on.map((tool) =>
        Layout.fit(
          `  ${Layout.pad(`${tool.name}${isWriting(tool) ? " ✎" : ""}`, 29)} ${Visible.line(tool.description)}`,
          width
        )
      )
    ]
  })

/** Served tool, or the reason why it is not served. */
const find = <T extends Tool.Any>(served: ReadonlyArray<T>, name: string, options: Options.Options) => {
  const tool = Protocol.find(served, name)
  return tool === undefined
    ? Options.refuse(
      Toolsets.absence(name, options) ??
        `There is no tool '${Visible.label(name)}'.${
          didYouMean(nearest(name, all.all.map((each) => each.name), 3))
        } ${program} tools lists them`
    )
    : Effect.succeed(tool)
}

export const tools = row({
  name: "tools",
  description: "List the tools by toolset, or show one tool's parameters with an example",
  flags: { tool: flags.optionalArgument("tool", "Name of a tool: its parameters, with an example") },
  form: "lines",
  services: () => Layer.empty,
  run: Effect.fnUntraced(function*({ tool: name }, options) {
    if (name !== undefined) {
      // Tools that are off are described, too.
      const tool = all.all.find((each) => each.name === name) ?? (yield* find([], name, options))
      return { json: Protocol.listing(tool), text: (screen) => page(tool, screen.width) }
    }
    const offered = yield* offeredTools(options)
    return {
      json: offered.map(Protocol.listing),
      text: (screen) => [
        ...list(offered, screen.width),
        "",
        `✎ changes something. Parameters and an example: ${program} tools NAME`
      ]
    }
  })
})

/** JSON of an argument: itself, `@FILE`, or `-` for stdin. */
export const jsonIn = Effect.fnUntraced(function*(argument: string, example: string) {
  const [name, text] = argument === "-"
    ? ["stdin", yield* Effect.promise(() => textOf(process.stdin))]
    : argument.startsWith("@")
    ? [
      argument.slice(1),
      yield* FileSystem.FileSystem.use((fs) => fs.readFileString(argument.slice(1))).pipe(
        Effect.mapError((error) => Options.refuse(`'${argument.slice(1)}' cannot be read: ${ConfigFile.fault(error)}`))
      )
    ]
    : ["The argument", argument]
  return yield* Effect.mapError(
    ConfigFile.parseText(text),
    (reason) => Options.refuse(`${name}: ${reason}. Write JSON such as ${example}, @FILE, or - for stdin`)
  )
})

const example = "{\"id\": \"239\"}"

export const call = row({
  name: "call",
  description: "Call one tool with JSON, and print its answer",
  flags: {
    tool: flags.argument("tool", "Name of a tool"),
    args: flags.argument("arguments", "Arguments: JSON, @FILE, or - for stdin; {} by default").pipe(
      Argument.withDefault("{}")
    )
  },
  form: "none",
  services: onN8n,
  run: Effect.fnUntraced(function*({ args: text, tool: name }, options) {
    const tool = yield* find(yield* Mcp.servedTools(options), name, options)
    const args = obj(yield* jsonIn(text, example)) ??
      (yield* Options.refuse(`The arguments are not an object such as ${example}`))
    const result = yield* Protocol.respond(tool, args)
    const answer = result.content.map((block) => block.type === "text" ? block.text : "").join("\n")
    const json: unknown = result.isError === true ? { success: false, ...obj(JSON.parse(answer)) } : JSON.parse(answer)
    // For a person, indented; a program gets one line.
    yield* Terminal.print(
      Terminal.isPiped() ? result.isError === true ? JSON.stringify(json) : answer : JSON.stringify(json, null, 2)
    )
    if (result.isError !== true) return
    // Its advice is for the owner of a server.
    const isUnset = obj(obj(json)?.["context"])?.["field"] === "N8N_URL, N8N_API_KEY"
    if (isUnset) yield* Terminal.warn(`${program}: ${Hints.text({ _tag: "Configure", missing: [] }, { as: "person" })}`)
    yield* exit(1)
  })
})
