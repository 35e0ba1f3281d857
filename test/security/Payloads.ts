/** The bytes of connections that two programs may read as different numbers of requests. */

/** The request that each payload hides. No program may answer it when it is part of a body. */
const HIDDEN = "GET /api/v1/hidden HTTP/1.1\r\nHost: test\r\n\r\n"

const get = (path: string, ...headers: ReadonlyArray<string>): string =>
  [`GET ${path} HTTP/1.1`, "Host: test", ...headers, "", ""].join("\r\n")

const post = (headers: ReadonlyArray<string>, body: string): string =>
  ["POST /api/v1/chat/completions HTTP/1.1", "Host: test", "Content-Type: application/json", ...headers, "", body].join(
    "\r\n"
  )

const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`
const LAST = "0\r\n\r\n"

/** The bytes of one connection. */
export interface Payload {
  readonly name: string
  readonly bytes: string
  /** The number of requests in the bytes by RFC 9112. A gateway may refuse any of them, and must not see more. */
  readonly requests: number
}

const one = (name: string, bytes: string): Payload => ({ name, bytes, requests: 1 })

/** Returns a request whose length and chunks differ: by its length the body ends after the hidden request, by its chunks before it. */
const lengthAndChunks = (...encodings: ReadonlyArray<string>): string => {
  const body = LAST + HIDDEN
  return post([`Content-Length: ${body.length}`, ...encodings], body)
}

/** Returns the reverse: by its length the body ends before the hidden request, by its chunks after it. */
const chunksAndLength = (...encodings: ReadonlyArray<string>): string => {
  const body = chunk(HIDDEN) + LAST
  return post([`Content-Length: ${body.indexOf("\r\n") + 2}`, ...encodings], body)
}

/** Spellings of the header that some programs read as chunked and others do not. */
const encodings: Readonly<Record<string, ReadonlyArray<string>>> = {
  plain: ["Transfer-Encoding: chunked"],
  "in capitals": ["TRANSFER-ENCODING: CHUNKED"],
  "with a space before the colon": ["Transfer-Encoding : chunked"],
  "with a tab": ["Transfer-Encoding:\tchunked"],
  "with a vertical tab": ["Transfer-Encoding:\x0bchunked"],
  "with a form feed at the end": ["Transfer-Encoding: chunked\x0c"],
  "with a letter before it": ["Transfer-Encoding: xchunked"],
  "in quotes": ['Transfer-Encoding: "chunked"'],
  "with a comma before it": ["Transfer-Encoding: ,chunked"],
  "after identity": ["Transfer-Encoding: identity, chunked"],
  "before identity": ["Transfer-Encoding: chunked, identity"],
  "twice in one": ["Transfer-Encoding: chunked, chunked"],
  "in two headers": ["Transfer-Encoding: identity", "Transfer-Encoding: chunked"],
  "before another header": ["Transfer-Encoding: chunked", "Transfer-Encoding: x"],
  "on a folded line": ["Transfer-Encoding:", " chunked"],
  "after a folded line": ["X-Other: a", " Transfer-Encoding: chunked"],
  "behind a bare line feed": ["X-Other: a\nTransfer-Encoding: chunked"],
  "behind a bare carriage return": ["X-Other: a\rTransfer-Encoding: chunked"],
  "behind a NUL": ["X-Other: a\0Transfer-Encoding: chunked"],
  "with a NUL in it": ["Transfer-Encoding: chun\0ked"],
  "in another alphabet": ["Transfer-Encoding: \xe9chunked"]
}

const lengths: Readonly<Record<string, ReadonlyArray<string>>> = {
  "two lengths": ["Content-Length: 0", `Content-Length: ${HIDDEN.length}`],
  "the same length twice, and other bytes behind": [`Content-Length: ${HIDDEN.length}`, "Content-Length: 0"],
  "a list of lengths": [`Content-Length: 0, ${HIDDEN.length}`],
  "a length with a plus": [`Content-Length: +${HIDDEN.length}`],
  "a negative length": ["Content-Length: -1"],
  "a hexadecimal length": [`Content-Length: 0x${HIDDEN.length.toString(16)}`],
  "a length with a space in it": ["Content-Length: 0 5"],
  "a length with a point": [`Content-Length: ${HIDDEN.length}.0`],
  "a length with an exponent": ["Content-Length: 1e2"],
  "an empty length": ["Content-Length: "],
  "a length beyond 64 bits": ["Content-Length: 18446744073709551616"],
  "a length on a folded line": ["Content-Length: 0", ` ${HIDDEN.length}`],
  "a length with a space before the colon": [`Content-Length : ${HIDDEN.length}`],
  "a length behind a bare line feed": [`X-Other: a\nContent-Length: ${HIDDEN.length}`],
  "a length behind a bare carriage return": [`X-Other: a\rContent-Length: ${HIDDEN.length}`],
  "a length behind a NUL": [`Content-Length: 0\0${HIDDEN.length}`]
}

const chunked = (body: string): string => post(["Transfer-Encoding: chunked"], body)

/** Chunks whose length programs read differently. */
const chunks: Readonly<Record<string, string>> = {
  "an extension": `${HIDDEN.length.toString(16)};name=value\r\n${HIDDEN}\r\n${LAST}`,
  "an extension with a bare line feed": `2;\n${HIDDEN.length.toString(16)}\r\n${HIDDEN}\r\n${LAST}`,
  "an extension with a bare carriage return": `2;\rxx\r\nab\r\n${LAST}${HIDDEN}`,
  "an extension of 20,000 characters": `2;${"x".repeat(20_000)}\r\nab\r\n${LAST}`,
  "a thousand extensions": `2${";a=b".repeat(1_000)}\r\nab\r\n${LAST}`,
  "a size beyond 64 bits": `10000000000000002\r\nab\r\n${LAST}${HIDDEN}`,
  "a size of 300 zeros": `${"0".repeat(300)}2\r\nab\r\n${LAST}`,
  "a negative size": `-2\r\nab\r\n${LAST}${HIDDEN}`,
  "a size with 0x": `0x2\r\nab\r\n${LAST}${HIDDEN}`,
  "a size with a space": `2 \r\nab\r\n${LAST}`,
  "a size that ends with a bare line feed": `2\nab\r\n${LAST}`,
  "an empty size": `\r\nab\r\n${LAST}${HIDDEN}`,
  "data longer than its size": `2\r\nabcd\r\n${LAST}${HIDDEN}`,
  "data that ends with a bare line feed": `2\r\nab\n${LAST}${HIDDEN}`,
  "data that ends with other bytes": `2\r\nabXX${LAST}${HIDDEN}`,
  "a length in the trailer": `2\r\nab\r\n0\r\nContent-Length: ${HIDDEN.length}\r\n\r\n`,
  "an encoding in the trailer": "2\r\nab\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n",
  "a last chunk that ends with bare line feeds": `2\r\nab\r\n0\n\n${HIDDEN}`
}

const lines: Readonly<Record<string, string>> = {
  "bare line feeds": "GET /api/v1/models?limit=1 HTTP/1.1\nHost: test\n\n",
  "a bare carriage return in a header": get("/api/v1/models?limit=1", "X-Other: a\rb: c"),
  "a NUL in a header": get("/api/v1/models?limit=1", "X-Other: a\0b"),
  "a NUL in a name": get("/api/v1/models?limit=1", "X-Ot\0her: a"),
  "a folded header": get("/api/v1/models?limit=1", "X-Other: a", "\tb"),
  "a space before the first header": get("/api/v1/models?limit=1").replace("Host", " Host"),
  "a header without a colon": get("/api/v1/models?limit=1", "nothing"),
  "an empty name": get("/api/v1/models?limit=1", ": a"),
  "a version with a letter": get("/api/v1/models?limit=1").replace("HTTP/1.1", "HTTP/1.1x"),
  "version 2.0": get("/api/v1/models?limit=1").replace("HTTP/1.1", "HTTP/2.0"),
  "no version": "GET /api/v1/models?limit=1\r\n",
  "the preface of HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  "chunks in HTTP/1.0": chunked(chunk("{}") + LAST).replace("HTTP/1.1", "HTTP/1.0"),
  "a tab between method and target": get("/api/v1/models?limit=1").replace("GET ", "GET\t"),
  "two spaces before the version": get("/api/v1/models?limit=1").replace(" HTTP", "  HTTP"),
  "a space in the target": get("/api/v1/models?limit=1 x"),
  "a method with a quote": get("/api/v1/models?limit=1").replace("GET", 'G"T'),
  "a header of 100,000 characters": get("/api/v1/models?limit=1", `X-Other: ${"x".repeat(100_000)}`),
  "a target of 100,000 characters": get(`/api/v1/models?limit=1&x=${"x".repeat(100_000)}`),
  "5,000 headers": get("/api/v1/models?limit=1", ...Array.from({ length: 5_000 }, (_, at) => `a${at}: b`))
}

const targets: Readonly<Record<string, string>> = {
  "two hosts": get("/api/v1/models?limit=1", "Host: other.example"),
  "no host": "GET /api/v1/models?limit=1 HTTP/1.1\r\n\r\n",
  "a host with a path": get("/api/v1/models?limit=1").replace("Host: test", "Host: test/x"),
  "a host with a user": get("/api/v1/models?limit=1").replace("Host: test", "Host: user@test"),
  "a host of two words": get("/api/v1/models?limit=1").replace("Host: test", "Host: test other"),
  "a target with a host": get("http://test/api/v1/models?limit=1"),
  "a target with another host": get("http://other.example/api/v1/models?limit=1"),
  "a target of another scheme": get("file:///etc/passwd"),
  "a target without a scheme": get("//other.example/api/v1/models"),
  "a target of dots": get("/api/v1/../../etc/passwd"),
  "a target of escaped dots": get("/api/v1/%2e%2e/%2e%2e/etc/passwd"),
  "a target with a NUL": get("/api/v1/models%00?limit=1"),
  "an asterisk": get("*"),
  CONNECT: "CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: 127.0.0.1:22\r\n\r\n",
  TRACE: get("/api/v1/models").replace("GET", "TRACE")
}

const upgrades: Readonly<Record<string, ReadonlyArray<string>>> = {
  h2c: ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__"],
  websocket: [
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="
  ],
  "an unknown protocol": ["Connection: Upgrade", "Upgrade: x"]
}

/** Headers of requests that are refused before their body is read. The hidden request is the body. */
const refused: Readonly<Record<string, ReadonlyArray<string>>> = {
  "with an unknown key": ["Authorization: Bearer unknown"],
  "without a key": [],
  "of another type": ["Content-Type: text/plain"],
  "of an unknown compression": ["Content-Encoding: x"],
  "that waits for leave to send": ["Expect: 100-continue"],
  "with an unknown expectation": ["Expect: 200-ok"]
}

const named = (what: string, rows: Readonly<Record<string, string>>): ReadonlyArray<Payload> =>
  Object.entries(rows).map(([name, bytes]) => one(`${what}${name}`, bytes))

/** Every payload. None of them is a valid request with a key, so none may be charged. */
export const payloads: ReadonlyArray<Payload> = [
  ...Object.entries(encodings).flatMap(([name, headers]) => [
    one(`a length, and chunks ${name}`, lengthAndChunks(...headers)),
    one(`chunks ${name}, and a length`, chunksAndLength(...headers))
  ]),
  ...Object.entries(lengths).map(([name, headers]) => one(name, post(headers, HIDDEN))),
  ...named("a chunk with ", Object.fromEntries(Object.entries(chunks).map(([name, body]) => [name, chunked(body)]))),
  ...named("", lines),
  ...named("", targets),
  ...Object.entries(upgrades).flatMap(([name, headers]) => [
    one(`an upgrade to ${name}`, get("/api/v1/models?limit=1", ...headers)),
    one(`an upgrade to ${name} with a body`, post([...headers, `Content-Length: ${HIDDEN.length}`], HIDDEN))
  ]),
  ...Object.entries(refused).flatMap(([name, headers]) => [
    one(`a refused body ${name}`, post([...headers, `Content-Length: ${HIDDEN.length}`], HIDDEN)),
    one(`a refused body in chunks ${name}`, post([...headers, "Transfer-Encoding: chunked"], chunk(HIDDEN) + LAST)),
    {
      name: `a request behind a refused body ${name}`,
      bytes: post([...headers, `Content-Length: ${HIDDEN.length}`], HIDDEN) + get("/api/v1/behind"),
      requests: 2
    }
  ]),
  one("a body beyond the limit", post(["Content-Length: 99999999"], HIDDEN)),
  one("a GET with a body", get("/api/v1/models?limit=1", `Content-Length: ${HIDDEN.length}`) + HIDDEN),
  one(
    "a HEAD with a body",
    get("/api/v1/models?limit=1", `Content-Length: ${HIDDEN.length}`).replace("GET", "HEAD") + HIDDEN
  ),
  // The header has another name, so the length counts, and every program reads the hidden request as a second request.
  { name: "chunks with underscores", bytes: chunksAndLength("Transfer_Encoding: chunked"), requests: 2 },
  { name: "three requests at once", bytes: get("/api/v1/a") + get("/api/v1/b") + get("/api/v1/c"), requests: 3 }
]
