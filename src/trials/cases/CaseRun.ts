/** Files of test cases, and their runs. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import * as Result from "effect/Result"
import { randomBytes } from "node:crypto"
import * as AtomicFile from "../../base/AtomicFile.ts"
import * as Errors from "../../base/Errors.ts"
import { obj } from "../../base/Json.ts"
import * as JsonText from "../../base/JsonText.ts"
import * as Nearest from "../../base/Nearest.ts"
import * as ExecutionSummary from "../../executions/ExecutionSummary.ts"
import { isIgnored } from "../../workflows/files/WorkflowFiles.ts"
import * as Reference from "../../workflows/Reference.ts"
import * as Workflows from "../../workflows/Workflows.ts"
import * as WorkflowTesting from "../WorkflowTesting.ts"
import * as TestCase from "./TestCase.ts"

export const suffix = ".test.json"

const refuse = (reason: string, hint: string, errorDetails?: string) =>
  new Errors.ValidationError({ reason, hint, ...(errorDetails === undefined ? {} : { errorDetails }) })

const unreadable = (path: string) => ({ reason }: PlatformError.PlatformError) =>
  reason._tag === "NotFound"
    ? refuse(`There is no file or folder '${path}'`, "Pass folders or files of cases.")
    : refuse(`'${path}' cannot be read`, "Check its permissions.", reason.message)

/** Files of cases in and below a folder, without `node_modules`, dot folders and links to folders. */
const below = (folder: string): Effect.Effect<
  ReadonlyArray<string>,
  PlatformError.PlatformError,
  FileSystem.FileSystem | Path.Path
> =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const names = (yield* fs.readDirectory(folder)).filter((name) => !isIgnored(name)).toSorted()
    const files = yield* Effect.forEach(names, (name) => {
      const file = path.join(folder, name)
      if (name.endsWith(suffix)) return Effect.succeed([file])
      return Effect.flatMap(fs.lstat(file), ({ type }) => type === "Directory" ? below(file) : Effect.succeed([]))
    })
    return files.flat()
  })

interface Place {
  readonly folder: string
  readonly files: ReadonlyArray<string>
}

/** Cases at these paths, which are folders or files, without duplicates. */
export const find = Effect.fn("CaseFiles.find")(function*(paths: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const places = yield* Effect.forEach(paths, (requested) => {
    const at = path.resolve(requested)
    return fs.stat(at).pipe(
      Effect.flatMap(({ type }) =>
        type === "Directory"
          ? Effect.map(below(at), (files): Place => ({ folder: at, files }))
          : Effect.succeed<Place>({ folder: path.dirname(at), files: [at] })
      ),
      Effect.mapError(unreadable(requested))
    )
  })
  return {
    folders: [...new Set(places.map(({ folder }) => folder))],
    files: [...new Set(places.flatMap(({ files }) => files))]
  }
})

interface CaseFile {
  readonly path: string
  readonly text: string
  readonly value: object
  readonly testCase: TestCase.TestCase
}

const notCase = (faults: ReadonlyArray<TestCase.Fault>) =>
  new Errors.ValidationError({
    reason: faults.map(({ message, path }) => path === "" ? message : `${path}: ${message}`).join("\n"),
    field: faults[0]?.path ?? "",
    hint: "Nothing ran."
  })

/** Reads a case; fails with all its faults. */
export const read = Effect.fn("CaseFiles.read")(function*(path: string) {
  const fs = yield* FileSystem.FileSystem
  const text = yield* Effect.mapError(fs.readFileString(path), unreadable(path))
  const parsed = JsonText.parse(text)
  if (Result.isFailure(parsed)) return yield* refuse(`It is not JSON: ${parsed.failure}`, "Nothing ran.")
  const { value } = parsed.success
  const decoded = TestCase.fromJson(value)
  if (Result.isFailure(decoded)) return yield* notCase(decoded.failure)
  return { path, text, value: obj(value) ?? {}, testCase: decoded.success } satisfies CaseFile
})

/** Writes an expectation into its case's file, preserving layout and comments; false if the file does not change. */
export const write = Effect.fn("CaseFiles.write")(function*({ path, text, value }: CaseFile, expect: object) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const after = JsonText.rewrite(text, { ...value, expect })
  if (after === text) return false
  const changed = Effect.gen(function*() {
    const file = yield* fs.realPath(path)
    if ((yield* fs.readFileString(file)) !== text) {
      return yield* refuse("The file was changed during the test", "Nothing was written; run the case again.")
    }
    const { mode } = yield* fs.stat(file)
    const temporary = paths.join(paths.dirname(file), `.effect-n8n-mcp-${randomBytes(6).toString("hex")}.tmp`)
    yield* AtomicFile.write(fs, file, { data: after, temporary, mode: mode & 0o777 })
    return true
  })
  return yield* Effect.catchTag(
    changed,
    "PlatformError",
    ({ reason }) => Effect.fail(refuse("It cannot be written", "Check its permissions.", reason.message))
  )
})

interface Options {
  /** Whether to write the results into the cases instead of comparing. */
  readonly update: boolean
  readonly redacts: boolean
}

const defaultTimeout = 60_000

const referenceIn = Effect.fnUntraced(function*(file: string, workflow: string) {
  const path = yield* Path.Path
  return Reference.fileIn(workflow) === undefined ? workflow : path.resolve(path.dirname(file), workflow)
})

/** Refuses names of missing nodes, which would count as nodes without output. */
const checkNames = Effect.fnUntraced(function*(workflowId: string, { expect }: TestCase.TestCase) {
  const expected = Object.keys(expect?.nodes ?? {})
  if (expected.length === 0) return
  const { workflow } = yield* Workflows.read(workflowId, "workflow")
  const names = new Set(workflow.nodes.map(({ name }) => name))
  const unknown = expected.find((name) => !names.has(name))
  if (unknown === undefined) return
  const reason = `expect.nodes names '${unknown}', which is not a node`
  return yield* Errors.invalid("expect.nodes", reason, `${Nearest.suggestion(unknown, names)} Nothing ran.`)
})

const tested = Effect.fnUntraced(function*(file: string, { redacts, update }: Options) {
  const caseFile = yield* read(file)
  const { expect = {}, replay, testData, timeout = defaultTimeout, workflow, ...rest } = caseFile.testCase
  const { execution, notRun, timedOut, upgraded } = yield* Reference.resolve(
    yield* referenceIn(file, workflow),
    Effect.fnUntraced(function*(workflowId) {
      yield* checkNames(workflowId, caseFile.testCase)
      return yield* WorkflowTesting.run(workflowId, {
        ...rest,
        testData,
        replay: replay === undefined ? undefined : String(replay),
        timeout,
        mode: "copy"
      })
    })
  )
  if (timedOut) {
    const ran = [...execution.runs.keys()].join(", ") || "nothing"
    const reason = `It was stopped after ${timeout} ms; until then ran: ${ran}`
    return yield* Errors.invalid("timeout", reason, "Raise its timeout (ms).")
  }
  const redact = TestCase.redaction(redacts)
  const differences = TestCase.differences(expect, execution, redact)
  const isUpdated = update && (yield* write(caseFile, TestCase.updated(caseFile.testCase, execution, redact)))
  const unexpected = execution.status === (expect.status ?? "success") ? undefined : execution
  const tag = isUpdated ? "Updated" : differences.length === 0 || update ? "Passed" : "Failed"
  return {
    _tag: tag as typeof tag,
    executionId: execution.id,
    /** Differences; empty for a case that passed, and those before the update for one that was updated. */
    differences,
    /** Unexpected failure of the execution, without secrets. */
    failure: unexpected === undefined ? undefined : redact(ExecutionSummary.failureOf(unexpected)),
    /** Nodes that reach outside and for which the replayed execution has no data. */
    notRun,
    /** Deprecated nodes that were upgraded in the copy. */
    upgraded
  }
})

/** Runs one case; a failure is its outcome. */
export const run = Effect.fn("CaseRun.run")(function*(path: string, options: Options) {
  const started = yield* Clock.currentTimeMillis
  const outcome = yield* Effect.catch(
    tested(path, options),
    (error) => Effect.succeed({ _tag: "Error" as const, error })
  )
  return { path, milliseconds: (yield* Clock.currentTimeMillis) - started, ...outcome }
})

export type Outcome = Effect.Success<ReturnType<typeof run>>
