/** Skills that a server offers (MCP's extension of SEP-2640): instructions with the files that they refer to. */
import type * as Effect from "effect/Effect"

/** One file of a skill; its path starts at the skill's folder. */
export interface File {
  readonly path: string
  readonly read: Effect.Effect<string>
}

/** Skill with its files; the first is `SKILL.md`, with YAML front matter of `name` and `description`. */
export interface Skill {
  /** Lowercase letters, digits and hyphens, at most 64. */
  readonly name: string
  readonly files: readonly [File, ...ReadonlyArray<File>]
}

/** URI of a file, such as `skill://n8n/guides/loops.md`. @internal */
export const uri = ({ name }: Skill, { path }: File): string => `skill://${name}/${path}`
