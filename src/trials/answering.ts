/** Answers of a workflow to the caller that started it. Pure. */
import { obj, str } from "../base/Json.ts"
import type { Node } from "../n8n/model/Workflow.ts"

/** Whether other workflows start a workflow by this trigger. */
export const isCalled = ({ disabled, type }: Node): boolean =>
  disabled !== true && type === "n8n-nodes-base.executeWorkflowTrigger"

/** Moment at which a trigger answers its caller; `undefined` if no caller waits. */
export const responseMode = (trigger: Node | undefined): string | undefined => {
  if (trigger === undefined) return undefined
  const { options, responseMode } = obj(trigger.parameters) ?? {}
  const isChat = trigger.type.endsWith(".chatTrigger")
  if (!isChat && !/\.(webhook|formTrigger)$/.test(trigger.type)) return undefined
  const mode = str(responseMode) ?? str(obj(options)?.["responseMode"]) ?? (isChat ? "lastNode" : "onReceived")
  return mode === "onReceived" ? undefined : mode
}

/** Whether the caller gets the items of the last node that runs. */
export const returnsLast = (trigger: Node | undefined): boolean =>
  responseMode(trigger) === "lastNode" || trigger !== undefined && isCalled(trigger)
