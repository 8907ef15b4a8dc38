import { aiNode, type Guide, json, links, node } from "./guide.ts"

const workflow = {
  nodes: [
    aiNode("Chat", "chatTrigger", 1.1, { options: {} }),
    aiNode("Agent", "agent", 2, {
      promptType: "auto",
      text: "={{ $json.chatInput }}",
      hasOutputParser: true,
      options: { systemMessage: "Answer questions about orders. Use get_order to look one up." }
    }),
    aiNode("Model", "lmChatOpenAi", 1.2, { model: { __rl: true, mode: "id", value: "gpt-5-mini" }, options: {} }),
    aiNode("Memory", "memoryBufferWindow", 1.3, {}),
    node("get_order", "httpRequestTool", 4.2, {
      toolDescription: "Gets an order by its id",
      url: "=https://api.example.com/orders/{{ $fromAI('orderId', 'the id of the order', 'string') }}",
      options: {}
    }),
    aiNode("Shape", "outputParserStructured", 1.2, {
      schemaType: "manual",
      inputSchema: "{\"type\":\"object\",\"properties\":{\"answer\":{\"type\":\"string\"}},\"required\":[\"answer\"]}"
    })
  ],
  connections: {
    ...links({ Chat: [["Agent"]] }),
    ...links({ Model: [["Agent"]] }, "ai_languageModel"),
    ...links({ Memory: [["Agent"]] }, "ai_memory"),
    ...links({ get_order: [["Agent"]] }, "ai_tool"),
    ...links({ Shape: [["Agent"]] }, "ai_outputParser")
  }
}

export const agents: Guide = {
  topic: "agents",
  title: "AI agents and tools",
  description: "Models, memory, tools with $fromAI, structured output.",
  text: `# AI agents and tools

An agent is a node with sub-nodes. They connect **to** the agent, by their own connection type: \`ai_languageModel\` (required), \`ai_memory\`, \`ai_tool\` (any number), \`ai_outputParser\` (only with \`hasOutputParser: true\`).

${json(workflow)}

- **Prompt**: \`promptType: "auto"\` uses \`chatInput\` from a Chat Trigger; \`"define"\` uses \`text\`, for all other triggers. Rules belong in \`options.systemMessage\`.
- **Answer**: text in \`$json.output\`; with a structured parser, an object: \`$json.output.answer\`. The Chat Trigger shows \`output\` of the last node.
- **Tools**: most nodes have a tool variant, of the same type with \`Tool\` appended (\`n8n-nodes-base.httpRequestTool\`). The model knows a tool by its node's name and its description, so both should say what it does: \`get_order\`, not \`HTTP Request1\`. Names: letters, digits, \`_\`.
- **\`$fromAI(key, description, type)\`** in a tool's parameter is a value that the model fills in; its type is string, number, boolean or json. Everything else in the tool stays as you wrote it: keep addresses and limits fixed, and let the model choose as little as possible.
- **A workflow as a tool**: toolWorkflow. The sub-workflow begins with an Execute Workflow Trigger that lists its inputs, and its last node's items are the answer.
- **Memory** needs a session: Chat Trigger provides \`sessionId\`; otherwise set \`sessionIdType: "customKey"\` and \`sessionKey\`.
- **In sub-nodes**, expressions see only the first item.

Without a tool or memory, a Basic LLM Chain (chainLlm), Information Extractor or Text Classifier is cheaper and more predictable than an agent.

Texts from outside (emails, web pages) can carry instructions: an agent that reads them should have no tool that sends, pays or deletes without a person's approval.`,
  workflows: [workflow]
}
