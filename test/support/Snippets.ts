/** Runs the code snippets that the console shows. */
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { root } from "./Sources.ts"

/** A temporary folder below the project, from which the packages of clients resolve. */
export const snippetFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(root, ".snippets-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

interface Setting {
  readonly key: string
  /** The working directory. Default: the project. */
  readonly directory?: string
}

/** Runs a program with a key in `KEY`. Returns its output, whether it succeeds or fails. */
export const runProgram = (program: string, args: ReadonlyArray<string>, { directory = root, key }: Setting) =>
  Effect.promise(() =>
    promisify(execFile)(program, [...args], { cwd: directory, env: { ...process.env, KEY: key } }).then(
      ({ stderr, stdout }) => ({ stderr, stdout }),
      (error: { readonly stderr: string; readonly stdout: string }) => error
    )
  )
