/**
 * n8n with an execution of 66 MB and 100 of 1 MB that answers at once, so that only the time of its client counts: each
 * answer is prepared.
 */
import * as Effect from "effect/Effect"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import * as N8nApi from "../../../src/testing/n8nApi/N8nApi.ts"
import * as Orders from "./orders.ts"
import { large, many, runCount } from "./questions.ts"

const stored = (id: string, size: Orders.Size) => ({ ...Orders.workflow(id, size), id })
const [one, several] = [stored("large", large), stored("many", many)]

const api = await Effect.runPromise(N8nApi.make({
  workflows: [one, several],
  executions: [
    ...Array.from({ length: runCount }, (_, index) => Orders.execution(several, many, index + 1)),
    Orders.execution(one, large, runCount + 1)
  ]
}))

const answer = (path: string, key: string) =>
  Effect.runPromise(
    api.client.execute(
      HttpClientRequest.get(`http://n8n.test${path}`).pipe(HttpClientRequest.setHeader("x-n8n-api-key", key))
    ).pipe(
      Effect.flatMap((response) =>
        Effect.map(response.text, (text) => ({ status: response.status, body: Buffer.from(text) }))
      )
    )
  )

const answers = new Map<string, ReturnType<typeof answer>>()

const answerOnce = (path: string, key: string) => {
  const made = answers.get(path) ?? answer(path, key)
  answers.set(path, made)
  return made
}

const server = createServer(({ headers, url = "/" }, response) => {
  void answerOnce(url, String(headers["x-n8n-api-key"])).then(({ body, status }) => {
    response.writeHead(status, { "content-type": "application/json", "content-length": body.length })
    response.end(body)
  })
})
server.keepAliveTimeout = 75_000
for (let id = 1; id <= runCount + 1; id++) await answerOnce(`/api/v1/executions/${id}?includeData=true`, "bench")
server.listen(0, "127.0.0.1", () => {
  process.stderr.write(`address=http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
