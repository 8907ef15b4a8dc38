/** Names and helps of rules, by id. */
export const rules = {
  "unreadable-file": [
    "File cannot be read",
    "A file that may be a workflow cannot be read: it is too large, not UTF-8, or refers to code that is missing. Correct it, or move it out of the folder."
  ],
  "invalid-json": [
    "Not valid JSON",
    "n8n imports strict JSON: no trailing commas, comments or byte order mark. Correct the place, or export the workflow again."
  ],
  "workflow-shape": [
    "Not the shape of a workflow",
    "A workflow is {name, nodes: [], connections: {}, settings: {}}, as n8n exports it."
  ],
  "node-shape": [
    "Key of a node is missing or wrong",
    "n8n refuses a node whose keys have the wrong kind of value, and treats one without typeVersion as its oldest version."
  ],
  "duplicate-name": [
    "Two nodes have one name",
    "Connections and expressions find nodes by name: rename one, also there."
  ],
  "duplicate-id": [
    "Two nodes have one id",
    "n8n refuses workflows in which two nodes have one id: give one of them another."
  ],
  "connection-shape": [
    "Connection has the wrong shape",
    "Connections are {[node]: {[type]: [[{node, type, index}]]}}: a list of outputs, each a list of targets."
  ],
  "unknown-connection": [
    "Connection names a missing node",
    "Connections go by a node's exact name. Correct the name, or remove the connection."
  ],
  "connection-port": [
    "Connection to a port that does not exist or fit",
    "Outputs and inputs depend on a node's type, version and parameters. Connect to one that the node has."
  ],
  "missing-sub-node": [
    "Required sub-node is missing",
    "Agents and chains fail without the model or tool that they require. Connect an enabled one."
  ],
  "too-many-connections": [
    "Too many connections to an input",
    "The input takes fewer nodes than are connected. Remove the others."
  ],
  "community-node": [
    "Community node, not checked",
    "Only n8n's own nodes are known, and those of the packages that are passed."
  ],
  "removed-type": ["Node type that n8n removed", "n8n cannot run the node any more. Replace it by its successor."],
  "unknown-type": [
    "Unknown node type",
    "n8n shows an unknown node as a question mark and cannot run it. Correct its type."
  ],
  "unknown-version": [
    "Unknown version of a node type",
    "The type has no such typeVersion. Use one that it has, with that version's parameters."
  ],
  "unavailable-type": [
    "Node type that this n8n does not offer",
    "The type is disabled by default, for tests only, or newer than the connected n8n."
  ],
  "parameter": [
    "Parameter is missing or wrong",
    "n8n refuses to publish the node, or it fails when it runs. Set the parameter to a value that its type allows."
  ],
  "from-ai-key": [
    "Key that $fromAI does not take",
    "A key has 1 to 64 letters, digits, _ or -. With another one the agent fails."
  ],
  "unmarked-expression": ["Expression without '='", "n8n takes {{ }} literally unless the value starts with '='."],
  "code-syntax": ["Code does not parse", "The expression or script fails in every run. Correct its syntax."],
  "unknown-reference": [
    "Reference to a missing node",
    "Expressions and code name nodes exactly. Correct the name, or remove the reference."
  ],
  "unknown-callee": [
    "Call of a workflow that cannot be called",
    "The called workflow does not exist, or n8n 2 has not published it."
  ],
  "no-trigger": [
    "Workflow without a trigger",
    "Nothing starts the workflow, and n8n does not publish it. Add or enable a trigger."
  ],
  "manual-only": [
    "Workflow that only starts manually",
    "n8n does not publish a workflow whose only triggers are manual."
  ],
  "unreachable-node": ["Node that never runs", "No trigger leads to the node. Connect it, or remove it."],
  "literal-secret": [
    "Secret outside of a credential",
    "Everyone who can read the file has the secret. Store it in a credential, remove the value, and rotate it: the history still has it."
  ],
  "open-webhook": [
    "Webhook without authentication",
    "Anyone who knows the address can start the workflow. Set authentication or an IP allow list."
  ],
  "no-error-workflow": [
    "No error workflow",
    "No one is notified when the workflow fails. Name a workflow with an Error Trigger in settings.errorWorkflow."
  ],
  "policy": [
    "Breaks the policy",
    "The workflow breaks a rule of the operator, by which the server refuses to write it to n8n."
  ],
  "outdated-node": [
    "Node version is not the newest",
    "n8n has a newer version of the node. Old versions keep working until n8n removes them."
  ],
  "deprecated-node": [
    "Node type is deprecated",
    "n8n has replaced the type. From 2.42.6 n8n refuses to create or edit workflows with deprecated nodes."
  ]
}
