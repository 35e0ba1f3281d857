/** The contract in its published forms, derived from the schemas. */
import { Context, Option } from "effect"
import { type HttpApiEndpoint, OpenApi } from "effect/http-api"
import { type CredentialKind, credentialsOf } from "../../schemas/Access.ts"
import { Api } from "../../schemas/Api.ts"
import { Operation, type OperationFacts } from "../../schemas/Operation.ts"

/** An endpoint of the contract, with the facts of its line in `operations.txt`. */
export interface PublishedOperation extends OperationFacts {
  readonly id: string
  readonly method: string
  /** The path in OpenAPI's form. */
  readonly path: string
  /** All accepted credentials, the usual one first. */
  readonly credentials: readonly [CredentialKind, ...ReadonlyArray<CredentialKind>]
  /** The usual credential. */
  readonly credential: CredentialKind
  /** Whether a repeat has no further effect: always, under an `Idempotency-Key`, or never. */
  readonly idempotent: "safe" | "by key" | "no"
}

const document = OpenApi.fromApi(Api)

const takesIdempotencyKey = (path: string, method: string): boolean =>
  document.paths[path]?.[method.toLowerCase() as "post"]?.parameters.some(({ name }) => name === "idempotency-key") ===
  true

const published = (endpoint: HttpApiEndpoint.Top): PublishedOperation => {
  const facts = Context.getOption(endpoint.annotations, Operation)
  const id = Context.getOption(endpoint.annotations, OpenApi.Identifier)
  if (Option.isNone(facts) || Option.isNone(id)) {
    throw new Error(
      `${endpoint.method} ${endpoint.path} has no facts; add .annotateMerge(operation(…)) to its endpoint`
    )
  }
  const path = endpoint.path.replace(/:(\w+)/g, "{$1}")
  const safe = endpoint.method === "GET" || facts.value.safe === true
  const credentials = credentialsOf(endpoint)
  return {
    ...facts.value,
    id: id.value,
    method: endpoint.method,
    path,
    credentials,
    credential: credentials[0],
    idempotent: safe ? "safe" : takesIdempotencyKey(path, endpoint.method) ? "by key" : "no"
  }
}

/** All published operations, in the order of the contract. */
export const operations: ReadonlyArray<PublishedOperation> = Object.values(Api.groups)
  .flatMap((group) => Object.values(group.endpoints) as ReadonlyArray<HttpApiEndpoint.Top>)
  .filter((endpoint) => !Context.get(endpoint.annotations, OpenApi.Exclude))
  .map(published)

/** The text of `operations.txt`: one line per operation, in columns. */
export const operationsText = (): string => {
  const rows = [
    ["id", "method", "path", "credential", "scope", "limit", "charge", "idempotent"],
    ...operations.map((one) => [
      one.id,
      one.method,
      one.path,
      one.credentials.join(" or "),
      one.scope ?? "-",
      one.limit,
      one.charge,
      one.idempotent
    ])
  ]
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join("  ")
      .trimEnd()
  )
  return `${lines.join("\n")}\n`
}

/** The text of `openapi.json`. */
export const openApiText = (of: unknown = document): string => `${JSON.stringify(of, null, 2)}\n`
