/**
 * Places of the configuration that `init` writes and every command finds.
 *
 * A project's file can come with a repository, and could send the user's variables elsewhere. It is used only as `init`
 * wrote it: its path and digest are recorded beside the user's own configuration. Imports nothing heavy: starts are lean.
 */
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs"
import { homedir } from "node:os"
import { basename, dirname, isAbsolute, join, resolve } from "node:path"
import { sha256 } from "../../base/Hash.ts"
import { type Obj, obj } from "../../base/Json.ts"

type Env = { readonly [name: string]: string | undefined }

export const projectFile = ".n8n-mcp.json"

const folderOf = (env: Env): string => {
  const folder = env["XDG_CONFIG_HOME"] ?? ""
  return join(isAbsolute(folder) ? folder : join(env["HOME"] || homedir(), ".config"), "effect-n8n-mcp")
}

/** Configuration of this user, for every folder. */
export const userFile = (env: Env): string => join(folderOf(env), "n8n.json")

/** Digests by paths of the projects' files that `init` wrote. */
export const recordsFile = (env: Env): string => join(folderOf(env), "projects.json")

/** Configuration; its text, if it was read, so that what is used is what was examined. */
export interface Place {
  readonly file: string
  readonly text?: string
}

interface Refusal {
  readonly file: string
  readonly objection: string
}

/** Configuration that is used, and nearer ones that are not. */
export interface Found {
  readonly used: Place | undefined
  readonly refused: ReadonlyArray<Refusal>
}

/** A folder and those above it, the nearest first. */
const upward = (folder: string): ReadonlyArray<string> =>
  folder === dirname(folder) ? [folder] : [folder, ...upward(dirname(folder))]

/** Whether other users can read the file or own it. */
const isOpen = (file: string) => {
  if (process.getuid === undefined) return false
  const { mode, uid } = statSync(file)
  return uid !== process.getuid() || (mode & 0o077) !== 0
}

/** Records; those that other users could read or change are not believed. */
export const records = (env: Env): Obj => {
  try {
    const file = recordsFile(env)
    return isOpen(file) ? {} : obj(JSON.parse(readFileSync(file, "utf8"))) ?? {}
  } catch {
    return {}
  }
}

/** Name of a project's file in the records, without links. */
export const recordName = (file: string): string => join(realpathSync(dirname(file)), basename(file))

/** Whether git has the file in its index, or cannot say so. */
const isTracked = (file: string): boolean => {
  if (!upward(dirname(file)).some((each) => existsSync(join(each, ".git")))) return false
  // A hook's variables would lead to another repository.
  const env = Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_"))
  try {
    // Few starts need it, and each import takes time.
    const { execFileSync } = process.getBuiltinModule("node:child_process")
    execFileSync("git", ["-c", "core.fsmonitor=false", "ls-files", "--error-unmatch", "--", basename(file)], {
      cwd: dirname(file),
      env: { ...Object.fromEntries(env), GIT_NO_LAZY_FETCH: "1" },
      stdio: "ignore"
    })
    return true
  } catch (error) {
    return obj(error)?.["status"] !== 1
  }
}

const advice =
  "it could send your variables elsewhere. If it is yours, rename it and use it with --config, or remove it and run init --project again"

/** Reads a file as far as it may be used; `digest` is the one that its text must have. */
const read = (file: string, digest?: unknown): Place | Refusal => {
  const refuse = (objection: string) => ({ file, objection })
  try {
    if (isOpen(file)) return refuse("other users could read or change it: chmod 600 it if it is yours")
    const text = readFileSync(file, "utf8")
    if (digest === undefined) return { file, text }
    if (digest !== sha256(text)) return refuse(`it has changed since init wrote it, and ${advice}`)
    return isTracked(file)
      ? refuse("git tracks it (or cannot say), so others could change it: git rm --cached it if it is yours")
      : { file, text }
  } catch {
    return refuse("it cannot be read")
  }
}

const isFile = (file: string) => {
  try {
    return statSync(file).isFile()
  } catch {
    return false
  }
}

/** Digest of the file as `init` wrote it. */
const digestOf = (env: Env, file: string) => isFile(file) ? records(env)[recordName(file)] : undefined

/** Nearest configuration that may be used: of the folder, of one above it, or the user's. */
export const find = (env: Env, folder = "."): Found => {
  // Windows has no modes that would keep others from the key.
  const folders = process.platform === "win32" ? [] : upward(resolve(folder))
  const refused: Array<Refusal> = []
  for (const file of [...folders.map((each) => join(each, projectFile)), userFile(env)].filter(isFile)) {
    const digest = digestOf(env, file)
    const place = digest !== undefined || file === userFile(env)
      ? read(file, digest)
      : { file, objection: `init did not write it here, and ${advice}` }
    if (!("objection" in place)) return { used: place, refused }
    refused.push(place)
  }
  return { used: undefined, refused }
}

/** Configuration that a person names; what `init` wrote into a project is also here used only as it was. */
export const named = (env: Env, file: string): Found => {
  const digest = digestOf(env, file)
  const place = digest === undefined ? { file } : read(file, digest)
  return "objection" in place ? { used: undefined, refused: [place] } : { used: place, refused: [] }
}

/** Options of a start that name an n8n. */
export interface Choice {
  readonly demo: boolean
  readonly config: string | undefined
  readonly profile: string | undefined
  /** Whether an address or a key is set. */
  readonly hasAddress: boolean
}

/** Configuration of a start: none for the demo, that of `--config`, else the nearest if a profile or no address is named. */
export const choose = (env: Env, { config, demo, hasAddress, profile }: Choice): Found => {
  if (demo || config === undefined && profile === undefined && hasAddress) return { used: undefined, refused: [] }
  return config === undefined ? find(env) : named(env, config)
}
