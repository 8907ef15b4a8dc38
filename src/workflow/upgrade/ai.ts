/** Mappings of AI nodes: a model gets the same prompts, tools and options, and the workflow the same answers. */
import * as Record from "effect/Record"
import { arr, defined, equals, type Obj, obj, str, without } from "../../base/Json.ts"
import * as ParameterRules from "../../catalogue/parameters/ParameterRules.ts"
import * as Workflow from "../../n8n/model/Workflow.ts"
import data from "./ai.json" with { type: "json" }
import {
  asN8n,
  carry,
  done,
  left,
  locator,
  type Mapping,
  type Old,
  type StepData,
  steps as ofData,
  type Successors,
  way
} from "./mapping.ts"

const langchain = "@n8n/n8n-nodes-langchain."

const linked = ({ graph, name }: Old, type: string) => graph.into(name).filter(({ input }) => input.type === type)

const nodesLinked = (old: Old, type: string) => {
  const names = new Set(linked(old, type).map(({ from }) => from))
  return Workflow.nodes(old.workflow).filter((node) => names.has(Workflow.nameOf(node)))
}

const withOptions = (old: Old, change: (options: Obj) => Obj): ReturnType<Mapping> => {
  const options = old.own["options"] ?? {}
  return obj(options) === undefined
    ? left("Its options are an expression.", "Set the options one by one, then upgrade again.")
    : carry(old, { options: change(obj(options) ?? {}) })
}

/** Before 1.9 the model gets a system message even if the node has none. */
const systemMessage = "You are a helpful assistant"

const toolsOnly: Mapping = (old) => {
  const mode = old.parameters["agent"]
  if ((mode !== "toolsAgent" || old.version < 1.6) && !old.isAccepted) {
    return left(
      `AI Agent 2 and later are Tools Agents: this one is a ${String(mode)}, which has other prompts.`,
      "Decide whether the model may get the prompts of a Tools Agent, and compare its answers."
    )
  }
  const steps = obj(old.own["options"])?.["returnIntermediateSteps"] ?? false
  if (steps !== false && !old.isAccepted) {
    return left(
      "From 2 on the model's messages in intermediateSteps have another form.",
      "Change the expressions that read intermediateSteps, then set the version by an update."
    )
  }
  return withOptions(
    { ...old, own: without(old.own, (_, key) => key === "agent") },
    (options) => options["systemMessage"] === undefined && old.version < 1.9 ? { systemMessage, ...options } : options
  )
}

const streams = (node: Obj) => JSON.stringify(Workflow.parametersOf(node)).includes("\"streaming\"")

/** From 2.1 on an agent streams if the trigger does. */
const withoutStreaming: Mapping = (old) =>
  Workflow.nodes(old.workflow).some(streams)
    ? withOptions(old, (options) => ({ ...options, enableStreaming: false }))
    : carry(old)

/** From 3 on tools run as nodes, which changes their answers to the model and the stored memory. */
const withoutTools: Mapping = (old) =>
  linked(old, "ai_tool").length > 0 && !old.isAccepted
    ? left(
      "From 3 on the agent's tools run as nodes: the model gets their results as lists of items, and memory stores them.",
      "Set version 3.1 by an update and compare the model's answers."
    )
    : withOptions(old, (options) => ({ ...options, autoSaveHighlightedData: false }))

/** Until 1.3 the prompt is one parameter, and a linked parser is used without being required. */
const chainPrompt: Mapping = (old) => {
  const { prompt: _, ...own } = old.own
  return carry({ ...old, own }, {
    promptType: "define",
    text: old.parameters["prompt"] ?? "",
    ...(Object.hasOwn(old.parameters, "hasOutputParser") || linked(old, "ai_outputParser").length === 0
      ? {}
      : { hasOutputParser: true })
  })
}

/** From 1.6 on a chain without a parser returns an answer that is an object as the item, not as its text. */
const chainObjects: Mapping = (old) =>
  old.parameters["hasOutputParser"] !== true &&
    nodesLinked(old, "ai_languageModel").some((model) =>
      /json|think|\bcode$|selector/i.test(`${JSON.stringify(model["parameters"] ?? {})} ${Workflow.typeOf(model)}`)
    )
    ? left(
      "From 1.6 on an answer in JSON becomes the item itself instead of `text`.",
      "Change the expressions that read `text`, then set the version by an update."
    )
    : carry(old)

/** As n8n names the tool of a node: `nodeNameToToolName` of n8n-workflow. */
const toolNameOf = (node: string) => {
  const name = node.replace(/[^a-zA-Z0-9_-]+/g, "_")
  return name.length > 64 ? name.slice(0, 64).replace(/[_-]+$/, "") : name
}

/** A tool that had a name of its own is called by its node's name. */
const named = (key: string, fixed?: string): Mapping => (old) => {
  const name = fixed ?? old.parameters[key]
  return name === toolNameOf(old.name) || old.isAccepted
    ? carry({ ...old, own: without(old.own, (_, each) => each === key) })
    : left(
      `From this version on the model calls the tool by its node's name, ${toolNameOf(old.name)}, instead of ${
        String(name)
      }.`,
      `Rename the node to '${String(name)}', or set the version by an update if the prompts do not name the tool.`
    )
}

const isFilled = (key: unknown) =>
  typeof key === "string" && (key.startsWith("=") ? key.slice(1).replaceAll(/\{\{[^]*?\}\}/g, "") : key).trim() !== ""

const customKey: Mapping = (old) =>
  isFilled(old.parameters["sessionKey"])
    ? carry(old, { sessionIdType: "customKey", sessionKey: old.parameters["sessionKey"] })
    : left("Its session key can be empty, which is an error from 1.2 on.", "Set sessionIdType and sessionKey.")

/** From here on a session of the chat belongs to one memory; as an explicit key it stays shared, with its history. */
const sharedSession: Mapping = (old) => {
  if (old.parameters["sessionIdType"] !== "fromInput") return carry(old)
  const triggers = Workflow.nodes(old.workflow).filter((node) => Workflow.typeOf(node) === `${langchain}chatTrigger`)
  const [trigger] = triggers
  const loads = old.graph.out(old.name).some(({ to }) => triggers.some((node) => Workflow.nameOf(node) === to))
  return loads || triggers.length > 1
    ? left(
      "From this version on the session belongs to this memory alone, and the Chat Trigger would not find its history.",
      "Set sessionIdType customKey with the same key in all memories, or let conversations start again."
    )
    : carry(old, {
      sessionIdType: "customKey",
      sessionKey: trigger === undefined
        ? "={{ $json.sessionId }}"
        : `={{ String($json.sessionId ?? '') || $(${
          JSON.stringify(Workflow.nameOf(trigger))
        }).first().json.sessionId }}`
    })
}

const ofItem =
  /\$json|\$binary|\$item|\$node\b|\$input|\$data|\$position|\.item\b|\.all\(|itemMatching|pairedItem|random|now/i

/** From 1.1 on all documents are stored together, with the parameters of the first item. */
const insertsTogether: Mapping = (old) => {
  if (old.parameters["mode"] !== "insert") return carry(old)
  const options = obj(old.own["options"]) ?? {}
  const clears = [old.own["clearStore"], options["clearNamespace"], options["clearCollection"]]
  return clears.some((each) => each !== undefined && each !== false)
    ? left(
      "Version 1 clears the store before each item, later ones once.",
      "Set version 1.1 by an update if the store is to be cleared once."
    )
    : ofItem.test(JSON.stringify(old.own))
    ? left(
      "From 1.1 on the parameters of the first item apply to all.",
      "Insert one item at a time, or make the parameters independent of the item."
    )
    : carry(old)
}

/** From 1.2 on keys are shared between workflows. */
const memoryKey: Mapping = (old) => {
  const key = str(old.parameters["memoryKey"])
  return key === undefined
    ? carry(old)
    : carry(old, { memoryKey: locator(`={{ $workflow.id }}__${key.startsWith("=") ? key.slice(1) : key}`) })
}

const retrievedTool: Mapping = (old) =>
  old.parameters["mode"] === "retrieve-as-tool" ? named("toolName")(old) : carry(old)

const code = Record.mapKeys({
  agent: { 2: toolsOnly, 2.1: withoutStreaming, 3: withoutTools },
  chainLlm: { 1.4: chainPrompt, 1.6: chainObjects },
  memoryBufferWindow: { 1.2: customKey, 1.4: sharedSession },
  memoryPostgresChat: { 1.4: sharedSession },
  memoryMongoDbChat: { 1.1: sharedSession },
  toolCode: { 1.2: named("name") },
  toolThink: { 1.1: named("name", "thinking_tool") },
  toolVectorStore: { 1.1: named("name") },
  vectorStoreInMemory: { 1.1: insertsTogether, 1.2: memoryKey, 1.3: retrievedTool },
  ...Record.fromIterableWith(["PGVector", "Pinecone", "Qdrant", "Supabase"], (store) => [
    `vectorStore${store}`,
    { 1.1: insertsTogether, 1.3: retrievedTool }
  ])
} as { readonly [type: string]: { readonly [to: string]: Mapping } }, (name) => langchain + name)

/** Parameter of the model, whose default depends on the release of n8n. */
const models: { readonly [type: string]: string } = {
  [`${langchain}lmChatAnthropic`]: "model",
  [`${langchain}lmChatGoogleGemini`]: "modelName",
  [`${langchain}lmChatOpenAi`]: "model"
}

const minor = (release: string) => release.split(".", 2).join(".")

/** A default becomes explicit only if it is that of the connected n8n, which may have another than the catalogue. */
const withOwnDefault = (key: string, change: Mapping): Mapping => (old) => {
  const { connected, release } = old.lookups
  const { next, nextVersion, own, parameters } = old
  const isOther = connected !== undefined && minor(connected) !== minor(release) &&
    own[key] === undefined &&
    !equals(
      ParameterRules.complete(next, { typeVersion: nextVersion, parameters: own, isTool: false })[key],
      parameters[key]
    )
  return isOther
    ? left("Its model is the default of its version in the connected n8n.", `Set ${key}, then upgrade again.`)
    : change(old)
}

export const steps = Object.fromEntries(
  Object.entries(ofData(data as { readonly [type: string]: ReadonlyArray<StepData> }, code)).map(([type, list]) => {
    const model = models[type]
    return [
      type,
      model === undefined ? list : list.map(({ change = carry, to }) => ({ to, change: withOwnDefault(model, change) }))
    ]
  })
)

/** The former node of n8n's core package; its chat is that of version 1.8. */
const fromOpenAi: Mapping = (old) => {
  const { operation, resource } = old.parameters
  const options = obj(old.own["options"] ?? {})
  if (resource !== "chat" || operation !== "complete") {
    return left(
      "Its operation has no successor that asks the same of OpenAI.",
      "Use the OpenAI node of @n8n/n8n-nodes-langchain, an AI Agent, or an HTTP Request."
    )
  }
  const messages = arr(obj(old.parameters["prompt"])?.["messages"]).map(obj)
  if (options === undefined || messages.length === 0 || messages.includes(undefined)) {
    return left("It has no messages of its own.", "Set its messages, then upgrade again.")
  }
  const parameters = defined({
    modelId: locator(old.parameters["model"] ?? old.parameters["chatModel"]),
    messages: {
      values: messages.map((each) => ({ role: each?.["role"] ?? "user", content: each?.["content"] ?? "" }))
    },
    simplify: old.parameters["simplifyOutput"] ?? true,
    options: without(options, (_, key) => key === "echo"),
    requestOptions: old.own["requestOptions"]
  })
  const more = { keys: { typeVersion: 1.8 } }
  return ["maxTokens", "echo"].some((key) => Object.hasOwn(options, key))
    ? left(
      "Its successor sends max_completion_tokens in place of max_tokens, and no echo.",
      "Decide whether its model takes max_completion_tokens, and nothing reads the echo.",
      [way(asN8n, "", parameters, more)]
    )
    : done(parameters, more)
}

/** A parser that repairs another parser's answers is now a setting of that parser. */
const autofixing: Mapping = (old) => {
  const [inner, ...others] = nodesLinked(old, "ai_outputParser")
  const name = Workflow.nameOf(inner)
  const uses = old.graph.out(name)
  if (
    inner === undefined || others.length > 0 || uses.length > 1 || inner["disabled"] === true ||
    Workflow.typeOf(inner) !== `${langchain}outputParserStructured` || Workflow.parametersOf(inner)["autoFix"] === true
  ) {
    return left(
      "Only a Structured Output Parser of its own can repair answers itself.",
      "Connect a Structured Output Parser with autoFix in place of both nodes."
    )
  }
  const prompt = obj(old.own["options"])?.["prompt"]
  return done({
    ...Workflow.parametersOf(inner),
    autoFix: true,
    ...(prompt === undefined ? {} : { customizeRetryPrompt: true, prompt })
  }, { keys: { typeVersion: inner["typeVersion"] }, absorbs: { node: name, why: "its schema" } })
}

/** Chats in the editor only, as the chat trigger does while it is not public. */
const manualChat: Mapping = (old) =>
  old.version < 1.1
    ? left(
      "Its message is in `input`; the Chat Trigger's is in `chatInput`.",
      "Replace it, and `input` by `chatInput`."
    )
    : done({ options: {} }, { keys: str(old.node["id"]) === undefined ? {} : { webhookId: old.node["id"] } })

/** Loaders of JSON and of one file; both split with the linked splitter. */
const loader = (dataType: "json" | "binary"): Mapping => (old) => {
  const { binaryDataKey: _, loader, options, ...rest } = old.own
  return carry({ ...old, own: {} }, {
    dataType,
    textSplittingMode: "custom",
    ...(dataType === "binary" ? { loader: loader ?? "jsonLoader" } : {}),
    options: { ...obj(options), ...rest }
  })
}

/** Schemas and answers of requests differ for the model. */
const requestTool: Mapping = () =>
  left(
    "The model gets each answer as a list of items, and fills $fromAI instead of placeholders.",
    "Replace it by an HTTP Request Tool with $fromAI for each placeholder, and compare the model's answers."
  )

export const successors: Successors = {
  [`${langchain}toolHttpRequest`]: { to: ["n8n-nodes-base.httpRequestTool"], change: requestTool },
  "n8n-nodes-base.openAi": { to: [`${langchain}openAi`], change: fromOpenAi },
  [`${langchain}outputParserAutofixing`]: { to: [`${langchain}outputParserStructured`], change: autofixing },
  [`${langchain}manualChatTrigger`]: { to: [`${langchain}chatTrigger`], change: manualChat },
  [`${langchain}documentJsonInputLoader`]: { to: [`${langchain}documentDefaultDataLoader`], change: loader("json") },
  [`${langchain}documentBinaryInputLoader`]: { to: [`${langchain}documentDefaultDataLoader`], change: loader("binary") }
}
