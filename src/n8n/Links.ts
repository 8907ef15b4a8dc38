/** Addresses in n8n's editor, and the ids in links and names that callers write in place of ids. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as Stream from "effect/Stream"
import * as Alias from "../base/Alias.ts"
import * as Errors from "../base/Errors.ts"
import * as Input from "../base/Input.ts"
import { nearest } from "../base/Nearest.ts"
import { counted } from "../base/Plural.ts"
import * as Visible from "../base/Visible.ts"
import * as NameSearch from "./model/NameSearch.ts"
import * as TestMark from "./model/TestMark.ts"
import { type Instance, N8nClient } from "./N8nClient.ts"

export const workflows = ({ url }: Instance): string => `${url}home/workflows`

export const credentials = ({ url }: Instance): string => `${url}home/credentials`

export const workflow = ({ url }: Instance, id: string): string => `${url}workflow/${encodeURIComponent(id)}`

export const history = (instance: Instance, id: string, version?: string): string =>
  `${workflow(instance, id)}/history${version === undefined ? "" : `/${encodeURIComponent(version)}`}`

export const executions = (instance: Instance, workflowId: string | undefined): string =>
  workflowId === undefined ? `${instance.url}home/executions` : `${workflow(instance, workflowId)}/executions`

/** Address of an execution; `undefined` for one of a test, whose copy of the workflow is deleted. */
export const execution = (
  instance: Instance,
  { id, workflow: ran, workflowId }: {
    readonly id: string
    readonly workflowId: string
    readonly workflow?: { readonly name: string } | undefined
  }
): string | undefined =>
  ran !== undefined && TestMark.ownerOf(ran.name) !== undefined
    ? undefined
    : `${workflow(instance, workflowId)}/executions/${id}`

/** Other n8ns that the caller can choose: the profiles of a configuration. */
export const Profiles = Context.Reference<ReadonlyArray<{ readonly name: string; readonly url: string }>>(
  "effect-n8n-mcp/Links/Profiles",
  { defaultValue: () => [] }
)

/** Ids in a link to a page of n8n. */
export interface Link {
  readonly workflowId?: string | undefined
  readonly version?: string | undefined
  readonly executionId?: string | undefined
}

const decoded = (part: string | undefined) => {
  try {
    return part && decodeURIComponent(part)
  } catch {
    return part
  }
}

const idsIn = (path: string): Link => {
  const [, workflowId, kind, other] =
    /(?:^|\/)workflow\/([^/]+)(?:\/(executions|debug|history)\/([^/]+))?/.exec(path) ?? []
  const execution = kind === "history" ? undefined : other ?? /(?:^|\/)executions\/(\d+)/.exec(path)?.[1]
  return {
    workflowId: decoded(workflowId),
    version: kind === "history" ? decoded(other) : undefined,
    executionId: decoded(execution)
  }
}

const isLoopback = (host: string) => host === "localhost" || host === "[::1]" || host.startsWith("127.")

/** Path below an n8n; `undefined` for an address elsewhere. */
const pathBelow = ({ hostname, pathname, port, protocol }: URL, base: string) => {
  const n8n = new URL(base)
  const isHere = port === n8n.port && (protocol === n8n.protocol && hostname === n8n.hostname ||
    isLoopback(hostname) && isLoopback(n8n.hostname))
  return isHere && pathname.startsWith(n8n.pathname) ? pathname.slice(n8n.pathname.length) : undefined
}

/** Ids in a link to this n8n; `undefined` for a text that is not an address. Fails for a link to another n8n. */
export const read = Effect.fnUntraced(function*(text: string): Effect.fn.Return<Link | undefined, Input.Refusal> {
  const url = /^\s*https?:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined) return undefined
  // Where arguments are only checked, there is no n8n.
  const base = Option.getOrUndefined(yield* Effect.serviceOption(N8nClient))?.instance.url ?? ""
  const path = base === "" ? url.pathname : pathBelow(url, base)
  if (path !== undefined) return idsIn(path)
  const profile = (yield* Profiles).find((each) => URL.canParse(each.url) && pathBelow(url, each.url) !== undefined)
  const { executionId, workflowId } = idsIn(url.pathname)
  const id = executionId ?? workflowId
  return yield* Effect.fail({
    message: `The link is to ${url.host}, and the connected n8n is ${base}. ` + (profile !== undefined
      ? `That is the n8n of profile '${Visible.label(profile.name)}': it needs --profile.`
      : id === undefined
      ? "Use an id of this n8n."
      : `If both are the same n8n, use the id alone: '${Visible.label(id)}'.`)
  })
})

const maxNamed = 5

/** Workflows with this name, in any case, archived ones only if there are no others; and other names that contain it. */
const withName = Effect.fnUntraced(function*(n8n: typeof N8nClient.Service, text: string) {
  const isSame = NameSearch.equals(text)
  const others: Array<string> = []
  const all = yield* Stream.runCollect(
    n8n.streamWorkflows({
      name: text.trim(),
      archived: true,
      filter: ({ name }) => {
        if (!isSame(name)) others.push(name)
        return isSame(name)
      }
    })
  )
  const live = all.filter(({ isArchived }) => isArchived !== true)
  const some = live.length === 0 ? all : live
  const exact = some.filter(({ name }) => name === text)
  return { some: exact.length === 1 ? exact : some, near: all.length > 0 ? [] : nearest(text, others) }
})

const lookUp = Effect.fn("Links.named")(function*(text: string) {
  const n8n = yield* Effect.serviceOption(N8nClient)
  if (Option.isNone(n8n)) return { id: undefined, near: [] }
  // A failure to look is no answer to whether the id exists.
  const { near, some: all } = yield* withName(n8n.value, text).pipe(
    Effect.orElseSucceed(() => ({ near: [], some: [] }))
  )
  if (all.length < 2) return { id: all[0]?.id, near }
  const few = all.slice(0, maxNamed).map(({ id, name }) => `'${Visible.label(name)}' (${Visible.label(id)})`)
  return yield* new Errors.ValidationError({
    reason: `${counted(all.length, "workflow")} have the name '${Visible.label(text)}': ${few.join(", ")}${
      all.length > maxNamed ? ", …" : ""
    }. Use the id of one`,
    hint: { _tag: "ListWorkflows" }
  })
})

/**
 * Looks up the id of the workflow with this name, ignoring case: `undefined` without such a workflow, and where no n8n is
 * connected. Several workflows of the name are an error.
 */
export const named = (text: string) => Effect.map(lookUp(text), ({ id }) => id)

/** Meaning of a text with an id, which is otherwise a name; `format` is the text with another id. */
export const alias = (text: string, id = text, format: (id: string) => string = identity) =>
  Effect.contextWith((context: Context.Context<never>) =>
    Alias.read(
      text,
      id,
      Effect.map(
        Effect.provideContext(lookUp(id), context),
        ({ id: other, near }) => ({ id: other === undefined ? undefined : format(other), near })
      )
    )
  )

/** Id and version in a link to a workflow; `undefined` for a text that is not a link. */
export const linked = Effect.fnUntraced(function*(
  text: string
): Effect.fn.Return<{ readonly id: string; readonly version: string | undefined } | undefined, Input.Refusal> {
  const link = yield* read(text)
  const { executionId, version, workflowId } = link ?? {}
  if (link === undefined || workflowId !== undefined) {
    return workflowId === undefined
      ? undefined
      : { id: workflowId, version }
  }
  return yield* Effect.fail(
    executionId === undefined
      ? { message: `'${Visible.label(text)}' is not a link to a workflow, which contains /workflow/ID` }
      : {
        message: `The link is to execution ${executionId}, not to a workflow`,
        hint: { _tag: "ShowExecution" as const, id: executionId }
      }
  )
})

/** Id of the workflow on n8n that a text names by its id, a link to it, or its name. */
export const workflowOf = (text: string): Effect.Effect<string, Input.Refusal> =>
  Effect.flatMap(linked(text), (link) => link === undefined ? alias(text) : Effect.succeed(link.id))

/** Id of the execution that a text names by its id, or a link to it; fails with the reason, and advice. */
export const executionOf = Effect.fnUntraced(
  function*(text: string): Effect.fn.Return<string, Input.Refusal> {
    const link = yield* read(text)
    const id = link === undefined ? text : link.executionId
    if (id !== undefined && /^\d+$/.test(id)) return id
    const shown = Visible.label(text)
    return yield* Effect.fail(
      link === undefined || id !== undefined
        ? {
          message: `Execution ID must be digits, or a link to the run: '${shown}' is neither`,
          hint: { _tag: "FindExecutions" as const, workflowName: shown }
        }
        : link.workflowId === undefined
        ? { message: `'${shown}' is not a link to an execution, which contains /executions/ID` }
        : {
          message: `The link is to a workflow`,
          hint: { _tag: "FindExecutions" as const, workflowId: link.workflowId }
        }
    )
  }
)

/** Text that a caller may write in other forms, and its meaning. */
export const reading = (
  read: (text: string) => Effect.Effect<string, Input.Refusal>,
  meaning = Schema.NonEmptyString
) =>
  Schema.decodeTo<typeof Schema.NonEmptyString, typeof Schema.String>(meaning, {
    decode: SchemaGetter.transformEffect((text) => Effect.mapError(read(text), Input.refused)),
    encode: SchemaGetter.passthrough()
  })

export const workflowId = reading(workflowOf)
