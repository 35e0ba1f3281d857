import { assert, describe, it } from "@effect/vitest"
import { browserOf } from "../../src/account/Browsers.ts"

const apple = "AppleWebKit/537.36 (KHTML, like Gecko)"

describe("browserOf", () => {
  for (const [name, userAgent] of [
    ["Firefox on Linux", "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"],
    ["Chrome on Windows", `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${apple} Chrome/142.0.0.0 Safari/537.36`],
    ["Chrome on Linux", `Mozilla/5.0 (X11; Linux x86_64) ${apple} HeadlessChrome/142.0.0.0 Safari/537.36`],
    [
      "Edge on Windows",
      `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${apple} Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0`
    ],
    [
      "Opera on macOS",
      `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${apple} Chrome/142.0.0.0 Safari/537.36 OPR/127.0.0.0`
    ],
    [
      "Safari on iPhone",
      "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1"
    ],
    ["Chrome on Android", `Mozilla/5.0 (Linux; Android 10; K) ${apple} Chrome/142.0.0.0 Mobile Safari/537.36`],
    ["curl", "curl/8.14.1"]
  ] as const) {
    it(`names ${name}`, () => assert.strictEqual(browserOf(userAgent), name))
  }

  it("names nothing that a header does not contain", () => {
    for (const userAgent of [undefined, "", "node", "<script>", "x".repeat(10_000)]) assert.isNull(browserOf(userAgent))
  })
})
