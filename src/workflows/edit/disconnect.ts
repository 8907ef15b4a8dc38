/** Removes connections, including those of nodes that no longer exist. */
import * as Result from "effect/Result"
import { type Obj, obj } from "../../base/Json.ts"
import * as Connections from "../../n8n/model/Connections.ts"
import { clear, inWords } from "./connect.ts"
import * as Links from "./links.ts"
import * as PortName from "./portName.ts"
import * as Step from "./step.ts"

/** Node at one end, or the name of one that no longer exists. */
const end = (workflow: Obj, word: string, isNamed: boolean, field: string, lookups: Step.Lookups) => {
  const entry = Step.peek(workflow, word)
  if (entry === undefined && isNamed) {
    return Result.succeed({ name: word, node: undefined, means: (each: string) => each === word })
  }
  return Result.map(Step.locate(workflow, word, field, lookups), (entry) => ({
    name: entry.name,
    node: Step.read(entry, lookups),
    means: Step.meaning(workflow, entry)
  }))
}

const portOf = (
  node: PortName.Ports,
  side: "input" | "output",
  reference: PortName.Reference,
  type: string
): Step.Attempt<Connections.Port | undefined> =>
  reference === undefined
    ? Result.succeed(undefined)
    : clear(side === "input" ? "targetInput" : "sourceOutput", PortName.resolvePort(node, side, reference, type))

const isAt = (port: Connections.Port, wanted: Connections.Port | undefined) =>
  wanted === undefined || port.type === wanted.type && port.index === wanted.index

/** Removes one link or, without ports, every link from one node to the other. */
export const disconnect: Step.Edit<"disconnect"> = (workflow, operation, lookups) =>
  Result.gen(function*() {
    const { from: fromWord, sourceOutput, targetInput, to: toWord } = operation
    const all = Connections.links(workflow["connections"])
    const isSource = all.some((link) => link.from === fromWord)
    const isTarget = all.some((link) => link.to === toWord)
    const from = yield* end(workflow, fromWord, isSource, "from", lookups)
    const to = yield* end(workflow, toWord, isTarget, "to", lookups)
    const between = all.filter((link) => from.means(link.from) && to.means(link.to))
    const type = between[0]?.output.type ?? "main"
    const output = yield* portOf(from.node ?? from, "output", sourceOutput, type)
    const input = yield* portOf(to.node ?? to, "input", targetInput, type)
    const removed = between.filter((link) => isAt(link.output, output) && isAt(link.input, input))
    const inTurn = (link: Connections.Link) => inWords({ ...link, from: from.name, to: to.name }, from.node, to.node)
    if (removed.length === 0) {
      const there = between.length > 0 ? between : all.filter(({ from: each }) => from.means(each))
      return yield* Step.refuse(
        "to",
        `'${from.name}' is not connected to '${to.name}'${between.length > 0 ? " there" : ""}.`,
        there.length === 0
          ? `'${from.name}' has no outgoing connections.`
          : `Existing: ${
            there.slice(0, 8).map((link) => between.length > 0 ? inTurn(link) : inWords(link)).join(", ")
          }.`
      )
    }
    const connections = Links.remove(
      obj(workflow["connections"]) ?? {},
      (link) => removed.some((each) => Connections.sameLink(each, link))
    )
    return {
      workflow: { ...workflow, connections },
      changes: [`disconnected ${removed.map(inTurn).join(", ")}`]
    }
  })
