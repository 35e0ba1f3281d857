/** What the demo sends: a website's chat, a support desk, a nightly pipeline and a prototype, each with a key of its own. */

export const PROTOTYPE = "Prototype"

export const keyNames = ["Website chat", "Support desk", "Nightly pipeline", PROTOTYPE] as const

/** The projects of these keys, with a monthly budget in cents; the prototype belongs to none. */
export const projects = [
  {
    name: "Website",
    budget_cents: 40_000,
    budget_period: "monthly",
    keys: ["Website chat", "Support desk"]
  },
  { name: "Research", budget_cents: 6_000, budget_period: "monthly", keys: ["Nightly pipeline"] }
] as const

/** A request: its path below `/api/v1`, its body, and the steering of the simulated providers. */
export interface Call {
  readonly key: (typeof keyNames)[number]
  readonly path: string
  readonly body: object
  readonly play: string
  /** The client disconnects after this many milliseconds. */
  readonly hangUpMs?: number
}

const topics = [
  "How do I change the address of my order?",
  "Summarize the meeting notes in three points.",
  "Write a friendly reply to this customer.",
  "Which of these suppliers is cheaper over a year?",
  "Translate this paragraph into French.",
  "Find the bug in this function and explain it.",
  "Draft a product description of 80 words.",
  "Extract the invoice number, the date and the total."
]

const words =
  "the order of our customer was sent on time and the invoice lists every item with its price in euros".split(" ")

const pick = <A>(random: () => number, options: ReadonlyArray<A>): A => options[Math.floor(random() * options.length)]!

/** Returns a text with this number of words. */
const textOf = (random: () => number, count: number): string =>
  Array.from({ length: count }, () => pick(random, words)).join(" ")

const whole = (random: () => number, from: number, to: number): number => Math.round(from + random() * (to - from))

/** Returns a random latency in milliseconds: most are short, few are long. */
const latencyOf = (random: () => number): number => Math.round(20 + 160 * random() ** 3)

const conversationOf = (random: () => number, most: number) => [
  { role: "system", content: "You are a helpful assistant of a small shop." },
  { role: "user", content: `${pick(random, topics)} ${textOf(random, whole(random, 10, most))}` }
]

type Kind = (random: () => number) => Omit<Call, "key">

/** A conversation with one of these models. */
const chat =
  (models: ReadonlyArray<string>, most: number, outputTokens: number, stream = true): Kind =>
  (random) => {
    const tokens = whole(random, outputTokens / 4, outputTokens)
    const play = [`latency_ms=${latencyOf(random)}`, `output_tokens=${tokens}`]
    if (random() < 0.25) play.push(`cached_tokens=${whole(random, 10, 30)}`)
    const body = {
      model: pick(random, models),
      max_tokens: 4_096,
      messages: conversationOf(random, most),
      stream: stream && random() < 0.7
    }
    return { path: "/chat/completions", body, play: play.join(",") }
  }

/** A chat request with Anthropic's Messages API. */
const messages =
  (models: ReadonlyArray<string>): Kind =>
  (random) => {
    const [, user] = conversationOf(random, 300)
    return {
      path: "/messages",
      body: {
        model: pick(random, models),
        max_tokens: 2_048,
        messages: [user],
        stream: random() < 0.5
      },
      play: `latency_ms=${latencyOf(random)},output_tokens=${whole(random, 100, 900)}`
    }
  }

const responses: Kind = (random) => ({
  path: "/responses",
  body: {
    model: pick(random, ["gpt-5.4-mini", "gpt-5.4"]),
    input: `${pick(random, topics)} ${textOf(random, 200)}`
  },
  play: `latency_ms=${latencyOf(random)},output_tokens=${whole(random, 200, 1_200)},reasoning_tokens=${whole(random, 0, 150)}`
})

const embeddings: Kind = (random) => ({
  path: "/embeddings",
  body: {
    model: pick(random, ["text-embedding-3-small", "text-embedding-3-large", "voyage-4-lite"]),
    input: Array.from({ length: whole(random, 4, 24) }, () => textOf(random, 60))
  },
  play: `latency_ms=${latencyOf(random)}`
})

const rerank: Kind = (random) => ({
  path: "/rerank",
  body: {
    model: "rerank-2.5-lite",
    query: pick(random, topics),
    documents: Array.from({ length: 12 }, () => textOf(random, 80))
  },
  play: `latency_ms=${latencyOf(random)}`
})

const search: Kind = (random) => ({
  path: "/search",
  body: { query: textOf(random, 5) },
  play: `latency_ms=${latencyOf(random)}`
})

const speech: Kind = (random) => ({
  path: "/audio/speech",
  body: { model: "tts-1", input: `Your order is on its way. ${textOf(random, 6)}`, voice: "alloy" },
  play: `latency_ms=${latencyOf(random)}`
})

const image: Kind = (random) => ({
  path: "/images/generations",
  body: {
    model: pick(random, ["flux-schnell", "gpt-image-1-mini"]),
    prompt: `A watercolour of ${textOf(random, 4)}`,
    n: 1
  },
  play: `latency_ms=${latencyOf(random)}`
})

/** A whole conversation that its provider breaks or refuses; another one takes over where there is one. */
const trouble: Kind = (random) => {
  const model = pick(random, ["gpt-4o", "claude-sonnet-4-6", "gpt-4o-mini", "deepseek-v4-flash"])
  const fault = pick(random, ["error", "rate_limit", "malformed", "break"])
  const isLast = random() < 0.6
  return {
    path: "/chat/completions",
    body: {
      model,
      messages: conversationOf(random, 60),
      stream: random() < 0.5,
      routing: { allow_fallbacks: !isLast }
    },
    play: `${isLast ? "" : "provider=openai,"}fault=${fault},output_tokens=200`
  }
}

/** A client that does not wait for the end of a long answer. */
const hangUp: Kind = (random) => ({
  path: "/chat/completions",
  body: { model: "gpt-4o", messages: conversationOf(random, 80), stream: true },
  play: "output_tokens=900,chunk_ms=12",
  hangUpMs: 120
})

/** Each key's kinds of requests with their weights. */
const habits: Readonly<Record<(typeof keyNames)[number], ReadonlyArray<readonly [number, Kind]>>> = {
  "Website chat": [
    [60, chat(["gpt-4o-mini", "gpt-5-mini", "gemini-2.5-flash"], 200, 500)],
    [14, chat(["svc/auto"], 120, 400)],
    [14, messages(["claude-haiku-4-5"])],
    [2, trouble],
    [2, hangUp]
  ],
  "Support desk": [
    [40, messages(["claude-sonnet-4-6", "claude-sonnet-5"])],
    [30, chat(["gpt-4o", "gpt-5.2"], 600, 900)],
    [16, responses],
    [6, search],
    [3, trouble],
    [1, speech]
  ],
  "Nightly pipeline": [
    [40, embeddings],
    [20, rerank],
    [30, chat(["deepseek-v4-flash", "gpt-4.1-nano", "gemini-2.5-flash-lite"], 1_200, 700, false)],
    [2, trouble]
  ],
  Prototype: [
    [30, chat(["claude-opus-5", "gpt-5.5", "gemini-3.1-pro-preview", "grok-4"], 300, 1_500)],
    [20, responses],
    [8, search],
    [5, image],
    [3, speech]
  ]
}

/** How often each key is used, by the hour of the day: pipelines run at night. */
const keyAt = (random: () => number, hour: number): (typeof keyNames)[number] => {
  const isNight = hour < 6 || hour >= 22
  const [website, support, nightly] = isNight ? [0.35, 0.45, 0.97] : [0.52, 0.82, 0.9]
  const place = random()
  if (place < website!) return "Website chat"
  if (place < support!) return "Support desk"
  return place < nightly! ? "Nightly pipeline" : "Prototype"
}

/** One request of an hour of the day. */
export const callAt = (random: () => number, hour: number): Call => {
  const key = keyAt(random, hour)
  const habit = habits[key]
  let place = random() * habit.reduce((sum, [weight]) => sum + weight, 0)
  const [, kind] = habit.find(([weight]) => (place -= weight) < 0) ?? habit[0]!
  return { key, ...kind(random) }
}
