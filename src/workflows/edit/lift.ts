/** Expressions of a group's nodes that read nodes outside, as inputs of the sub-workflow. */
import * as Result from "effect/Result"
import { deeper, mapValues, type Obj } from "../../base/Json.ts"
import * as JsonPath from "../../base/JsonPath.ts"
import { parametersOf } from "../../n8n/model/Workflow.ts"
import * as Expressions from "../check/Expressions.ts"
import * as Group from "./group.ts"
import { literal, unique } from "./rename.ts"
import * as Step from "./step.ts"

export interface Input {
  readonly name: string
  readonly value: string
}

export const wholeItem = "item"

/** Variables with another value in a sub-workflow. */
const ownVariable =
  /\$(?:runIndex|prevNode|execution|executionId|workflow|resumeWebhookUrl|getPairedItem|item)\b|\$input\s*\.\s*(?:params|context)\b|getWorkflowStaticData/

/** Names nodes in Python, which is not parsed. */
const pythonRead = /\b_(?:\(|node\b|items\b|execution|workflow|getWorkflowStaticData)/

const refuse = (name: string, why: string, hint: string) => Step.refuse("nodes", `${why}, in '${name}'.`, hint)

const outside = "Put the value into a field of the items before the group, and read it from $json."

/** References of a text; refuses those whose node is not certain. */
export const referencesIn = (text: Expressions.Text, name: string, { parse }: Step.Lookups) => {
  const { isOpen, references } = Expressions.inText(text, parse)
  return isOpen || references.some(({ isGuess }) => isGuess)
    ? refuse(name, `${text.path} names a node in a way that cannot be followed`, "Write $('Name').")
    : Result.succeed(references)
}

export const lift = (
  group: Group.Group,
  trigger: string,
  lookups: Step.Lookups,
  names: ReadonlyArray<string> = []
): Step.Attempt<{ readonly parameters: ReadonlyMap<string, Obj>; readonly inputs: ReadonlyArray<Input> }> =>
  Result.gen(function*() {
    const inputs = new Map<string, Input>()
    const parameters = new Map<string, Obj>()
    const source = `$(${literal(trigger, "'")})`
    for (const [name, node] of group.members) {
      const changed = new Map<string, string>()
      if (pythonRead.test(String(node.parameters["pythonCode"] ?? ""))) {
        return yield* refuse(name, "The Python code reads other nodes", outside)
      }
      for (const text of Expressions.texts(parametersOf(node.json))) {
        const variable = text.kind === "unmarked" ? null : ownVariable.exec(text.text)
        if (variable !== null) {
          return yield* refuse(name, `${variable[0]} has another value in a sub-workflow: ${text.path}`, outside)
        }
        let next = text.text
        const references = yield* referencesIn(text, name, lookups)
        for (const { name: other, read } of references.toSorted((a, b) => b.start - a.start)) {
          if (read === undefined || group.members.has(other)) continue
          const code = text.text.slice(read.start, read.end)
          const isOfItem = read.via === "item" || read.via === "node"
          if (!read.isJson || !isOfItem && read.via !== "first" && read.via !== "last") {
            return yield* refuse(name, `${text.path} reads more of '${other}' than fields of one item`, outside)
          }
          if (read.via === "node" && name !== group.entry) {
            return yield* refuse(name, `${text.path} reads '${other}' by index`, `Write $('${other}').item first.`)
          }
          if (!group.isBefore(other)) {
            return yield* refuse(name, `${text.path} reads '${other}', which does not always run before`, outside)
          }
          if (read.via === "item" && Group.isJoined(group, name)) {
            return yield* refuse(
              name,
              `${text.path} reads the item of '${other}' after a node that joins items`,
              `Write $('${other}').first() if there is only one.`
            )
          }
          const taken = new Set([wholeItem, ...[...inputs.values()].map((input) => input.name)])
          const input = inputs.get(code) ?? {
            name: names[inputs.size] ?? unique((read.key || other).replaceAll(/[^\p{L}\p{N}_$-]+/gu, "_"), taken),
            value: `={{ ${code} }}`
          }
          inputs.set(code, input)
          const replacement = JsonPath.member(`${source}.${isOfItem ? "item" : "first()"}.json`, input.name)
          next = next.slice(0, read.start) + replacement + next.slice(read.end)
        }
        if (next !== text.text) changed.set(text.path, next)
      }
      const replaced = ({ path, text }: Expressions.Text) => changed.get(path) ?? text
      const own = parametersOf(node.json)
      parameters.set(
        name,
        changed.size === 0
          ? own
          : mapValues(own, (value, key) => Expressions.mapTexts(value, replaced, deeper("parameters", key)))
      )
    }
    const declared = inputs.size === 0 ? [] : [{ name: wholeItem, value: "={{ $json }}" }, ...inputs.values()]
    return { parameters, inputs: declared }
  })
