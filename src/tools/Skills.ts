/** Skill of this server: how to debug, build, change and test workflows, with the guides. */
import type * as Skill from "../answer/Skill.ts"
import * as Guides from "./Guides.ts"

const name = "n8n"

const manifest = Guides.markdown(
  `../../.claude-plugin/skills/${name}/SKILL.md`,
  () => import(`../../.claude-plugin/skills/${name}/SKILL.md`)
)

/** All skills: the skill that the plugin installs, with the guides as its files. */
export const all: ReadonlyArray<Skill.Skill> = [{
  name,
  files: [
    { path: "SKILL.md", read: manifest },
    ...Guides.all.map(({ topic }) => ({ path: `guides/${topic}.md`, read: Guides.read(topic) }))
  ]
}]
