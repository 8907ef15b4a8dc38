/**
 * Options in their plain forms, read without loading the program. Whatever is not certainly valid is left to the program,
 * which explains what is wrong with it. Imports nothing heavy: starts are lean.
 */
import { readFileSync } from "node:fs"
import { delimiter } from "node:path"
import { type Obj, obj } from "../../base/Json.ts"
import * as ConfigPlace from "./ConfigPlace.ts"
import type { Declaration } from "./Declarations.ts"
import { isApiKey, parseAddress, parseHeader, splitList, variableName } from "./forms.ts"

/** Declaration without what only the program uses. */
export type Option = Pick<
  Declaration<unknown>,
  "name" | "variable" | "rivals" | "format" | "isSecret" | "choices" | "isList" | "range" | "fallback"
>

type Env = { readonly [name: string]: string | undefined }

/** Values by the names of options: those of the command line, else of the environment. Toggles that are on are `["true"]`. */
export type Values = ReadonlyMap<string, ReadonlyArray<string>>

const truths = new Set(["true", "1"])

/** Values of the command line; `undefined` for anything but options with their values. */
const ofArguments = (args: ReadonlyArray<string>, options: ReadonlyMap<string, Option>) => {
  const values = new Map<string, ReadonlyArray<string>>()
  for (let index = 0; index < args.length; index++) {
    const [, name = "", inline] = /^--([a-z\d-]+)(?:=(.+))?$/s.exec(args[index] ?? "") ?? []
    const option = options.get(name)
    if (option === undefined || option.format === "boolean" && inline !== undefined) return undefined
    const value = option.format === "boolean" ? "true" : inline ?? args[++index]
    if (value === undefined || value === "" || value.startsWith("-")) return undefined
    const earlier = values.get(name)
    if (earlier !== undefined && !option.isList) return undefined
    values.set(name, [...earlier ?? [], value])
  }
  return values
}

/** Value of each option's kind, before the meaning of the option itself. */
const isOfKind = ({ choices, format, range }: Option, value: string) => {
  if (format === "boolean") return truths.has(value)
  if (choices.length > 0) return choices.includes(value)
  if (range === undefined) return true
  return /^\d{1,15}$/.test(value) && Number(value) >= range[0] && Number(value) <= range[1]
}

export const isAddress = (text: string) => parseAddress(text) instanceof URL

const isPlace = (text: string) =>
  !/^[a-z][a-z\d+.-]+:/i.test(text.trim()) && text.trim() !== "" ||
  /^postgres(ql)?:/.test(text) && URL.canParse(text)

/** Reads options; `undefined` if the program has to decide, such as about a command or a wrong value. */
export const read = (
  args: ReadonlyArray<string>,
  env: Env,
  declarations: ReadonlyArray<Option>
): Values | undefined => {
  const options = new Map(declarations.map((option) => [option.name, option]))
  const values = ofArguments(args, options)
  if (values === undefined) return undefined
  const onCommandLine = new Set(values.keys())
  for (const { format, isList, isSecret, name, rivals, variable } of declarations) {
    const hasRival = rivals.some((rival) => onCommandLine.has(rival))
    if (hasRival && onCommandLine.has(name)) return undefined
    const value = hasRival ? undefined : env[variable]
    const isOff = format === "boolean" && (value === "false" || value === "0")
    if (value && !isOff && !values.has(name)) {
      values.set(
        name,
        !isList ? [value] : isSecret ? splitList(value) : format === "filepath" ? value.split(delimiter) : [value]
      )
    }
    const texts = values.get(name)
    if (texts !== undefined && isList && !isSecret && format === "string") values.set(name, texts.flatMap(splitList))
  }
  const isKind = [...values].every(([name, texts]) => {
    const option = options.get(name)
    return option !== undefined && texts.every((text) => isOfKind(option, text))
  })
  const every = (name: string, isValid: (value: string) => boolean) => values.get(name)?.every(isValid) ?? true
  return isKind && every("n8n-url", isAddress) && every("webhook-url", isAddress) && every("api-key", isApiKey) &&
      every("state", isPlace) && every("n8n-header", (pair) => typeof parseHeader(pair, env) !== "string")
    ? values
    : undefined
}

const json = ({ file, text }: ConfigPlace.Place): unknown => {
  try {
    return JSON.parse(text ?? readFileSync(file, "utf8"))
  } catch {
    return undefined
  }
}

const isText = (value: unknown) => typeof value === "string" && value !== ""

const isTexts = (value: unknown) => Array.isArray(value) && value.every(isText)

const ruleForms: { readonly [rule: string]: (value: unknown) => boolean } = {
  bannedNodes: isTexts,
  protectedTags: isTexts,
  minScheduleMinutes: (value) => typeof value === "number" && value > 0,
  requireErrorWorkflow: (value) => typeof value === "boolean"
}

/** Whether every rule of a policy is certainly valid. */
export const isPolicy = (file: string): boolean => {
  const rules = obj(json({ file }))
  return rules !== undefined && Object.entries(rules).every(([rule, value]) => ruleForms[rule]?.(value) === true)
}

/** Whether an entry is certainly a valid profile of a server over stdio. */
const isProfile = (entry: Obj | undefined, env: Env): entry is Obj & { readonly name: string } => {
  const { apiKey, apiKeyEnv, filesRoot, name, readOnly, url, webhookUrl, ...rest } = entry ?? {}
  if (Object.keys(rest).length > 0 || !isText(name) || typeof url !== "string" || !isAddress(url)) return false
  if ((apiKey === undefined) === (apiKeyEnv === undefined)) return false
  if (apiKeyEnv !== undefined && !(typeof apiKeyEnv === "string" && variableName.test(apiKeyEnv))) return false
  const key = apiKey ?? env[String(apiKeyEnv)]
  return typeof key === "string" && isApiKey(key) && (readOnly === undefined || typeof readOnly === "boolean") &&
    (filesRoot === undefined || isText(filesRoot) || isTexts(filesRoot)) &&
    (webhookUrl === undefined || typeof webhookUrl === "string" && isAddress(webhookUrl))
}

/** Whether the chosen profile is read-only; `undefined` if the program has to decide. */
const isReadOnlyProfile = (place: ConfigPlace.Place, name: string | undefined, env: Env): boolean | undefined => {
  const content = obj(json(place))
  const entries = Array.isArray(content?.["profiles"]) ? content["profiles"].map(obj) : []
  const profiles = entries.flatMap((entry) => isProfile(entry, env) ? entry : [])
  const names = new Set(profiles.map((profile) => profile.name))
  if (Object.keys(content ?? {}).length !== 1 || names.size !== entries.length) return undefined
  const chosen = name === undefined && profiles.length === 1
    ? profiles[0]
    : profiles.find((profile) => profile.name === name)
  return chosen && chosen["readOnly"] === true
}

/** Whether the server may change nothing, by its options and its profile; `undefined` if the program has to decide. */
export const isReadOnly = (values: Values, env: Env): boolean | undefined => {
  const own = values.has("read-only")
  const [config] = values.get("config") ?? []
  const [profile] = values.get("profile") ?? []
  const { refused, used } = ConfigPlace.choose(env, {
    demo: values.has("demo"),
    config,
    profile,
    hasAddress: values.has("n8n-url") || values.has("api-key")
  })
  if (refused.length > 0) return undefined
  if (used === undefined) return profile === undefined || values.has("demo") ? own : undefined
  const ofProfile = isReadOnlyProfile(used, profile, env)
  return ofProfile === undefined ? undefined : own || ofProfile
}
