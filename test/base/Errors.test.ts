import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Errors from "../../src/base/Errors.ts"

const target = { operation: "get workflow", resourceType: "Workflow", resourceId: "w1" }

const reasons: ReadonlyArray<Errors.Reason> = [
  new Errors.Unreachable({ details: "refused", code: "ECONNREFUSED" }),
  new Errors.Timeout({ details: "no answer within 1 s", duration: Duration.seconds(1) }),
  new Errors.Status({ details: "bad gateway", statusCode: 502 }),
  new Errors.Unreadable({ details: "a web page" }),
  new Errors.NotApplied({ details: "unchanged" }),
  new Errors.VersionConflict({ details: "moved", expectedVersionId: "v1" })
]

const errors = {
  missing: new Errors.NotFoundError(target),
  refused: new Errors.ValidationError({ reason: "Workflow ID is required", field: "id" }),
  failed: new Errors.ApiError({ ...target, reason: new Errors.Status({ details: "bad gateway", statusCode: 502 }) }),
  full: new Errors.ValidationError({ reason: "the disk is full", isServerFault: true })
}

/** An error of an app with the name of one of ours. */
class NotFoundError extends Schema.TaggedError<NotFoundError>()("NotFoundError", { page: Schema.String }, {
  httpApiStatus: 410
}) {}

const kinds = [Errors.NotFoundError, Errors.ValidationError, Errors.ApiError] as const

const api = HttpApi.make("app").add(
  HttpApiGroup.make("all").add(
    HttpApiEndpoint.get("fail", "/fail/:name", {
      params: { name: Schema.Literals(["missing", "refused", "failed", "full"]) },
      success: Schema.String,
      error: kinds
    }),
    HttpApiEndpoint.get("page", "/page", { success: Schema.String, error: [NotFoundError, Errors.ApiError] })
  )
)

const handlers = HttpApiBuilder.group(api, "all", (handlers) =>
  handlers.handleAll({
    fail: ({ params }) => Effect.fail(errors[params.name]),
    page: () => Effect.fail(new NotFoundError({ page: "p1" }))
  }))

const web = HttpRouter.toWebHandler(
  HttpApiBuilder.layer(api).pipe(Layer.provide(handlers), Layer.provide(HttpServer.layerServices)),
  { disableLogger: true }
)

const ask = (path: string) =>
  Effect.promise(async () => {
    const response = await web.handler(new Request(`http://app.test${path}`), Context.empty() as never)
    return { status: response.status, body: await response.json() as unknown }
  })

describe("errors in an HttpApi", () => {
  it.effect("have a status of their own, and are sent as they are encoded", () =>
    Effect.gen(function*() {
      const answers = yield* Effect.forEach(["missing", "refused", "failed", "full"], (name) => ask(`/fail/${name}`))
      assert.deepStrictEqual(answers.map(({ status }) => status), [404, 400, 502, 400])
      assert.deepStrictEqual(answers[0]?.body, { _tag: "NotFoundError", ...target })
      assert.deepStrictEqual((yield* ask("/page")).body, { _tag: "NotFoundError", page: "p1" })
      assert.strictEqual((yield* ask("/page")).status, 410)
    }))

  it("are in its description under their paths, beside an app's own of the same name", () => {
    const { components, paths } = OpenApi.fromApi(api)
    assert.deepStrictEqual(Object.keys(paths["/fail/{name}"]?.get?.responses ?? {}), ["200", "400", "404", "502"])
    assert.deepStrictEqual(Object.keys(paths["/page"]?.get?.responses ?? {}), ["200", "410", "502"])
    const names = Object.keys(components.schemas)
    for (const kind of [...kinds, ...Errors.Reason.members]) {
      assert.include(names, `effect-n8n-mcp_Errors_${kind.fields._tag.schema.literal}Encoded`)
    }
    assert.include(names, "NotFoundErrorEncoded")
    assert.deepStrictEqual(names.filter((name) => /Error.*_\d+$/.test(name)), [])
  })
})

describe("an error", () => {
  it.effect.each<[string, Errors.N8nError]>([
    ...Object.entries(errors),
    ...reasons.map((reason) => [reason._tag, new Errors.ApiError({ ...target, reason })] as [string, Errors.N8nError])
  ])("'%s' is the same after JSON, and is known as one of ours", ([, error]) =>
    Effect.gen(function*() {
      const schema = Schema.toCodecJson(Schema.Union(kinds))
      const json = JSON.stringify(yield* Schema.encodeEffect(schema)(error))
      assert.notInclude(json, "hint")
      const decoded = yield* Schema.decodeUnknownEffect(schema)(JSON.parse(json))
      assert.deepStrictEqual([decoded._tag, decoded.message], [error._tag, error.message])
      assert.isTrue(Errors.isN8nError(decoded))
    }))

  it("of an app is not one of ours, whatever its name", () => {
    for (const other of [new NotFoundError({ page: "p" }), new Error("x"), { _tag: "ApiError" }, undefined]) {
      assert.isFalse(Errors.isN8nError(other))
    }
  })

  it("names its field in the message, if the reason does not", () => {
    const message = (reason: string, field?: string) =>
      new Errors.ValidationError({ reason, ...(field === undefined ? {} : { field }) }).message
    assert.deepStrictEqual(
      [
        message("Expected string", "name"),
        message("Missing key", "a.b"),
        message("Expected string"),
        message("Bad", "name")
      ],
      ["name: Expected string", "a.b: Missing key", "Expected string", "Bad"]
    )
  })

  it("keeps its advice beside more of it", () => {
    const bare = Errors.advised(errors.missing, { before: "First.", after: { _tag: "ReadAgain" } })
    assert.deepStrictEqual(bare.hint, ["First.", { _tag: "ReadAgain" }])
    assert.deepStrictEqual(Errors.advised(bare, { after: "Last." }).hint, ["First.", { _tag: "ReadAgain" }, "Last."])
    assert.instanceOf(bare, Errors.NotFoundError)
    const failed = Errors.advised(errors.failed, { before: "First." })
    assert.deepStrictEqual([failed.reason, failed.cause, failed.message], [
      errors.failed.reason,
      errors.failed.reason,
      errors.failed.message
    ])
  })

  it.effect("leaves an app's error of the same name in the type and in the failure, when ours are caught", () =>
    Effect.gen(function*() {
      const own = new NotFoundError({ page: "p" })
      const work: Effect.Effect<never, Errors.N8nError | NotFoundError> = Effect.fail(own)
      const rest = Effect.catchIf(work, Errors.isN8nError, () => Effect.void)
      const left: Effect.Error<typeof rest> = own
      assert.strictEqual(yield* Effect.flip(rest), left)
    }))
})
