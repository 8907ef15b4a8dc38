/** Methods of MCP for skills (SEP-2640): their list, one entry, and the text of a file. */
import * as Effect from "effect/Effect"
import * as Skill from "../answer/Skill.ts"
import { sha256 } from "../base/Hash.ts"
import { str } from "../base/Json.ts"
import { shorten, text } from "./handling.ts"
import type { Request } from "./Methods.ts"
import * as Rpc from "./Rpc.ts"

/** Name of the extension among a server's capabilities; empty settings: no optional features. */
export const extension = { "io.modelcontextprotocol/skills": {} }

/** Front matter of `SKILL.md`: simple keys and values, one a line. */
const frontmatter = (markdown: string) =>
  Object.fromEntries(
    (/^---\n([^]*?)\n---\n/.exec(markdown)?.[1] ?? "").split("\n").flatMap((line) => {
      const [, key, value] = /^([\w-]+): (.*)$/.exec(line) ?? []
      return key === undefined || value === undefined ? [] : [[key, value]]
    })
  )

const entry = Effect.fnUntraced(function*(skill: Skill.Skill) {
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

export const list = (skills: ReadonlyArray<Skill.Skill>) =>
  Effect.map(Effect.forEach(skills, entry), (skills) => ({ skills }))

export const get = Effect.fnUntraced(function*(skills: ReadonlyArray<Skill.Skill>, { params }: Request) {
  const uri = yield* text(params, "uri")
  const skill = skills.find((each) => Skill.uri(each, each.files[0]) === uri)
  if (skill !== undefined) return { skill: yield* entry(skill) }
  const all = skills.map((each) => Skill.uri(each, each.files[0])).join(", ")
  return yield* Rpc.invalidParams(`No skill '${shorten(uri)}': there is ${all}`, { uri: shorten(uri) })
})

/** Entries of `resources/list`: the first file of each skill. */
export const resources = (skills: ReadonlyArray<Skill.Skill>) =>
  Effect.map(
    Effect.forEach(skills, entry),
    (entries) => entries.map(({ frontmatter, uri }) => ({ uri, ...frontmatter, mimeType: "text/markdown" }))
  )

/** Content of a file of a skill; `undefined` if the request is for another resource. */
export const read = (skills: ReadonlyArray<Skill.Skill>, { params }: Request) => {
  const uri = str(params["uri"])
  for (const skill of skills) {
    const file = skill.files.find((each) => Skill.uri(skill, each) === uri)
    if (file !== undefined) {
      return Effect.map(file.read, (text) => ({ contents: [{ uri, mimeType: "text/markdown", text }] }))
    }
  }
  return undefined
}
