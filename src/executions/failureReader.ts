/** Reader of an execution's failure: n8n writes the error before the data, so a few kilobytes are usually enough. */
import { obj, str } from "../base/Json.ts"
import { type Failure, ofError } from "./FailureGroups.ts"
import { type Handling, Scanner, skip, value } from "./jsonScan.ts"

/** Reader in progress: `push` chunks until `isDone`. */
export class FailureReader {
  #error: unknown
  #lastNode: string | undefined
  #isWithheld = false
  readonly #scanner = new Scanner(this.#root())

  /** Reads the next bytes. Throws a `SyntaxError` or `TypeError` at invalid JSON. */
  push(chunk: Uint8Array): void {
    this.#scanner.push(chunk)
  }

  /** Whether the rest is not needed. */
  get isDone(): boolean {
    return this.#isWithheld || this.#error !== undefined && this.#node !== undefined
  }

  /** Whether n8n withheld existing data because it is large (2.x). */
  get isWithheld(): boolean {
    return this.#isWithheld
  }

  get #node(): string | undefined {
    return str(obj(obj(this.#error)?.["node"])?.["name"]) ?? this.#lastNode
  }

  /** Result; `undefined` if n8n recorded no error. */
  get failure(): Failure | undefined {
    return this.#error === undefined ? undefined : ofError(this.#error, this.#node)
  }

  #root(): Handling {
    const object = (members: { readonly [key: string]: Handling }): Handling => ({
      on: "object",
      member: (key) => Object.hasOwn(members, key) ? members[key] ?? skip : skip
    })
    return object({
      dataTooLargeToDisplay: value((flag) => (this.#isWithheld = flag === true)),
      data: object({
        resultData: object({
          error: value((error) => (this.#error = error ?? undefined)),
          lastNodeExecuted: value((name) => (this.#lastNode = str(name)))
        })
      })
    })
  }
}
