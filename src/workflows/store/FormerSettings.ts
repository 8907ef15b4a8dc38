/** Settings of an earlier state of a workflow, as a write restores them. */
import { defined, equals, mapValues, type Obj, obj, without } from "../../base/Json.ts"

/** Values that n8n takes, and that mean the same as a setting that is not set. */
const unset: Obj = {
  errorWorkflow: "DEFAULT",
  timezone: "DEFAULT",
  executionTimeout: -1,
  executionOrder: "v0",
  callerPolicy: "workflowsFromSameOwner",
  callerIds: "",
  availableInMCP: false,
  timeSavedMode: "fixed",
  timeSavedPerExecution: 0,
  redactionPolicy: "none",
  customTelemetryTags: []
}

/** n8n's defaults of settings that its API cannot unset. */
const defaults: Obj = {
  saveDataErrorExecution: "all",
  saveDataSuccessExecution: "all",
  saveExecutionProgress: false,
  saveManualExecutions: true
}

/** Whether a value means that a setting is not set; with its key, also the value that only this setting has then. */
export const isUnset = (value: unknown, key = ""): boolean =>
  value === undefined || value === "DEFAULT" || value === "" || value === -1 ||
  Object.hasOwn(unset, key) && equals(value, unset[key])

/** Value of a setting, with n8n's default where it is not set; `undefined` without one. */
export const valueOf = (settings: unknown, key: string): unknown => {
  const value = obj(settings)?.[key] ?? undefined
  if (!isUnset(value, key)) return value
  const known = unset[key] ?? defaults[key]
  return known === "DEFAULT" || known === "" ? undefined : known
}

// n8n 1 takes "DEFAULT" for the id of an error workflow.
const valuesOf = (isV1: boolean): Obj => ({ ...unset, ...isV1 ? { errorWorkflow: "" } : {}, ...defaults })

/** Settings to write, in which `null` is the value that means the same as not set; n8n keeps what a write leaves out. */
export const settingsToWrite = (now: unknown, settings: object, isV1: boolean): Obj => {
  const values = valuesOf(isV1)
  return defined({
    ...settings,
    ...mapValues(
      without({ ...settings }, (value) => value !== null),
      (_, key) => (obj(now)?.[key] ?? undefined) === undefined ? undefined : values[key]
    )
  })
}

const sentence = (keys: ReadonlyArray<string>, text: string) => keys.length === 0 ? [] : [`${text}: ${keys.join(", ")}`]

/**
 * Returns the settings to write, since n8n merges them, and warnings about those that could not be unset.
 */
export const formerSettings = (now: unknown, former: unknown, isV1: boolean) => {
  const settings = obj(former) ?? {}
  const added = Object.keys(without(obj(now) ?? {}, (value, key) => settings[key] !== undefined || isUnset(value, key)))
  const among = (values: Obj) => added.filter((key) => Object.hasOwn(values, key))
  const values = valuesOf(isV1)
  return {
    settings: { ...settings, ...Object.fromEntries(among(values).map((key) => [key, values[key]])) } as Obj,
    warnings: [
      ...sentence(among(defaults), "n8n cannot unset these settings; they have n8n's default value now"),
      ...sentence(added.filter((key) => !Object.hasOwn(values, key)), "n8n cannot remove these settings; they stay")
    ]
  }
}
