/** Reads of an execution only why it failed: n8n writes the error before the data, so mostly a few kilobytes are read. */
import { obj, str } from "../base/Json.ts"
import { type Failure, ofError } from "./FailureGroups.ts"
import { type Handling, Scanner, skip, value } from "./jsonScan.ts"

/** One failure being read: `push` chunks until `isDone`. */
export class FailureReader {
  #error: unknown
  #lastNode: string | undefined
  #isWithheld = false
  readonly #scanner = new Scanner(this.#root())

  /** Reads the next bytes. Throws a `SyntaxError` or `TypeError` at what is no JSON. */
  push(chunk: Uint8Array): void {
    this.#scanner.push(chunk)
  }

  /** Whether nothing more is wanted of the rest. */
  get isDone(): boolean {
    return this.#isWithheld || this.#error !== undefined && this.#node !== undefined
  }

  /** Whether n8n has kept back data that is there, because it is large (2.x). */
  get isWithheld(): boolean {
    return this.#isWithheld
  }

  get #node(): string | undefined {
    return str(obj(obj(this.#error)?.["node"])?.["name"]) ?? this.#lastNode
  }

  /** What was read; `undefined` where n8n notes no error. */
  get failure(): Failure | undefined {
    return this.#error === undefined ? undefined : ofError(this.#error, this.#node)
  }

  #root(): Handling {
    const object = (members: { readonly [key: string]: Handling }): Handling => ({
      on: "object",
      member: (key) => Object.hasOwn(members, key) ? members[key] ?? skip : skip
    })
    return object({
      dataTooLargeToDisplay: value((found) => (this.#isWithheld = found === true)),
      data: object({
        resultData: object({
          error: value((found) => (this.#error = found ?? undefined)),
          lastNodeExecuted: value((found) => (this.#lastNode = str(found)))
        })
      })
    })
  }
}
