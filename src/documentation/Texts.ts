/** The documentation for programs: what a search needs, and the two files that language models look for. */
import type { Page } from "./Library.ts"

/** One line of a search index. */
export interface SearchEntry {
  readonly path: string
  readonly title: string
  readonly section: string
  readonly headings: ReadonlyArray<readonly [id: string, text: string]>
  readonly text: string
}

/** What a browser searches. */
export const searchEntries = (pages: ReadonlyArray<Page>): ReadonlyArray<SearchEntry> =>
  pages.map(({ headings, path, section, text, title }) => ({
    path,
    title,
    section,
    headings: headings.map((one) => [one.id, one.text]),
    text
  }))

const SUMMARY =
  "One HTTP API in front of many hosted AI models, with a prepaid balance. It speaks OpenAI's chat completions and responses and Anthropic's messages."

/** `llms.txt`: the list of pages with links, by https://llmstxt.org. */
export const llmsText = (pages: ReadonlyArray<Page>, base: string): string => {
  const sections = [...Map.groupBy(pages, ({ section }) => section)].map(
    ([section, members]) =>
      `## ${section}\n\n${members.map(({ path, title }) => `- [${title}](${base}/docs/${path}.md)`).join("\n")}\n`
  )
  const api = `## API\n\n- [openapi.json](${base}/api/v1/openapi.json): every operation, request and answer\n`
  return `# tollgate\n\n> ${SUMMARY}\n\n${[...sections, api].join("\n")}`
}

/** `llms-full.txt`: every page in one text. */
export const llmsFullText = (pages: ReadonlyArray<Page>): string =>
  `# tollgate\n\n> ${SUMMARY}\n\n${pages.map(({ markdown }) => markdown.trim()).join("\n\n---\n\n")}\n`
