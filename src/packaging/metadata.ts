/** package.json, the only source of the name, version and addresses, and the folder of the build. */
import { readFileSync, writeFileSync } from "node:fs"
import { resolve } from "node:path"
import { fileURLToPath } from "node:url"

export const root = fileURLToPath(new URL("../../", import.meta.url))

/** Folder of the build: beside `dist` until it is whole, so that what runs from `dist` misses no file. */
export const dist = resolve(root, process.env["N8N_MCP_DIST"] ?? "dist")

interface Metadata {
  readonly name: string
  readonly mcpName: string
  readonly version: string
  readonly description: string
  readonly keywords: ReadonlyArray<string>
  readonly license: string
  readonly author: string
  readonly homepage: string
  readonly bugs: { readonly url: string }
  readonly repository: { readonly type: string; readonly url: string }
  /** Sources of each import path; `null` for internal ones. */
  readonly exports: Readonly<Record<string, string | null>>
  readonly bin: Readonly<Record<string, string>>
  readonly engines: { readonly node: string }
}

export const metadata: Metadata = JSON.parse(readFileSync(`${root}package.json`, "utf8"))

/** npm package of the command, without the library. */
export const commandPackage = `${metadata.name}-cli`

export const repositoryUrl = metadata.repository.url.replace(/^git\+/, "").replace(/\.git$/, "")

export const title = "n8n"

export const writeJson = (file: string, value: unknown) =>
  writeFileSync(file, `${JSON.stringify(value, undefined, 2)}\n`)
