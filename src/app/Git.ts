/** Changes of files according to git. */
import * as Effect from "effect/Effect"
import { execFile } from "node:child_process"
import * as Options from "./config/Options.ts"

const maxOutput = 64_000_000

/** Disables programs named by a repository's own configuration. */
const harmless = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]

const git = (folder: string, ref: string, ...args: ReadonlyArray<string>) =>
  Effect.callback<string, Options.InvalidOption>((resume) => {
    const options = { cwd: folder, maxBuffer: maxOutput }
    const child = execFile("git", [...harmless, ...args], options, (error, stdout, stderr) => {
      const why = stderr.trim().split("\n")[0]?.replace(/^fatal: /, "") || error?.message
      resume(
        error === null
          ? Effect.succeed(stdout)
          : Effect.fail(Options.refuse(`--from-git '${ref}': git cannot list the changes since it: ${why}`))
      )
    })
    return Effect.sync(() => void child.kill())
  })

/** Paths of files that differ from a commit, relative to the folder; includes uncommitted, new and deleted files. */
export const changedSince = Effect.fnUntraced(function*(folder: string, ref: string) {
  const commit = (yield* git(folder, ref, "rev-parse", "--verify", "--end-of-options", `${ref}^{commit}`)).trim()
  const [tracked, untracked] = yield* Effect.all([
    git(folder, ref, "diff", "--name-only", "--no-renames", "--no-ext-diff", "--relative", "-z", commit, "--", "."),
    git(folder, ref, "ls-files", "--others", "--exclude-standard", "-z", "--", ".")
  ])
  return [...tracked.split("\0"), ...untracked.split("\0")].filter((file) => file !== "")
})
