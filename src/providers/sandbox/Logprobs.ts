/** A token, its log-probability, and the most likely tokens at its position, in OpenAI's format. */
export interface TokenLogprob {
  readonly token: string
  readonly logprob: number
  readonly bytes: ReadonlyArray<number>
  readonly top_logprobs: ReadonlyArray<Omit<TokenLogprob, "top_logprobs">>
}

/**
 * Log-probabilities that depend only on the token. The token itself is the most likely; letters follow, each half as likely as the one
 * before, so that all together stay below 1.
 */
export const logprobOf = (token: string, top: number): TokenLogprob => {
  const own = entryOf(token, -0.05 - (Buffer.from(token).reduce((sum, byte) => sum + byte, 0) % 50) / 100)
  const left = 1 - Math.exp(own.logprob)
  const others = Array.from({ length: Math.max(0, top - 1) }, (_, place) =>
    entryOf(` ${String.fromCharCode(97 + place)}`, Math.log(left / 2 ** (place + 1)))
  )
  return { ...own, top_logprobs: top === 0 ? [] : [own, ...others] }
}

const entryOf = (token: string, logprob: number) => ({ token, logprob, bytes: [...Buffer.from(token)] })
