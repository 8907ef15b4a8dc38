/** Advice on the next step, as data: rooms below `answer` name no tool and no option, and `Hints` has the wording. */
import * as Schema from "effect/Schema"

/** Why n8n cannot be reached at the configured address. */
export const ConnectionProblem = Schema.Literals([
  "NoAnswer",
  "NothingListens",
  "BlockedPort",
  "UnknownHost",
  "OtherHostName",
  "NotHttps",
  "NoApi",
  "Unreadable",
  "LoginPage",
  "Redirected"
])
export type ConnectionProblem = typeof ConnectionProblem.Type

/** One piece of advice; `answer/Hints` has the wording. */
export const Advice = Schema.TaggedUnion({
  CheckConnection: { problem: ConnectionProblem },
  CheckApiKey: {},
  /** Settings that are missing, and a file of settings that is not read because one of them is set. */
  Configure: {
    missing: Schema.Array(Schema.String),
    unread: Schema.optional(Schema.Struct({ set: Schema.String, file: Schema.String }))
  },
  SetWebhookUrl: {},
  SetFilesRoot: { purpose: Schema.Literals(["ReplaceMissing", "ReadElsewhere", "KeepFiles"]) },
  AwaitDatabase: {},
  RaiseExecutionLimit: {},
  /** A folder of the state that cannot be read or written. */
  UseStateFolder: {},
  /** This server is read-only. */
  AllowWrites: {},
  /** There are no folders for files. */
  PassWorkflow: {},
  ListWorkflows: {},
  ListExistingWorkflows: {},
  ListCredentials: {},
  PublishFirst: { id: Schema.String },
  ListExecutions: {},
  /** Executions of the workflow with this id, or name. */
  FindExecutions: { workflowId: Schema.optionalKey(Schema.String), workflowName: Schema.optionalKey(Schema.String) },
  ShowExecution: { id: Schema.String },
  /** n8n answers a retry only after the run has ended. */
  FollowRetry: {},
  ListFiles: {},
  ListVersions: { maxSnapshots: Schema.Int },
  ListRestorableVersions: {},
  /** Plans of changes to many workflows; the last ones are stored. */
  MakePlan: { maxPlans: Schema.Int },
  /** The batch has written nothing. */
  WriteBatch: { plan: Schema.String },
  /** The version does not exist; these do, the newest first. */
  ChooseVersion: {
    workflowId: Schema.String,
    versions: Schema.Array(Schema.String),
    snapshots: Schema.Array(Schema.String)
  },
  ListNodes: {},
  ShowCalls: {},
  SearchNodeTypes: {},
  ShowParameters: {},
  /** Deprecated nodes, which n8n refuses to create or change. */
  UpgradeNodes: { nodes: Schema.Array(Schema.Struct({ node: Schema.String, type: Schema.String })) },
  /** A type of a community package. */
  LoadPackage: {},
  /** n8n may have created a workflow of this name although it answered with an error. */
  LookForCreated: { name: Schema.String },
  OpenExistingFile: {},
  ReadWhole: {},
  ReadAgain: {},
  RestoreEarlierVersion: { workflowId: Schema.String },
  /** A draft waits that the caller may not have made. */
  PublishDraft: { workflowId: Schema.String },
  /** n8n cannot publish the version itself. */
  RestoreToPublish: { workflowId: Schema.String, version: Schema.String },
  SetCredentials: {},
  ValidateWorkflow: { detail: Schema.Literals(["More", "Everything"]) },
  PassTestData: {},
  FixRefusedValues: {},
  /** n8n refused a value; its message is in the error. */
  CorrectRefused: {},
  /** n8n's own message is in the error, or the values that it accepts. */
  ReadDetails: { have: Schema.Literals(["Message", "Values"]) },
  /** n8n may answer later. */
  TryLater: { problem: Schema.Literals(["Limited", "Failing", "Slow"]) },
  /** Rows that were stored before they were changed or deleted, of a table with this id. */
  RestoreRows: { table: Schema.String, version: Schema.String, total: Schema.Int, stored: Schema.Int },
  /** A folder is synced with another n8n. */
  CopyFiles: {},
  /** A person creates the credential, if not `instead`. */
  CreateByHand: { instead: Schema.String, type: Schema.String },
  AllowVariable: { variables: Schema.Array(Schema.String) },
  /** Parameters of a tool; `isUnknown` if one was named that it does not have. */
  TakeParameters: { name: Schema.String, parameters: Schema.Array(Schema.String), isUnknown: Schema.Boolean },
  /** A tool's own words that name tools; those who do not have them do not read it. */
  CallTools: { tools: Schema.Array(Schema.String), text: Schema.String }
})
/** Known piece of advice. */
export type Advice = typeof Advice.Type

const Part = Schema.Union([Schema.String, Advice])

/** Advice on the next step: a sentence, a known piece of advice, or a list of both. */
export type Hint = string | Advice | ReadonlyArray<string | Advice>
/** Advice on the next step: a sentence, a known piece of advice, or a list of both. */
export const Hint: Schema.Codec<Hint> = Schema.Union([Part, Schema.Array(Part)])
