/** Describes how a host of `PROVIDERS_FILE` differs from OpenAI's chat completions, as the operator writes it. */
import { Schema } from "effect"

/** Hosts with known differences. The `kind` of an entry selects one. */
export const HOST_KINDS = [
  "deepseek",
  "groq",
  "together",
  "fireworks",
  "openrouter",
  "ollama",
  "vllm",
  "lmstudio",
  "moonshot",
  "zai",
  "minimax",
  "azure"
] as const

export type HostKind = (typeof HOST_KINDS)[number]

/** The words that hosts use for reasoning effort. `default` is Groq's word for "reason at all". */
const EFFORT_WORDS = ["none", "minimal", "low", "medium", "default", "high", "xhigh", "max"] as const

export type EffortWord = (typeof EFFORT_WORDS)[number]

/** Request fields with which hosts turn reasoning off and on. */
const REASONING_SWITCHES = [
  "reasoning_effort",
  "thinking",
  "enable_thinking",
  "chat_template_kwargs",
  "reasoning"
] as const

const REASONING_FIELDS = ["reasoning_content", "reasoning", "reasoning_text", "reasoning_details"] as const

/** Headers that the gateway writes itself. */
const OWN_HEADERS = new Set([
  "accept",
  "accept-encoding",
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "expect",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade"
])

/** Request fields that a switch must not replace. */
const OWN_MEMBERS = ["model", "messages", "stream", "tools", "max_tokens", "max_completion_tokens"]

const oneOf = (values: ReadonlyArray<string>): string => `must be one of ${values.join(", ")}`

const Efforts = Schema.Array(Schema.Literals(EFFORT_WORDS).annotate({ message: oneOf(EFFORT_WORDS) })).check(
  Schema.isMaxLength(EFFORT_WORDS.length, { message: `must have at most ${EFFORT_WORDS.length} words` })
)

const Headers = Schema.Record(Schema.String, Schema.String).check(
  Schema.makeFilter((headers) => {
    for (const [name, value] of Object.entries(headers)) {
      if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/.test(name)) return "must have header names as HTTP allows them"
      if (OWN_HEADERS.has(name.toLowerCase())) return `must not have ${name}, which the gateway sets itself`
      if (!/^[\x20-\x7e]{0,4096}$/.test(value)) return `must have printable ASCII as the value of ${name}`
    }
    return true
  })
)

/** The differences of a host, or of one of its models. An absent field keeps the value of the host's kind. */
export const HostQuirks = Schema.Struct({
  /**
   * The values of `reasoning_effort` that the host accepts; the gateway sends the nearest one. With an empty list it never sends the
   * field.
   */
  efforts: Schema.optionalKey(Efforts),
  /**
   * The field that turns reasoning off and on, or an object with fields that are added to a request without reasoning. `false` means that
   * reasoning cannot be turned off; the gateway then asks for the least effort.
   */
  reasoning_off: Schema.optionalKey(
    Schema.Union([
      Schema.Literals([...REASONING_SWITCHES, false]).annotate({
        message: `${oneOf(REASONING_SWITCHES)}, false, or an object`
      }),
      Schema.Record(Schema.String, Schema.Unknown).check(
        Schema.makeFilter((members) => {
          const own = OWN_MEMBERS.find((name) => Object.hasOwn(members, name))
          return own === undefined ? true : `must not have ${own}, which the gateway sets itself`
        })
      )
    ]).annotate({ message: `${oneOf(REASONING_SWITCHES)}, false, or an object` })
  ),
  /** The message field that contains the assistant's reasoning, in responses and in the messages sent back. */
  reasoning_field: Schema.optionalKey(Schema.Literals(REASONING_FIELDS).annotate({ message: oneOf(REASONING_FIELDS) })),
  /** Whether the gateway may send `stream_options` with a streaming request. */
  stream_options: Schema.optionalKey(Schema.Boolean),
  /** The role of the instructions. A host without such a role receives them as a user message. */
  system_role: Schema.optionalKey(
    Schema.Literals(["system", "developer", "user"]).annotate({ message: oneOf(["system", "developer", "user"]) })
  ),
  /** The field that limits the output. */
  max_tokens_field: Schema.optionalKey(
    Schema.Literals(["max_tokens", "max_completion_tokens"]).annotate({
      message: oneOf(["max_tokens", "max_completion_tokens"])
    })
  ),
  /** Whether the gateway sends tool results as one string or as content parts. */
  tool_content: Schema.optionalKey(
    Schema.Literals(["string", "parts"]).annotate({ message: oneOf(["string", "parts"]) })
  ),
  /**
   * Whether the gateway looks for reasoning between `<think>` and `</think>` in answers. With `open`, the chat template opens the tag,
   * so an answer starts with reasoning and contains only `</think>`.
   */
  think_tags: Schema.optionalKey(
    Schema.Union([Schema.Boolean, Schema.Literal("open")]).annotate({ message: "must be true, false or open" })
  ),
  /** Headers that the gateway sends with every call. */
  headers: Schema.optionalKey(Headers)
})
export type HostQuirks = typeof HostQuirks.Type

/** Domains that identify the kind of a host without a kind in its entry. */
const KIND_OF_DOMAIN: ReadonlyArray<readonly [domain: string, kind: HostKind]> = [
  ["api.deepseek.com", "deepseek"],
  ["api.groq.com", "groq"],
  ["api.together.xyz", "together"],
  ["api.together.ai", "together"],
  ["api.fireworks.ai", "fireworks"],
  ["openrouter.ai", "openrouter"],
  ["ollama.com", "ollama"],
  ["api.moonshot.ai", "moonshot"],
  ["api.moonshot.cn", "moonshot"],
  ["api.z.ai", "zai"],
  ["open.bigmodel.cn", "zai"],
  ["api.minimax.io", "minimax"],
  ["api.minimaxi.com", "minimax"],
  ["openai.azure.com", "azure"],
  ["services.ai.azure.com", "azure"]
]

/** The kind of the host at this address, if its host name identifies one. */
export const kindOfAddress = ({ hostname }: URL): HostKind | undefined =>
  KIND_OF_DOMAIN.find(([domain]) => hostname === domain || hostname.endsWith(`.${domain}`))?.[1]
