/** The words for advice: the only module below the tools that knows the names of tools and command-line options. */
import { Advice, type ConnectionProblem, type Hint } from "../base/Advice.ts"
import * as Visible from "../base/Visible.ts"

const checkUrl = "check N8N_URL (--n8n-url): it is the address that n8n's editor has in a browser"

const connection: Readonly<Record<ConnectionProblem, string>> = {
  NoAnswer: `n8n could not be reached, also after retries: is it running? If so, ${checkUrl}.`,
  NothingListens: `Nothing listens there: start n8n, or ${checkUrl}.`,
  UnknownHost: `That host name is unknown here: ${checkUrl}.`,
  OtherHostName: `The TLS certificate is for another host name: ${checkUrl}.`,
  NotHttps: "That port speaks http, not https: begin N8N_URL with http://.",
  NoApi:
    `There is no n8n API at this address: ${checkUrl}. If n8n was just started, call again: for some seconds it has none.`,
  Unreadable: `The answer is not what n8n's API gives: ${checkUrl}; a proxy or login page may stand before it.`,
  Redirected:
    "n8n answers with a redirect, which was not followed so that the key stays here: set N8N_URL to the address it names."
}

const setFilesRoot = "set --files-root (N8N_MCP_FILES_ROOT) where the server is started"

const filesRoot = {
  ReplaceMissing: `Create it, or ${setFilesRoot}.`,
  ReadElsewhere: `Give a path under it, relative or absolute; to read elsewhere, ${setFilesRoot}.`,
  KeepFiles: `To keep files, ${setFilesRoot}.`
}

const sentence = (advice: Advice): string =>
  Advice.match(advice, {
    CheckConnection: ({ problem }) => connection[problem],
    CheckApiKey: () =>
      "n8n does not accept the API key: check N8N_API_KEY (--api-key); keys are made in n8n under Settings > n8n API.",
    Configure: ({ missing }) =>
      `Set ${
        missing.join(" and ")
      } where the client starts this server (or start it with --demo to try it without n8n).`,
    SetWebhookUrl: () =>
      "Where n8n's webhooks answer at another address than N8N_URL, set --webhook-url (N8N_MCP_WEBHOOK_URL).",
    SetFilesRoot: ({ purpose }) => filesRoot[purpose],
    AwaitDatabase: () =>
      "Call again in a moment; reading n8n works meanwhile. Whoever runs the server examines its --state (N8N_MCP_STATE) with doctor.",
    RaiseExecutionLimit: () =>
      "Raise --max-execution-mb (N8N_MCP_MAX_EXECUTION_MB) where the server is started, or look at it in n8n.",
    ListWorkflows: () => "list_workflows lists the workflows with their ids.",
    ListExistingWorkflows: () => "list_workflows lists them.",
    ListExecutions: () => "list_executions lists the executions with their ids; n8n prunes old ones.",
    ListFiles: () => "workflow_list lists what is there; a file that was moved goes by its path.",
    ListVersions: ({ maxSnapshots }) =>
      `workflow_history lists the versions there are; of each workflow the last ${maxSnapshots} snapshots are kept.`,
    ListRestorableVersions: () => "workflow_history lists the versions that can be restored.",
    ChooseVersion: ({ newest, workflowId }) =>
      newest.length === 0
        ? `There are no versions of it: give '${workflowId}' alone.`
        : `The newest there are: ${newest.join(", ")}. workflow_history(id: '${workflowId}') lists all.`,
    SearchNodeTypes: () => "node_search finds types by what they do.",
    ShowParameters: () => "node_get shows its parameters.",
    ReplaceNode: () => "Use node_replace: it keeps what fits the new type.",
    LoadPackage: () => "It is not n8n's own: the operator has to start this server with --nodes and its package.",
    LookForCreated: ({ name }) =>
      `It may have been created all the same: look with list_workflows(name: '${
        Visible.label(name).replace(/…$/, "")
      }') before you call again.`,
    OpenExistingFile: () => "Open it with workflow_load, or give another path.",
    ReadWhole: () => "Leave out what you do not change, or read it whole first: get_workflow(id, nodes: [\"Name\"]).",
    FollowRetry: () =>
      "n8n answers only when the new execution is over, and it may go on: list_executions shows it, get_execution with wait follows it. Retry no second time.",
    ReadAgain: () => "Read it again with get_workflow, then make your change to what is there now.",
    RestoreEarlierVersion: ({ workflowId }) =>
      `workflow_history(id: '${workflowId}') has the earlier version; what runs is unchanged.`,
    SetCredentials: () =>
      "Set the credentials (list_credentials lists what n8n has), pin the node's data, or disable it.",
    ValidateWorkflow: ({ detail }) =>
      `validate_workflow tells ${detail === "More" ? "more" : "everything that is wrong with it"}.`,
    FixRefusedValues: () => "Put right what errorDetails names (validate_workflow tells where), then test again."
  })

/** The text of a hint. */
export const text = (hint: Hint): string =>
  [hint].flat().map((part) => typeof part === "string" ? part : sentence(part)).filter((part) => part !== "").join(" ")

const literal = (value: string | number | ReadonlyArray<string>): string =>
  typeof value === "string"
    ? `'${
      value.replaceAll("\\", "\\\\").replaceAll("'", "\\'").replace(
        /[\n\r\t]/g,
        (space) => JSON.stringify(space).slice(1, -1)
      )
    }'`
    : typeof value === "number"
    ? String(value)
    : `[${value.map(literal).join(", ")}]`

/** The text of a call to get_execution_by_node; `more` are further arguments. */
export const executionByNode = (
  id: string,
  nodeName: string,
  more: { readonly [name: string]: string | number | ReadonlyArray<string> | undefined } = {}
): string => {
  const args = Object.entries({ id, nodeName, ...more })
    .flatMap(([name, value]) => value === undefined ? [] : [`${name}: ${literal(value)}`])
  return `get_execution_by_node(${args.join(", ")})`
}

/** The next step after the summary of an execution: a message and an example call. */
export const guidance = (
  step:
    | { readonly _tag: "Node"; readonly nodeName: string }
    | {
      readonly _tag: "FindItem"
      readonly nodeName: string
      readonly inputCount: number
      readonly field: string | undefined
    }
    | { readonly _tag: "Workflow"; readonly reason: "NoData" | "NoNodeRan" }
    | { readonly _tag: "SameAgain" },
  execution: { readonly id: string; readonly workflowId: string }
): { readonly message: string; readonly example: string } => {
  switch (step._tag) {
    case "Node":
      return {
        message: "Use get_execution_by_node tool to fetch detailed data for a specific node",
        example: executionByNode(execution.id, step.nodeName)
      }
    case "FindItem":
      return {
        message:
          `n8n does not say which of the ${step.inputCount} input items failed: select it by where, with what the error says.`,
        example: executionByNode(execution.id, step.nodeName, {
          where: step.field === undefined ? undefined : `${step.field} == null`
        })
      }
    case "Workflow":
      return {
        message: step.reason === "NoData"
          ? "n8n kept no data of this execution: the workflow's settings, pruning or a cancellation before the first node may be why. Its workflow shows what it would have done."
          : "No node ran: the error above is the whole story. Look at the workflow.",
        example: `get_workflow(id: '${execution.workflowId}', raw: true)`
      }
    case "SameAgain":
      return {
        message: "The execution has not ended and n8n shows no data yet: wait for its end.",
        example: `get_execution(id: '${execution.id}', wait: 30)`
      }
  }
}
