import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { mediaSnippetsOf } from "../../../src/console/data/MediaSnippets.ts"
import { runProgram, snippetFolder } from "../../support/Snippets.ts"
import { startService } from "../../support/Service.ts"

const bodies = {
  image: { model: "flux-dev", prompt: "It's a lighthouse", size: "768x1024", n: 2 },
  speech: { model: "tts-1", input: "It's $HOME!", voice: "nova", speed: 1.25 },
  video: { model: "veo-3", prompt: "It's a kite", duration: 4, aspect_ratio: "9:16" }
} as const

type Kind = keyof typeof bodies

const programsOf = (kind: Kind, origin = "http://127.0.0.1:1") =>
  new Map(
    mediaSnippetsOf({ kind, origin, key: "$KEY", body: bodies[kind] }).map(({ code, name }) => [name, code] as const)
  )

describe("snippets of media", () => {
  it("exist for every client that can send the request", () => {
    const all = ["curl", "OpenAI", "Python", "AI SDK", "Typed client"]
    assert.deepStrictEqual([...programsOf("image").keys()], all)
    assert.deepStrictEqual([...programsOf("speech").keys()], all)
    assert.deepStrictEqual([...programsOf("video").keys()], ["curl", "Typed client"])
  })

  it("contain every parameter of the form in every language", () => {
    for (const kind of ["image", "speech", "video"] as const) {
      for (const [name, code] of programsOf(kind)) {
        for (const value of Object.values(bodies[kind])) {
          const shown = name === "curl" ? String(value).replaceAll("'", `'\\''`) : String(value)
          assert.include(code, shown, `${kind} ${name}`)
        }
        assert.include(code, "http://127.0.0.1:1/api/v1".slice(0, name === "Typed client" ? 18 : undefined), name)
      }
    }
  })
})

describe("snippets of media against the service", () => {
  for (const kind of ["image", "speech", "video"] as const) {
    it.live(
      `create ${kind === "speech" ? "speech" : `${kind}s`} in curl, OpenAI's client and the typed client`,
      () =>
        Effect.gen(function* () {
          const service = yield* startService()
          const { account, inferenceKey } = yield* service.account(50, "play")
          const directory = yield* snippetFolder
          const programs = programsOf(kind, service.origin)
          const sent = [...programs.keys()].filter((name) => ["curl", "OpenAI", "Typed client"].includes(name))
          for (const name of sent) {
            const file = join(directory, `${name.replace(" ", "")}.mjs`)
            writeFileSync(file, programs.get(name)!)
            const [program, args] = name === "curl" ? (["sh", [file]] as const) : ([process.execPath, [file]] as const)
            const { stderr, stdout } = yield* runProgram(program, args, { key: inferenceKey, directory })
            assert.notMatch(stderr, /Error/, name)
            if (kind === "speech") {
              const audio = readFileSync(join(directory, "speech.mp3"))
              assert.isAbove(audio.length, 1_000, name)
              writeFileSync(join(directory, "speech.mp3"), "")
            } else assert.match(stdout, /https?:\/\/|"status":"completed"/, `${name}: ${stderr}`)
          }
          const rows =
            yield* service.sql`SELECT id FROM request WHERE account_id = ${account.id} AND status = 'succeeded'`
          assert.lengthOf(rows, sent.length)
        }).pipe(Effect.scoped),
      60_000
    )
  }
})
