/** Rounds of a watch: a poll, the delivery of its incidents to a URL or a command, and the time of the next one. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { constTrue } from "effect/Function"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { spawn } from "node:child_process"
import * as Visible from "../base/Visible.ts"
import * as Watch from "../watch/Watch.ts"
import * as Options from "./config/Options.ts"

/** Time that a delivery has to end after a signal; the process ends within a second. */
const grace = "700 millis"

export interface Round {
  readonly report: Watch.Report
  /** Reason why the incidents were not delivered: they are in the next report again. */
  readonly failure?: string
}

/** Polls, and delivers. An interruption during the delivery lets it end, so that its incidents are not sent twice. */
export const round = Effect.fnUntraced(function*<R>(
  options: Watch.Options,
  deliver: (report: Watch.Report) => Effect.Effect<void, string, R>
) {
  return yield* Effect.uninterruptibleMask(Effect.fnUntraced(function*(restore) {
    const report = yield* restore(Watch.poll(options))
    const delivery = yield* Effect.forkDetach(Effect.interruptible(deliver(report)))
    const result = yield* restore(Fiber.await(delivery)).pipe(
      Effect.onInterrupt(() =>
        Fiber.await(delivery).pipe(
          Effect.timeoutOption(grace),
          Effect.flatMap((exit) => Watch.settle(report, exit._tag === "Some" && Exit.isSuccess(exit.value))),
          Effect.ignore
        )
      )
    )
    yield* Watch.settle(report, Exit.isSuccess(result))
    const error = Exit.findErrorOption(result)
    return { report, ...(error._tag === "None" ? {} : { failure: error.value }) } satisfies Round as Round
  }))
})

/** Part of an interval in which no round starts, so that an early or late timer stays in its time slot. */
const margin = 0.1

/**
 * Repeats a round until it returns `true`.
 *
 * Rounds start at the same place of each interval, which is that of the first start: intervals do not drift, and the
 * rounds of several watchers, and of n8n's own schedules, do not meet.
 */
export const repeat = Effect.fnUntraced(function*<E, R>(
  every: number,
  run: Effect.Effect<{ readonly isOver: boolean; readonly nextAfterMs: number }, E, R>
) {
  const first = yield* Clock.currentTimeMillis
  const place = Math.min(Math.max(first % every, margin * every), (1 - margin) * every)
  for (;;) {
    const { isOver, nextAfterMs } = yield* run
    if (isOver) return
    const now = yield* Clock.currentTimeMillis
    const due = now + nextAfterMs
    const start = due - due % every + place
    yield* Effect.sleep(start > now ? start - now : start + every - now)
  }
})

/** Sends a JSON document; fails with the reason why it was not accepted. */
export type Delivery = (json: string) => Effect.Effect<void, string>

/** Receivers that do not answer in this time are asked again at the next poll. */
const timeLimit = "10 seconds"

const withTimeLimit = Effect.timeoutOrElse({
  duration: timeLimit,
  orElse: () => Effect.fail(`no answer in ${timeLimit}`)
})

/** Beginning of a body, where services say what they refuse. */
const beginning = (stream: Stream.Stream<Uint8Array, unknown>) =>
  stream.pipe(
    Stream.take(1),
    Stream.decodeText,
    Stream.mkString,
    Effect.map((text) => text.trim() === "" ? "" : `: ${Visible.label(text, 100)}`),
    Effect.orElseSucceed(() => "")
  )

const decoded = Option.liftThrowable(decodeURIComponent)

const elsewhere = (location: string | undefined, url: URL) =>
  location !== undefined && URL.canParse(location, url)
    ? `redirects to ${new URL(location, url).origin}, and redirects are not followed`
    : "redirects"

/**
 * Posts to a URL, and follows no redirect: the body is for this receiver only.
 *
 * Messages never have more of the URL than its host, because the path of a chat's webhook is a secret.
 */
export const post = Effect.fnUntraced(function*(address: Redacted.Redacted<string>): Effect.fn.Return<
  Delivery,
  Options.InvalidOption
> {
  const text = Redacted.value(address).trim()
  const url = URL.canParse(text) ? new URL(text) : undefined
  const credentials = Option.all([url?.username ?? "", url?.password ?? ""].map(decoded))
  if (url?.protocol !== "https:" && url?.protocol !== "http:" || Option.isNone(credentials)) {
    return yield* Options.refuse("--to is not an http address (it is not repeated here, since it may be a secret)")
  }
  const [username = "", password = ""] = credentials.value
  url.username = url.password = ""
  const request = HttpClientRequest.post(url).pipe(
    username === "" && password === ""
      ? (self) => self
      : HttpClientRequest.basicAuth(username, password)
  )
  return (json) =>
    Effect.gen(function*() {
      const client = HttpClient.withScope(yield* HttpClient.HttpClient)
      const response = yield* client.execute(HttpClientRequest.bodyText(request, json, "application/json")).pipe(
        Effect.mapError(() => "cannot be reached")
      )
      if (response.status >= 200 && response.status < 300) return
      return yield* Effect.fail(
        response.status >= 300 && response.status < 400
          ? elsewhere(response.headers["location"], url)
          : `HTTP ${response.status}${yield* beginning(response.stream)}`
      )
    }).pipe(
      Effect.scoped,
      withTimeLimit,
      Effect.mapError((reason) => `${url.host}: ${reason}`),
      // A span would have the whole URL.
      Effect.provideService(HttpClient.TracerDisabledWhen, constTrue),
      Effect.provideService(HttpClient.TracerPropagationEnabled, false),
      Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" }),
      Effect.provide(FetchHttpClient.layer)
    )
})

/** Runs a command in the shell, unchanged: its command line and environment contain nothing from n8n. */
export const run = (command: string): Delivery => (json) =>
  Effect.callback<void, string>((resume) => {
    const isPosix = process.platform !== "win32"
    // Its output goes to stderr: stdout has the reports. A group of its own can be ended as a whole.
    const child = spawn(command, { shell: true, detached: isPosix, stdio: ["pipe", 2, 2], windowsHide: true })
    child.on("error", ({ message }) => resume(Effect.fail(message)))
    child.on("close", (code, signal) =>
      resume(code === 0 ? Effect.void : Effect.fail(code === null ? `ended by ${signal}` : `exit status ${code}`)))
    // The command need not read stdin.
    child.stdin?.on("error", () =>
      undefined)
    child.stdin?.end(`${json}\n`)
    return Effect.sync(() => {
      try {
        if (isPosix && child.pid !== undefined) {
          process.kill(-child.pid, "SIGKILL")
        } else child.kill()
      } catch {
        // The command has already ended.
      }
    })
  }).pipe(
    withTimeLimit,
    Effect.mapError((reason) =>
      `--exec: ${reason}`
    )
  )
