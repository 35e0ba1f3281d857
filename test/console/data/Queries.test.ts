import { assert, describe, it } from "@effect/vitest"
import { QueryClient } from "@tanstack/react-query"
import { keepKey, keyInMemory } from "../../../src/console/data/KeyInMemory.ts"

// The client of the gateway reads the address of the page when its module is loaded.
Object.assign(globalThis, { location: { origin: "http://127.0.0.1" } })
const { balanceQuery, forgetAccount, sessionQuery } = await import("../../../src/console/data/Queries.ts")
const { makeGallery } = await import("../../../src/console/pages/playground/Gallery.ts")

describe("forgetting an account", () => {
  it("removes the key in memory, created media and cached answers, so that the next owner sees none of them", async () => {
    const client = new QueryClient()
    const gallery = makeGallery()
    keepKey({ id: "key_1", name: "First key", secret: "svc_sk_secret" })
    await gallery.run({ model: "tts-1", prompt: "Hello!" }, () => Promise.resolve({ urls: ["blob:1"] }))
    client.setQueryData(balanceQuery.queryKey, {} as never)
    client.setQueryData(sessionQuery.queryKey, null)
    assert.lengthOf(gallery.get(), 1)
    forgetAccount(client)
    assert.isUndefined(keyInMemory())
    assert.deepStrictEqual(gallery.get(), [])
    assert.isUndefined(client.getQueryData(balanceQuery.queryKey))
    assert.isNull(client.getQueryData(sessionQuery.queryKey))
  })
})
