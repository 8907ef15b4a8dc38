import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { folderWith, platform } from "../../support/folders.ts"
import { runIn } from "../../support/inProcess.ts"

const call = ["call", "get_execution", "{\"id\":\"239\"}"]

describe("the command line", () => {
  it.live.each<
    readonly [args: ReadonlyArray<string>, env: Readonly<Record<string, string>>, code: number, says: string]
  >([
    [["--lokale", "en"], {}, 1, "--locale"],
    [["--locale", "fr"], {}, 1, "\"en\" | \"ja\""],
    [["cal"], {}, 1, "call"],
    [["call", "list_executons"], {}, 1, "Did you mean 'list_executions'"],
    [["--max-result-chars", "10"], {}, 1, "at least 4000"],
    [["call", "list_workflows"], { N8N_URL: "ftp://n8n", N8N_API_KEY: "k" }, 1, "not an http address: 'ftp://n8n'"],
    [["--demo", "--locale", "ja", ...call], {}, 0, "実行サマリーを取得しました"],
    [["--demo", "call", "get_execution", "{\"id\":\"1\"}"], {}, 1, "NotFoundError"],
    // An option wins over its variable.
    [["--locale", "en", "--demo", ...call], { N8N_MCP_LOCALE: "ja" }, 0, "Execution 239"],
    [call, { N8N_MCP_LOCALE: "ja", N8N_MCP_DEMO: "true" }, 0, "実行サマリーを取得しました"],
    // No folder that is too broad is used by default.
    [["call", "workflow_list"], { CLAUDE_PROJECT_DIR: "/" }, 1, "--files-root (N8N_MCP_FILES_ROOT)"],
    [["doctor"], { CLAUDE_PROJECT_DIR: "/" }, 1, "none, since the working directory contains the home folder"],
    [["tools"], {}, 0, "  list_workflows"]
  ])("%j with %j exits with %i and says %s", ([args, env, code, says]) =>
    Effect.gen(function*() {
      const exit = yield* runIn(yield* folderWith(), env, ...args)
      assert.strictEqual(exit.code, code, exit.output)
      assert.include(exit.output, says)
      // A refusal leaves stdout to programs; the answer of a tool is on it, also an error.
      const isAnswer = code === 0 || args.includes("get_execution") || args.includes("workflow_list") ||
        args[0] === "doctor"
      assert.strictEqual(exit.stdout === "", !isAnswer, exit.stdout)
    }).pipe(Effect.scoped, Effect.provide(platform)))
})
