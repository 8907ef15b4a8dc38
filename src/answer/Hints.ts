/** Texts of advice: the only module below the tools that knows the names of tools and command-line options. */
import { constant } from "effect/Function"
import * as Record from "effect/Record"
import { Advice, type ConnectionProblem, type Hint } from "../base/Advice.ts"
import type { Failure } from "../base/Errors.ts"
import { mapValues, obj, str, without } from "../base/Json.ts"
import * as Rows from "../base/Rows.ts"
import * as Visible from "../base/Visible.ts"
import sentences from "./advice.json" with { type: "json" }

export type { Advice, Hint } from "../base/Advice.ts"

const checkUrl = "check N8N_URL (--n8n-url); any page of n8n's editor in a browser has it"

const proxied =
  "If a login page or proxy is in front of n8n, --n8n-header NAME=VARIABLE (N8N_MCP_N8N_HEADER) sends the headers that it asks for"

const connection: Readonly<Record<ConnectionProblem, string>> = {
  NoAnswer: `n8n could not be reached, even after retries. Is it running? If so, ${checkUrl}.`,
  NothingListens: `Nothing is listening there: start n8n, or ${checkUrl}.`,
  BlockedPort:
    `Node's fetch refuses this port, as browsers do, since other protocols use it: let n8n listen on another one, or ${checkUrl}.`,
  UnknownHost: `That host name cannot be resolved: ${checkUrl}.`,
  OtherHostName: `The TLS certificate is for another host name: ${checkUrl}.`,
  NotHttps: "That port speaks http, not https: N8N_URL must start with http://.",
  NoApi:
    `There is no n8n API at this address: ${checkUrl}. If n8n has just started, retry in a few seconds. ${proxied}.`,
  Unreadable: `The response is not from n8n's API: ${checkUrl}. ${proxied}.`,
  LoginPage:
    "A login page answers instead of n8n: a proxy with single sign-on is in front of it. --n8n-header NAME=VARIABLE (N8N_MCP_N8N_HEADER) sends the headers that it asks for; or set N8N_URL to an address that needs no login.",
  Redirected:
    `The redirect was not followed, to protect the API key. If that is n8n's address, set N8N_URL to it. ${proxied}.`
}

/** Text about an address and a key that a person has just entered, instead of the settings that would have them. */
export const aboutEntered = (text: string): string =>
  text.replaceAll("N8N_URL (--n8n-url)", "the address you entered").replaceAll(
    "N8N_API_KEY (--api-key)",
    "the key you entered"
  )

const setFilesRoot = "set --files-root (N8N_MCP_FILES_ROOT) where the server is started"

const filesRoot = {
  ReplaceMissing: `Create it, or ${setFilesRoot}.`,
  ReadElsewhere: `Use a path under it, relative or absolute; to read elsewhere, ${setFilesRoot}.`,
  KeepFiles: `To store files, ${setFilesRoot}.`
}

const outranked = (missing: ReadonlyArray<string>, { file, set }: { readonly set: string; readonly file: string }) =>
  `${
    set.startsWith("--")
      ? `${set} names an n8n, so '${file}' is not read: leave it out`
      : `${set} is set, so '${file}' is not read: unset it`
  }, name a profile of that file with --profile${set.startsWith("--") ? " instead" : ""}, or set ${
    missing.join(" and ")
  } too.`

const sentence = (advice: Advice): string =>
  Advice.match(advice, {
    ...Record.map(sentences, constant),
    CheckConnection: ({ problem }) => connection[problem],
    Configure: ({ missing, unread }) =>
      unread === undefined
        ? `Set ${
          missing.join(" and ")
        } where the client starts this server, or run \`effect-n8n-mcp init\` once; --demo shows an n8n in memory.`
        : outranked(missing, unread),
    SetFilesRoot: ({ purpose }) => filesRoot[purpose],
    ListVersions: ({ maxSnapshots }) =>
      `workflow_history lists the versions; each workflow keeps its last ${maxSnapshots} snapshots.`,
    PublishFirst: ({ id }) => `activate_workflow(id: '${id}') publishes it.`,
    MakePlan: ({ maxPlans }) =>
      `Plans are stored for each caller and n8n, the last ${maxPlans} of them: bulk_edit(select, operations, dryRun: true) makes a new one.`,
    ChooseVersion: ({ snapshots, versions, workflowId }) =>
      versions.length + snapshots.length === 0
        ? `It has no versions: use '${workflowId}' alone.`
        : `The newest are: ${
          [...versions.slice(0, 3), ...snapshots.slice(0, 3)].join(", ")
        }. workflow_history(id: '${workflowId}') lists all.`,
    UpgradeNodes: ({ nodes }) =>
      `This n8n refuses to create or change deprecated nodes: ${
        Rows.listed(nodes.map(({ node, type }) => `${Rows.quote(node)} (${type})`), 5)
      }. They may only be moved, removed or replaced: the command \`upgrade\` replaces those of a folder. workflow_edit(operations: [{op: 'upgrade', node: ${
        literal(nodes[0]?.node)
      }}]) replaces one, in a file too.`,
    LookForCreated: ({ name }) =>
      `It may have been created anyway: check with list_workflows(name: '${
        Visible.label(name).replace(/…$/, "")
      }') before calling again.`,
    RestoreEarlierVersion: ({ workflowId }) =>
      `workflow_history(id: '${workflowId}') lists the earlier version; the published version is unchanged.`,
    PublishDraft: ({ workflowId }) =>
      `workflow_diff(a: '${workflowId}') shows it, activate_workflow(id: '${workflowId}') publishes it; without publish, the edit is added to it.`,
    RestoreToPublish: ({ version, workflowId }) =>
      `workflow_restore(id: '${workflowId}', version: '${version}') makes it the current state, which activate_workflow(id: '${workflowId}') publishes.`,
    ValidateWorkflow: ({ detail }) =>
      `validate_workflow ${detail === "More" ? "shows more" : "lists everything that is wrong with it"}.`
  })

const joined = (hint: Hint, textOf: (advice: Advice) => string): string =>
  [hint].flat().map((part) => typeof part === "string" ? part : textOf(part)).filter((part) => part !== "").join(" ")

/** Text of a hint for a model. */
export const text = (hint: Hint): string => joined(hint, sentence)

/**
 * Message of an error with its next step, for logs and people.
 *
 * **Example** (Printing an error at a terminal)
 *
 * ```ts
 * import { Hints, N8nClient } from "effect-n8n-mcp"
 * import { FakeN8n } from "effect-n8n-mcp/testing"
 * import * as Effect from "effect/Effect"
 *
 * export const name = (id: string) =>
 *   N8nClient.N8nClient.use((n8n) => n8n.getWorkflow(id)).pipe(
 *     Effect.map((workflow) => workflow.name),
 *     Effect.catch((error) => Effect.succeed(Hints.explain(error)))
 *   )
 *
 * export const test = name("gone").pipe(Effect.provide(FakeN8n.layer({ workflows: [], executions: [] })))
 * ```
 */
export const explain = ({ hint = "", message }: Failure): string => `${message}. ${text(hint)}`.trim()

const toolName = /\b[a-z]+(?:_[a-z]+)+\b/g

/** Text without the sentences that name tools that are not offered. */
export const within = (text: string, offered: ReadonlySet<string>): string =>
  text.split(/(?<=[.!?]) (?=\S)/)
    .filter((sentence) => (sentence.replace(/'[^']*'/g, "").match(toolName) ?? []).every((name) => offered.has(name)))
    .join(" ")

/** Removes sentences of `hint`, and `_guidance`, that name tools that are not offered. */
const advising = (data: unknown, offered: ReadonlySet<string>): unknown => {
  const { _guidance, hint, ...rest } = obj(data) ?? {}
  if (_guidance === undefined && typeof hint !== "string") return data
  const text = typeof hint === "string" ? within(hint, offered) : ""
  const isOffered = within(String(obj(_guidance)?.["example"]), offered) !== ""
  return { ...rest, ...(text === "" ? {} : { hint: text }), ...(isOffered ? { _guidance } : {}) }
}

/** Data without `_guidance`, the next step for a model. */
export const withoutGuidance = <A>(data: A): A =>
  obj(data)?.["_guidance"] === undefined ? data : without(obj(data) ?? {}, (_, key) => key === "_guidance") as A

/** Data of an answer, whose advice and truncation marks then name only tools that are offered. */
export const naming = (data: unknown, offered: ReadonlySet<string>): unknown => {
  const isOffered = (mark: unknown) => within(str(obj(mark)?.["next"]) ?? "", offered) !== ""
  const bare = (mark: unknown) => isOffered(mark) ? mark : without(obj(mark) ?? {}, (_, key) => key === "next")
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit)
    const marked = obj(value)
    if (marked === undefined) return value
    return marked &&
      mapValues(
        marked,
        (each, key) => key === "_truncated" ? Array.isArray(each) ? each.map(bare) : bare(each) : visit(each)
      )
  }
  return advising(visit(data), offered)
}

/** Advice that names commands instead of tools. */
const atTerminal = {
  ListWorkflows: "`effect-n8n-mcp workflows` lists them with their ids.",
  ListExistingWorkflows: "`effect-n8n-mcp workflows` lists them.",
  ListExecutions: "`effect-n8n-mcp executions` lists them with their ids; n8n prunes old ones.",
  RaiseExecutionLimit: "Raise --max-execution-mb, or open the execution in n8n."
} as const

/** Text of a hint for a person at a terminal, without the sentences that name tools. */
export const textForPerson = (hint: Hint): string =>
  within(
    joined(
      hint,
      (advice) => advice._tag in atTerminal ? atTerminal[advice._tag as keyof typeof atTerminal] : sentence(advice)
    ),
    new Set()
  )

/** Arguments of a suggested call; `undefined` ones are omitted. */
export type Values = { readonly [name: string]: string | number | boolean | ReadonlyArray<string> | undefined }

const literal = (value: Values[string]): string =>
  typeof value === "string"
    ? `'${
      value.replaceAll("\\", "\\\\").replaceAll("'", "\\'").replace(
        /[\n\r\t]/g,
        (space) => JSON.stringify(space).slice(1, -1)
      )
    }'`
    : typeof value === "object"
    ? `[${value.map(literal).join(", ")}]`
    : String(value)

const listed = (args: Values): string =>
  Object.entries(args).flatMap(([name, value]) => value === undefined ? [] : `${name}: ${literal(value)}`).join(", ")

/** Text of a call to a tool. @internal */
export const call = (tool: string, args: Values): string => `${tool}(${listed(args)})`

/** Text of a call that repeats one with other arguments. @internal */
export const again = (tool: string, args: object, changed: Values): string => {
  const all = Object.entries(args).filter(([, value]) => value !== undefined && value !== false)
  const isShort = all.every(([, value]) => typeof value !== "object" || Array.isArray(value))
  return isShort ? call(tool, { ...Object.fromEntries(all), ...changed }) : `the same call with ${listed(changed)}`
}

/** Text of a call to get_execution_by_node; `more` has further arguments. @internal */
export const executionByNode = (id: string, nodeName: string, more: Values = {}): string =>
  call("get_execution_by_node", { id, nodeName, ...more })

/** Next step after the summary of an execution: a message and an example call. @internal */
export const guidance = (
  step:
    | { readonly _tag: "Node"; readonly nodeName: string; readonly called?: string | undefined }
    | {
      readonly _tag: "FindItem"
      readonly nodeName: string
      readonly inputCount: number
      readonly where: string | undefined
    }
    | { readonly _tag: "ManyItems"; readonly nodeName: string; readonly from: string | undefined }
    | { readonly _tag: "Workflow"; readonly reason: "NoData" | "NoNodeRan" }
    | { readonly _tag: "SameAgain" },
  execution: { readonly id: string; readonly workflowId: string }
): { readonly message: string; readonly example: string } => {
  switch (step._tag) {
    case "Node":
      if (step.called !== undefined) {
        return { message: "A sub-workflow failed: its run shows why.", example: `get_execution(id: '${step.called}')` }
      }
      return {
        message: "get_execution_by_node shows a node's data.",
        example: executionByNode(execution.id, step.nodeName)
      }
    case "FindItem":
      return {
        message: `n8n does not say which of the ${step.inputCount} input items failed: ${
          step.where === undefined
            ? "use where with a condition from the error"
            : "suspects are those that fit the error"
        }.`,
        example: executionByNode(execution.id, step.nodeName, { where: step.where })
      }
    case "ManyItems":
      return step.from === undefined
        ? {
          message: "search_execution finds items by text or where.",
          example: call("search_execution", { id: execution.id, nodes: [step.nodeName], limit: 3 })
        }
        : {
          message: "compare_items shows what changed between two nodes; search_execution finds items.",
          example: call("compare_items", { id: execution.id, from: step.from, to: step.nodeName })
        }
    case "Workflow":
      return {
        message: step.reason === "NoData"
          ? "n8n has no data for this execution, because of the workflow's settings, pruning, or a cancellation before the first node. The workflow shows what it would have done."
          : "No node ran: the error is the only information about this run. Look at the workflow.",
        example: `get_workflow(id: '${execution.workflowId}', raw: true)`
      }
    case "SameAgain":
      return {
        message: "The execution has not ended, and n8n has no data of it yet: wait for its end.",
        example: `get_execution(id: '${execution.id}', wait: 30)`
      }
  }
}
