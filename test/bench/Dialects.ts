/** The dialects that a load is written in: the same question in each, and how its answers end. */

const SYSTEM =
  "You are the support assistant of a shop for musical instruments. Answer in the language of the customer, in at most " +
  "three sentences. When you do not know, say so and name the service line. Never promise a date of delivery."

const QUESTION =
  "Hello, I bought a digital piano from you three weeks ago and since yesterday two keys in the middle keep sounding after " +
  "I let go of them. I have already switched it off and on again and pulled the plug for an hour, without any change. Is " +
  "this a case for the warranty, and do I have to bring it to you or will somebody pick it up?"

export type Dialect = "chat" | "messages" | "responses"

interface Words {
  readonly path: string
  /** What of a request differs from dialect to dialect. */
  readonly ask: (maxTokens: number) => object
  /** Stands in a whole answer of a model that stopped by itself. */
  readonly stopped: string
  /** How often a whole answer has its text; once where absent. */
  readonly texts?: number
  /** What the last event of a stream that ended in order begins with. */
  readonly end: string
  /** Stands once in every event with content, and in no other; absent, the mark of the text does. */
  readonly piece?: string
}

const question = { role: "user", content: QUESTION }

export const dialects: Readonly<Record<Dialect, Words>> = {
  chat: {
    path: "/api/v1/chat/completions",
    ask: (max_tokens) => ({ messages: [{ role: "system", content: SYSTEM }, question], max_tokens }),
    stopped: '"finish_reason":"stop"',
    end: "data: [DONE]"
  },
  messages: {
    path: "/api/v1/messages",
    ask: (max_tokens) => ({ system: SYSTEM, messages: [question], max_tokens }),
    stopped: '"stop_reason":"end_turn"',
    end: "event: message_stop\n"
  },
  responses: {
    path: "/api/v1/responses",
    ask: (max_output_tokens) => ({ instructions: SYSTEM, input: [question], max_output_tokens }),
    stopped: '"status":"completed"',
    // The text of its items, and all of it in `output_text`.
    texts: 2,
    end: "event: response.completed\n",
    // Events at the end of a text repeat all of it.
    piece: "event: response.output_text.delta\n"
  }
}
