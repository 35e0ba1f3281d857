/** The pages of docs/ in the order in which a reader meets them. */
import { Effect, FileSystem, Path, type PlatformError } from "effect"
import { render, type RenderedPage, titleOf } from "./Markdown.ts"

/** A page of the documentation. */
export interface Page extends RenderedPage {
  /** Below docs/ and without its ending, such as `guide/limits`. */
  readonly path: string
  readonly section: string
  readonly markdown: string
}

/** A page that is rendered once, when its content is first needed, so that the start of the service does not wait for it. */
class LazyPage implements Page {
  readonly path: string
  readonly section: string
  readonly markdown: string
  readonly title: string
  readonly #file: string
  #rendered: RenderedPage | undefined

  constructor(file: string, markdown: string) {
    this.#file = file
    this.path = file.slice(0, -".md".length)
    this.section = sectionOf(this.path)
    this.markdown = markdown
    this.title = titleOf(markdown) ?? this.path
  }

  get #content(): RenderedPage {
    return (this.#rendered ??= render(this.#file, this.markdown))
  }

  get html(): string {
    return this.#content.html
  }

  get headings(): RenderedPage["headings"] {
    return this.#content.headings
  }

  get text(): string {
    return this.#content.text
  }
}

/** Sections by their folder, in the order of the navigation. */
const sections: ReadonlyArray<readonly [folder: string, title: string]> = [
  ["guide", "Guide"],
  ["reference", "Reference"],
  ["operate", "Operate"],
  ["design", "Design"],
  ["contribute", "Contribute"]
]

/** The folders of the sections. */
export const sectionFolders: ReadonlyArray<string> = sections.map(([folder]) => folder)

/** Pages that come first in their section; the others follow by title. */
const first = [
  "guide/quick-start",
  "guide/sdks",
  "guide/agents",
  "guide/models-and-routing",
  "guide/money-and-receipts"
]

const rankOf = ({ path, section }: Page): number =>
  sections.findIndex(([, title]) => title === section) * 100 + (first.indexOf(path) + 1 || first.length + 1)

const byOrder = (a: Page, b: Page): number => rankOf(a) - rankOf(b) || (a.title < b.title ? -1 : 1)

/** A page at the top of docs/ is part of the reference. */
const sectionOf = (path: string): string =>
  sections.find(([folder]) => path.startsWith(`${folder}/`))?.[1] ?? "Reference"

/** Reads every page below a folder. */
export const readPages = (
  directory: string
): Effect.Effect<ReadonlyArray<Page>, PlatformError.PlatformError, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const paths = yield* Path.Path
    const names = (yield* files.readDirectory(directory, { recursive: true })).filter((name) => name.endsWith(".md"))
    const pages = yield* Effect.forEach(names, (name) =>
      Effect.map(files.readFileString(paths.join(directory, name)), (markdown): Page => new LazyPage(name, markdown))
    )
    return pages.toSorted(byOrder)
  })
