/**
 * An n8n that the suite neither installs nor starts: `N8N_SUITE_URL` is its address, `N8N_SUITE_KEY` an API key with all
 * scopes. It has no workflows before, and none after.
 */
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import { test, TestRunner } from "vitest"
import { arr, obj, str } from "../../../src/base/Json.ts"
import * as N8nClient from "../../../src/n8n/N8nClient.ts"
import { RealN8nError } from "./RealN8nError.ts"

const { N8N_SUITE_KEY: key = "", N8N_SUITE_URL: address } = process.env

/** Its address and key, if the environment names one. */
export const named = address === undefined || address === ""
  ? undefined
  : { url: new URL(address.endsWith("/") ? address : `${address}/`), apiKey: Redacted.make(key) }

/** Its version, read once. */
export const version = named === undefined ? undefined : await Effect.runPromise(
  N8nClient.N8nClient.use((n8n) => n8n.release).pipe(
    Effect.map((release) => release ?? process.env["N8N_MCP_VERSIONS"] ?? "unknown"),
    Effect.provide(N8nClient.layer(named).pipe(Layer.provide(FetchHttpClient.layer)))
  )
)

/** Versions of which tests may start n8ns of their own; without any, one skipped test stands for them. */
export const startsOwn = <A>(tests: string, versions: ReadonlyArray<A>): ReadonlyArray<A> => {
  const why = named === undefined ? "no version for it is tested" : "N8N_SUITE_URL: it starts n8ns of its own"
  if (named === undefined && versions.length > 0) return versions
  test(`${tests}`, ({ skip }) => skip(why))
  return []
}

/** Skips the running test. */
export const skip = (reason: string): never => {
  try {
    TestRunner.getCurrentTest()?.context.skip(`N8N_SUITE_URL: ${reason}`)
  } catch (error) {
    // The stack would be logged.
    throw Object.assign(error as Error, { stack: `skipped: ${reason}` })
  }
  throw new Error(`Only a test can be skipped: ${reason}`)
}

const kinds = ["workflows", "credentials", "data-tables", "tags"] as const

/** Ids of what it contains; n8n 1.x does not list credentials. */
const contents = (http: HttpClient.HttpClient) =>
  Effect.forEach(kinds, (kind) => {
    const page = (cursor: string | undefined): Effect.Effect<ReadonlyArray<string>> =>
      http.get(`/${kind}?limit=250${cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`}`).pipe(
        Effect.flatMap((response) => response.json),
        Effect.flatMap((body) => {
          const ids = arr(obj(body)?.["data"]).flatMap((each) => str(obj(each)?.["id"]) ?? [])
          const next = str(obj(body)?.["nextCursor"])
          return next === undefined ? Effect.succeed(ids) : Effect.map(page(next), (more) => [...ids, ...more])
        }),
        Effect.orElseSucceed(() => [])
      )
    return Effect.map(page(undefined), (ids) => ids.map((id) => `/${kind}/${id}`))
  }).pipe(Effect.map((all) => all.flat()))

/** Removes what was not there before, and fails for what n8n does not remove. */
const clean = Effect.fnUntraced(function*(http: HttpClient.HttpClient, before: ReadonlySet<string>) {
  const added = (yield* contents(http)).filter((path) => !before.has(path))
  yield* Effect.forEach(added, (path) => {
    const off = path.startsWith("/workflows/") ? Effect.ignore(http.post(`${path}/deactivate`)) : Effect.void
    return Effect.andThen(off, http.del(path)).pipe(
      // n8n unpublishes a moment later.
      Effect.retry(Schedule.spaced("500 millis").pipe(Schedule.upTo({ times: 20 }))),
      Effect.ignore
    )
  }, { concurrency: 4, discard: true })
  const left = (yield* contents(http)).filter((path) => !before.has(path))
  if (left.length > 0) yield* Effect.logError(`n8n still has ${left.join(", ")}`)
})

/** Its part of a service, once it is known to be empty; when the scope ends, what was created is removed. */
export const make = Effect.fn("elsewhere.make")(function*({ apiKey, url }: NonNullable<typeof named>) {
  const http = (yield* HttpClient.HttpClient).pipe(
    HttpClient.mapRequest((request) =>
      request.pipe(
        HttpClientRequest.prependUrl(new URL("api/v1", url).href),
        HttpClientRequest.setHeader("x-n8n-api-key", Redacted.value(apiKey))
      )
    ),
    HttpClient.filterStatusOk
  )
  const step = `testing ${url.href}`
  yield* Effect.mapError(http.get("/workflows?limit=1"), ({ message }) => new RealN8nError({ step, detail: message }))
  const before = new Set(yield* contents(http))
  if ([...before].some((path) => path.startsWith("/workflows/"))) {
    return yield* new RealN8nError({
      step,
      detail: "this n8n has workflows, which the suite would list, change and run: name an n8n without any"
    })
  }
  yield* Effect.addFinalizer(() => clean(http, before))
  return { url, apiKey }
})
