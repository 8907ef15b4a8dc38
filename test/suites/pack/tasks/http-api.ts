/** An HTTP API of one's own over our tools: their Schemas, errors and services, behind a bearer token. */
import { Errors, Services, Tool, tools } from "effect-n8n-mcp"
import { FakeN8n } from "effect-n8n-mcp/testing"
import * as Effect from "effect/Effect"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as HttpApiSecurity from "effect/http-api/HttpApiSecurity"
import * as HttpApiTest from "effect/http-api/HttpApiTest"
import * as OpenApi from "effect/http-api/OpenApi"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"

class Unauthorized extends Schema.TaggedError<Unauthorized>()("Unauthorized", {}, { httpApiStatus: 401 }) {}

class Authorization extends HttpApiMiddleware.Service<Authorization>()("app/Authorization", {
  requiredForClient: true,
  security: { bearer: HttpApiSecurity.bearer },
  error: Unauthorized
}) {}

// What has a default may be left out of the payload, as in `call`.
const api = HttpApi.make("app").add(
  HttpApiGroup.make("runs").add(
    HttpApiEndpoint.post("list", "/runs", {
      payload: Tool.payload(tools.listExecutions),
      success: tools.listExecutions.output,
      error: [Errors.ApiError, Errors.NotFoundError, Errors.ValidationError]
    }),
    HttpApiEndpoint.get("why", "/runs/:id", {
      params: { id: Schema.String },
      success: tools.getExecution.output,
      error: [Errors.ApiError, Errors.NotFoundError, Errors.ValidationError]
    })
  ).middleware(Authorization)
)

// The handlers need what the tools need: the layer of the group has it in its requirements.
const handlers = HttpApiBuilder.group(api, "runs", (handlers) =>
  Effect.map(
    Effect.context<Tool.Services<typeof tools.listExecutions | typeof tools.getExecution>>(),
    (services) =>
      handlers.handleAll({
        list: ({ payload }) => Effect.provideContext(tools.listExecutions.call(payload), services),
        why: ({ params }) => Effect.provideContext(tools.getExecution.call(params), services)
      })
  ))

const authorization = Layer.succeed(Authorization, {
  bearer: (request, { credential }) =>
    Redacted.value(credential) === "our-token" ? request : Effect.fail(new Unauthorized())
})

const workflow = { id: "w1", name: "Orders", nodes: [{ name: "Pay", type: "n8n-nodes-base.code" }] }
const failed = FakeN8n.failedExecution({ workflow, node: "Pay", message: "card declined" })

const withToken = (token: string) =>
  HttpApiMiddleware.layerClient(
    Authorization,
    ({ next, request }) => next(HttpClientRequest.bearerToken(request, token))
  )

const client = HttpApiTest.groups(api, ["runs"])

export const test = Effect.gen(function*() {
  const ours = yield* Effect.provide(client, withToken("our-token"))
  const strange = yield* Effect.provide(client, withToken("another"))
  const { executions = [] } = yield* ours.runs.list({ payload: { status: "error" } })
  const { failure } = yield* ours.runs.why({ params: { id: "1" } })
  const [missing, refused] = yield* Effect.all([
    Effect.flip(ours.runs.why({ params: { id: "2" } })),
    Effect.flip(strange.runs.list({ payload: {} }))
  ])
  // Each error has a status of its own: 400, 404, and 502 if n8n fails.
  const described = OpenApi.fromApi(api).paths["/runs/{id}"]?.get?.responses
  return [executions.length, failure?.error.message, missing._tag, refused._tag, Object.keys(described ?? {}).join()]
}).pipe(
  Effect.scoped,
  Effect.provide(
    handlers.pipe(
      Layer.provide(FakeN8n.layer({ workflows: [workflow], executions: [failed] })),
      Layer.provide(Services.layerMemory),
      Layer.provideMerge(authorization),
      Layer.merge(HttpServer.layerServices)
    )
  )
)

export const expected = [1, "card declined", "NotFoundError", "Unauthorized", "200,400,401,404,502"]
