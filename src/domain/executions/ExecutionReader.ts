/**
 * Reads `GET /executions/{id}?includeData=true` as its bytes arrive: runs and counts are noted, items only located. An
 * execution can hold 66 MB of them, of which an answer shows a few.
 */
import * as Schema from "effect/Schema"
import { arr, int, num, obj, str } from "../Json.ts"
import { type Handling, type List, Scanner, skip, value } from "../json/JsonScan.ts"
import * as Execution from "./Execution.ts"

/** The bytes that were scanned, to be read again in parts. */
export interface Body {
  readonly read: (start: number, end: number) => Uint8Array
}

/** No answer shows more than this of one list, in bytes of n8n's JSON. */
const maxItemBytes = 1_000_000

const sourceOf = (source: unknown): Execution.Source | undefined => {
  const node = str(obj(source)?.["previousNode"])
  // n8n 1.x leaves out what is 0.
  return node === undefined
    ? undefined
    : { node, output: int(obj(source)?.["previousNodeOutput"]) ?? 0, run: int(obj(source)?.["previousNodeRun"]) ?? 0 }
}

/** Milliseconds; n8n writes seconds in executions that it rebuilt after a crash. */
const epochMillis = (time: number) => time > 0 && time < 100_000_000_000 ? time * 1000 : time

const runOf = (
  index: number,
  fields: ReadonlyMap<string, unknown>,
  outputs: ReadonlyArray<Execution.Output>,
  override: ReadonlyArray<Execution.Output>
): Execution.Run => {
  const error = fields.get("error") ?? undefined
  return {
    index,
    startTime: epochMillis(num(fields.get("startTime")) ?? 0),
    executionTime: num(fields.get("executionTime")) ?? 0,
    order: num(fields.get("executionIndex")) ?? 0,
    status: error === undefined ? str(fields.get("executionStatus")) ?? "success" : "error",
    sources: arr(fields.get("source")).map(sourceOf),
    outputs,
    override,
    error
  }
}

const runFields = new Set(["startTime", "executionTime", "executionIndex", "executionStatus", "source", "error"])

/** Everything at the root that is not data: times, status, sizes. */
const isHead = (key: string) => key !== "data" && key !== "workflowData" && key !== "customData"

const object = (member: (key: string) => Handling, end?: () => void): Handling =>
  end === undefined ? { on: "object", member } : { on: "object", member, end }

const decodeWorkflow = Schema.decodeUnknownOption(Execution.RanWorkflow)
const decodeHead = Schema.decodeUnknownSync(Execution.Listed)

/** One execution being read: `push` each chunk, then `end`. */
export class ExecutionReader {
  readonly #head = new Map<string, unknown>()
  readonly #result = new Map<string, unknown>()
  readonly #runs = new Map<string, ReadonlyArray<Execution.Run>>()
  /** Where the items of each output lie. */
  readonly #lists = new Map<Execution.Output, List>()
  #workflow: unknown
  readonly #scanner = new Scanner(this.#root())

  /** Reads the next bytes. Throws a `SyntaxError` or `TypeError` at what is no JSON. */
  push(chunk: Uint8Array): void {
    this.#scanner.push(chunk)
  }

  /** What n8n says the data's size is, in bytes; known before the data itself arrives (2.x). */
  get declaredBytes(): number | undefined {
    return num(this.#head.get("jsonSizeBytes"))
  }

  /** Whether n8n has kept back data that is there, because it is large (2.x). */
  get isWithheld(): boolean {
    return this.#head.get("dataTooLargeToDisplay") === true
  }

  #root(): Handling {
    const resultData = object((key) => {
      if (key === "runData") return object((node) => this.#node(node))
      return key === "error" || key === "lastNodeExecuted" ? value((found) => this.#result.set(key, found)) : skip
    })
    return object((key) => {
      if (key === "data") return object((part) => part === "resultData" ? resultData : skip)
      if (key === "workflowData") return value((found) => (this.#workflow = found))
      return isHead(key) ? value((found) => this.#head.set(key, found)) : skip
    })
  }

  #node(node: string): Handling {
    const runs: Array<Execution.Run> = []
    this.#runs.set(node, runs)
    return { on: "array", element: (index) => this.#run(index, runs) }
  }

  #run(index: number, runs: Array<Execution.Run>): Handling {
    const fields = new Map<string, unknown>()
    const outputs: Array<Execution.Output> = []
    const override: Array<Execution.Output> = []
    // What is no object keeps its place: runs are known by their position.
    runs.push(runOf(index, fields, outputs, override))
    return object(
      (key) => {
        if (key === "data") return this.#ports(outputs)
        if (key === "inputOverride") return this.#ports(override)
        return runFields.has(key) ? value((found) => fields.set(key, found)) : skip
      },
      () => {
        runs[index] = runOf(index, fields, outputs, override)
      }
    )
  }

  #ports(into: Array<Execution.Output>): Handling {
    return object((type) => ({
      on: "array",
      element: (index) => {
        const at = into.push({ type, index, count: 0 }) - 1
        return {
          on: "list",
          take: (list) => {
            const output = { type, index, count: list.count }
            into[at] = output
            this.#lists.set(output, list)
          }
        }
      }
    }))
  }

  /** The execution, over the bytes that were pushed. Throws when they end too early or lack what every execution has. */
  end(body: Body): Execution.Execution {
    this.#scanner.end()
    const head = decodeHead(Object.fromEntries(this.#head))
    const workflow = decodeWorkflow(this.#workflow)
    const runs = this.#runs
    return {
      id: String(head.id),
      workflowId: head.workflowId ?? "",
      status: head.status ?? "unknown",
      mode: head.mode ?? undefined,
      startedAt: head.startedAt ?? undefined,
      stoppedAt: head.stoppedAt ?? undefined,
      waitTill: head.waitTill ?? undefined,
      duration: Execution.duration(head) ?? undefined,
      workflow: workflow._tag === "Some" ? workflow.value : undefined,
      runs,
      error: this.#result.get("error") ?? undefined,
      lastNode: str(this.#result.get("lastNodeExecuted")),
      items: ({ node, port, run, side }, offset, limit) => {
        const found = runs.get(node)?.[run]
        const outputs = side === "output" ? found?.outputs : found?.override
        const output = outputs?.find(({ index, type }) => type === port.type && index === port.index)
        const list = output === undefined ? undefined : this.#lists.get(output)
        return list === undefined ? [] : read(body, list, offset, limit)
      }
    }
  }
}

const decoder = new TextDecoder()

/** Parses from mark to mark until `limit` elements after `offset` are there, or more bytes than an answer can hold. */
const read = (body: Body, list: List, offset: number, limit: number): ReadonlyArray<unknown> => {
  const items: Array<unknown> = []
  let bytes = 0
  const first = Math.max(0, list.marks.findLastIndex((mark) => mark.element <= offset))
  for (let index = first; index < list.marks.length && items.length < limit && bytes < maxItemBytes; index++) {
    const from = list.marks[index]
    if (from === undefined) break
    const end = list.marks[index + 1]?.at ?? list.end
    const text = decoder.decode(body.read(from.at, end)).trimEnd()
    bytes += end - from.at
    const segment = arr(JSON.parse(`[${text.endsWith(",") ? text.slice(0, -1) : text}]`))
    const skipped = Math.max(0, offset - from.element)
    items.push(...segment.slice(skipped, skipped + limit - items.length))
  }
  return items
}

/** The execution in an answer that is in memory already. */
export const fromApi = (answer: unknown): Execution.Execution => {
  const bytes = new TextEncoder().encode(JSON.stringify(answer))
  const reader = new ExecutionReader()
  reader.push(bytes)
  return reader.end({ read: (start, end) => bytes.subarray(start, end) })
}
