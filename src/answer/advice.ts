/** Wording of advice for those who read it: the only texts below the tools with names of tools, options and variables. */
import { constant } from "effect/Function"
import * as Record from "effect/Record"
import * as String from "effect/String"
import { Advice, type ConnectionProblem } from "../base/Advice.ts"
import { counted } from "../base/Plural.ts"
import * as Rows from "../base/Rows.ts"
import * as Visible from "../base/Visible.ts"
import constants from "./advice.json" with { type: "json" }

/**
 * One piece of advice in words. Without `tools` a person reads what a model reads, with them what a program logs, unless
 * there are words of its own.
 */
export interface Wording {
  /** Names of the tools in the words for a model. */
  readonly tools?: ReadonlyArray<string>
  readonly model: string
  /** Words for a person at a terminal, who has commands and options. */
  readonly person?: string
  /** Words without the name of a tool, an option or a variable; empty if nothing remains. */
  readonly program?: string
}

/** Names of the settings in texts about the connection. */
interface Settings {
  readonly url: string
  readonly address: string
  readonly headers: string
  readonly setUrl: string
}

const ofServer: Settings = {
  url: "N8N_URL (--n8n-url)",
  address: "N8N_URL",
  headers: "--n8n-header NAME=VARIABLE (N8N_MCP_N8N_HEADER) sends the headers that it asks for",
  setUrl: "set N8N_URL to"
}

const ofProgram: Settings = {
  url: "the address of n8n",
  address: "its address",
  headers: "send the headers that it asks for",
  setUrl: "use"
}

const connection = (
  problem: ConnectionProblem,
  { address, headers, setUrl, url }: Settings
): string => {
  const check = `check ${url}; any page of n8n's editor in a browser has it`
  const proxied = `If a login page or proxy is in front of n8n, ${headers}`
  switch (problem) {
    case "NoAnswer":
      return `n8n could not be reached, even after retries. Is it running? If so, ${check}.`
    case "NothingListens":
      return `Nothing is listening there: start n8n, or ${check}.`
    case "BlockedPort":
      return `Node's fetch refuses this port, as browsers do, since other protocols use it: let n8n listen on another one, or ${check}.`
    case "UnknownHost":
      return `That host name cannot be resolved: ${check}.`
    case "OtherHostName":
      return `The TLS certificate is for another host name: ${check}.`
    case "NotHttps":
      return `That port speaks http, not https: ${address} must start with http://.`
    case "NoApi":
      return `There is no n8n API at this address: ${check}. If n8n has just started, retry in a few seconds. ${proxied}.`
    case "Unreadable":
      return `The response is not from n8n's API: ${check}. ${proxied}.`
    case "LoginPage":
      return `A login page answers instead of n8n: a proxy with single sign-on is in front of it. ${
        String.capitalize(headers)
      }; or ${setUrl} an address that needs no login.`
    case "Redirected":
      return `The redirect was not followed, to protect the API key. If that is n8n's address, ${setUrl} it. ${proxied}.`
  }
}

const setFilesRoot = "set --files-root (N8N_MCP_FILES_ROOT) where the server is started"

const filesRoot = {
  ReplaceMissing: { model: `Create it, or ${setFilesRoot}.`, program: "Create it." },
  ReadElsewhere: {
    model: `Use a path under it, relative or absolute; to read elsewhere, ${setFilesRoot}.`,
    program: "Use a path under it, relative or absolute."
  },
  KeepFiles: { model: `To store files, ${setFilesRoot}.`, program: "" }
}

const later = {
  Limited: {
    model: "n8n is limiting requests: wait a minute, then call again.",
    program: "n8n is limiting requests: wait a minute."
  },
  Failing: {
    model: "n8n or the proxy in front of it still fails after retries; check its log, then call again.",
    program: "n8n or the proxy in front of it still fails after retries; its log may say why."
  },
  Slow: {
    model: "n8n is slow or stuck: call again, or check its log.",
    program: "n8n is slow or stuck; its log may say why."
  }
}

const outranked = (missing: ReadonlyArray<string>, { file, set }: { readonly set: string; readonly file: string }) =>
  `${
    set.startsWith("--")
      ? `${set} names an n8n, so '${file}' is not read: leave it out`
      : `${set} is set, so '${file}' is not read: unset it`
  }, name a profile of that file with --profile${set.startsWith("--") ? " instead" : ""}, or set ${
    missing.join(" and ")
  } too.`

/** Value in the text of a call. */
export const literal = (value: string | number | boolean | ReadonlyArray<string> | undefined): string =>
  typeof value === "string"
    ? `'${
      value.replaceAll("\\", "\\\\").replaceAll("'", "\\'").replace(
        /[\n\r\t]/g,
        (space) => JSON.stringify(space).slice(1, -1)
      )
    }'`
    : typeof value === "object"
    ? `[${value.map(literal).join(", ")}]`
    : `${value}`

/** Type in a command; anything else may be a misplaced secret and is not repeated. */
const typeIn = (type: string) => /^\w+$/.test(type) ? type : "TYPE"

/** Wording of a piece of advice. */
export const wording: (advice: Advice) => Wording = Advice.match({
  ...Record.map(constants, constant),
  CallTools: ({ text, tools }) => ({ tools, model: text, program: "" }),
  CheckConnection: ({ problem }) => ({ model: connection(problem, ofServer), program: connection(problem, ofProgram) }),
  Configure: ({ missing, unread }) => ({
    model: unread === undefined
      ? `Set ${
        missing.join(" and ")
      } where the client starts this server, or run \`effect-n8n-mcp init\` once; --demo shows an n8n in memory.`
      : outranked(missing, unread),
    program: "The client needs the address of n8n and an API key."
  }),
  SetFilesRoot: ({ purpose }) => filesRoot[purpose],
  ListVersions: ({ maxSnapshots }) => ({
    tools: ["workflow_history"],
    model: `workflow_history lists the versions; each workflow keeps its last ${maxSnapshots} snapshots.`,
    program: `Each workflow keeps its last ${maxSnapshots} snapshots.`
  }),
  FindExecutions: ({ workflowId, workflowName }) => ({
    tools: ["list_executions"],
    model: workflowId === undefined
      ? `For a workflow's name: list_executions(workflowName: '${workflowName}').`
      : `list_executions(workflowId: '${workflowId}') lists its executions.`,
    person: `\`effect-n8n-mcp executions\` lists those of a workflow with their ids.`,
    program: ""
  }),
  PublishFirst: ({ id }) => ({
    tools: ["activate_workflow"],
    model: `activate_workflow(id: '${id}') publishes it.`,
    program: "Publish it first."
  }),
  MakePlan: ({ maxPlans }) => ({
    tools: ["bulk_edit"],
    model:
      `Plans are stored for each caller and n8n, the last ${maxPlans} of them: bulk_edit(select, operations, dryRun: true) makes a new one.`,
    program: `Plans are stored for each caller and n8n, the last ${maxPlans} of them: make a new one.`
  }),
  WriteBatch: ({ plan }) => ({
    tools: ["bulk_edit"],
    model: `Write it: bulk_edit(plan: '${plan}').`,
    program: "Apply the plan first."
  }),
  ChooseVersion: ({ snapshots, versions, workflowId }) => {
    if (versions.length + snapshots.length === 0) {
      return { model: `It has no versions: use '${workflowId}' alone.` }
    }
    const newest = `The newest are: ${[...versions.slice(0, 3), ...snapshots.slice(0, 3)].join(", ")}.`
    return {
      tools: ["workflow_history"],
      model: `${newest} workflow_history(id: '${workflowId}') lists all.`,
      program: newest
    }
  },
  UpgradeNodes: ({ nodes }) => {
    const refused = `This n8n refuses to create or change deprecated nodes: ${
      Rows.listed(nodes.map(({ node, type }) => `${Rows.quote(node)} (${type})`), 5)
    }. They may only be moved, removed or replaced`
    const command = `${refused}: the command \`upgrade\` replaces those of a folder.`
    const call = `workflow_edit(operations: [{op: 'upgrade', node: ${literal(nodes[0]?.node)}}])`
    return {
      tools: ["workflow_edit"],
      model: `${command} ${call} replaces one, in a file too.`,
      person: command,
      program: `${refused}.`
    }
  },
  LookForCreated: ({ name }) => {
    const shown = Visible.label(name).replace(/…$/, "")
    const maybe = "It may have been created anyway: check"
    return {
      tools: ["list_workflows"],
      model: `${maybe} with list_workflows(name: '${shown}') before calling again.`,
      program: `${maybe} whether there is a workflow '${shown}' before creating it again.`
    }
  },
  RestoreEarlierVersion: ({ workflowId }) => ({
    tools: ["workflow_history"],
    model: `workflow_history(id: '${workflowId}') lists the earlier version; the published version is unchanged.`,
    program: "The published version is unchanged."
  }),
  PublishDraft: ({ workflowId }) => ({
    tools: ["workflow_diff", "activate_workflow"],
    model:
      `workflow_diff(a: '${workflowId}') shows it, activate_workflow(id: '${workflowId}') publishes it; without publish, the edit is added to it.`,
    program: "Publish the draft first; without publish, the edit is added to it."
  }),
  RestoreToPublish: ({ version, workflowId }) => ({
    tools: ["workflow_restore", "activate_workflow"],
    model:
      `workflow_restore(id: '${workflowId}', version: '${version}') makes it the current state, which activate_workflow(id: '${workflowId}') publishes.`,
    program: "Make it the current state, and publish that."
  }),
  ValidateWorkflow: ({ detail }) => ({
    tools: ["validate_workflow"],
    model: `validate_workflow ${detail === "More" ? "shows more" : "lists everything that is wrong with it"}.`,
    program: ""
  }),
  CreateByHand: ({ instead, type }) => ({
    model: `${instead}, or ask the user to run in a shell: effect-n8n-mcp credential create ${typeIn(type)}`,
    program: `${instead}.`
  }),
  AllowVariable: ({ variables }) => ({
    model: `The operator allows: ${variables.join(", ")} (--credential-env).`,
    program: `These are allowed: ${variables.join(", ")}.`
  }),
  ReadDetails: ({ have }) => ({
    model: have === "Message"
      ? "errorDetails contains n8n's own message."
      : "errorDetails lists the values that it accepts.",
    person: "",
    program: ""
  }),
  TryLater: ({ problem }) => ({ ...later[problem], person: later[problem].program }),
  ShowExecution: ({ id }) => ({
    tools: ["get_execution"],
    model: `get_execution(id: ${literal(id)}) names its workflow.`,
    person: "`effect-n8n-mcp workflows` lists the workflows with their ids.",
    program: ""
  }),
  RestoreRows: ({ stored, table, total, version }) => {
    const rows = stored < total ? `the first ${stored} of ${total} rows` : counted(total, "row")
    return {
      tools: ["table_write"],
      model:
        `table_write(table: '${table}', op: 'restore', version: '${version}') brings back ${rows}; deleted rows get new ids.`,
      program: `Version '${version}' has ${rows}.`
    }
  },
  TakeParameters: ({ isUnknown, name, parameters }) => {
    const list = `${parameters.join(", ") || "no parameters"}.`
    return { model: `${name} takes: ${list}`, program: isUnknown ? `The parameters are: ${list}` : "" }
  }
})
