/** What goes wrong between a client and n8n, by a seed: the same seed gives the same faults. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import { gzipSync } from "node:zlib"
import { random as seeded } from "./random.ts"

/** The request as n8n would answer it. */
type Forward = Effect.Effect<Response, HttpClientError.HttpClientError>

interface Exchange {
  readonly request: HttpClientRequest.HttpClientRequest
  readonly url: URL
  readonly forward: Forward
  readonly random: (below: number) => number
  readonly longestPause: number
}

type Fault = (exchange: Exchange) => Forward

/** The host that redirects lead to. */
const elsewhere = "elsewhere.test"

const broken = (code: string): Fault => ({ request }) =>
  Effect.fail(
    new HttpClientError.HttpClientError({
      reason: new HttpClientError.TransportError({
        request,
        cause: new TypeError("fetch failed", { cause: Object.assign(new Error(`${code} 127.0.0.1:5678`), { code }) })
      })
    })
  )

const says = (body: BodyInit | null, init?: ResponseInit): Fault => () => Effect.sync(() => new Response(body, init))

const page = "<!doctype html><html><body><h1>Please log in</h1></body></html>"

/** Of a request that has had its effect. */
const after = (fault: Fault): Fault => (exchange) => Effect.andThen(exchange.forward, fault(exchange))

/** Before or after the request had its effect. */
const whenever = (fault: Fault): Fault => (exchange) =>
  exchange.random(2) === 0 ? fault(exchange) : after(fault)(exchange)

/** Of the body that n8n gave. */
const withBody = (alter: (text: string, exchange: Exchange) => Effect.Effect<BodyInit | null>): Fault => (exchange) =>
  Effect.gen(function*() {
    const response = yield* exchange.forward
    const { headers, status } = response
    const whole = yield* Effect.promise(() => response.text())
    return new Response(status === 204 ? null : yield* alter(whole, exchange), { status, headers })
  })

/** As `fetch` unpacks a body. */
const gunzip = (bytes: Uint8Array<ArrayBuffer>) =>
  new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))

const packed = (spoil: (bytes: Uint8Array<ArrayBuffer>, random: Exchange["random"]) => Uint8Array<ArrayBuffer>) =>
  withBody((text, { random }) => Effect.sync(() => gunzip(spoil(new Uint8Array(gzipSync(text)), random))))

/** Parts of the body with pauses of the clock between them. */
const dripping = withBody((text, { random }) =>
  Effect.gen(function*() {
    const bytes = new TextEncoder().encode(text)
    const parts = 4 + random(20)
    const pause = 200 + random(4_000)
    const size = Math.max(1, Math.ceil(bytes.length / parts))
    const context = yield* Effect.context()
    const gone = new AbortController()
    let at = 0
    return new ReadableStream<Uint8Array>({
      pull: (controller) =>
        Effect.runPromiseWith(context)(Effect.sleep(pause), { signal: gone.signal }).then(() => {
          controller.enqueue(bytes.subarray(at, at += size))
          if (at >= bytes.length) controller.close()
        }, () => undefined),
      cancel: () => gone.abort()
    }, { highWaterMark: 0 })
  })
)

const limited = (status: number): Fault => ({ longestPause, random }) =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    const seconds = Math.min(longestPause, [0, 1, 2, 20, 29, 31, 3_600][random(7)] ?? 0)
    const after = [
      String(seconds),
      new Date(now + seconds * 1000).toUTCString(),
      "soon",
      undefined
    ][random(4)]
    const headers = after === undefined ? {} : { "retry-after": after }
    return Response.json({ message: "slow down" }, { status, headers })
  })

const redirect: Fault = ({ random, url }) =>
  Effect.sync(() => {
    const to = [
      `http://${elsewhere}${url.pathname}`,
      `//${elsewhere}/`,
      `http://n8n.test@${elsewhere}/`,
      `https://${url.host}${url.pathname}`,
      url.href,
      "http://[",
      undefined
    ][random(7)]
    const status = [301, 302, 303, 307, 308][random(5)] ?? 302
    return new Response(null, { status, headers: to === undefined ? {} : { location: to } })
  })

/** The process that a call runs in: after its end it sends nothing any more, and undoes nothing. */
const Process = Context.Reference("test/Process", {
  defaultValue: () => ({ isOver: false, ended: Deferred.makeUnsafe<void>() })
})

const death: Fault = () =>
  Effect.flatMap(Process, (own) => {
    own.isOver = true
    return Effect.andThen(Deferred.succeed(own.ended, undefined), Effect.never)
  })

const mortal = <A, E, R>(call: Effect.Effect<Exit.Exit<A, E>, never, R>) =>
  Effect.suspend(() => {
    const own = { isOver: false, ended: Deferred.makeUnsafe<void>() }
    return Effect.flatMap(Effect.forkDetach(Effect.provideService(call, Process, own)), (fiber) =>
      Effect.raceFirst(
        Fiber.join(fiber),
        Effect.as(Deferred.await(own.ended), Exit.die("the process ended"))
      ))
  })

const shapes = ["null", "[]", "{}", "42", "\"x\"", "{\"data\":{}}", "{\"data\":[null]}", "{\"id\":5,\"nodes\":{}}", ""]

const kinds = {
  "refuses the connection": broken("ECONNREFUSED"),
  "resets before the request arrived": broken("ECONNRESET"),
  "resets after the request arrived": after(broken("ECONNRESET")),
  "is not found by name": broken("ENOTFOUND"),
  "limits requests": limited(429),
  "is unavailable": limited(503),
  "fails": whenever(says("{\"message\":\"broken\"}", { status: 500 })),
  "is behind a gateway that fails": whenever((exchange) =>
    says(page, { status: [502, 504][exchange.random(2)] ?? 502 })(exchange)
  ),
  "is silent": whenever(() => Effect.never),
  "drips": dripping,
  "breaks off": withBody((text) =>
    Effect.sync(() => {
      let at = 0
      return new ReadableStream<Uint8Array>({
        pull: (controller) =>
          at++ === 0
            ? controller.enqueue(new TextEncoder().encode(text.slice(0, text.length / 2)))
            : controller.error(new Error("terminated"))
      })
    })
  ),
  "ends too early": withBody((text, { random }) => Effect.succeed(text.slice(0, random(Math.max(1, text.length))))),
  "sends half a gzip": packed((bytes, random) => bytes.slice(0, 5 + random(bytes.length - 5))),
  "sends a broken gzip": packed((bytes, random) => bytes.fill(0xff, 10 + random(bytes.length - 10))),
  "sends a web page": whenever(says(page, { headers: { "content-type": "text/html" } })),
  "redirects": redirect,
  "answers in a wrong shape": whenever((exchange) => says(shapes[exchange.random(shapes.length)] ?? "")(exchange))
} satisfies Record<string, Fault>

const deaths = {
  "is asked by a process that ends before": death,
  "is asked by a process that ends after": after(death)
} satisfies Record<string, Fault>

/** A kind of fault; a death is for what `process` runs. */
export type Kind = keyof typeof kinds | keyof typeof deaths

/** All of them but deaths. */
export const all = Object.keys(kinds) as ReadonlyArray<keyof typeof kinds>

/** Whether the process of the call ends. */
export const isDeath = (kind: Kind) => kind in deaths

/** Requests in a row that one kind of fault meets, from 0. */
interface Burst {
  readonly kind: Kind
  readonly from: number
  readonly length: number
}

/** What came between so far. */
export interface Faults {
  readonly through: (client: HttpClient.HttpClient) => HttpClient.HttpClient
  /** What went wrong, in order: `POST /api/v1/workflows fails`. */
  readonly happened: ReadonlyArray<string>
  /** All requests that left, wherever they went. */
  readonly sent: ReadonlyArray<
    { readonly method: string; readonly url: URL; readonly headers: Readonly<Record<string, string>> }
  >
  /** Requests in flight, and bodies of answers that are neither read nor given up. */
  readonly open: () => number
  /** Runs a call in a process that the faults can end. */
  readonly process: <A, E, R>(
    call: Effect.Effect<Exit.Exit<A, E>, never, R>
  ) => Effect.Effect<Exit.Exit<A, E>, never, R>
  /** Whether they end it. */
  readonly isDeadly: boolean
  /** From now on things go wrong. */
  readonly begin: () => void
  /** From now on nothing goes wrong. */
  readonly end: () => void
}

/** Counts a body as open until it is read or given up. */
const counted = (response: Response, signal: AbortSignal, change: (by: number) => void): Response => {
  if (response.body === null) return response
  const reader = response.body.getReader()
  change(1)
  let isOpen = true
  const close = () => {
    if (isOpen) change(-1)
    isOpen = false
  }
  signal.addEventListener("abort", () => {
    close()
    reader.cancel().catch(() => undefined)
  })
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) =>
      reader.read().then(({ done, value }) => {
        if (value !== undefined) controller.enqueue(value)
        if (!done) return
        close()
        controller.close()
      }, (error: unknown) => {
        close()
        controller.error(error)
      }),
    cancel: (reason) => {
      close()
      return reader.cancel(reason).catch(() => undefined)
    }
  }, { highWaterMark: 0 })
  const { headers, status, statusText } = response
  return new Response(body, { headers, status, statusText })
}

/**
 * Faults by a seed: of single requests here and there, of several in a row, or of all.
 *
 * **Details**
 *
 * 429, 503 and a refused connection mean that the request had no effect; any other fault comes before or after it.
 */
export const make = (
  seed: number,
  { kinds: allowed = all, longestPause = Infinity, only }: {
    readonly kinds?: ReadonlyArray<Kind>
    /** The longest pause that `Retry-After` asks for, in seconds. */
    readonly longestPause?: number
    /** The only faults, whatever the seed. */
    readonly only?: Burst
  } = {}
): Faults => {
  const random = seeded(seed)
  const happened: Array<string> = []
  const sent: Array<Faults["sent"][number]> = []
  const manner = random(10)
  /** Of a hundred requests. */
  const rate = only !== undefined ? 0 : manner < 6 ? 15 + random(30) : manner < 9 ? 10 : 100
  const preferred = allowed[random(allowed.length)] ?? "fails"
  let burst: Burst | undefined = only ??
    (manner >= 6 && manner < 9 ? { kind: preferred, from: random(5), length: 1 + random(6) } : undefined)
  let isOn = false
  let open = 0
  let count = 0

  const next = (): Kind | undefined => {
    if (!isOn) return undefined
    const at = count++
    if (burst !== undefined) {
      if (at < burst.from) return undefined
      if (at < burst.from + burst.length) return burst.kind
      burst = undefined
    }
    if (random(100) >= rate) return undefined
    return rate === 100 ? preferred : allowed[random(allowed.length)]
  }

  const through: Faults["through"] = (client) =>
    HttpClient.make((request, url, signal) =>
      Effect.gen(function*() {
        if ((yield* Process).isOver) return yield* Effect.never
        sent.push({ method: request.method, url, headers: { ...request.headers } })
        const forward = Effect.flatMap(
          client.execute(request),
          (response) =>
            Effect.map(Effect.orDie(response.text), (text) =>
              new Response([204, 304].includes(response.status) ? null : text, {
                status: response.status,
                headers: response.headers
              }))
        )
        const kind = next()
        if (kind !== undefined) happened.push(`${request.method} ${url.pathname} ${kind}`)
        open++
        const answer = kind === undefined
          ? forward
          : { ...kinds, ...deaths }[kind]({ request, url, forward, random, longestPause })
        const response = yield* Effect.ensuring(
          answer,
          Effect.sync(() =>
            void open--
          )
        )
        return HttpClientResponse.fromWeb(request, counted(response, signal, (by) => void (open += by)))
      })
    )
  const isDeadly = only !== undefined && isDeath(only.kind)
  return {
    through,
    happened,
    sent,
    open: () => open,
    process: (call) => isDeadly ? mortal(call) : call,
    isDeadly,
    begin: () => void (isOn = true),
    end: () => void (isOn = false)
  }
}
