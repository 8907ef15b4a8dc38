/** Webhooks, their responses, and forms. */
import * as Result from "effect/Result"
import { arr, type Obj, obj, str } from "../../base/Json.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import { connected, seesMore } from "./downstream.ts"
import { carry, left, type Mapping, type Old, type Step } from "./mapping.ts"

const respond = "n8n-nodes-base.respondToWebhook"
const isWaiting = (node: Obj) => {
  const { responseMode, resume } = Workflow.parametersOf(node)
  return Workflow.typeOf(node) === "n8n-nodes-base.wait" && node["disabled"] !== true &&
    (resume === "webhook" || resume === "form") && responseMode === "responseNode"
}

const optionsOf = ({ own }: Old) => obj(own["options"]) ?? {}
const withOptions = (old: Old, more: Obj): Obj => ({ ...old.own, options: { ...optionsOf(old), ...more } })

/** Version 1 leaves out the body of a request without one, and drops files; later versions give `{}` and a file. */
const toBodies: Mapping = (old) => {
  const options = optionsOf(old)
  if (options["binaryData"] !== undefined && options["binaryData"] !== false) {
    return left(
      "Option 'Binary File' makes a file of every request; later versions leave text and JSON as they are.",
      "Remove the option, upgrade, and read 'body' or the file in what follows."
    )
  }
  const isRaw = options["rawBody"] === true
  return !isRaw && seesMore(old.workflow, old.name, "body")
    ? left(
      "A request without a body has 'body: {}' from version 1.1 on, and one with a file has the file.",
      "If an empty body or a file does no harm to what follows, set typeVersion 2.1 by an update."
    )
    : Result.succeed({ parameters: old.own })
}

/** Version 2 refuses a webhook that does not fit the Respond to Webhook nodes after it. */
const toCodes: Mapping = (old) => {
  const { own, parameters: p, workflow } = old
  const mode = p["responseMode"]
  const after = connected(workflow, old.name, "after")
  const responses = after.filter((node) => Workflow.typeOf(node) === respond)
  const isOwn = (node: Obj) =>
    connected(workflow, Workflow.nameOf(node), "before").some((before) => isWaiting(before) && after.includes(before))
  if (mode === "responseNode" && responses.length === 0) {
    return left(
      "Version 2 refuses requests, since no Respond to Webhook node follows.",
      "Add one, or choose another responseMode; then upgrade again."
    )
  }
  if (mode !== "responseNode" && responses.some((node) => !isOwn(node))) {
    return left(
      "Version 2 refuses requests, since a Respond to Webhook node follows that does not answer.",
      "Set responseMode to responseNode or remove that node; then upgrade again."
    )
  }
  const { responseCode, ...others } = own
  const isDefault = responseCode === undefined || responseCode === 200 || mode === "responseNode"
  return Result.succeed({
    parameters: isDefault
      ? others
      : withOptions({ ...old, own: others }, {
        responseCode: { values: { responseCode: "customCode", customCode: responseCode } }
      })
  })
}

export const webhook: ReadonlyArray<Step> = [{ to: 1.1, change: toBodies }, { to: 2, change: toCodes }, { to: 2.1 }]

const triggers = new Set(
  ["webhook", "formTrigger", "wait"].map((name) => `n8n-nodes-base.${name}`)
    .concat("@n8n/n8n-nodes-langchain.chatTrigger")
)

const toChecks: Mapping = (old) => {
  const before = connected(old.workflow, old.name, "before")
  return before.length === 0 || before.some((node) => triggers.has(Workflow.typeOf(node)))
    ? Result.succeed({ parameters: old.own })
    : left(
      "Later versions fail when no Webhook, Form Trigger, Chat Trigger or Wait node leads to them.",
      "Connect one, or remove this node."
    )
}

/** Version 1.3 has a second output, which later versions have on request. */
const toBranch: Mapping = (old) =>
  Result.succeed({ parameters: old.version === 1.3 ? { ...old.own, enableResponseOutput: true } : old.own })

const isStreaming = (node: Obj) => {
  const parameters = Workflow.parametersOf(node)
  return [parameters["responseMode"], obj(parameters["options"])?.["responseMode"]]
    .some((mode) => mode === "streaming" || str(mode)?.startsWith("=") === true)
}

/** From version 1.5 on, it streams where the trigger does. */
const toStreams: Mapping = (old) =>
  Result.succeed({
    parameters: connected(old.workflow, old.name, "before").some(isStreaming)
      ? withOptions(old, { enableStreaming: false })
      : old.own
  })

export const respondToWebhook: ReadonlyArray<Step> = [
  { to: 1.1, change: toChecks },
  { to: 1.4, change: toBranch },
  { to: 1.5, change: toStreams }
]

const fieldsOf = (old: Old) => arr(obj(old.own["formFields"])?.["values"]).map((field) => obj(field) ?? {})

const withFields = (old: Old, change: (field: Obj) => Obj): Obj => {
  const form = obj(old.own["formFields"])
  return form === undefined || !Array.isArray(form["values"])
    ? old.own
    : { ...old.own, formFields: { ...form, values: fieldsOf(old).map(change) } }
}

/** Checkboxes take the place of a list with several choices. */
const toCheckboxes: Mapping = (old) => {
  const several = fieldsOf(old).filter(({ fieldType, multiselect }) =>
    fieldType === "dropdown" && multiselect !== undefined
  )
  return several.some(({ multiselect }) => typeof multiselect !== "boolean")
    ? left("An expression decides whether a list has several choices.", "Choose Checkboxes or Dropdown.")
    : Result.succeed({
      parameters: withFields(
        old,
        ({ multiselect, ...field }) =>
          field["fieldType"] === "dropdown" && multiselect === true ? { ...field, fieldType: "checkbox" } : field
      )
    })
}

/** A name that only hidden fields had before counts for all of them. */
const toNames: Mapping = (old) =>
  Result.succeed({
    parameters: withFields(old, ({ fieldName, ...field }) =>
      field["fieldType"] === "hiddenField" && fieldName !== undefined ? { ...field, fieldName } : field)
  })

const toTimezone: Mapping = (old) =>
  Result.succeed({
    parameters: optionsOf(old)["useWorkflowTimezone"] === undefined
      ? withOptions(old, { useWorkflowTimezone: false })
      : old.own
  })

const toPath: Mapping = (old) => {
  const { path, ...own } = old.own
  const isAnswered = connected(old.workflow, old.name, "after").some((node) => Workflow.typeOf(node) === respond)
  if (isAnswered || own["responseMode"] === "responseNode") {
    return left(
      "From version 2.2 on, a form cannot be answered by a Respond to Webhook node.",
      "Replace that node by a Form node with the page type Form Ending; then upgrade again."
    )
  }
  return Result.succeed({
    parameters: path === undefined || path === "" ? own : withOptions({ ...old, own }, { path })
  })
}

const newAddress: Mapping = () =>
  left("From version 2 on, the form has another address.", "Set typeVersion by an update and publish the new address.")

export const formTrigger: ReadonlyArray<Step> = [
  { to: 2, change: newAddress },
  { to: 2.1, change: toTimezone },
  { to: 2.2, change: toPath },
  { to: 2.3, change: toCheckboxes },
  { to: 2.5, change: (old) => old.version < 2.4 ? toNames(old) : carry(old) },
  { to: 2.6 }
]

export const form: ReadonlyArray<Step> = [
  { to: 2.3, change: toCheckboxes },
  { to: 2.5, change: (old) => old.version < 2.4 ? toNames(old) : carry(old) }
]
