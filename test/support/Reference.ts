/** The pages of docs/reference, derived from the program. */
import { snapshotAt } from "../../src/catalogue/Snapshot.ts"
import { noChanges } from "../../src/catalogue/Changes.ts"
import type { OverlayPrice } from "../../src/catalogue/Overlay.ts"
import type { Reason } from "../../src/domain/Failure.ts"
import { usdFromPico } from "../../src/domain/Money.ts"
import type { Price } from "../../src/domain/Pricing.ts"
import { table } from "../../src/http/FailureRows.ts"
import { settings } from "../../src/platform/config/SettingsTable.ts"
import { fileVariable } from "../../src/platform/config/Variables.ts"
import { meanings } from "./ErrorMeanings.ts"
import { operations, type PublishedOperation } from "./Published.ts"

const GENERATED = "`npm run published` writes this page from the code."

const row = (cells: ReadonlyArray<string>) => `| ${cells.join(" | ")} |`

const tableOf = (heads: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [row(heads), row(heads.map(() => "---")), ...rows.map(row)].join("\n")

const code = (text: string) => `\`${text}\``

const page = (title: string, ...parts: ReadonlyArray<string>): string => `# ${title}\n\n${parts.join("\n\n")}\n`

/** Escapes what would end a cell. */
const cell = (text: string) => text.replaceAll("|", "\\|")

/** The page of settings: every variable, by group. */
export const settingsPage = (): string =>
  page(
    "Settings",
    "The gateway reads its settings from the environment and checks them at the start. A wrong value stops the start with a message that names the variable. An empty value counts as absent. Durations are written as `15 minutes`.",
    "A secret may stand in a file instead, such as one below `/run/secrets`. Set the variable with the ending `_FILE` to its path, and leave out the variable itself. Keys of hosts in `PROVIDERS_FILE` have this form too.",
    GENERATED,
    ...Object.entries(settings).flatMap(([group, members]) => [
      `## ${group}`,
      tableOf(
        ["Variable", "Default", "Allowed", "Meaning"],
        Object.entries(members).map(([name, { allowed, isSecret, meaning, shown }]) => [
          isSecret ? `${code(name)} or ${code(fileVariable(name))}` : code(name),
          shown === undefined || shown === "" ? "" : code(shown),
          cell(allowed),
          cell(meaning)
        ])
      )
    ])
  )

/** The page of errors: every code, by status. */
export const errorsPage = (): string => {
  const rows = (Object.keys(table) as ReadonlyArray<Reason["_tag"]>).map((tag) => {
    const { charged, code: name, retry, status, type } = table[tag]
    return [
      String(status),
      code(name),
      code(type),
      retry ? "yes" : "no",
      charged ? "what was delivered" : "no",
      meanings[tag]
    ]
  })
  return page(
    "Errors",
    "Every code the gateway answers with. [Errors and retries](../guide/errors.md) says what to do. **Retry** is the header `X-Should-Retry`. **Charged** says what such a request is charged for.",
    GENERATED,
    tableOf(["Status", "Code", "Type", "Retry", "Charged", "When"], rows)
  )
}

const credentialsOf = (one: PublishedOperation): string => one.credentials.join(" or ")

/** The page of operations: every operation, by its credential. */
export const operationsPage = (): string =>
  page(
    "Operations",
    "Every operation of the API. `/api/v1/openapi.json` is the whole contract, with requests and answers.",
    GENERATED,
    ...[...new Set(operations.map(credentialsOf))].flatMap((credential) => [
      `## Credential: ${credential}`,
      tableOf(
        ["Operation", "Name", "Scope", "Limit", "Charged by", "Idempotent"],
        operations
          .filter((one) => credentialsOf(one) === credential)
          .map((one) => [
            code(`${one.method} ${one.path}`),
            one.id,
            one.scope === undefined ? "" : code(one.scope),
            one.limit,
            one.charge,
            one.idempotent
          ])
      )
    ])
  )

/** One instrument as `/metrics` announces it. */
interface Instrument {
  readonly name: string
  readonly type: string
  readonly description: string
}

/** The instruments that a `/metrics` text announces, by name. */
export const instrumentsIn = (text: string): ReadonlyArray<Instrument> => {
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map((found) => [found[1]!, found[2]!]))
  return [...text.matchAll(/^# HELP (\S+) (.+)$/gm)]
    .map((found) => ({ name: found[1]!, type: types.get(found[1]!) ?? "", description: found[2]! }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** The page of metrics. */
export const metricsPage = (instruments: ReadonlyArray<Instrument>): string =>
  page(
    "Metrics",
    "Every metric at `/metrics` of the ops port, by its Prometheus name. [Observe](../operate/observe.md) explains them. Labels are providers, models of the catalogue, routes and a few words, never accounts.",
    GENERATED,
    tableOf(
      ["Metric", "Type", "Measures"],
      instruments.map(({ description, name, type }) => [code(name), type, cell(description)])
    )
  )

/** The day of the prices on the page, so that the page does not change by itself. */
const PRICES_OF = "2026-11-25"

const perMillion = (pico: bigint) => `$${(usdFromPico(pico) * 1_000_000).toFixed(4).replace(/\.?0+$/, "")}`

const priceOf = (price: Price | undefined): string => {
  if (price === undefined) return ""
  if (price.unit !== "token") return `$${usdFromPico(price.perUnit)} per ${price.unit}`
  const { input, output } = price.tiers[0].rates
  return output === 0n ? `${perMillion(input)} in` : `${perMillion(input)} in, ${perMillion(output)} out`
}

/** The page of models: every model, by modality. */
export const modelsPage = (overlay: ReadonlyArray<OverlayPrice>): string => {
  const { snapshot } = snapshotAt(
    { sandbox: true, keyed: new Set(), hosts: [], overlay, changes: noChanges },
    Date.parse(PRICES_OF)
  )
  const modalities = [...new Set(snapshot.all.map(({ modality }) => modality))]
  return page(
    "Models and prices",
    `The catalogue with its prices of ${PRICES_OF}: the preferred provider's, per million tokens or per unit. \`GET /models\` has today's, with every provider, tier and promotion.`,
    GENERATED,
    ...modalities.flatMap((modality) => [
      `## ${modality}`,
      tableOf(
        ["Model", "Price", "Context", "Capabilities", "Providers"],
        snapshot.all
          .filter((model) => model.modality === modality)
          .map((model) => [
            code(model.id),
            priceOf(snapshot.preferredOffer(model)?.price),
            model.contextWindow === 0 ? "" : model.contextWindow.toLocaleString("en"),
            model.capabilities.join(", "),
            model.offers.map(({ provider }) => provider).join(", ")
          ])
      )
    ])
  )
}

/** The page of the admin command: its help, and that of each subcommand. */
export const adminPage = (helps: ReadonlyArray<readonly [words: string, help: string]>): string =>
  page(
    "The admin command",
    "`npm run admin -- <command>`. [The admin command](../operate/admin.md) shows it at work.",
    GENERATED,
    ...helps.flatMap(([words, help]) => [`## ${words}`, `\`\`\`text\n${help.trim()}\n\`\`\``])
  )
