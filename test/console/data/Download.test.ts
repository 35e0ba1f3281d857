import { assert, describe, it, vi } from "@effect/vitest"
import { download } from "../../../src/console/data/Download.ts"

describe("a download", () => {
  it("keeps the URL of its content valid after the click, for browsers that read it later", () => {
    vi.useFakeTimers()
    const link = { href: "", download: "", click: vi.fn() }
    const revoke = vi.spyOn(URL, "revokeObjectURL")
    vi.stubGlobal("document", { createElement: () => link })
    download("report.csv", new Blob(["a"]))
    assert.strictEqual(link.download, "report.csv")
    assert.match(link.href, /^blob:/)
    assert.strictEqual(link.click.mock.calls.length, 1)
    vi.advanceTimersByTime(1_000)
    assert.strictEqual(revoke.mock.calls.length, 0)
    vi.runAllTimers()
    assert.deepStrictEqual(revoke.mock.calls, [[link.href]])
    vi.unstubAllGlobals()
    vi.useRealTimers()
  })
})
