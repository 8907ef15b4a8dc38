/** Workflows with a known weak place: how each behaves when the service of its node 'Lookup' fails. */
import type { Obj } from "../../../src/base/Json.ts"
import type { Kind } from "../../../src/trials/drill/NodeFailures.ts"
import type { Grade } from "../../../src/trials/drill/Verdict.ts"
import { node } from "../../support/workflows.ts"
import { chain, type Link, set } from "./builders.ts"

export interface Weak {
  readonly name: string
  readonly nodes: ReadonlyArray<ReturnType<typeof node>>
  readonly links: ReadonlyArray<Link>
  readonly settings?: Obj
  readonly kind: Kind
  readonly grade: Grade
  /** Whether the definition alone shows it. */
  readonly isPlain: boolean
  readonly because: RegExp
}

export interface Places {
  /** Base URL of the service that fails. */
  readonly failing: string
  /** Base URL of a service that works. */
  readonly working: string
  /** Path of the webhook, by the workflow's name. */
  readonly path: (name: string) => string
  /** Ids of a published error workflow and of a workflow without Error Trigger. */
  readonly errorWorkflow: string
  readonly noErrorTrigger: string
}

/** Names of the nodes that reach outside. */
export const outsideOf = (nodes: Weak["nodes"]): ReadonlySet<string> =>
  new Set(nodes.flatMap(({ name, type }) => type === "n8n-nodes-base.httpRequest" ? [name] : []))

/** An If node with one condition. */
const asks = (name: string, leftValue: string, rightValue: unknown, operator: Obj) =>
  node(name, "if", 2.2, {
    conditions: {
      options: { caseSensitive: true, leftValue: "", typeValidation: "loose", version: 2 },
      conditions: [{ id: "one", leftValue, rightValue, operator }],
      combinator: "and"
    },
    options: {}
  })

const hasError = asks("Failed?", "={{ $json.error }}", "", { type: "string", operation: "exists", singleValue: true })
const isFirst = asks("Is first?", "={{ $json.id }}", 1, { type: "number", operation: "equals" })

const responds = (name: string) =>
  node(name, "respondToWebhook", 1.1, { respondWith: "text", responseBody: "ok", options: {} })

/** The workflows; all read orders from a webhook, look each up, and send it on. */
export const weak = ({ errorWorkflow, failing, noErrorTrigger, path, working }: Places): ReadonlyArray<Weak> => {
  const orders = (name: string, responseMode: string) =>
    node("Orders", "webhook", 2, { path: path(name), httpMethod: "POST", responseMode, options: {} }, {
      webhookId: path(name)
    })
  const each = node("Each", "splitOut", 1, { fieldToSplitOut: "body.orders", options: {} })
  const lookup = (more: Obj = {}) => node("Lookup", "httpRequest", 4.2, { url: failing, options: {} }, more)
  const sends = (name: string) => node(name, "httpRequest", 4.2, { url: `${working}/${name}`, options: {} })
  type More = Pick<Weak, "because" | "grade"> & Partial<Weak> & {
    /** What the node 'Lookup' has besides. */
    readonly has?: Obj
    readonly mode?: string
    /** Nodes before and after 'Lookup'. */
    readonly before?: Weak["nodes"]
    readonly after?: Weak["nodes"]
  }
  const ordinary = (
    name: string,
    { after = [sends("Save")], before = [], has, mode = "onReceived", ...more }: More
  ): Weak => {
    const answers = before.flatMap(({ name }) => name === "Answer" ? [name] : [])
    return {
      name,
      kind: "500",
      isPlain: has?.["onError"] === undefined,
      nodes: [orders(name, mode), each, ...before, lookup(has), ...after],
      links: chain("Orders", ...answers, "Each", "Lookup", "Save"),
      ...more
    }
  }
  /** Links of a workflow whose node 'Lookup' has an error output. */
  const onError = (end: string, ...others: ReadonlyArray<string>): ReadonlyArray<Link> => [
    ...chain("Orders", "Each", "Lookup", end),
    ["Lookup", others[0] ?? "", 1],
    ...chain(...others)
  ]
  const apart = { onError: "continueErrorOutput" }
  const among = { onError: "continueRegularOutput" }
  const silently = "stops silently"
  const loses = "continues and loses items"
  return [
    ordinary("no one hears", { grade: silently, because: /set an error workflow.*or retryOnFail/ }),
    ordinary("alerts", {
      settings: { errorWorkflow },
      grade: "stops with alert",
      because: /starts the error workflow 'Alert'/
    }),
    ordinary("deaf error workflow", {
      settings: { errorWorkflow: noErrorTrigger },
      grade: silently,
      because: /add an Error Trigger to the error workflow 'Deaf'/
    }),
    ordinary("caller waits", {
      mode: "lastNode",
      grade: "stops with alert",
      because: /the caller of the webhook gets an error/
    }),
    ordinary("caller has its answer", {
      mode: "responseNode",
      before: [responds("Answer")],
      grade: silently,
      because: /no one is alerted/
    }),
    ordinary("tries again", { has: { retryOnFail: true }, kind: "429", grade: "handled", because: /tries again/ }),
    ordinary("retries cannot help", {
      has: { retryOnFail: true },
      kind: "401",
      grade: silently,
      because: /in the settings\./
    }),
    ordinary("saves errors", { has: among, grade: loses, because: /'Save' gets what failed as if it were data/ }),
    ordinary("open end", {
      has: apart,
      isPlain: true,
      grade: loses,
      because: /Nothing is connected to its error output/
    }),
    ordinary("reports", {
      has: apart,
      after: [sends("Save"), sends("Report")],
      links: onError("Save", "Report"),
      grade: "handled",
      because: /'Report' gets what failed/
    }),
    ordinary("tells no one", {
      has: apart,
      after: [sends("Save"), set("Mark", "{ failed: true }"), node("Ignore", "noOp")],
      links: onError("Save", "Mark", "Ignore"),
      grade: loses,
      because: /only to nodes that tell no one/
    }),
    ordinary("tells after a note", {
      has: apart,
      after: [sends("Save"), set("Mark", "{ failed: true }"), sends("Alert team")],
      links: onError("Save", "Mark", "Alert team"),
      grade: "handled",
      because: /'Alert team' gets what failed/
    }),
    ordinary("answers with the failure", {
      mode: "responseNode",
      has: apart,
      after: [responds("Yes"), responds("No")],
      links: onError("Yes", "No"),
      grade: "handled",
      because: /'No' gets what failed/
    }),
    ordinary("ends the loop", {
      before: [node("Loop", "splitInBatches", 3, { batchSize: 1, options: {} }), isFirst],
      after: [sends("Other"), sends("Save")],
      links: [
        ...chain("Orders", "Each", "Loop"),
        ["Loop", "Save"],
        ["Loop", "Is first?", 1],
        ...chain("Is first?", "Lookup", "Loop"),
        ["Is first?", "Other", 1],
        ["Other", "Loop"]
      ],
      kind: "empty",
      isPlain: false,
      grade: silently,
      because: /the loop of 'Loop' stops here/
    }),
    ordinary("report breaks", {
      has: apart,
      after: [sends("Save"), node("Report", "stopAndError", 1, { errorMessage: "={{ $json.error.message }}" })],
      links: onError("Save", "Report"),
      grade: silently,
      because: /The run stops at 'Report'/
    }),
    ordinary("asks first", {
      has: among,
      after: [set("Note", "{ ...$json, seen: true }"), hasError, sends("Report"), sends("Save")],
      links: [...chain("Orders", "Each", "Lookup", "Note", "Failed?", "Report"), ["Failed?", "Save", 1]],
      grade: "handled",
      because: /takes another branch/
    }),
    ordinary("nothing found", { kind: "empty", grade: silently, because: /After an empty list .*alwaysOutputData/ }),
    ordinary("saves nothing", {
      has: { alwaysOutputData: true },
      kind: "empty",
      isPlain: false,
      grade: loses,
      because: /It passes on empty items, and 'Save'/
    })
  ]
}
