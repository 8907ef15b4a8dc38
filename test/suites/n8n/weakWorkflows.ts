/** Workflows with a known weak place: how each behaves when the service of its node 'Lookup' fails. */
import type { Obj } from "../../../src/base/Json.ts"
import type { Kind } from "../../../src/trials/drill/Failures.ts"
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

/** Condition that a value is a number. */
const equals = (leftValue: string, rightValue: number) => ({
  conditions: {
    options: { caseSensitive: true, leftValue: "", typeValidation: "loose", version: 2 },
    conditions: [{ id: "equal", leftValue, rightValue, operator: { type: "number", operation: "equals" } }],
    combinator: "and"
  },
  options: {}
})

/** An If node that asks whether an item has an error. */
const hasError = node("Failed?", "if", 2.2, {
  conditions: {
    options: { caseSensitive: true, leftValue: "", typeValidation: "loose", version: 2 },
    conditions: [{
      id: "failed",
      leftValue: "={{ $json.error }}",
      rightValue: "",
      operator: { type: "string", operation: "exists", singleValue: true }
    }],
    combinator: "and"
  },
  options: {}
})

/** The workflows; all read orders from a webhook, look each up, and send it on. */
export const weak = ({ errorWorkflow, failing, noErrorTrigger, path, working }: Places): ReadonlyArray<Weak> => {
  const orders = (name: string, responseMode: string) =>
    node("Orders", "webhook", 2, { path: path(name), httpMethod: "POST", responseMode, options: {} }, {
      webhookId: path(name)
    })
  const each = node("Each", "splitOut", 1, { fieldToSplitOut: "body.orders", options: {} })
  const lookup = (more: Obj = {}) => node("Lookup", "httpRequest", 4.2, { url: failing, options: {} }, more)
  const sends = (name: string) => node(name, "httpRequest", 4.2, { url: `${working}/${name}`, options: {} })
  const ordinary = (name: string, more: Obj = {}) => ({
    name,
    nodes: [orders(name, "onReceived"), each, lookup(more), sends("Save")],
    links: chain("Orders", "Each", "Lookup", "Save"),
    kind: "500" as Kind,
    isPlain: true
  })
  return [
    { ...ordinary("no one hears"), grade: "stops silently", because: /set an error workflow.*or retryOnFail/ },
    {
      ...ordinary("alerts"),
      settings: { errorWorkflow },
      grade: "stops with alert",
      because: /starts the error workflow 'Alert'/
    },
    {
      ...ordinary("deaf error workflow"),
      settings: { errorWorkflow: noErrorTrigger },
      grade: "stops silently",
      because: /add an Error Trigger to the error workflow 'Deaf'/
    },
    {
      ...ordinary("caller waits"),
      nodes: [orders("caller waits", "lastNode"), each, lookup(), sends("Save")],
      grade: "stops with alert",
      because: /the caller of the webhook gets an error/
    },
    {
      ...ordinary("caller has its answer"),
      nodes: [
        orders("caller has its answer", "responseNode"),
        node("Answer", "respondToWebhook", 1.1, { respondWith: "text", responseBody: "ok", options: {} }),
        each,
        lookup(),
        sends("Save")
      ],
      links: chain("Orders", "Answer", "Each", "Lookup", "Save"),
      grade: "stops silently",
      because: /no one is alerted/
    },
    { ...ordinary("tries again", { retryOnFail: true }), kind: "429", grade: "handled", because: /tries again/ },
    {
      ...ordinary("retries cannot help", { retryOnFail: true }),
      kind: "401",
      grade: "stops silently",
      because: /in the settings\./
    },
    {
      ...ordinary("saves errors", { onError: "continueRegularOutput" }),
      isPlain: false,
      grade: "continues and loses items",
      because: /'Save' gets what failed as if it were data/
    },
    {
      ...ordinary("open end", { onError: "continueErrorOutput" }),
      grade: "continues and loses items",
      because: /Nothing is connected to its error output/
    },
    {
      ...ordinary("reports", { onError: "continueErrorOutput" }),
      nodes: [
        orders("reports", "onReceived"),
        each,
        lookup({ onError: "continueErrorOutput" }),
        sends("Save"),
        sends("Report")
      ],
      links: [...chain("Orders", "Each", "Lookup", "Save"), ["Lookup", "Report", 1]],
      isPlain: false,
      grade: "handled",
      because: /'Report' gets what failed/
    },
    {
      ...ordinary("tells no one"),
      nodes: [
        orders("tells no one", "onReceived"),
        each,
        lookup({ onError: "continueErrorOutput" }),
        sends("Save"),
        set("Mark", "{ failed: true }"),
        node("Ignore", "noOp")
      ],
      links: [...chain("Orders", "Each", "Lookup", "Save"), ["Lookup", "Mark", 1], ["Mark", "Ignore"]],
      isPlain: false,
      grade: "continues and loses items",
      because: /only to nodes that tell no one/
    },
    {
      ...ordinary("tells after a note"),
      nodes: [
        orders("tells after a note", "onReceived"),
        each,
        lookup({ onError: "continueErrorOutput" }),
        sends("Save"),
        set("Mark", "{ failed: true }"),
        sends("Alert team")
      ],
      links: [...chain("Orders", "Each", "Lookup", "Save"), ["Lookup", "Mark", 1], ["Mark", "Alert team"]],
      isPlain: false,
      grade: "handled",
      because: /'Alert team' gets what failed/
    },
    {
      ...ordinary("answers with the failure"),
      nodes: [
        orders("answers with the failure", "responseNode"),
        each,
        lookup({ onError: "continueErrorOutput" }),
        node("Yes", "respondToWebhook", 1.1, { respondWith: "text", responseBody: "ok", options: {} }),
        node("No", "respondToWebhook", 1.1, { respondWith: "text", responseBody: "failed", options: {} })
      ],
      links: [...chain("Orders", "Each", "Lookup", "Yes"), ["Lookup", "No", 1]],
      isPlain: false,
      grade: "handled",
      because: /'No' gets what failed/
    },
    {
      ...ordinary("ends the loop"),
      nodes: [
        orders("ends the loop", "onReceived"),
        each,
        node("Loop", "splitInBatches", 3, { batchSize: 1, options: {} }),
        node("Is first?", "if", 2.2, equals("={{ $json.id }}", 1)),
        lookup(),
        sends("Other"),
        sends("Save")
      ],
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
      grade: "stops silently",
      because: /the loop of 'Loop' stops here/
    },
    {
      ...ordinary("report breaks", { onError: "continueErrorOutput" }),
      nodes: [
        orders("report breaks", "onReceived"),
        each,
        lookup({ onError: "continueErrorOutput" }),
        sends("Save"),
        node("Report", "stopAndError", 1, { errorMessage: "={{ $json.error.message }}" })
      ],
      links: [...chain("Orders", "Each", "Lookup", "Save"), ["Lookup", "Report", 1]],
      isPlain: false,
      grade: "stops silently",
      because: /The run stops at 'Report'/
    },
    {
      ...ordinary("asks first", { onError: "continueRegularOutput" }),
      nodes: [
        orders("asks first", "onReceived"),
        each,
        lookup({ onError: "continueRegularOutput" }),
        set("Note", "{ ...$json, seen: true }"),
        hasError,
        sends("Report"),
        sends("Save")
      ],
      links: [
        ...chain("Orders", "Each", "Lookup", "Note", "Failed?", "Report"),
        ["Failed?", "Save", 1]
      ],
      isPlain: false,
      grade: "handled",
      because: /takes another branch/
    },
    {
      ...ordinary("nothing found"),
      kind: "empty",
      grade: "stops silently",
      because: /After an empty list .*alwaysOutputData/
    },
    {
      ...ordinary("saves nothing", { alwaysOutputData: true }),
      kind: "empty",
      isPlain: false,
      grade: "continues and loses items",
      because: /It passes on empty items, and 'Save'/
    }
  ]
}
