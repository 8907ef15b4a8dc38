/**
 * Streaming reader of `GET /executions/{id}?includeData=true`: reads runs and counts, and only locates items. An
 * execution can contain 66 MB of items, of which an answer shows a few.
 */
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { arr, int, num, obj, str } from "../base/Json.ts"
import * as Redact from "../base/Redact.ts"
import * as ExecutionHead from "../n8n/model/ExecutionHead.ts"
import * as TestMark from "../n8n/model/TestMark.ts"
import * as Execution from "./Execution.ts"
import { type Failure, ofError } from "./FailureGroups.ts"
import { hiddenError } from "./ItemView.ts"
import { type Members, members, type Needle, pick, pickText } from "./jsonPick.ts"
import { comma, type Handling, type List, object, Scanner, skip, value } from "./jsonScan.ts"

export interface Body {
  readonly read: (start: number, end: number) => Uint8Array
}

/** Maximum bytes of a list that an answer could show. */
const maxItemBytes = 1_000_000

const sourceOf = (source: unknown): Execution.Source | undefined => {
  const node = str(obj(source)?.["previousNode"])
  // n8n 1.x omits zeros.
  return node === undefined
    ? undefined
    : { node, output: int(obj(source)?.["previousNodeOutput"]) ?? 0, run: int(obj(source)?.["previousNodeRun"]) ?? 0 }
}

/** Converts to milliseconds: n8n writes seconds in executions that it recovered after a crash. */
const epochMillis = (time: number) => time > 0 && time < 100_000_000_000 ? time * 1000 : time

const runOf = (
  index: number,
  fields: ReadonlyMap<string, unknown>,
  outputs: ReadonlyArray<Execution.Output>,
  override: ReadonlyArray<Execution.Output>
): Execution.Run => {
  const error = fields.get("error") ?? hiddenError(fields.get("redactedError"))
  const metadata = obj(fields.get("metadata"))
  // A sub-workflow that failed is named by the error only.
  const call = Execution.related(metadata?.["subExecution"]) ?? Execution.related(error)
  return {
    index,
    startTime: epochMillis(num(fields.get("startTime")) ?? 0),
    executionTime: num(fields.get("executionTime")) ?? 0,
    order: num(fields.get("executionIndex")) ?? 0,
    status: error === undefined ? str(fields.get("executionStatus")) ?? "success" : "error",
    sources: arr(fields.get("source")).map(sourceOf),
    outputs,
    override,
    call,
    callCount: int(metadata?.["subExecutionsCount"]) ?? (call === undefined ? 0 : 1),
    error
  }
}

const runFields = new Set([
  "startTime",
  "executionTime",
  "executionIndex",
  "executionStatus",
  "source",
  "metadata",
  "error",
  "redactedError"
])

const resultFields = new Set(["error", "redactedError", "lastNodeExecuted"])

/** Whether a root key is metadata: times, status, sizes. */
const isHead = (key: string) => key !== "data" && key !== "workflowData" && key !== "customData"

/** Maximum bytes per metadata key, and maximum number of keys. */
const maxHeadBytes = 1_000_000
const maxHeadKeys = 100

const decodeWorkflow = Schema.decodeUnknownOption(Execution.RanWorkflow)
/** Workflow with the code of its nodes as it is outside of a copy. */
const original = (workflow: Execution.RanWorkflow): Execution.RanWorkflow =>
  TestMark.ownerOf(workflow.name) === undefined ? workflow : {
    ...workflow,
    nodes: workflow.nodes.map((node) =>
      node.parameters === undefined
        ? node
        : { ...node, parameters: TestMark.originalParameters(node.parameters) }
    )
  }

const decodeHead = Schema.decodeUnknownSync(ExecutionHead.Listed)

/** Part that can be read from the beginning: n8n writes the version before the data, and the error before the items. */
export type Part = "version" | "failure"

/** Reader of one execution: `push` each chunk, then `end`, or only until it `has` a part. */
export class ExecutionReader {
  readonly #head = new Map<string, unknown>()
  readonly #result = new Map<string, unknown>()
  readonly #runs = new Map<string, ReadonlyArray<Execution.Run>>()
  /** Positions of the items of each output. */
  readonly #lists = new Map<Execution.Output, List>()
  #workflow: unknown
  #calledBy: Execution.Related | undefined
  #isRedacted = false
  #isInData = false
  readonly #scanner = new Scanner(this.#root())

  push(chunk: Uint8Array): void {
    this.#scanner.push(chunk)
  }

  /** Size of the data in bytes as announced by n8n (2.x). */
  get declaredBytes(): number | undefined {
    return num(this.#head.get("jsonSizeBytes"))
  }

  /** Whether n8n withheld the data because it is large (2.x). */
  get isWithheld(): boolean {
    return this.#head.get("dataTooLargeToDisplay") === true
  }

  /** Version of the workflow that ran; `undefined` if n8n recorded none. */
  get version(): string | undefined {
    return str(this.#head.get("workflowVersionId"))
  }

  get #error(): unknown {
    return this.#result.get("error") ?? hiddenError(this.#result.get("redactedError"))
  }

  get #failedNode(): string | undefined {
    // The error of a sub-workflow names a node of that one.
    const named = Execution.related(this.#error) === undefined ? obj(obj(this.#error)?.["node"]) : undefined
    return str(named?.["name"]) ?? str(this.#result.get("lastNodeExecuted"))
  }

  /** Failure; `undefined` if n8n recorded no error. */
  get failure(): Failure | undefined {
    return this.#error === undefined ? undefined : ofError(this.#error, this.#failedNode)
  }

  /** Whether the rest is not needed for a part. */
  has(part: Part): boolean {
    return part === "version"
      ? this.version !== undefined || this.#isInData
      : this.isWithheld || this.#error !== undefined && this.#failedNode !== undefined
  }

  #root(): Handling {
    const resultData = object((key) => {
      if (key === "runData") return object((node) => this.#node(node))
      return resultFields.has(key) ? value((parsed) => this.#result.set(key, parsed)) : skip
    })
    const parts: { readonly [key: string]: Handling } = {
      resultData,
      parentExecution: value((parsed) => (this.#calledBy = Execution.related(parsed))),
      redactionInfo: value((parsed) => (this.#isRedacted = obj(parsed)?.["isRedacted"] === true))
    }
    const data = object((key) => {
      this.#isInData = true
      return Object.hasOwn(parts, key) ? parts[key] ?? skip : skip
    })
    return object((key) => {
      if (key === "data") return data
      if (key === "workflowData") return value((parsed) => (this.#workflow = parsed))
      return isHead(key) && this.#head.size < maxHeadKeys
        ? value((parsed) => this.#head.set(key, parsed), maxHeadBytes)
        : skip
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
    // An invalid run keeps its position, which identifies runs.
    runs.push(runOf(index, fields, outputs, override))
    return object(
      (key) => {
        if (key === "data") return this.#ports(outputs)
        if (key === "inputOverride") return this.#ports(override)
        return runFields.has(key) ? value((parsed) => fields.set(key, parsed)) : skip
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
        const at = into.push({ type, index, count: 0, bytes: 0 }) - 1
        return {
          on: "list",
          take: (list) => {
            const output = { type, index, count: list.count, bytes: list.end - list.start }
            into[at] = output
            this.#lists.set(output, list)
          }
        }
      }
    }))
  }

  /** Result. Throws if the input is incomplete or lacks required keys. */
  end(body: Body): Execution.Execution {
    this.#scanner.end()
    const head = decodeHead(Object.fromEntries(this.#head))
    const workflow = Option.map(decodeWorkflow(this.#workflow), original)
    const runs = this.#runs
    const listAt = (slot: Execution.Slot) => {
      const output = Execution.portAt({ runs }, slot)
      return output === undefined ? undefined : this.#lists.get(output)
    }
    const [mode, startedAt] = [head.mode ?? undefined, head.startedAt ?? undefined]
    return {
      id: String(head.id),
      workflowId: head.workflowId ?? "",
      status: head.status ?? "unknown",
      mode,
      startedAt,
      stoppedAt: head.stoppedAt ?? undefined,
      waitTill: head.waitTill ?? undefined,
      duration: ExecutionHead.duration(head) ?? undefined,
      version: this.version,
      calledBy: this.#calledBy,
      isRedacted: this.#isRedacted,
      workflow: Option.getOrUndefined(workflow),
      runs: Execution.inOrder(runs, { mode, startedAt }),
      error: this.#error,
      lastNode: str(this.#result.get("lastNodeExecuted")),
      items: (slot, offset, limit) => {
        const list = listAt(slot)
        return list === undefined ? [] : read(body, list, offset, limit)
      },
      segments: (slot, from = 0) => {
        const list = listAt(slot)
        return list === undefined ? [] : segments(body, list, from)
      }
    }
  }
}

const decoder = new TextDecoder()

/** Elements of a list without the comma after them. */
const withoutComma = (json: Uint8Array) => {
  const length = json.findLastIndex((byte) => byte > 0x20) + 1
  return json.subarray(0, json[length - 1] === comma ? length - 1 : length)
}

/** Segments without secrets, which a repeated search need not examine again. */
const clean = new WeakMap<List, Set<number>>()

const redactorOf = (list: List, index: number, segment: { readonly text: string }) => {
  const known = clean.get(list) ?? new Set()
  clean.set(list, known)
  if (known.has(index)) return identity
  if (Redact.mayHold(segment.text)) return Redact.redact
  known.add(index)
  return identity
}

/**
 * Segment of a list.
 *
 * **Gotchas**
 *
 * Each getter in an object literal has a map of its own that retains what it sees until the next full collection.
 */
class Segment implements Execution.Segment {
  readonly first: number
  readonly bytes: number
  readonly #body: Body
  readonly #start: number
  readonly #list: List
  readonly #index: number
  #text: string | undefined

  constructor(body: Body, list: List, index: number, { at, element }: List["marks"][number]) {
    const end = list.marks[index + 1]?.at ?? list.end
    this.first = element
    this.bytes = end - at
    this.#body = body
    this.#start = at
    this.#list = list
    this.#index = index
  }

  // Read again each time, because the bytes may be a view of many more.
  get #json(): Uint8Array {
    return withoutComma(this.#body.read(this.#start, this.#start + this.bytes))
  }

  get text(): string {
    return this.#text ??= decoder.decode(this.#json)
  }

  readonly items = (): ReadonlyArray<unknown> => arr(JSON.parse(`[${this.text}]`))

  readonly pick = (wanted: Members): ReadonlyArray<unknown> => arr(JSON.parse(pick(this.#json, wanted)))

  readonly pickText = (needle: Needle): ReadonlyArray<unknown> | undefined => {
    const json = pickText(this.#json, "json", needle)
    return json === undefined ? undefined : arr(JSON.parse(json))
  }

  readonly values = (key: string): ReadonlyArray<unknown> =>
    this.pick(members({ [key]: true })).map((item) => obj(item)?.[key])

  readonly redactor = () => redactorOf(this.#list, this.#index, this)
}

function* segments(body: Body, list: List, from: number): Generator<Segment> {
  const start = Math.max(0, list.marks.findLastIndex(({ element }) => element <= from))
  for (let index = start; index < list.marks.length; index++) {
    const mark = list.marks[index]
    if (mark === undefined) return
    yield new Segment(body, list, index, mark)
  }
}

const read = (body: Body, list: List, offset: number, limit: number): ReadonlyArray<unknown> => {
  const items: Array<unknown> = []
  let total = 0
  for (const { bytes, first, items: parsed } of segments(body, list, offset)) {
    if (items.length >= limit || total >= maxItemBytes) break
    total += bytes
    const skipped = Math.max(0, offset - first)
    items.push(...parsed().slice(skipped, skipped + limit - items.length))
  }
  return items
}
