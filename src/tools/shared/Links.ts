/** Addresses in n8n's editor. */
import type { Execution } from "../../executions/Execution.ts"
import * as TestMark from "../../n8n/model/TestMark.ts"
import type { Instance } from "../../n8n/N8nClient.ts"
import * as Reference from "../../workflows/Reference.ts"

export const workflows = ({ url }: Instance): string => `${url}home/workflows`

export const credentials = ({ url }: Instance): string => `${url}home/credentials`

export const history = (instance: Instance, id: string): string => `${workflow(instance, id)}/history`

export const workflow = ({ url }: Instance, id: string, version?: string): string => {
  const editor = `${url}workflow/${encodeURIComponent(id)}`
  return version === undefined || version === Reference.published || Reference.isSnapshot(version)
    ? editor
    : `${editor}/history/${encodeURIComponent(version)}`
}

export const executions = (instance: Instance, workflowId: string | undefined): string =>
  workflowId === undefined ? `${instance.url}home/executions` : `${workflow(instance, workflowId)}/executions`

/** Address of an execution; `undefined` for one of a test, whose copy of the workflow is deleted. */
export const execution = (instance: Instance, { id, workflow: ran, workflowId }: Execution): string | undefined =>
  ran !== undefined && TestMark.ownerOf(ran.name) !== undefined
    ? undefined
    : `${workflow(instance, workflowId)}/executions/${id}`
