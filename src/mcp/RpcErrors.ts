/** The JSON-RPC errors of the MCP server's handlers and of its library, with the messages and the envelope of the other endpoints. */
import { Effect, type Schema } from "effect"
import { McpSchema } from "effect/ai"
import { decoder, objectOf } from "../dialects/Decode.ts"
import { type Failure, failure, invalid } from "../domain/Failure.ts"
import { withFoundValue } from "../domain/SchemaProblems.ts"
import { bodyOf, logFailure, markFailedResponse } from "../http/Failures.ts"
import { mcpCall } from "./McpCall.ts"

/** A JSON-RPC error of the library. */
export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data: object | undefined
}

/** The error in a JSON-RPC message; undefined if there is none, or if its `data` contains the envelope already. */
export const rpcErrorIn = (text: string): RpcError | undefined => {
  const { code, data, message } = objectOf(objectOf(JSON.parse(text))?.["error"]) ?? {}
  if (typeof code !== "number" || typeof message !== "string") return undefined
  const more = objectOf(data)
  return more !== undefined && "error" in more ? undefined : { code, message, data: more }
}

/** Answers a failure of a handler with a JSON-RPC error whose `data` is the envelope. */
export const withRpcErrors = <A, R>(
  ran: Effect.Effect<A, Failure, R>
): Effect.Effect<A, McpSchema.InvalidParams | McpSchema.InternalError, R> =>
  Effect.catch(ran, (failed) =>
    Effect.gen(function* () {
      const { exchange } = yield* mcpCall
      markFailedResponse(failed, exchange)
      yield* logFailure(failed, exchange)
      const data = bodyOf(failed)
      const { message, type } = data.error
      const isOfCaller = type === "invalid_request_error" || type === "not_found_error"
      return yield* isOfCaller
        ? new McpSchema.InvalidParams({ message, data })
        : new McpSchema.InternalError({ message, data })
    })
  )

/** The parameters of the methods with any, to name the wrong one. */
const parameters: Readonly<Record<string, Schema.ConstraintDecoder<unknown>>> = {
  initialize: McpSchema.Initialize.payloadSchema,
  "tools/call": McpSchema.CallTool.payloadSchema,
  "prompts/get": McpSchema.GetPrompt.payloadSchema,
  "resources/read": McpSchema.ReadResource.payloadSchema,
  "logging/setLevel": McpSchema.SetLevel.payloadSchema,
  "completion/complete": McpSchema.Complete.payloadSchema
}

const SESSION = "MCP-Session-Id"
const REVISION = "MCP-Protocol-Version"

/** The wrong parameters of a message. */
const wrongParameters = (message: unknown): Failure => {
  const { method, params } = objectOf(message) ?? {}
  const schema = typeof method === "string" && Object.hasOwn(parameters, method) ? parameters[method] : undefined
  const read = schema === undefined ? undefined : decoder(schema, { strict: false, whole: "params" })(params ?? {})
  return read?._tag === "Failure" ? read.failure : invalid("params", "must be valid for this method")
}

/** The library's messages, and the failure that each stands for. */
const meanings: ReadonlyArray<readonly [RegExp, (match: RegExpExecArray, message: unknown) => Failure]> = [
  [/^MCP-Session-Id header is required/, () => invalid(SESSION, "is required; send initialize to open a session")],
  [/^initialize must not include/, () => invalid(SESSION, "must be absent from a message with initialize")],
  [/^Invalid Request$/, () => invalid("body", "must be a JSON-RPC 2.0 message")],
  [/^Invalid method parameters$/, (_, message) => wrongParameters(message)],
  [/^Method not found/, () => invalid("method", "must be a method that this server supports")],
  [/^Tool '(.*)' not found$/s, ([, id = ""]) => failure({ _tag: "NotFound", what: "tool", id, param: "name" })],
  [/^Prompt '(.*)' not found$/s, ([, id = ""]) => failure({ _tag: "NotFound", what: "prompt", id, param: "name" })],
  [/^Resource '(.*)' not found$/s, ([, id = ""]) => failure({ _tag: "NotFound", what: "resource", id, param: "uri" })],
  [
    /^Unknown completion reference/,
    () => invalid("ref", "must be a prompt or a resource whose argument has suggestions")
  ],
  [
    /^Required request metadata is missing$/,
    () => invalid("_meta", "must contain `io.modelcontextprotocol/protocolVersion`")
  ],
  [
    /^(io\.modelcontextprotocol\/\w+) request metadata is required$/,
    ([, name = ""]) => invalid("_meta", `must contain \`${name}\``)
  ],
  [/^(\S+) header is required$/, ([, header = ""]) => invalid(header, "is required")],
  [
    /^(\S+) header does not match request (\w+)$/,
    ([, header = "", part = ""]) => invalid(header, `must match the ${part} of the message`)
  ],
  [
    /^(\S+) header .* does not match negotiated protocol version '([^']*)'$/,
    ([, header = "", version = ""]) => invalid(header, `must be ${version}, the revision of the session`)
  ]
]

/** The failure that an error of the library about this message stands for. */
export const failureOfRpc = ({ code, data, message: found }: RpcError, message: unknown): Failure => {
  if (code === McpSchema.UNSUPPORTED_PROTOCOL_VERSION_ERROR_CODE) {
    const { requested, supported } = objectOf(data) ?? {}
    const revisions = Array.isArray(supported) ? supported.join(", ") : "the revisions of this server"
    return invalid(REVISION, withFoundValue(`must be one of ${revisions}`, REVISION, requested))
  }
  if (code === McpSchema.PARSE_ERROR_CODE) return invalid("body", "must be JSON")
  if (code === McpSchema.INTERNAL_ERROR_CODE) return failure({ _tag: "InternalError" }, found)
  for (const [pattern, meaning] of meanings) {
    const match = pattern.exec(found)
    if (match !== null) return meaning(match, message)
  }
  return invalid("body", found.replaceAll(/\s+/g, " "))
}
