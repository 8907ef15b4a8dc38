/** Answers of a workflow to the caller that started it. Pure. */
import { type Obj, obj, str } from "../base/Json.ts"
import * as Workflow from "../n8n/model/Workflow.ts"

/** Whether other workflows start a workflow by this trigger. */
export const isCalled = (trigger: Obj): boolean =>
  trigger["disabled"] !== true && Workflow.typeOf(trigger) === "n8n-nodes-base.executeWorkflowTrigger"

/** Moment at which a trigger answers its caller; `undefined` if no caller waits. */
export const responseMode = (trigger: Obj): string | undefined => {
  const { options, responseMode } = Workflow.parametersOf(trigger)
  const type = Workflow.typeOf(trigger)
  const isChat = type.endsWith(".chatTrigger")
  if (!isChat && !/\.(webhook|formTrigger)$/.test(type)) return undefined
  const mode = str(responseMode) ?? str(obj(options)?.["responseMode"]) ?? (isChat ? "lastNode" : "onReceived")
  return mode === "onReceived" ? undefined : mode
}

/** Whether the caller gets the items of the last node that runs. */
export const returnsLast = (trigger: Obj): boolean => responseMode(trigger) === "lastNode" || isCalled(trigger)

/** Whether some caller of a workflow gets the items of the last node. */
export const returnsItems = (workflow: Obj): boolean => Workflow.nodes(workflow).some(returnsLast)
