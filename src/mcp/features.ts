/** Methods of MCP for prompts, completions, resources, pages of tools (MCP Apps) and skills (SEP-2640). */
import * as Effect from "effect/Effect"
import * as Struct from "effect/Struct"
import * as App from "../answer/App.ts"
import * as Envelope from "../answer/Envelope.ts"
import * as Hints from "../answer/Hints.ts"
import type * as Prompt from "../answer/Prompt.ts"
import * as Resource from "../answer/Resource.ts"
import * as Skill from "../answer/Skill.ts"
import * as Deadline from "../base/Deadline.ts"
import * as Errors from "../base/Errors.ts"
import { sha256 } from "../base/Hash.ts"
import { defined, type Obj, obj, str } from "../base/Json.ts"
import { suggestion } from "../base/Nearest.ts"
import * as Visible from "../base/Visible.ts"
import type { Request } from "./Methods.ts"
import * as Rpc from "./Rpc.ts"

const maxNameChars = 100

/** Name sent by the caller, escaped and shortened for a message. */
export const shorten = (name: string): string =>
  Visible.text(name.length > maxNameChars ? `${name.slice(0, maxNameChars)}…` : name)

/** Converts a failure to a protocol error with its text, for methods without an error envelope. */
export const rpcError = (error: Errors.Failure, code: number, data?: object): Rpc.RpcError => {
  const { hint = "", message } = Envelope.fromError(error)
  return new Rpc.RpcError({
    code: error._tag === "ApiError" || Errors.isServerFault(error) ? Rpc.codes.internalError : code,
    message: Visible.text(Hints.followed(message, hint)),
    data
  })
}

const orInvalid = <A, R>(effect: Effect.Effect<A, Errors.Failure, R>, data: object) =>
  Effect.mapError(effect, (error) => rpcError(error, Rpc.codes.invalidParams, data))

export const text = (params: Obj, name: string): Effect.Effect<string, Rpc.RpcError> => {
  const value = params[name]
  return typeof value === "string" ? Effect.succeed(value) : Rpc.invalidParams(`params.${name} is a string`)
}

const findPrompt = <R>(prompts: ReadonlyArray<Prompt.Prompt<R>>, name: string) => {
  const prompt = prompts.find((prompt) => prompt.name === name)
  if (prompt !== undefined) return Effect.succeed(prompt)
  const names = prompts.map((prompt) => prompt.name)
  return Rpc.invalidParams(`There is no prompt '${shorten(name)}'. ${suggestion(shorten(name), names)}`)
}

const render = (prompt: Prompt.Prompt, values: Obj) => {
  const args: Record<string, string> = {}
  for (const [name, value] of Object.entries(values)) {
    if (typeof value !== "string") {
      return Rpc.invalidParams(`Argument '${shorten(name)}' of ${prompt.name} is a string`)
    }
    if (value.trim() !== "") args[name] = value
  }
  const missing = prompt.arguments.find(({ name, required }) => required && args[name] === undefined)
  if (missing !== undefined) return Rpc.invalidParams(`${prompt.name} needs ${missing.name}: ${missing.description}`)
  return Effect.succeed({
    description: prompt.description,
    messages: [{ role: "user" as const, content: { type: "text" as const, text: prompt.text(args) } }]
  })
}

export const listPrompts = (prompts: ReadonlyArray<Prompt.Prompt>) => ({
  prompts: prompts.map((prompt) => ({
    ...Struct.pick(prompt, ["name", "title", "description"]),
    arguments: prompt.arguments.map(Struct.pick(["name", "description", "required"]))
  }))
})

export const getPrompt = Effect.fnUntraced(function*<R>(prompts: ReadonlyArray<Prompt.Prompt<R>>, { params }: Request) {
  const prompt = yield* findPrompt(prompts, yield* text(params, "name"))
  return yield* render(prompt, obj(params["arguments"]) ?? {})
})

const maxCompletions = 100

/** `completion/complete`; after a failure, the list is empty. */
export const complete = Effect.fnUntraced(function*<R>(
  prompts: ReadonlyArray<Prompt.Prompt<R>>,
  resources: ReadonlyArray<Resource.Resource<R>>,
  { params }: Request
) {
  const argument = obj(params["argument"]) ?? {}
  const ref = obj(params["ref"]) ?? {}
  const name = yield* text(argument, "name")
  const value = yield* text(argument, "value")
  const complete = ref["type"] === "ref/prompt"
    ? (yield* findPrompt(prompts, yield* text(ref, "name"))).arguments.find((each) => each.name === name)?.complete
    : resources.find(({ uriTemplate }) => uriTemplate === ref["uri"])?.complete
  const completions = complete?.(value) ?? Effect.succeed<ReadonlyArray<string>>([])
  const values = yield* Deadline.bounded(completions, false).pipe(
    Effect.catchCause((cause) => Effect.as(Effect.logDebug("no completions", cause), []))
  )
  return {
    completion: {
      values: values.slice(0, maxCompletions),
      total: values.length,
      hasMore: values.length > maxCompletions
    }
  }
})

const mimeTypeOf = ({ mimeType = "application/json" }: Resource.Resource) => mimeType

const listedResources = (resource: Resource.Resource, entries: ReadonlyArray<Resource.Entry>) =>
  entries.map(({ description, id, title }) =>
    defined({ uri: Resource.uri(resource, id), name: title, description, mimeType: mimeTypeOf(resource) })
  )

/** `resources/list`: fixed resources, then those of the first listable kind, if n8n answers. */
export const listResources = <R>(resources: ReadonlyArray<Resource.Resource<R>>, { params }: Request) => {
  const cursor = str(params["cursor"])
  const fixed = cursor === undefined ? resources.flatMap((each) => listedResources(each, each.entries ?? [])) : []
  const listable = resources.find((resource) => resource.list !== undefined)
  if (listable?.list === undefined) return Effect.succeed({ resources: fixed })
  return Deadline.bounded(listable.list(cursor), false).pipe(
    Effect.map(({ entries, nextCursor }) =>
      defined({ resources: [...fixed, ...listedResources(listable, entries)], nextCursor })
    ),
    Effect.catch((error) => Effect.as(Effect.logDebug(error.message), { resources: fixed }))
  )
}

export const resourceTemplates = (resources: ReadonlyArray<Resource.Resource>) => ({
  resourceTemplates: resources.map((resource) => ({
    ...Struct.pick(resource, ["name", "title", "description", "uriTemplate"]),
    mimeType: mimeTypeOf(resource)
  }))
})

const readPage = (app: App.App) =>
  Effect.map(orInvalid(app.html, { uri: app.uri }), (text) => ({
    contents: [{
      uri: app.uri,
      mimeType: App.mimeType,
      text,
      // Without domains the page may not connect to anything.
      _meta: { ui: { csp: {}, prefersBorder: true } }
    }]
  }))

export const readResource = Effect.fnUntraced(function*<R>(
  resources: ReadonlyArray<Resource.Resource<R>>,
  apps: ReadonlyArray<App.App>,
  { params }: Request
) {
  const uri = yield* text(params, "uri")
  const app = apps.find((each) => each.uri === uri)
  if (app !== undefined) return yield* readPage(app)
  const match = Resource.find(resources, uri)
  if (match === undefined) {
    const templates = resources.map(({ uriTemplate }) => uriTemplate).join(", ")
    const name = shorten(uri)
    return yield* Rpc.invalidParams(`No resource '${name}': there are ${templates}`, { uri: name })
  }
  const body = yield* orInvalid(match.resource.read(match.id), { uri })
  return { contents: [{ uri, mimeType: mimeTypeOf(match.resource), text: body }] }
})

/** Declaration of the extension among a server's capabilities, without optional features. */
export const skillExtension = { "io.modelcontextprotocol/skills": {} }

/** Front matter of `SKILL.md`, which has one simple key and value in a line. */
const frontmatter = (markdown: string) =>
  Object.fromEntries(
    (/^---\n([^]*?)\n---\n/.exec(markdown)?.[1] ?? "").split("\n").flatMap((line) => {
      const [, key, value] = /^([\w-]+): (.*)$/.exec(line) ?? []
      return key === undefined || value === undefined ? [] : [[key, value]]
    })
  )

const skillEntry = Effect.fnUntraced(function*(skill: Skill.Skill) {
  const files = yield* Effect.forEach(skill.files, (file) =>
    Effect.map(file.read, (text) => ({
      text,
      resource: { uri: Skill.uri(skill, file), digest: `sha256:${sha256(text)}`, size: Buffer.byteLength(text) }
    })))
  const [manifest] = files
  return {
    uri: Skill.uri(skill, skill.files[0]),
    frontmatter: frontmatter(manifest?.text ?? ""),
    resources: files.map(({ resource }) => resource)
  }
})

export const listSkills = (skills: ReadonlyArray<Skill.Skill>) =>
  Effect.map(Effect.forEach(skills, skillEntry), (skills) => ({ skills }))

export const getSkill = Effect.fnUntraced(function*(skills: ReadonlyArray<Skill.Skill>, { params }: Request) {
  const uri = yield* text(params, "uri")
  const skill = skills.find((each) => Skill.uri(each, each.files[0]) === uri)
  if (skill !== undefined) return { skill: yield* skillEntry(skill) }
  const all = skills.map((each) => Skill.uri(each, each.files[0])).join(", ")
  return yield* Rpc.invalidParams(`No skill '${shorten(uri)}': there is ${all}`, { uri: shorten(uri) })
})

/** Entries of `resources/list`: the first file of each skill. */
export const skillResources = (skills: ReadonlyArray<Skill.Skill>) =>
  Effect.map(
    Effect.forEach(skills, skillEntry),
    (entries) => entries.map(({ frontmatter, uri }) => ({ uri, ...frontmatter, mimeType: "text/markdown" }))
  )

/** Content of a file of a skill; `undefined` if the request is for another resource. */
export const readSkill = (skills: ReadonlyArray<Skill.Skill>, { params }: Request) => {
  const uri = str(params["uri"])
  const [file] = skills.flatMap((skill) => skill.files.filter((each) => Skill.uri(skill, each) === uri))
  return file && Effect.map(file.read, (text) => ({ contents: [{ uri, mimeType: "text/markdown", text }] }))
}
