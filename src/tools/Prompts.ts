/** Prompts for the three common tasks: debug, build, review. */
import type * as Prompt from "../answer/Prompt.ts"
import * as resources from "./Resources.ts"

const quoted = (text: string) => JSON.stringify(text)

/**
 * Quotes an argument that may have several words.
 *
 * **Gotchas**
 *
 * Claude Code passes only one word per argument of a prompt, with or without quotation marks; the whole command is in
 * the conversation too.
 */
const quotedWords = (text: string) =>
  /\s/.test(text) ? quoted(text) : `${quoted(text)} and whatever else I typed after the command`

/** Asks a model for the cause of a failure and a fix. */
export const debugExecution = {
  name: "debug_execution",
  title: "Debug an execution",
  description: "Why did a run fail, and what would fix it?",
  arguments: [
    {
      name: "executionId",
      description: "The execution's id; default: the newest that failed.",
      required: false,
      complete: resources.execution.complete
    }
  ],
  text: ({ executionId }: Readonly<Record<string, string>>) =>
    `${
      executionId === undefined
        ? "Find the newest n8n execution that failed: list_executions with groupBy \"failure\" shows in one call what fails, how often, and the newest executions of each kind."
        : `Look at the n8n execution ${quoted(executionId)}.`
    }

1. get_execution shows the failing node, its error and the item that failed, if n8n says which. If it does not, or a result is wrong although nothing failed, search_execution finds the item: where for a condition ("amount < 0"), text for an id or a name.
2. get_execution_by_node shows that node's input and parameters; compare_items from an earlier node to it shows in one call which values changed and which items were lost. Repeat until you see where the data first went wrong.
3. Explain in two or three sentences what happened, with the values that prove it, and whether it will happen again.
4. Propose the smallest change that fixes it, as workflow_edit operations. Show them with dryRun; change nothing before I agree.`
} satisfies Prompt.Prompt

/** Asks a model to build and test a workflow. */
export const buildWorkflow = {
  name: "build_workflow",
  title: "Build a workflow",
  description: "From a description to a tested workflow.",
  arguments: [{ name: "description", description: "What it should do, in plain words.", required: true }],
  text: ({ description = "" }: Readonly<Record<string, string>>) =>
    `Build an n8n workflow that does this: ${quotedWords(description)}

1. Ask me what is missing, if it decides the design: the trigger, the accounts, what happens on an error.
2. node_search for each step, then node_get for its parameters and a valid example; use only types and parameters that these name. list_credentials has the accounts.
3. workflow_create, then workflow_edit to add and connect the nodes; name each after what it does.
4. validate_workflow until it finds no error.
5. test_workflow with test data like the real thing; compare the output with what I asked for. Its nodes really run: warn me first if that sends, pays or deletes anything.
6. create_workflow_from_file brings it to n8n, unpublished. Tell me what it does and what to check before activate_workflow.`
} satisfies Prompt.Prompt

/** Asks a model to review a workflow. */
export const reviewWorkflow = {
  name: "review_workflow",
  title: "Review a workflow",
  description: "What could go wrong with it, most important first.",
  arguments: [
    {
      name: "workflowId",
      description: "The workflow's id, or its name.",
      required: true,
      complete: resources.workflow.complete
    }
  ],
  text: ({ workflowId = "" }: Readonly<Record<string, string>>) =>
    `Review the n8n workflow ${quotedWords(workflowId)} (list_workflows finds it by name).

1. get_workflow_connections for its graph, validate_workflow for what n8n itself would refuse, get_workflow with nodes: ["*"] for the parameters.
2. list_executions with its id: how often does it fail, and where (get_execution)?
3. Look for: errors that no one notices (no error output, no error workflow, no retry on requests), loops without an end, requests without a time limit or paging, secrets in parameters or code, unconnected nodes, expressions that fail on an empty input, work repeated for each item that could be done once.
4. List your findings, most important first: the node, what happens, and the workflow_edit operation that fixes it. Change nothing before I agree.`
} satisfies Prompt.Prompt

/** All prompts. */
export const all = [debugExecution, buildWorkflow, reviewWorkflow] as const
