/** The operations of `Api`: what a handler is, and where the request for each operation goes. */
import { Context, Effect, Schema, SchemaAST, type Scope } from "effect"
import { FindMyWay, type HttpServerResponse } from "effect/http"
import { HttpApi, type HttpApiEndpoint } from "effect/http-api"
import { Api } from "../../../schemas/Api.ts"
import { type Failure, failure, type Reason, storeFailure } from "../../domain/Failure.ts"
import { problemsOf } from "../../domain/SchemaProblems.ts"
import type { Unavailable } from "../../platform/database/Sql.ts"
import { sentenceOfField } from "../FailureMessages.ts"
import type { ApiRequest } from "./ApiRequest.ts"
import type { ErrorForm, Exchange } from "./Exchange.ts"
import { formOf } from "./KnownPaths.ts"

type Groups = typeof Api.groups

/** The name of a group of operations. */
export type GroupName = keyof Groups

type Endpoints<Name extends GroupName> = Groups[Name]["endpoints"]

/** An admitted request of an operation, with its decoded path and query. */
export interface Call<Endpoint extends HttpApiEndpoint.Constraint> {
  readonly request: ApiRequest
  readonly exchange: Exchange
  readonly params: HttpApiEndpoint.Params<Endpoint>["Type"]
  readonly query: HttpApiEndpoint.Query<Endpoint>["Type"]
}

/** Serves the requests of an operation. It reads the body itself. Its scope lasts as long as its response. */
export type Handler<Endpoint extends HttpApiEndpoint.Constraint> = (
  call: Call<Endpoint>
) => Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  Failure | Unavailable,
  HttpApiEndpoint.MiddlewareProvides<Endpoint> | Scope.Scope
>

/** The handlers of a group, one for each of its operations. */
export type Handlers<Name extends GroupName> = {
  readonly [Operation in keyof Endpoints<Name>]: Handler<
    Extract<Endpoints<Name>[Operation], HttpApiEndpoint.Constraint>
  >
}

/** The handlers of every group. */
export type AllHandlers = { readonly [Name in GroupName]: Handlers<Name> }

/** Returns the handlers of a group as they are. The compiler checks that none is missing. */
export const operations = <Name extends GroupName>(_: Name, handlers: Handlers<Name>): Handlers<Name> => handlers

// ---- the decoding of paths and queries

type SearchParams = Readonly<Record<string, string | Array<string>>>

/** The query parameters as the client sent them, numbers as such. */
const foundIn = (parameters: SearchParams): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(parameters).map(([name, found]) => {
      const text = Array.isArray(found) ? found.at(-1) : found
      return [name, text !== undefined && /^-?\d{1,15}$/.test(text) ? Number(text) : text]
    })
  )

/** Whether an operation has a period parameter. */
const takesPeriod = ({ query }: HttpApiEndpoint.Top): boolean =>
  query !== undefined &&
  SchemaAST.isObjects(query.ast) &&
  query.ast.propertySignatures.some(({ name }) => name === "period")

type Problems = Extract<Reason, { readonly _tag: "ValidationError" }>["problems"]

/** An invalid period has an error code of its own in every operation. */
const ofQuery = (endpoint: HttpApiEndpoint.Top, problems: Problems): Reason => {
  const [problem] = problems
  return /^period\b/.test(problem.field) && takesPeriod(endpoint)
    ? { _tag: "InvalidPeriod", detail: sentenceOfField(problem) }
    : { _tag: "ValidationError", problems }
}

/** What the path and the query of a request contain. */
interface PathAndQuery {
  readonly params: Readonly<Record<string, string | undefined>>
  readonly searchParams: SearchParams
}

type DecodedInput = Pick<Call<HttpApiEndpoint.Top>, "params" | "query">

const nothing = Effect.succeed({ params: undefined, query: undefined } as DecodedInput)

const queryOptions = Context.getOrElse(Api.annotations, HttpApi.QueryParseOptions, () => ({}))

const decoded = (schema: Schema.Top, value: unknown, options?: SchemaAST.ParseOptions) =>
  Schema.decodeUnknownEffect(schema, options)(value) as Effect.Effect<unknown, Schema.SchemaError>

/**
 * Decodes path and query. The errors have the same form as errors in a body. Headers are not decoded, because every one that an operation
 * declares is an optional text.
 */
const decoderOf = (endpoint: HttpApiEndpoint.Top): ((found: PathAndQuery) => Effect.Effect<DecodedInput, Failure>) => {
  const { params, query } = endpoint
  if (params === undefined && query === undefined) return () => nothing
  const ofPath = ({ params: found }: PathAndQuery) =>
    params === undefined
      ? Effect.undefined
      : Effect.mapError(decoded(params, found), ({ issue }) =>
          failure({ _tag: "ValidationError", problems: problemsOf(issue, "path") })
        )
  const ofSearch = ({ searchParams }: PathAndQuery) =>
    query === undefined
      ? Effect.undefined
      : Effect.mapError(decoded(Schema.toCodecArrayFromSingle(query), searchParams, queryOptions), ({ issue }) =>
          failure(ofQuery(endpoint, problemsOf(issue, "query", foundIn(searchParams))))
        )
  return (found) =>
    Effect.all({ params: ofPath(found), query: ofSearch(found) }) as Effect.Effect<DecodedInput, Failure>
}

// ---- the table

/** Where the requests for one operation go. */
export interface Route {
  readonly endpoint: HttpApiEndpoint.Top
  /** The form of its errors. */
  readonly form: ErrorForm
  readonly handle: (
    request: ApiRequest,
    exchange: Exchange,
    found: PathAndQuery
  ) => Effect.Effect<HttpServerResponse.HttpServerResponse, Failure>
}

const ofStore = (error: Failure | Unavailable): Failure => (error._tag === "Unavailable" ? storeFailure(error) : error)

type AnyHandler = (
  call: Call<HttpApiEndpoint.Top>
) => Effect.Effect<HttpServerResponse.HttpServerResponse, Failure | Unavailable>

const routeOf = (endpoint: HttpApiEndpoint.Top, form: ErrorForm, handler: AnyHandler): Route => {
  const decode = decoderOf(endpoint)
  return {
    endpoint,
    form,
    handle: (request, exchange, found) =>
      Effect.mapErrorEager(
        Effect.flatMapEager(decode(found), ({ params, query }) => handler({ request, exchange, params, query })),
        ofStore
      )
  }
}

const noneFound: PathAndQuery = { params: {}, searchParams: {} }

/** A model id in a path has at most 160 characters, and three times that when escaped. */
export const MAX_PARAM_LENGTH = 512

/** Finds the operation of a request, and what its path and query contain. A HEAD request takes the route of GET. */
export const routesOf = (
  handlers: AllHandlers
): ((method: string, url: string) => { readonly route: Route; readonly found: PathAndQuery } | undefined) => {
  const router = FindMyWay.make<Route>({ maxParamLength: MAX_PARAM_LENGTH, caseSensitive: true })
  const plain = new Map<string, { readonly route: Route; readonly found: PathAndQuery }>()
  for (const [name, group] of Object.entries(Api.groups)) {
    const ofGroup = handlers[name as GroupName] as object as Readonly<Record<string, AnyHandler>>
    for (const endpoint of Object.values(group.endpoints) as ReadonlyArray<HttpApiEndpoint.Top>) {
      const { identifier, method, path } = endpoint
      const route = routeOf(endpoint, formOf(name), ofGroup[identifier]!)
      router.on(method, path as FindMyWay.PathInput, route)
      if (!path.includes(":")) plain.set(`${method} ${path}`, { route, found: noneFound })
    }
  }
  return (method, url) => {
    const known = plain.get(`${method} ${url}`)
    if (known !== undefined) return known
    const found = router.find(method, url) ?? (method === "HEAD" ? router.find("GET", url) : undefined)
    return found && { route: found.handler, found }
  }
}
