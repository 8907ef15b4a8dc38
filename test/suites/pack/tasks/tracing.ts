/** One's own tracer: a tree of spans from the job to the request, with the tool's name by OpenTelemetry's conventions. */
import { Services, tools } from "effect-n8n-mcp"
import { FakeN8n } from "effect-n8n-mcp/testing"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Tracer from "effect/Tracer"

const spans: Array<Tracer.NativeSpan> = []
const tracer = Tracer.make({
  span: (options) => {
    const span = new Tracer.NativeSpan(options)
    spans.push(span)
    return span
  }
})

const pathOf = (span: Tracer.AnySpan): ReadonlyArray<string> =>
  span._tag === "ExternalSpan"
    ? []
    : [...Option.match(span.parent, { onNone: () => [], onSome: pathOf }), span.name]

export const test = tools.listWorkflows.call({}).pipe(
  Effect.withSpan("our-job"),
  Effect.withTracer(tracer),
  Effect.map(() => {
    const request = spans.find(({ attributes }) => attributes.has("http.request.method"))
    const tool = spans.find(({ attributes }) => attributes.get("gen_ai.tool.name") === "list_workflows")
    return { first: pathOf(request ?? spans[0] as Tracer.Span).slice(0, 2), tool: tool?.name }
  }),
  Effect.provide(Layer.merge(FakeN8n.layer(), Services.layerMemory))
)

export const expected = { first: ["our-job", "execute_tool list_workflows"], tool: "execute_tool list_workflows" }
