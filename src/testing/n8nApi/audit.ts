/** n8n's audit, as far as it does not depend on node types. */
import * as Effect from "effect/Effect"
import { strict } from "./body.ts"
import securitySettings from "./securitySettings.json" with { type: "json" }
import { api, type Call, type Handler } from "./server.ts"
import { list, type Node, obj, type Workflow } from "./state.ts"

const advice = "Keeping unused credentials in your instance is an unneeded security risk."

const day = 24 * 3_600_000

const sections = ({ body, now, state }: Call) => {
  const days = Number(obj(obj(body)["additionalOptions"])["daysAbandonedWorkflow"] ?? 90)
  const recent = new Set(
    [...state.executions.values()].filter(({ startedAt }) => Date.parse(startedAt) > Date.parse(now) - days * day)
      .map(({ workflowId }) => workflowId)
  )
  return [
    {
      title: "Credentials not used in any workflow",
      description: "This credential is not used in any workflow.",
      counts: () => true
    },
    {
      title: "Credentials not used in any active workflow",
      description: "This credential is not used in active workflows.",
      counts: ({ active }: Workflow) => active === true
    },
    {
      title: "Credentials not used in recently executed workflows",
      description:
        `This credential is not used in recently executed workflows, i.e. workflows executed in the past ${days} days.`,
      counts: ({ id }: Workflow) => recent.has(id)
    }
  ]
}

const unusedCredentials = (call: Call) => {
  const { state } = call
  return sections(call).flatMap(({ counts, description, title }) => {
    const used = new Set(
      [...state.workflows.values()].filter(counts).flatMap((workflow) => list<Node>(workflow["nodes"]))
        .flatMap((node) => Object.values(obj(node["credentials"])).map((credential) => obj(credential)["id"]))
    )
    const location = state.credentials.filter(({ id }) => !used.has(id)).map(({ id, name }) => ({
      kind: "credential",
      id,
      name
    }))
    return location.length === 0 ? [] : [{
      title,
      description: `${description} ${advice}`,
      recommendation: "Consider deleting these credentials if you no longer need them.",
      location
    }]
  })
}

const audit: Handler = (call) => {
  const { body, version } = call
  const chosen = list<string>(obj(obj(body)["additionalOptions"])["categories"])
  const isChosen = (category: string) => chosen.length === 0 || chosen.includes(category)
  const credentials = isChosen("credentials") ? unusedCredentials(call) : []
  const reports = {
    ...(credentials.length > 0 && { "Credentials Risk Report": { risk: "credentials", sections: credentials } }),
    ...(isChosen("instance") && { "Instance Risk Report": { risk: "instance", sections: [securitySettings[version]] } })
  }
  return Effect.succeed(Response.json(Object.keys(reports).length === 0 ? [] : reports))
}

const options = strict({
  additionalOptions: {
    daysAbandonedWorkflow: "number",
    categories: ["credentials|database|nodes|filesystem|instance"],
    "...": "any"
  },
  "...": "any"
})

export const routes = [api("POST", "/audit", { body: options, bodyIsOptional: true }, audit)]
