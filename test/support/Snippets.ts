/** Runs code that the console shows to copy. */
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { root } from "./Sources.ts"

/** A folder below the project, so that the clients' packages are found. */
export const snippetFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(root, ".snippets-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

interface Setting {
  readonly key: string
  /** Where it runs; the project, unless told. */
  readonly directory?: string
}

/** Runs a program with a key in `KEY`. Returns what it wrote, however it ended. */
export const runProgram = (program: string, args: ReadonlyArray<string>, { directory = root, key }: Setting) =>
  Effect.promise(() =>
    promisify(execFile)(program, [...args], { cwd: directory, env: { ...process.env, KEY: key } }).then(
      ({ stderr, stdout }) => ({ stderr, stdout }),
      (error: { readonly stderr: string; readonly stdout: string }) => error
    )
  )
