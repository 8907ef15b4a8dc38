/** Skill of this server: how to debug, build, change and test workflows, with the guides. */
import * as Effect from "effect/Effect"
import { readFile } from "node:fs/promises"
import type * as Skill from "../answer/Skill.ts"
import * as Guides from "./Guides.ts"

const name = "n8n"

/** Reads the skill of the plugin, which the built program has as a module that is loaded only now. */
const manifest = Effect.promise(async () => {
  const text: string = import.meta.url.endsWith(".ts")
    ? await readFile(new URL(`../../.claude-plugin/skills/${name}/SKILL.md`, import.meta.url), "utf8")
    : (await import(`../../.claude-plugin/skills/${name}/SKILL.md`)).default
  return text
})

/** All skills: the one that the plugin installs, and the guides as its files. */
export const all: ReadonlyArray<Skill.Skill> = [{
  name,
  files: [
    { path: "SKILL.md", read: manifest },
    ...Guides.all.map(({ topic }) => ({ path: `guides/${topic}.md`, read: Guides.read(topic) }))
  ]
}]
