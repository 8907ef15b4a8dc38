/** What nodes are for in the words of those who look for one: a line for a type, or for several of one kind. */

const lines = (text: string): ReadonlyArray<readonly [types: string, says: string]> =>
  text.trim().split("\n").map((line) => {
    const colon = line.indexOf(":")
    return [line.slice(0, colon), line.slice(colon + 1).trim()]
  })

/** For single types; `ai.` is `@n8n/n8n-nodes-langchain`, else `n8n-nodes-base`. */
export const phrases: ReadonlyMap<string, string> = new Map(lines(`
theHive: case management
gitlab: open a merge request, gitlab issue, pipeline
httpRequest: call an api, rest api call, http call, web request, get request, post request, put patch delete request, fetch url, hit an endpoint, external endpoint, external api, custom api, third party api, curl command, post json to a server, send data to url, bearer token, oauth, pagination, query parameters, headers, download file from url link, web page content, website, scrape website, crawl, web scraping, call webhook url, soap, any service without node, multipart form data upload, custom http header, api key authentication, restful service, query web service, request to my backend, endpoint, external service, download image from url, check website status, ping url, url content, custom integration, any api, send json payload, http client, soap request, web api, scrape page, get json from url, api, url, http, rest, request
webhook: receive http request, incoming http call, incoming webhook, listen for http post, http endpoint, callback url, api endpoint, expose url, webhook trigger, start from http request, receive data from external service, rest endpoint, get notified by external system via http, receive post data, callback from service, http trigger, url that starts workflow, accept incoming json, receive payload, inbound http, catch hook, http endpoint
respondToWebhook: return response to caller, webhook response, reply to webhook, send back json, send back html to browser, http response, status code, answer http request, redirect, api response, answer webhook caller, custom response body, response headers, return json from api, finish request
scheduleTrigger: run on a schedule, cron job, cron expression, every day, every hour, every minute, every 5 minutes, every week, every month, every monday morning, daily at 9am, hourly, weekly, monthly, nightly, midnight, periodically, recurring, repeat every, timer, time based, interval, scheduled workflow, at specific time, weekdays, scheduler, tuesday wednesday thursday friday saturday sunday, seconds minutes hours days weeks, once a week, once a day, once a month, at midnight, every morning, every night, at noon, every evening, first day of month, every weekday, every 15 minutes, run nightly, run daily, run hourly, poll regularly, at fixed time, execute periodically, time trigger, clock, calendar schedule, repeatedly, twice a day, each day at 8 am pm, schedule, every friday at 6pm, every tuesday, time
manualTrigger: start manually, manual start, test button, execute by hand, run manually, click to run, on demand, button click, test workflow, start by hand, run once, trigger manually, when clicking test workflow, click execute, manual run
errorTrigger: error handling, catch errors, on failure, when workflow fails, workflow failed, handle errors, error workflow, notify on error, exception handler, failure alert, failed execution, alert when any workflow crashes, global error handler, workflow crash, execution error, on error, failing workflow, get notified of failed workflow, catch failures, try catch, error, errors, failed executions, handle failed executions
stopAndError: throw an error, raise exception, fail workflow, abort, stop workflow with error message, stop execution, custom error, terminate, fail on purpose, make execution fail, deliberately fail, validation failed, raise error, halt workflow, exit with error
executeWorkflow: call another workflow, sub workflow, subworkflow, run other workflow, child workflow, nested workflow, invoke workflow, reuse workflow, modular, execute workflow, start another workflow, run separate workflow, trigger another workflow, delegate to workflow, split big workflow into smaller, workflow inside workflow, call workflow by id, workflow, subflow
executeWorkflowTrigger: when called by another workflow, sub workflow input, subworkflow start, when executed by another workflow, start of sub-workflow, receive data from parent workflow, trigger for subworkflows, called workflow start, workflow input schema, entry point of sub-workflow
set: edit fields, set a value, set fields, add a field, assign variables, variable, map fields, mapping, modify json, create new property, change values, add column, define constants, transform item, keep only set fields, manual mapping, hardcode value, prepare data, build json object, delete field, json transformation, calculate a value from fields, set json output, rename and keep fields, override value, default value, add static data, format output, reshape item, select fields, pick fields, change field value, create variable, static text, template text, remove a field, build object, string interpolation, convert type of field, json, convert string to number, type conversion, cast, variables, text, data transformation
code: run javascript, python script, custom code, write code, snippet, function, custom logic, script, regex, regular expression, programming, complex transformation, transform data with code, lambda function, json transformation with code, loop in javascript, calculate value, parse string, regex match, text manipulation, string functions, data manipulation script, js function, numpy pandas, algorithm, write javascript, run code, json, transform data, transformation, any logic
if: if else, if statement, else branch, conditional branch, condition, true or false, check a condition, decision, boolean check, split by condition, conditional logic, compare values, then else, is empty check, only continue if, check whether, compare two values, yes or no, greater than, equals, contains, exists, validate condition, is empty, conditional statement, gate, test a value, is list empty, is empty, check if exists, decide
switch: switch case, route to several outputs, router, multiple conditions, multiple branches, branch by value, routing rules, case statement, many paths, more than two branches, multi-way branching, multiple cases, different paths, choose path by value, route by type, many conditions, branching on several values, conditional routing, dispatch
filter: keep only matching, filter items, filter rows, drop items, exclude, remove items by condition, discard, drop empty records, where clause, only items that match, skip items, exclude rows without, only items where, filter out, filtering, select items, keep items, remove rows, filter array, filter list, filter data, rows that match, where
merge: join data, combine branches, merge two inputs, put data together, join by key, vlookup, sql join, append, union, two sources, combine streams, wait for both branches, inner join, left join, enrich with other data, append two lists, combine two datasets, lookup join, join tables, match by id, combine results of two nodes, wait for all branches, merging, multiplex, cartesian product, merge json, zip two lists by position, combine outputs, outer join, combine, join
splitInBatches: loop over items, for each, foreach, iterate, batches, process items one by one, chunks of items, batch processing, repeat for every item, while loop, looping, iteration, one at a time, rate limit, loop through items, loop over list, iterate over array, chunk items into groups, groups of 50, split into batches, batch size, paginate, repeat steps, do something for every row, loop node, avoid rate limit, cycle, go through each row, until done, iteration over items, loop through pages, pagination loop, next page
wait: wait, delay, pause workflow, sleep, sleep seconds, hold, resume later, wait for approval, wait for webhook call, wait until, wait 10 seconds, throttle, timeout, wait for human, rate limit between requests, cool down, resume on form submit, wait an hour, delay for minutes, wait between, resume after human answers, pause until, wait until date, wait for response, wait for callback, pause execution, slow down, halt for a while, timer pause
noOp: do nothing, placeholder, pass through, no operation, empty node, noop, dummy step, does nothing, end of branch, dead end
stickyNote: note, comment on canvas, annotation, document workflow, notes, remark, label area, explanation, sticky, add note, describe workflow, documentation in workflow, write a comment
dataTable: store data between executions, persist rows in n8n, internal database, built-in table, n8n storage, key value store, remember state, save data in n8n, internal storage, state between runs, local database, variables storage, store rows, save data for later, persistent storage, simple database in n8n, n8n table, upsert row in data table, lookup table, persist state, save between runs
form: second page of form, multi-step form, next form page, form ending, form completion screen, form page, show form
formTrigger: web form, webform, form submission, ask the user with a form, collect user input, public form, survey, file upload form, contact form, form starts workflow, questionnaire, intake form, input form, form on website, user fills form, n8n form, form submitted, application form, upload form, signup form, feedback form, registration form, form, google form response, form response
executeCommand: shell command, bash, terminal, run command line, cli, run script on server, linux command, local command, powershell, run shell script, os command, system command, bash script, run executable, run program, npm command, docker command, command, curl on the machine, mkdir
ssh: remote command, remote server, run command on server over ssh, vps, secure shell, sftp upload over ssh, linux server, command on remote machine, linux box, run script on remote server, execute remote command, create directory on server, mkdir
ftp: sftp upload, ftp server, file transfer, upload files to server, download from ftp, download file from ftp, sftp, ftp list files, transfer file
git: clone, commit, push, pull, git repository, checkout, version control, git branch
n8n: manage workflows through n8n api, list n8n workflows, list executions, n8n instance, activate workflow, own n8n api, backup workflows, export workflows, audit, n8n credentials
n8nTrigger: n8n instance started, workflow activated, workflow published, workflow updated, instance events
removeDuplicates: dedupe, deduplicate, unique rows, distinct, duplicate items, remove repeated, already seen items, skip processed items, only new items, uniq, remove items processed before, unique values, skip already processed records, duplicates, keep unique, remove double entries, eliminate duplicates, drop duplicates, distinct values, avoid duplicates, deduplicating, only unseen items, repeated entries
sort: order items, sort by date, ascending descending, sorting, order by, rank, shuffle, random order, reverse, alphabetical, sort descending, sort ascending, sort by field, order list, sort array, sort alphabetically, arrange, shuffle items, newest first, largest first, reorder
limit: take first items, only first, first n, top n, last items, limit number, restrict, truncate list, max items, head, sample few, first 5 results, first ten, only one item, keep first item, maximum number of items, cap items, last n items, cut list, top 3, restrict number, just one row, keep latest, keep last 10, newest only, last row
splitOut: split array into items, explode list, flatten nested array, list to items, unwind, expand array, separate items, one item per element, unnest, array to rows, turn array field into rows, split array, split list, array into separate items, one item per entry, explode array, separate array elements, split json array, expand list, flatten list, convert list to items, break array apart, array, list
aggregate: collect all items into one list, items to array, combine items into one, group into list, join items, single item, merge items, collect results, array of values, concatenate values, combine all rows into array, all items into single item, gather items, collect into array, list of all values, merge items into one, one list, put all items together, bundle items, items to list, join all results, array of items, combine many items into one, array
summarize: group by, sum, count rows, pivot table, average of column, total, min max, statistics, aggregate functions, number of items, count items, concatenate by group, totals per, totals per category, sum of column, sum values, group rows, average per group, count per category, minimum maximum, group items by field, calculate total, mean, pivot, count unique, subtotal, count occurrences, how many items, aggregate by field, add up numbers, statistics, group
renameKeys: rename fields, rename keys, rename columns, change field names, change property names, field naming
compareDatasets: compare two lists, diff, difference between datasets, find changes, what changed, sync two sources, missing in other list, compare tables, in a but not in b
dateTime: format date, add days, subtract dates, timezone conversion, current date, now, today, parse date, timestamp, time difference, date calculation, round date, iso date, extract part of date, day of week, date math, unix time, utc to local time, add 3 days to now, date format, time zone, convert date, calculate date, time ago, days between dates, next week, yesterday, tomorrow, date string, current time, current timestamp, change date format, subtract hours, get year month, date, time, day
html: parse html, extract from html, css selector, scrape html, html template, generate html, html table, extract text from web page, dom, html email template, extract links from page, scrape title from page, extract elements from html, html parser, select element, xpath, query selector, text from html, build html page, convert to html table, generate email html, extract content of web page, beautifulsoup cheerio, web page parsing
markdown: markdown to html, html to markdown, md, convert markdown, md to html, html into md, render markdown
xml: parse xml, xml to json, json to xml, convert xml, soap xml response, xml parser, read xml, build xml, xml string
crypto: hash, md5, sha256, sha1, hmac, encrypt, decrypt, sign, uuid, random string, random id, unique id, random number, generate password, generate token, signature, cryptography, encryption, bcrypt, guid, checksum, sha1 checksum, sha512, hash password, hash value, encrypt text, random uuid, digital signature, secret hash, hashing, cipher aes, verify signature, security
jwt: json web token, sign jwt, verify token, decode jwt, auth token, decode token, verify jwt, create token, jwt sign
totp: 2fa code, one time password, otp, authenticator code, mfa, two factor
extractFromFile: parse csv, read csv, read pdf, extract text from pdf, read excel file, xlsx to json, file to json, binary to json, parse spreadsheet file, read text file content, pdf to text, import csv, read ods, ics parse, binary to base64, turn file into data, parse file, import csv file, load csv, excel to json, csv to json, parse excel, read spreadsheet file, get text out of pdf, pdf text, parse pdf, open pdf, parse attachment, read docx, xls to json, read uploaded file, binary file to json, extract json from file, extract from csv, file contents, process uploaded csv, csv, pdf, file
convertToFile: create csv, json to csv, make a csv, create excel file, generate xlsx, json to file, export csv, base64 to binary, create text file, binary file from data, json to binary, write spreadsheet file, create ics, html file, generate file, save as csv, export to excel, export rows as xlsx, make csv, data to csv, write csv, write excel file, json to excel, csv export, json to xlsx, create pdf attachment, text to file, text file, create file, data to binary, generate spreadsheet, download as file, build csv, create json file, base64 to file, csv from json, csv, file
compression: unzip, zip files, gzip, extract archive, decompress, compress, tar, archive, unpack, make zip archive, create zip, zip folder, unzip file, uncompress, gunzip, extract zip, zip attachment
readWriteFile: read file from disk, write file to disk, local file, save file locally, local filesystem, server disk, filesystem, load file, read local file, save binary to server, save file, write to disk, read from disk, local disk, open local file, load file from folder, store file on server, mounted volume, read files from directory, files, file
localFileTrigger: watch folder, watch directory, file changed, file added, file system, new file on disk, folder changes, local files, watch file system, monitor folder, new file in local folder, local folder trigger, file created
editImage: resize image, crop image, add watermark, rotate, draw text on image, blur, convert image format, thumbnail, image information, composite, shrink, jpg png, thumbnail of image, image resize, scale image, compress image, image to png, watermark, add text to image, crop, image size, jpeg, overlay logo, image editing, image
rssFeedRead: rss feed, atom feed, latest articles, blog posts feed, read news feed, podcast feed, news, read rss, parse rss, latest news from feed, blog feed, feed items
rssFeedReadTrigger: new rss item, new blog post, new article in feed, rss feed updated, atom feed, news, subscribe to blog posts, new feed entry, poll rss, rss trigger, new podcast episode
graphql: graphql query, mutation
emailSend: send email, smtp server, mail out, notify by email, email notification, email attachment, html email, email alert, send mail without gmail, send an email, notify via email, email someone, smtp email, send report by email, email alert, outgoing email, email
emailReadImap: imap, email received, when an email arrives, new email, incoming email, mailbox, inbox, read emails, email inbox, check email, read mailbox, imap inbox, check mailbox, email trigger, new mail, poll inbox, incoming mail
executionData: custom execution data, tag execution, highlighted data, save search metadata to execution
debugHelper: generate test data, random data, fake data, mock data, sample data, throw test error, dummy data
sseTrigger: server sent events, event stream, eventsource
evaluation: evaluate ai workflow, evals, test metrics, score answers
timeSaved: time saved tracking, roi
ldap: active directory, ldap search, directory users, domain controller
quickChart: generate a chart, bar chart, pie chart, graph image, line graph, plot, visualize data
googleSheets: spreadsheet, append row, read rows, update cells, google spreadsheet, sheet, lookup row, worksheet, log to sheet, read cells
googleSheetsTrigger: new row, row added, row updated, spreadsheet changes, sheet, new spreadsheet row, sheet changed, cell edited
gmail: send email, reply to email, label email, email draft, search emails, read email, google mail, email inbox, email thread, get emails, attachments, mark as read, archive email, search inbox, unread mail, gmail message, send mail, forward email, email with attachment, gmail label, inbox, email
gmailTrigger: new email, when an email arrives, email received, incoming email, google mail, inbox, mail received, new mail, unread email
googleDrive: upload file, share file, cloud storage, create folder, google file, download file, drive files, list files in folder, copy file, list files, move file, google drive folder, delete file, backup to drive, drive, storage
googleDriveTrigger: new file in folder, file uploaded, watch folder, folder changes, file changed
googleCalendar: create calendar event, book a meeting, schedule meeting, appointment, free busy availability, reschedule, calendar invite, list events, free slots, calendar availability, add to calendar, calendar event, upcoming meetings, delete event, calendar, invite
googleCalendarTrigger: new calendar event, event started, event created, meeting starts, appointment
googleDocs: google document, write document, append text to doc, create doc, word processor, fill in doc template, google doc, edit document
googleSlides: presentation, slide deck, powerpoint
googleBigQuery: data warehouse, sql
googleAnalytics: website traffic, page views, visitors, report
gSuiteAdmin: google workspace users, google admin, groups, g suite directory, provision accounts
googleContacts: address book, contacts, people
googleFirebaseCloudFirestore: firebase, nosql document, firestore collection
googleFirebaseRealtimeDatabase: firebase, realtime db
microsoftOutlook: outlook email, send email, reply to email, outlook calendar, office mail, exchange, microsoft email, hotmail, folder, draft, outlook calendar event, outlook contact, outlook message
microsoftOutlookTrigger: new outlook email, email received, incoming email
microsoftExcel: excel 365, excel workbook, excel online, excel rows, spreadsheet, worksheet, append rows to excel, xlsx online
microsoftTeams: teams channel message, teams chat, teams notification, microsoft chat, tasks planner, teams notification, post in teams, teams message
microsoftSharePoint: sharepoint list, document library, sharepoint file, intranet
microsoftSql: sql server, t-sql, sql query, azure sql
microsoftEntra: azure active directory, azure ad, aad, microsoft users, groups, identity
postgres: sql query, sql database, select from table, insert rows, execute sql, relational database, run query, upsert, sql select, sql insert, sql, database query, sql statement, query database, database, sql
postgresTrigger: row inserted, row updated, table changes, database changes, new row in table, listen notify
mySql: sql query, mariadb, sql database, insert rows, execute sql, relational database, sql select, sql, database query, database
mongoDb: nosql, find documents, upsert document, collection, aggregation pipeline, nosql, mongo query, document database, mongo collection
redis: cache, key value, get key, set key, increment counter, publish, pub sub
redisTrigger: redis subscribe, pub sub, channel message
supabase: supabase rows, backend database
slack: post in channel, direct message, dm someone, chat notification, send channel message, notify team, team chat, ping slack, slack dm, slack notification, slack alert, upload file to slack, chat, message, notification
slackTrigger: message posted in channel, slack event, app mention, reaction added, slash command, bot mention
telegram: telegram bot, send telegram message, telegram photo, chat bot message, telegram notification, send photo, reply on telegram
telegramTrigger: telegram message received, bot message, telegram update
whatsApp: whatsapp message, whatsapp template
discord: discord channel message, discord bot, discord webhook, server message
twilio: send sms, text message, phone call, voice call, texting, text someone, text message to customer, call phone number, sms notification, sms, sms
twitter: tweet, x post, post on x, x.com, twitter, post on twitter, twitter post, search tweets
facebookGraphApi: facebook page, post on facebook, instagram post, instagram, meta, publish to instagram, facebook ads, threads
facebookTrigger: instagram events, page events, meta, facebook page comment
facebookLeadAdsTrigger: new facebook lead, lead form, lead ads, meta leads
linkedIn: post on linkedin, linkedin share, company page, social post
youTube: video upload, playlist, channel videos, video
notion: notion page, notion database, wiki, add page to database, block
notionTrigger: page added to database, page updated, notion database changes
airtable: base, record, airtable row, create record, search records
airtableTrigger: new record, record updated
jira: create issue, issue tracker, bug ticket, atlassian, sprint, jira ticket, jira comment, jira issue, transition issue, bug report
github: create issue, pull request, repository file, release, commit, github actions, dispatch workflow, source code, github release, repository, github issue, create file in repo
githubTrigger: push event, new pull request, issue opened, star, commit pushed, release published
gitlabTrigger: merge request, push event, new issue
linear: linear ticket, issue tracker, bug
stripe: payment, charge credit card, create customer, subscription, refund, invoice, billing, checkout, subscription billing, customer payment, list charges, payment link
stripeTrigger: payment succeeded, new payment, subscription created, invoice paid, charge failed, checkout completed
payPal: payout, payment
shopify: orders, products, online shop, store, inventory
shopifyTrigger: new order, order created, abandoned cart, store
hubspot: contact, deal, company, crm, lead, update contact, create deal, crm contact
salesforce: lead, opportunity, account, soql, crm
pipedrive: deal, sales pipeline, crm, lead
calendlyTrigger: booking, meeting booked, appointment scheduled, invitee created, new appointment
typeformTrigger: survey response, form submitted, quiz
openWeatherMap: weather forecast, current weather, temperature, rain, climate
deepL: translate text, translation, language translation, localize
googleTranslate: translate text, translation, language translation
coinGecko: bitcoin price, cryptocurrency, crypto price, ethereum, exchange rate, coin
marketstack: stock prices, stock market, shares, ticker
bitly: shorten url, url shortener, short link, link shortener
yourls: shorten url, short link, self-hosted link shortener
urlScanIo: url screenshot, scan url, website screenshot, malicious url, phishing check
oneSimpleApi: website screenshot, url to pdf, page to pdf, qr code, expand url, seo
awsS3: upload to s3, bucket, object storage, file storage, amazon s3
s3: minio, bucket, s3 compatible, object storage, wasabi, digitalocean spaces, cloudflare r2
awsLambda: serverless function, invoke function
awsSes: amazon email
awsSns: publish notification, topic
awsSqs: queue, message queue
awsTextract: ocr, read receipt, document text, scan invoice
awsRekognition: image recognition, face detection, detect labels, object detection
awsTranscribe: speech to text, transcribe audio
awsComprehend: sentiment, detect language, entities
mindee: ocr receipt, scan invoice, receipt parsing, expense
kafka: produce message, publish event, event streaming, topic, producer
kafkaTrigger: kafka consumer, topic message, event streaming
rabbitmq: publish to queue, message queue, exchange, send to queue, amqp
mqtt: publish topic, iot, sensor, devices
mqttTrigger: iot, sensor message, topic message
philipsHue: smart lights, lamp, light bulb, turn on light, lighting, turn off lamp, bulbs, room lights
homeAssistant: smart home, turn on device, iot, sensor, light, turn on light, turn off device, smart home sensor, entity state
uptimeRobot: uptime monitoring, website down, downtime
pagerDuty: incident, on-call engineer, alerting, page someone, escalate alert
sentryIo: error tracking, application errors, exceptions, crash
cloudflare: dns records, cdn, zone certificates
jenkins: ci job, build job, start build, pipeline
spotify: playlist, songs, music, tracks, artist
strava: running, cycling, workout, activities, fitness
oura: sleep tracking, fitness ring, health
bitwarden: password manager, vault, secrets
npm: package registry, javascript package version
nasa: space, astronomy picture, asteroid
hunter: find email address, verify email, email finder
dropcontact: enrich contacts, find email
clearbit: enrich company, enrich lead, company data, get company info by domain, company lookup, domain lookup, enrich person
mailcheck: verify email, validate email address, check if email address is valid, email validation, email verification
apiTemplateIo: generate pdf, pdf from template, image from template, create pdf
bannerbear: generate image from template, social image
airtop: browser automation, headless browser, scrape site, control browser, cloud browser, puppeteer, playwright, selenium, fill web forms, login to website
phantombuster: scrape linkedin, lead scraping, scraping agents
jinaAi: read web page, web page to markdown, web search, deep research
perplexity: web search, ask the web, search the internet, online research, google search, search web with ai, search online, internet search, up to date answers, query the web
mistralAi: ocr, extract text from document, scan pdf
aiTransform: transform data with ai instructions
crateDb: sql
ai.agent: ai agent, agent with tools, autonomous agent, chatbot, assistant, llm agent, tool calling, function calling, conversational agent, ai assistant, react agent, agentic, sql agent, chat bot, bot, build a chatbot, ai assistant with tools, autonomous ai, chat agent, agent that uses tools, langchain agent, build agent, virtual assistant, customer support bot, personal assistant, answer questions with ai, reasoning agent, decide with ai, ai, agent, bot
ai.agentTool: sub agent, agent as tool, multi agent, agent calling agent, delegate to another agent
ai.chainLlm: prompt a language model, llm call, simple prompt, llm, large language model, ask ai, prompt template, generate text with llm, basic chain, one prompt, text generation, llm chain, ask llm, send prompt, prompt gpt, single llm call, generate text, rewrite text with ai, ai text generation, write email with ai, language model prompt, completion, ai prompt, ask an llm
ai.chainSummarization: summarize text, summarise document, summary of long text, tl;dr, shorten text, condense, summarizer, article summary, summarize article, summarize document, summarize pdf, text summary, long text to short, summarization, meeting notes summary, make summary, summarize transcript, summarize with ai
ai.chainRetrievalQa: question answering over documents, rag, ask questions about documents, retrieval augmented generation, qa chain, chat with documents, chat with pdf, answer from knowledge base, ask questions about a pdf, question answer, answer questions from documents, ask my docs, query knowledge base, document q&a, answer from vector store
ai.sentimentAnalysis: sentiment, positive or negative, mood, emotion, opinion of review, tone of text, analyze sentiment, customer feedback sentiment, happy or angry, review sentiment, positive negative neutral
ai.textClassifier: classify text, categorize, categorise emails with ai, label text, topic detection, classification, ai routing, intent detection, spam or not, topic of text, spam detection with ai, classify email, classify support tickets, sort emails into categories, ai categorization, classify messages, text categories, detect intent, assign category, urgent or not
ai.informationExtractor: extract data from text, structured data extraction, entities, extract fields from text with ai, ner, parse unstructured text, pull names and dates out of text, extract structured data, parse invoice text with ai, extract names and emails from text, pull data from text, entity extraction, ai data extraction, get fields from unstructured text, parse resume
ai.openAi: chatgpt, gpt, openai, generate image, dall-e, image generation, transcribe audio, speech to text, text to speech, whisper, vision, analyze image, gpt-4, gpt-5, ai completion, o3, create picture with ai, describe image, tts, generate audio, assistants, video generation sora, image generation, create image, text to image, generate picture, audio transcription, ask chatgpt, openai api, image analysis, message gpt, dalle image, voice generation, gpt vision, moderate text, ai, image, audio
ai.anthropic: claude, anthropic, sonnet, opus, haiku, analyze image, analyze document
ai.googleGemini: gemini, google ai, generate image, transcribe audio, analyze video, vision, nano banana, imagen, veo, video generation, analyze audio
ai.ollama: local llm, self-hosted model, llama, local model, offline ai, run model locally
ai.lmChatOpenAi: gpt-4 chat model, gpt model, chatgpt model, openai model for agent, language model for agent, o3 mini, llm model, chat model, language model, openai compatible, gpt for agent, openai chat model, gpt-4o, gpt-5, model for agent
ai.lmChatAnthropic: claude chat model, claude model for agent, sonnet, opus, haiku, chat model
ai.lmChatGoogleGemini: gemini chat model, gemini model for agent, google ai model, flash, chat model
ai.lmChatOllama: local llm, llama chat model, self-hosted chat model, local chat model, offline model
ai.lmChatMistralCloud: mistral, mixtral, mistral model
ai.lmChatGroq: groq, fast inference, llama
ai.lmChatXAiGrok: grok, xai, elon
ai.lmChatOpenRouter: openrouter, many models, model gateway
ai.lmChatAwsBedrock: amazon bedrock, bedrock claude, titan, nova
ai.lmChatGoogleVertex: vertex ai, google cloud model
ai.lmChatAzureOpenAi: azure openai, azure gpt, microsoft foundry
ai.lmChatDeepSeek: deepseek, deepseek r1
ai.modelSelector: choose model, switch model dynamically, model routing, fallback model
ai.memoryBufferWindow: chat memory, conversation history, conversation memory, remember previous messages, window buffer memory, buffer memory, agent memory, short term memory, chat context, session memory, chat history, simple memory, remember conversation, memory for agent, agent remembers, store conversation, keep context, chatbot memory, window memory, memory for chat, memory
ai.memoryPostgresChat: chat memory in database, persistent memory, long term memory, conversation history, store chat history in database, long term memory, persistent chat memory, postgres chat history
ai.memoryRedisChat: redis memory for agent, persistent memory, chat history
ai.memoryMongoDbChat: mongo memory for agent, persistent memory, chat history
ai.memoryManager: insert or delete chat memory, get chat history, edit chat memory, clear memory, load messages
ai.vectorStoreInMemory: vector db, vector database, vector store, semantic search, similarity search, rag, rag pipeline, in-memory vector store, knowledge base, store embeddings, search documents by meaning, rag database, embed documents, store vectors, similarity, vector index, retrieve similar documents, embeddings database, document search, knowledge base for agent, vector, embeddings store
ai.vectorStorePinecone: vector db, vector database, semantic search, similarity search, rag
ai.vectorStoreQdrant: vector db, vector database, semantic search, similarity search, rag
ai.vectorStorePGVector: pgvector, vector db, vector database, semantic search, rag, postgres vector store, store embeddings in postgres, postgresql embeddings, postgres vectors
ai.vectorStoreSupabase: vector db, vector database, rag
ai.vectorStoreChromaDB: chromadb, vector db, vector database
ai.vectorStoreMilvus: vector db, vector database, zilliz
ai.vectorStoreWeaviate: vector db, vector database
ai.vectorStoreMongoDBAtlas: mongo vector search, vector db, vector database
ai.vectorStoreRedis: vector db, vector database
ai.embeddingsOpenAi: embeddings, embed text, text to vector, text-embedding-3, vectorize, ada, create embeddings, embedding model, text embedding, generate embeddings, embed documents, vectors from text, embedding
ai.embeddingsOllama: local embeddings, nomic embed
ai.textSplitterRecursiveCharacterTextSplitter: text splitter, chunk text, split document into chunks, chunking, chunk size overlap, split long text, split text, split documents, chunk documents, document chunks, text chunks, recursive splitter, chunker
ai.textSplitterCharacterTextSplitter: text splitter, split by separator, chunk by character
ai.textSplitterTokenSplitter: split by tokens, chunk by tokens
ai.documentDefaultDataLoader: load documents for rag, document loader, data loader, load pdf for vector store, load file into vector store, ingest documents, binary document loader, json loader, load pdf for rag, document ingestion, load files for embeddings, default loader, load data into vector store
ai.outputParserStructured: structured output, force json output, json schema output parser, json from model, output format, json parser for llm, zod schema, typed output, valid json from ai, parse llm output as json, json output, enforce schema, structured response, structured json from ai, schema for llm answer, output parser, return json from agent
ai.outputParserItemList: list output from model, output as list, comma separated list parser
ai.outputParserAutofixing: auto-fix output, fix invalid json from model, repair output
ai.rerankerCohere: rerank, reranking, reorder search results by relevance
ai.retrieverVectorStore: retriever, retrieve documents, rag retriever
ai.mcpClientTool: mcp client, mcp tools, connect to mcp server, model context protocol, use mcp server in agent, mcp, connect mcp, use mcp tools, external mcp server
ai.mcpClient: mcp client, call mcp tool without agent, model context protocol
ai.mcpTrigger: mcp server, expose tools over mcp, model context protocol, expose workflow as mcp
ai.toolWorkflow: workflow as a tool, call workflow from agent, workflow tool, sub workflow tool, tool for agent, use workflow as tool, give agent a workflow, custom tool calling workflow, n8n workflow tool
ai.toolCode: code tool for agent, custom tool, javascript tool, python tool, own tool for agent, custom code tool, write own tool, js tool
ai.toolCalculator: calculator, math, arithmetic, calculation, compute numbers, do math, calculate, sums for agent
ai.toolThink: let the agent think, reasoning step, think step by step, reflection
ai.toolWikipedia: wikipedia, encyclopedia lookup
ai.toolSearXng: web search, search the internet, google search, meta search engine, internet search tool, private search engine, query the web, search engine, web search for agent
ai.toolSerpApi: google search, web search, serp, search engine results, query the web
ai.toolWolframAlpha: math questions, computation, wolfram
ai.toolVectorStore: knowledge base tool, answer questions with vector store, rag tool
ai.chatTrigger: chat message received, start when someone chats, chat interface, chat widget, hosted chat, website chat, on chat message, chat input, public chat, embedded chat, chat ui, chat window, chat started, user sends chat message, when chat message received, on chat message, n8n chat, chat box on website, embed chat
ai.chat: send chat message, reply in chat, respond to chat, ask user in chat, chat response, chat approval
ai.guardrails: prompt injection protection, pii detection, content moderation, jailbreak, nsfw filter, redact personal data, safety check, moderate content, mask secrets, check for pii, block jailbreak, validate ai input, ai safety, filter harmful content, detect profanity, content filter, sanitize text
`))

/** For several services of one kind. */
export const kinds: ReadonlyArray<readonly [types: string, says: string]> = lines(`
hubspot salesforce pipedrive zohoCrm highLevel agileCrm copper freshworksCrm keap affinity monicaCrm microsoftDynamicsCrm salesmate actionNetwork odoo activeCampaign: crm, sales pipeline, contacts, deals, leads, customers
mailchimp convertKit mailerLite sendInBlue activeCampaign getResponse mautic sendy lemlist emelia vero iterable autopilot egoi customerIo sendGrid: email marketing, newsletter, campaign, subscribers, mailing list, audience
sendGrid mailgun mailjet mandrill awsSes sendInBlue: transactional email, email delivery, send email
twilio vonage messageBird plivo mocean msg91 sms77: send sms, text message, phone
zendesk freshdesk intercom helpScout zammad haloPSA serviceNow freshservice syncroMsp: helpdesk, support ticket, customer support, service desk
trello asana clickUp mondayCom todoist jira linear taiga wekan microsoftToDo googleTasks notion: project management, tasks, kanban board, cards, to do
todoist microsoftToDo googleTasks: todo list, to-do, reminders, checklist, task list
clockify harvest togglTrigger: time tracking, timesheet, track hours
quickbooks xero invoiceNinja erpNext odoo chargebee: accounting, invoices, bookkeeping, bills
stripe payPal wise paddle chargebee: payments, payment processing, pay, money transfer
shopify wooCommerce magento2 gumroadTrigger: ecommerce store, online shop, orders, products, e-commerce
googleDrive dropbox awsS3 microsoftOneDrive box nextCloud s3 azureStorage googleCloudStorage: cloud storage, file storage, upload file, share files
awsS3 s3 googleCloudStorage azureStorage: object storage, bucket, blob
postgres mySql microsoftSql supabase mongoDb snowflake oracleDatabase googleBigQuery questDb crateDb timescaleDb databricks: database, query table, insert rows, sql
mongoDb redis awsDynamoDb azureCosmosDb googleFirebaseCloudFirestore elasticsearch: nosql database
snowflake googleBigQuery databricks: data warehouse
airtable nocoDb baserow seaTable grist stackby quickbase coda: no-code database, spreadsheet database, table rows, records
slack microsoftTeams discord mattermost rocketchat googleChat zulip matrix ciscoWebex twist: team chat, chat message, channel message, notify
pushover pushbullet pushcut gotify: push notification, notify phone, mobile alert
twitter linkedIn facebookGraphApi reddit youTube: social media post, social network, publish post
wordpress ghost contentful strapi storyblok webflow medium cockpit: cms, content management, blog post, publish article, blog
typeformTrigger jotFormTrigger surveyMonkeyTrigger formstackTrigger wufooTrigger formIoTrigger koBoToolboxTrigger formTrigger: survey, survey answers, survey results, form response, form submitted, form answers, questionnaire
calendlyTrigger calTrigger acuitySchedulingTrigger googleCalendar: appointment, meeting scheduling, booking
zoom ciscoWebex goToWebinar demio: video meeting, webinar, video call, conference
googleAnalytics postHog segment metabase: web analytics, product analytics, track event, metrics
grafana splunk metabase sentryIo: dashboard, observability, logs, monitoring
jenkins circleCi travisCi github gitlab netlify rundeck: ci cd, build pipeline, deploy, continuous integration
rabbitmq kafka awsSqs mqtt amqp awsSns redis: message queue, message broker, publish message, queue
bambooHr workableTrigger: hr, employees, human resources, recruiting
theHiveProject misp cortex elasticSecurity microsoftGraphSecurity securityScorecard: security alerts, threat intelligence, incident response, soc
dhl onfleet: shipping, parcel tracking, delivery
okta microsoftEntra awsCognito ldap awsIam: identity, single sign-on, sso, user provisioning
slack gmail telegram emailSend discord microsoftTeams whatsApp microsoftOutlook googleChat ai.chat: human in the loop, hitl, wait for approval, ask for approval, approve
gmail microsoftOutlook: email inbox, read email, reply to email
googleCalendar microsoftOutlook: calendar, meeting, appointment
github gitlab: code repository, source control, merge request, pull request
clearbit hunter dropcontact uplead loneScale humanticAi Brandfetch: enrich lead, company information, find email
odoo erpNext: erp, enterprise resource planning
notion confluence: wiki, knowledge base, documentation pages
raindrop: bookmarks, save link
strava oura: fitness, health data
ai.openAi awsTranscribe ai.googleGemini: speech to text, transcription, transcribe
ai.lmChatOpenAi ai.lmChatAnthropic ai.lmChatGoogleGemini ai.lmChatOllama ai.lmChatOpenRouter ai.lmChatMistralCloud ai.lmChatDeepSeek ai.lmChatGroq ai.lmChatAzureOpenAi ai.lmChatAwsBedrock: chat model, language model, llm for agent
`)
