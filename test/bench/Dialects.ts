/** The dialects of a load: the same question in each, and the marks of a complete answer. */

const SYSTEM =
  "You are the support assistant of a shop for musical instruments. Answer in the language of the customer, in at most " +
  "three sentences. When you do not know, say so and name the service line. Never promise a date of delivery."

const QUESTION =
  "Hello, I bought a digital piano from you three weeks ago and since yesterday two keys in the middle keep sounding after " +
  "I let go of them. I have already switched it off and on again and pulled the plug for an hour, without any change. Is " +
  "this a case for the warranty, and do I have to bring it to you or will somebody pick it up?"

export type Dialect = "chat" | "messages" | "responses"

interface DialectApi {
  readonly path: string
  /** The fields of a request that depend on the dialect. */
  readonly fields: (maxTokens: number) => object
  /** Text in every complete answer that the model ended by itself. */
  readonly completeMark: string
  /** How often a complete answer contains its text (1 by default). */
  readonly texts?: number
  /** The start of the last event of a complete stream. */
  readonly lastEvent: string
  /** Text that every content event contains once and no other event contains; by default, the mark of the text. */
  readonly contentMark?: string
}

const question = { role: "user", content: QUESTION }

export const dialects: Readonly<Record<Dialect, DialectApi>> = {
  chat: {
    path: "/api/v1/chat/completions",
    fields: (max_tokens) => ({ messages: [{ role: "system", content: SYSTEM }, question], max_tokens }),
    completeMark: '"finish_reason":"stop"',
    lastEvent: "data: [DONE]"
  },
  messages: {
    path: "/api/v1/messages",
    fields: (max_tokens) => ({ system: SYSTEM, messages: [question], max_tokens }),
    completeMark: '"stop_reason":"end_turn"',
    lastEvent: "event: message_stop\n"
  },
  responses: {
    path: "/api/v1/responses",
    fields: (max_output_tokens) => ({ instructions: SYSTEM, input: [question], max_output_tokens }),
    completeMark: '"status":"completed"',
    // Once in its items, and once in `output_text`.
    texts: 2,
    lastEvent: "event: response.completed\n",
    // The events at the end of a text repeat the whole text.
    contentMark: "event: response.output_text.delta\n"
  }
}
