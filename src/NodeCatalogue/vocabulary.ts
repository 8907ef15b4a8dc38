/** What people say instead of what n8n's packages say; found by asking, kept by the scored queries of the tests. */

/** Words for one another, wherever they stand: abbreviations, and the forms that one search should not tell apart. */
export const sameAs: ReadonlyMap<string, string> = new Map(Object.entries({
  gsheet: "google sheets",
  gsheets: "google sheets",
  gdoc: "google docs",
  gdocs: "google docs",
  gdrive: "google drive",
  gcal: "google calendar",
  gcs: "google cloud storage",
  ga4: "google analytics",
  gtranslate: "google translate",
  gsuite: "google workspace",
  bq: "bigquery",
  pg: "postgres",
  psql: "postgres",
  pgsql: "postgres",
  postgresql: "postgres",
  mongo: "mongodb",
  mssql: "microsoft sql",
  sqlserver: "microsoft sql",
  tsql: "microsoft sql",
  mariadb: "mysql",
  dynamo: "dynamodb",
  amazon: "aws",
  ms: "microsoft",
  msteams: "microsoft teams",
  o365: "microsoft",
  office365: "microsoft",
  m365: "microsoft",
  fb: "facebook",
  insta: "instagram",
  ig: "instagram",
  yt: "youtube",
  tg: "telegram",
  wa: "whatsapp",
  gh: "github",
  sfdc: "salesforce",
  wp: "wordpress",
  woo: "woocommerce",
  es: "elasticsearch",
  js: "javascript",
  py: "python",
  db: "database",
  databases: "database",
  mail: "email",
  mails: "email",
  picture: "image",
  pictures: "image",
  photo: "image",
  photos: "image",
  img: "image",
  pic: "image",
  msg: "message",
  repo: "repository",
  repos: "repository",
  remove: "delete",
  retrieve: "get",
  fetch: "get",
  tweets: "twitter tweet",
  chatgpt: "openai chatgpt",
  gpt: "openai gpt",
  gpt4: "openai gpt",
  gpt4o: "openai gpt",
  llms: "llm",
  genai: "ai",
  vectordb: "vector database",
  vectorstore: "vector store",
  dedup: "dedupe",
  deduplication: "dedupe",
  subworkflows: "subworkflow",
  todos: "todo",
  pdfs: "pdf"
}))

/** Words that say nothing of a node. */
export const stopWords: ReadonlySet<string> = new Set(
  `a an the of to in into on onto for from with within by at as and or is are be been am was were it its this that these
  those my your our their his her me i we you he she they them us some any all there here so do does did doing done
  how what which who whose why where can could should would will shall may might must need needs want wants wanted like
  please help let lets something anything thing things node nodes using use used uses via through over under
  about just also then than too very new when whenever while once has have had not up out off per
  able best way good right easy automatically automation automate integration integrate connect connection service
  consume interact handle trigger triggers triggered etc e g`.split(/\s+/)
)

/** Words that go with any node an agent may use: they weigh little beside others, in their stems too. */
export const weak: ReadonlySet<string> = new Set([
  "tool",
  "tools",
  "agent",
  "agents",
  "ai",
  "data",
  "n8n",
  "workflow",
  "start",
  "run",
  "execut",
  "execute"
])

/** An event is meant, said outright; or by a word that tells of something that happened. */
export const happening =
  /\b(triggers?|triggered|when(ever)?|listen(s|ing|er)?|watch(es|ing)?|incoming|inbound|monitor(s|ing)?|subscribe[sd]?|consumer|upon|as soon as|(start|starts|run|runs) (on|the|my|a) (new|workflow|flow)|react to|each time|every time)\b|^on\b/
export const happened =
  /\b(new|receiv(ed?|ing)|arriv(es?|ed|al)|created|updated|changed?s?|changes|deleted|submitted|submissions?|posted|added|inserted|uploaded|completed|fails|succeeds|succeeded|paid|booked|booking|signed up|opened|closed|merged|edited|joined|cancelled|canceled|shipped|moved|assigned|approved|rejected|expires?|finished|finishes|starts|ends|lands|comes in|(?<!calendar |create |an? )events?)\b/
/** It begins with an order: an action is meant. */
export const order =
  /^(create|add|send|post|update|delete|remove|get|fetch|insert|append|upload|download|list|find|search|read|write|make|set|publish|reply|label|move|copy|share|edit|book|schedule a|upsert|retrieve|generate|look|show|put|save|store|manage|return|respond|compare|extract|parse|convert|send)\b/

/** The most used first; what an empty question lists, and what settles a tie. */
export const common: ReadonlyArray<string> =
  `httpRequest code set webhook if googleSheets scheduleTrigger merge ai.agent
  slack gmail switch manualTrigger splitInBatches telegram filter wait respondToWebhook ai.lmChatOpenAi ai.openAi airtable
  notion postgres googleDrive splitOut aggregate executeWorkflow stickyNote telegramTrigger gmailTrigger formTrigger
  ai.chatTrigger executeWorkflowTrigger noOp html dateTime removeDuplicates ai.memoryBufferWindow
  ai.outputParserStructured ai.chainLlm supabase hubspot mySql discord extractFromFile convertToFile emailSend
  googleCalendar microsoftOutlook whatsApp github errorTrigger sort limit summarize crypto markdown xml rssFeedRead
  jira dataTable microsoftTeams ai.vectorStoreInMemory ai.embeddingsOpenAi ai.lmChatGoogleGemini ai.lmChatAnthropic
  ai.googleGemini ai.anthropic ai.informationExtractor ai.toolWorkflow slackTrigger googleSheetsTrigger
  googleDriveTrigger stripe twilio shopify salesforce mongoDb redis ftp readWriteFile editImage compareDatasets
  renameKeys compression executeCommand ssh stopAndError form ai.textClassifier ai.vectorStorePinecone
  ai.vectorStoreQdrant ai.vectorStoreSupabase ai.vectorStorePGVector ai.documentDefaultDataLoader
  ai.textSplitterRecursiveCharacterTextSplitter ai.memoryPostgresChat ai.mcpClientTool ai.mcpTrigger ai.toolCode
  ai.toolCalculator googleDocs microsoftExcel awsS3 trello clickUp asana mondayCom todoist linear pipedrive zohoCrm
  stripeTrigger typeformTrigger calendlyTrigger emailReadImap youTube twitter linkedIn wordpress mailchimp zendesk
  wooCommerce dropbox facebookGraphApi microsoftSql quickbooks googleBigQuery gitlab openWeatherMap deepL perplexity
  ai.lmChatOllama ai.lmChatOpenRouter graphql microsoftOneDrive microsoftSharePoint facebookLeadAdsTrigger jwt
  stopAndError n8n baserow nocoDb elasticsearch snowflake sendGrid intercom freshdesk xero payPal activeCampaign
  googleTasks googleSlides googleContacts googleAnalytics googleBigQuery googleFirebaseCloudFirestore confluence
  jotFormTrigger calTrigger webflow zoom bitly mailgun sendInBlue box reddit spotify rabbitmq kafka mqtt awsLambda
  awsSqs awsSes awsDynamoDb pagerDuty sentryIo grafana serviceNow microsoftToDo mattermost coinGecko quickChart
  ldap totp simulate pushover hackerNews nextCloud strapi ghost contentful`.split(/\s+/)

/** Nobody's choice for a new workflow, though the packages do not hide them. */
export const unwanted: ReadonlySet<string> = new Set(
  ["e2eTest", "e2eTestPollingTrigger", "n8nTrainingCustomerDatastore", "n8nTrainingCustomerMessenger"]
)

/** Categories that people name and n8n's codex does not have. */
export const categories: { readonly [name: string]: ReadonlyArray<string> } = {
  HTTP: ["httpRequest", "webhook", "respondToWebhook", "graphql", "html", "sseTrigger", "ai.mcpTrigger", "postBin"],
  Database: `postgres mySql mongoDb microsoftSql redis supabase snowflake googleBigQuery oracleDatabase awsDynamoDb
    azureCosmosDb crateDb questDb timescaleDb elasticsearch dataTable nocoDb baserow airtable seaTable grist quickbase
    googleFirebaseCloudFirestore googleFirebaseRealtimeDatabase databricks filemaker stackby postgresTrigger redisTrigger
    airtableTrigger seaTableTrigger`.split(/\s+/)
}
