/** The measurements. Contenders take turns in a different order each round, so that noise affects all of them. */
import * as Effect from "effect/Effect"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"
import { arr, num, obj } from "../../src/base/Json.ts"
import { type Contender, type Execution, type Name, names, type Target } from "./contenders.ts"
import * as McpProcess from "./McpProcess.ts"
import type * as Relay from "./Relay.ts"
import { inTurn, medianOf } from "./results.ts"

/** The three servers. */
export type Contenders = Readonly<Record<Name, Contender>>

/** The number of rounds: at least `atLeast`, and no new one after `seconds` or `atMost`. */
export interface Rounds {
  readonly atLeast: number
  readonly atMost: number
  readonly seconds: number
}

/** A value of each contender; `undefined` if it has none. */
export type Values = Readonly<Record<Name, number | undefined>>

type Samples<A> = Readonly<Record<Name, ReadonlyArray<A>>>

/** Samples of all, one after the other in each round. */
export const takeTurns = <const Who extends string, A, E, R>(
  who: ReadonlyArray<Who>,
  { atLeast, atMost, seconds }: Rounds,
  one: (name: Who) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function*() {
    const samples = Object.fromEntries(who.map((name) => [name, new Array<A>()])) as Record<Who, Array<A>>
    const end = performance.now() + seconds * 1000
    for (let round = 0; round < atMost && (round < atLeast || performance.now() < end); round++) {
      for (const name of inTurn(who, round)) samples[name].push(yield* one(name))
    }
    return samples
  })

const interleaved = <A, E, R>(rounds: Rounds, one: (name: Name) => Effect.Effect<A, E, R>) =>
  takeTurns(names, rounds, one)

/** One round. */
export const once: Rounds = { atLeast: 1, atMost: 1, seconds: 0 }

const medians = <A>(samples: Samples<A>, of: (sample: A) => number | undefined): Values => ({
  ours: medianOf(samples.ours.map(of)),
  peer: medianOf(samples.peer.map(of)),
  floor: medianOf(samples.floor.map(of))
})

const minima = <A>(samples: Samples<A>, of: (sample: A) => number): Values => ({
  ours: Math.min(...samples.ours.map(of)),
  peer: Math.min(...samples.peer.map(of)),
  floor: Math.min(...samples.floor.map(of))
})

const open = ({ command, title }: Contender, target: Target, era?: McpProcess.Era) =>
  McpProcess.start(title, command(target), era)

const toolTokens = (tool: unknown) => {
  const { description, inputSchema, name } = obj(tool) ?? {}
  return countTokens(JSON.stringify({ name, description, inputSchema }))
}

/** What a start is measured with: ours in both eras, the others in the era that they know. */
const starts = ["modern", "legacy", "peer", "floor"] as const

/** Measures a process from its start to the list of its tools. */
export const startUp = Effect.fn("measure.startUp")(function*(contenders: Contenders, target: Target, rounds: Rounds) {
  const one = (name: typeof starts[number]) =>
    Effect.gen(function*() {
      const who = name === "peer" || name === "floor" ? name : "ours"
      const server = yield* open(contenders[who], target, name === "modern" ? "modern" : "legacy")
      const { result } = yield* server.request("tools/list")
      return { millis: server.startMillis, usage: yield* server.usage, tools: arr(obj(result)?.["tools"]) }
    }).pipe(Effect.scoped)
  // The first start reads from disk.
  const first = yield* takeTurns(starts, once, one)
  const samples = yield* takeTurns(starts, rounds, one)
  const tokens = (tools: ReadonlyArray<unknown>) => tools.reduce((sum: number, tool) => sum + toolTokens(tool), 0)
  const of = (era: McpProcess.Era) => {
    const those = { ours: samples[era], peer: samples.peer, floor: samples.floor }
    return {
      millis: medians(those, ({ millis }) => millis),
      least: minima(those, ({ millis }) => millis),
      cpuMillis: medians(those, ({ usage }) => usage.cpuMillis),
      memory: medians(those, ({ usage }) => usage.memory)
    }
  }
  const lists = { ours: first.modern, peer: first.peer, floor: first.floor }
  return {
    rounds: samples.modern.length,
    modern: of("modern"),
    legacy: of("legacy"),
    tools: medians(lists, ({ tools }) => tools.length),
    tokens: medians(lists, ({ tools }) => tokens(tools)),
    tokensPerTool: medians(lists, ({ tools }) => tokens(tools) / tools.length)
  }
})

/** The number of bytes that the floor downloaded. */
const downloaded = (answer: string | undefined) =>
  answer === undefined ? undefined : num(obj(JSON.parse(answer))?.["bytes"])

/** Measures repeated small reads of warm servers. */
export const smallRead = Effect.fn("measure.smallRead")(
  function*(contenders: Contenders, target: Target, workflow: string, rounds: Rounds) {
    const servers = {
      ours: yield* open(contenders.ours, target),
      peer: yield* open(contenders.peer, target),
      floor: yield* open(contenders.floor, target)
    }
    const one = (name: Name) => servers[name].call(contenders[name].listWorkflows(workflow))
    yield* interleaved({ atLeast: 10, atMost: 10, seconds: 0 }, one)
    const samples = yield* interleaved(rounds, one)
    return {
      rounds: samples.ours.length,
      millis: medians(samples, ({ millis }) => millis),
      chars: { ...medians(samples, ({ text }) => text.length), floor: downloaded(samples.floor[0]?.text) }
    }
  },
  Effect.scoped
)

/** Measures node search: time, characters, and how often the right node is first or in the first three. */
export const nodeSearch = Effect.fn("measure.nodeSearch")(
  function*(contenders: Contenders, target: Target, queries: Readonly<Record<string, string>>) {
    const measured = Effect.fnUntraced(function*(name: Name) {
      const { typesIn, searchNodes } = contenders[name]
      if (typesIn === undefined || searchNodes === undefined) return undefined
      const server = yield* open(contenders[name], target)
      yield* server.call(searchNodes("warm up"))
      const samples = yield* Effect.forEach(
        Object.entries(queries),
        ([task, types]) =>
          Effect.map(server.call(searchNodes(task)), ({ millis, text }) => ({
            millis,
            chars: text.length,
            place: typesIn(text).findIndex((type) => types.replaceAll("ai.", "").split(" ").includes(type))
          }))
      )
      const within = (best: number) =>
        100 * samples.filter(({ place }) => place >= 0 && place < best).length / samples.length
      return {
        millis: medianOf(samples.map(({ millis }) => millis)),
        chars: medianOf(samples.map(({ chars }) => chars)),
        first: within(1),
        within3: within(3)
      }
    }, Effect.scoped)
    const [ours, peer] = [yield* measured("ours"), yield* measured("peer")]
    const values = (of: "millis" | "chars" | "first" | "within3"): Values => ({
      ours: ours?.[of],
      peer: peer?.[of],
      floor: undefined
    })
    return {
      queries: Object.keys(queries).length,
      millis: values("millis"),
      chars: values("chars"),
      first: values("first"),
      within3: values("within3")
    }
  }
)

/** Measures reading an execution, the summary and then a late node, with a fresh process each time. */
export const looks = Effect.fn("measure.looks")(function*(
  contenders: Contenders,
  target: Target,
  relay: Relay.Relay,
  execution: Execution,
  rounds: Rounds
) {
  const counted = Effect.fnUntraced(function*(server: McpProcess.McpProcess, call: McpProcess.Call) {
    const [requestsBefore, usageBefore] = [relay.count(), yield* server.usage]
    const { millis, text } = yield* server.call(call)
    const { cpuMillis } = yield* server.usage
    return {
      millis,
      text,
      cpuMillis: cpuMillis === undefined ? undefined : cpuMillis - (usageBefore.cpuMillis ?? 0),
      requests: relay.count() - requestsBefore
    }
  })
  const one = (name: Name) =>
    Effect.gen(function*() {
      const { getExecution, getNode, ...contender } = contenders[name]
      const server = yield* open({ ...contender, getExecution }, { ...target, url: relay.url })
      const first = yield* counted(server, getExecution(execution))
      const second = getNode === undefined ? undefined : yield* counted(server, getNode(execution))
      const { peak } = yield* server.usage
      return { first, second, peak }
    }).pipe(Effect.scoped)
  const samples = yield* interleaved(rounds, one)
  const bytes = downloaded(samples.floor[0]?.first.text) ?? 0
  return {
    rounds: samples.ours.length,
    megabytes: bytes / 1e6,
    peak: medians(samples, ({ peak }) => peak),
    requests: medians(
      samples,
      ({ first, second }) => second === undefined ? undefined : first.requests + second.requests
    ),
    first: {
      millis: medians(samples, ({ first }) => first.millis),
      cpuMillis: medians(samples, ({ first }) => first.cpuMillis),
      chars: { ...medians(samples, ({ first }) => first.text.length), floor: bytes }
    },
    second: {
      millis: medians(samples, ({ second }) => second?.millis),
      chars: medians(samples, ({ second }) => second?.text.length),
      requests: medians(samples, ({ second }) => second?.requests)
    }
  }
})

/** The results of all measurements. */
export interface Results {
  readonly startUp: Effect.Success<ReturnType<typeof startUp>>
  readonly smallRead: Effect.Success<ReturnType<typeof smallRead>>
  readonly nodeSearch: Effect.Success<ReturnType<typeof nodeSearch>>
  /** The results by size, smallest first. */
  readonly looks: ReadonlyArray<Effect.Success<ReturnType<typeof looks>>>
}
