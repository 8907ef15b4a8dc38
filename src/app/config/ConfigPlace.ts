/** Places of the configuration that `init` writes and every command finds. Imports nothing of ours: starts are lean. */
import { statSync } from "node:fs"
import { homedir } from "node:os"
import { dirname, isAbsolute, join, resolve } from "node:path"

type Env = { readonly [name: string]: string | undefined }

export const projectFile = ".n8n-mcp.json"

/** Configuration of this user, for every folder. */
export const userFile = (env: Env): string => {
  const folder = env["XDG_CONFIG_HOME"] ?? ""
  const root = isAbsolute(folder) ? folder : join(env["HOME"] || homedir(), ".config")
  return join(root, "effect-n8n-mcp", "n8n.json")
}

/** Whether only the owner can read the file, which a checkout of a repository never achieves. */
const isPrivate = (mode: number) => process.platform === "win32" || (mode & 0o077) === 0

/** Configuration; an open one, which others can read or own, is not used. */
export interface Place {
  readonly file: string
  readonly isOpen: boolean
}

const placeOf = (file: string): Place | undefined => {
  try {
    const stat = statSync(file, { throwIfNoEntry: false })
    if (stat?.isFile() !== true) return undefined
    const isOwn = process.getuid === undefined || stat.uid === process.getuid()
    return { file, isOpen: !isOwn || !isPrivate(stat.mode) }
  } catch {
    return undefined
  }
}

/** Nearest configuration: of the folder or one above it, else the user's. */
export const find = (env: Env, folder = "."): Place | undefined => {
  // Windows has no modes: a repository could bring its own.
  if (process.platform !== "win32") {
    for (let at = resolve(folder);; at = dirname(at)) {
      const place = placeOf(join(at, projectFile))
      if (place !== undefined) return place
      if (at === dirname(at)) break
    }
  }
  return placeOf(userFile(env))
}
