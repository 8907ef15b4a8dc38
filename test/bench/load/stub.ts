/**
 * The demo's n8n behind a port, as cheap as it can be: each answer is made once and then repeated. `GET /asked` tells
 * what was asked since it was last told. Executions of the workflow `slow` take a second.
 */
import * as Effect from "effect/Effect"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import * as Demo from "../../../src/demo/Demo.ts"
import * as N8nApi from "../../../src/testing/n8nApi/N8nApi.ts"

const api = await Effect.runPromise(N8nApi.make(Demo.seed))

const answer = async (path: string, key: string) => {
  const request = HttpClientRequest.get(`http://n8n.test${path}`).pipe(
    HttpClientRequest.setHeader("x-n8n-api-key", key)
  )
  return Effect.runPromise(
    Effect.flatMap(
      api.client.execute(request),
      (response) => Effect.map(response.text, (text) => ({ status: response.status, body: Buffer.from(text) }))
    )
  )
}

const answers = new Map<string, ReturnType<typeof answer>>()
let asked: Array<string> = []

const server = createServer((request, response) => {
  const path = request.url ?? "/"
  if (path === "/asked") {
    response.end(JSON.stringify(asked))
    asked = []
    return
  }
  asked.push(path)
  const made = answers.get(path) ?? answer(path, String(request.headers["x-n8n-api-key"]))
  answers.set(path, made)
  void made.then(({ body, status }) => {
    const send = () => {
      response.writeHead(status, { "content-type": "application/json", "content-length": body.length })
      response.end(body)
    }
    if (path.includes("workflowId=slow")) setTimeout(send, 1_000)
    else send()
  })
})
server.keepAliveTimeout = 75_000
server.listen(0, "127.0.0.1", () => {
  process.stderr.write(`address=http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
