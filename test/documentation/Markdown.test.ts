import { assert, describe, it } from "@effect/vitest"
import { hrefOf, render } from "../../src/documentation/Markdown.ts"

describe("a page in Markdown", () => {
  it("is rendered with its title, its headings with anchors, and its text for the search", () => {
    const { headings, html, text, title } = render(
      "guide/a.md",
      "# Keys & more\n\nSome *words*.\n\n## Rotate a key\n\nMore."
    )
    assert.strictEqual(title, "Keys & more")
    assert.deepStrictEqual(headings, [{ depth: 2, id: "rotate-a-key", text: "Rotate a key" }])
    assert.include(html, '<h2 id="rotate-a-key">')
    assert.strictEqual(text, "Keys & more Some words. Rotate a key More.")
  })

  it("highlights known languages and shows raw HTML as text", () => {
    const { html } = render("a.md", '```js\nconst a = "<b>"\n```\n\n<script>alert(1)</script>\n')
    assert.include(html, '<span class="hljs-keyword">const</span>')
    assert.include(html, "&lt;script&gt;")
    assert.notInclude(html, "<script>")
    assert.include(render("a.md", "```sh\ncurl -d '{}'\n```").text, "curl -d '{}'")
  })

  it("lets a path break between its segments, and an address stay whole", () => {
    const { html, text } = render("a.md", "Ask `GET /api/v1/models` at `http://127.0.0.1:8787`.")
    assert.include(html, "<code>GET /<wbr>api/<wbr>v1/<wbr>models</code>")
    assert.include(html, "<code>http://127.0.0.1:8787</code>")
    assert.strictEqual(text, "Ask GET /api/v1/models at http://127.0.0.1:8787.")
  })

  it("links to served pages, and drops links to files that are not served", () => {
    assert.strictEqual(hrefOf("guide/a.md", "limits.md"), "/docs/guide/limits")
    assert.strictEqual(hrefOf("guide/a.md", "../operate/admin.md#keys"), "/docs/operate/admin#keys")
    assert.strictEqual(hrefOf("guide/a.md", "#here"), "#here")
    assert.strictEqual(hrefOf("guide/a.md", "https://example.com"), "https://example.com")
    assert.isUndefined(hrefOf("operate/security.md", "../../SECURITY.md"))
    assert.notInclude(render("operate/security.md", "See [the policy](../../SECURITY.md).").html, "<a ")
  })
})
