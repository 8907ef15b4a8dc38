/**
 * Reader of the beginning of an execution: n8n writes the version that ran before the data, and the error before the
 * items, so a few kilobytes are usually enough.
 */
import { obj, str } from "../base/Json.ts"
import { hiddenError } from "./errorText.ts"
import { related } from "./Execution.ts"
import { type Failure, ofError } from "./FailureGroups.ts"
import { type Handling, members, object, Scanner, skip, value } from "./jsonScan.ts"

export type Part = "version" | "failure"

/** Reader in progress: `push` chunks until `isDone`. */
export class EarlyReader {
  #error: unknown
  #lastNode: string | undefined
  #isInData = false
  /** Version of the workflow that ran; `undefined` if n8n recorded none. */
  version: string | undefined
  /** Whether n8n withheld existing data because it is large (2.x). */
  isWithheld = false
  readonly #part: Part
  readonly #scanner = new Scanner(this.#root())

  constructor(part: Part) {
    this.#part = part
  }

  /** Reads the next bytes. Throws a `SyntaxError` or `TypeError` at invalid JSON. */
  push(chunk: Uint8Array): void {
    this.#scanner.push(chunk)
  }

  /** Whether the rest is not needed. */
  get isDone(): boolean {
    if (this.#part === "version") return this.version !== undefined || this.#isInData
    return this.isWithheld || this.#error !== undefined && this.#node !== undefined
  }

  get #node(): string | undefined {
    // The error of a sub-workflow names a node of that one.
    const named = related(this.#error) === undefined ? obj(obj(this.#error)?.["node"]) : undefined
    return str(named?.["name"]) ?? this.#lastNode
  }

  /** Failure; `undefined` if n8n recorded no error. */
  get failure(): Failure | undefined {
    return this.#error === undefined ? undefined : ofError(this.#error, this.#node)
  }

  #root(): Handling {
    const result = members({
      error: value((error) => (this.#error ??= error ?? undefined)),
      redactedError: value((error) => (this.#error ??= hiddenError(error))),
      lastNodeExecuted: value((name) => (this.#lastNode = str(name)))
    })
    return members({
      workflowVersionId: value((version) => (this.version = str(version))),
      dataTooLargeToDisplay: value((flag) => (this.isWithheld = flag === true)),
      data: object((key) => {
        this.#isInData = true
        return key === "resultData" ? result : skip
      })
    })
  }
}
