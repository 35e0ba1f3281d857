/** Every operation of the service as a typed call. */
import { eventsOf } from "./Events.ts"
import { operations } from "./Operations.ts"
import { type Connection, originOf, send } from "./Send.ts"
import type { Operations } from "./Contract.ts"

export interface ClientOptions {
  /** An inference key, or a management key for the operations of `management`. */
  readonly apiKey?: string
  /** The address of the service, with or without `/api/v1`. */
  readonly baseUrl: string
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch
  /** The maximum number of retries. Default: 2. */
  readonly maxRetries?: number
  /** The maximum time until the response headers arrive, in milliseconds. Default: 10 minutes. */
  readonly timeoutMs?: number
}

/** The id of an operation, such as `chat.completions`. */
export type OperationId = keyof Operations

type Part<Id extends OperationId, Name extends string> = Name extends keyof Operations[Id]
  ? Operations[Id][Name]
  : never

type AllOptional<T> = Record<string, never> extends T ? true : false

/** A part of an operation's input. It is required if one of its members is. */
type InputPart<Id extends OperationId, Name extends "path" | "query" | "body"> = [Part<Id, Name>] extends [never]
  ? { readonly [K in Name]?: undefined }
  : AllOptional<Part<Id, Name>> extends true
    ? { readonly [K in Name]?: Part<Id, Name> }
    : { readonly [K in Name]: Part<Id, Name> }

export interface CallOptions {
  /** The idempotency key. The gateway charges all requests with one key once. Default: a new key for each paid call. */
  readonly idempotencyKey?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

/** The input of an operation: parameters of its path and query, and its body. */
export type Input<Id extends OperationId> = InputPart<Id, "path"> &
  InputPart<Id, "query"> &
  InputPart<Id, "body"> &
  CallOptions

/** The response of an operation. */
export type Answer<Id extends OperationId> = Operations[Id]["answer"]

/** Operations that can stream, and their events. */
export type StreamingId = { [Id in OperationId]: "event" extends keyof Operations[Id] ? Id : never }[OperationId]
export type StreamEvent<Id extends StreamingId> = Part<Id, "event">

/** Operations that return a list, and the items of the list. */
export type ListId = {
  [Id in OperationId]: Answer<Id> extends { readonly data: ReadonlyArray<unknown> } ? Id : never
}[OperationId]
export type Item<Id extends ListId> = Answer<Id> extends { readonly data: ReadonlyArray<infer One> } ? One : never

/** The input of `call`. It excludes `stream: true`, because `call` returns the whole answer. */
export type CallInput<Id extends OperationId> = Input<Id> &
  (Id extends StreamingId ? { readonly body: { readonly stream?: false | null } } : unknown)

/** The input as arguments of a call. It is optional if none of its parts is required. */
type Args<Needed> = AllOptional<Needed> extends true ? [input?: Needed] : [input: Needed]

/** All operations of the service by their ids. */
export interface Client {
  /** Calls an operation and returns its response: parsed JSON, or a `Blob`. */
  readonly call: <Id extends OperationId>(id: Id, ...args: Args<CallInput<Id>>) => Promise<Answer<Id>>
  /** Streams a response as events. Leaving the loop or aborting the signal ends the request; you pay for the delivered output. */
  readonly stream: <Id extends StreamingId>(id: Id, input: Input<Id>) => AsyncIterable<StreamEvent<Id>>
  /** Iterates over all items of a list, page by page. */
  readonly list: <Id extends ListId>(id: Id, ...args: Args<Input<Id>>) => AsyncIterable<Item<Id>>
}

/** The input of any operation, without its specific types. */
interface AnyInput extends CallOptions {
  readonly path?: Readonly<Record<string, string | number>> | undefined
  readonly query?: Readonly<Record<string, unknown>> | undefined
  readonly body?: unknown
}

const queryOf = (query: AnyInput["query"] = {}): string => {
  const words = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue
    for (const one of Array.isArray(value) ? value : [value]) words.append(name, String(one))
  }
  return words.size === 0 ? "" : `?${words}`
}

/**
 * Returns a parameter encoded for a path. A model id keeps its slashes. Throws a `TypeError` for an empty parameter or a dot segment,
 * because either would lead to another operation.
 */
const escaped = (name: string, value: string | number | undefined): string => {
  const text = String(value ?? "")
  if (text.split("/").some((segment) => /^\.{0,2}$/.test(segment))) {
    throw new TypeError(`\`path.${name}\` must be an id; got ${JSON.stringify(text)}`)
  }
  return encodeURIComponent(text).replaceAll("%2F", "/")
}

/** Returns the method, path and marks of an operation. Throws a `TypeError` for an unknown id, which untyped programs can pass. */
const operationOf = (id: OperationId) => {
  if (!Object.hasOwn(operations, id)) {
    throw new TypeError(`\`id\` must be an operation, such as "chat.completions"; got ${JSON.stringify(id)}.`)
  }
  const [method = "", template = "", ...marks] = operations[id].split(" ")
  return { method, template, marks }
}

/** Throws a `TypeError` for an operation without this mark. */
const checkMark = (id: OperationId, mark: string, does: string): void => {
  if (operationOf(id).marks.includes(mark)) return
  throw new TypeError(`\`id\` must be an operation that ${does}; got ${JSON.stringify(id)}.`)
}

/** Throws a `TypeError` for a call that asks for a stream: the gateway would charge for an answer that `call` cannot read. */
const checkWhole = (id: OperationId, { body }: AnyInput): void => {
  const asked = (body as { readonly stream?: unknown } | undefined)?.stream
  if (asked !== true || !operationOf(id).marks.includes("streams")) return
  throw new TypeError("`body.stream` must not be true for `call`; use `stream`.")
}

const request = async (connection: Connection, id: OperationId, input: AnyInput, more: object = {}) => {
  const { marks, method, template } = operationOf(id)
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => escaped(name, input.path?.[name]))
  const isForm = input.body instanceof FormData
  const body = isForm
    ? (input.body as FormData)
    : input.body === undefined && Object.keys(more).length === 0
      ? undefined
      : JSON.stringify({ ...(input.body as object), ...more })
  const key = input.idempotencyKey ?? (marks.includes("keyed") ? crypto.randomUUID() : undefined)
  return send(connection, {
    method,
    path: path + queryOf(input.query),
    headers: {
      ...(connection.apiKey === undefined ? {} : { authorization: `Bearer ${connection.apiKey}` }),
      ...(body === undefined || isForm ? {} : { "content-type": "application/json" }),
      ...(key === undefined ? {} : { "idempotency-key": key }),
      ...input.headers
    },
    body,
    repeatable: method === "GET" || key !== undefined,
    signal: input.signal
  })
}

const answerOf = async (response: Response): Promise<unknown> => {
  const type = response.headers.get("content-type") ?? ""
  // The pattern excludes `application/jsonl`, whose lines are separate values.
  return /^application\/json\s*(;|$)/.test(type) ? response.json() : response.blob()
}

const wholeOf = async (connection: Connection, id: OperationId, input: AnyInput): Promise<unknown> => {
  checkWhole(id, input)
  return answerOf(await request(connection, id, input))
}

async function* streamOf(connection: Connection, id: OperationId, input: AnyInput): AsyncGenerator<unknown> {
  checkMark(id, "streams", "can stream")
  const response = await request(connection, id, input, { stream: true })
  if (response.body === null) throw new TypeError("the answer has no body")
  yield* eventsOf<unknown>(response.body)
}

interface Page {
  readonly data: ReadonlyArray<unknown>
  readonly next_cursor?: string | null
  readonly has_more?: boolean
  readonly last_id?: string | null
}

/** Returns the query of the next page; undefined at the end of the list. */
const nextOf = (id: OperationId, page: Page): Readonly<Record<string, string>> | undefined => {
  if (typeof page.next_cursor === "string") return { cursor: page.next_cursor }
  if (page.has_more !== true || typeof page.last_id !== "string") return undefined
  return id === "models.list" ? { after_id: page.last_id } : { after: page.last_id }
}

async function* itemsOf(connection: Connection, id: OperationId, input: AnyInput): AsyncGenerator<unknown> {
  checkMark(id, "lists", "returns a list")
  let query: Readonly<Record<string, unknown>> | undefined = input.query ?? {}
  while (query !== undefined) {
    const page = (await answerOf(await request(connection, id, { ...input, query }))) as Page
    yield* page.data
    const next = nextOf(id, page)
    query = next && { ...input.query, ...next }
  }
}

/**
 * Creates a client. Each call retries temporary failures at most `maxRetries` times and waits as long as `Retry-After` asks. All attempts
 * of a call have one idempotency key, so the gateway charges it once.
 *
 * ```ts
 * const client = createClient({ baseUrl: "http://127.0.0.1:8787", apiKey: process.env.TOLLGATE_API_KEY })
 * const messages = [{ role: "user", content: "Hello!" }] as const
 * for await (const chunk of client.stream("chat.completions", { body: { model: "gpt-4o-mini", messages } })) {
 *   process.stdout.write(chunk.choices[0]?.delta.content ?? "")
 * }
 * ```
 */
export const createClient = (options: ClientOptions): Client => {
  const connection: Connection = {
    origin: originOf(options.baseUrl),
    apiKey: options.apiKey,
    fetch: options.fetch ?? ((...args) => fetch(...args)),
    maxRetries: options.maxRetries ?? 2,
    timeoutMs: options.timeoutMs ?? 600_000
  }
  return {
    call: async (id, ...[input = {}]) => (await wholeOf(connection, id, input as AnyInput)) as never,
    stream: (id, input) => streamOf(connection, id, input as AnyInput) as AsyncIterable<never>,
    list: (id, ...[input = {}]) => itemsOf(connection, id, input as AnyInput) as AsyncIterable<never>
  }
}
