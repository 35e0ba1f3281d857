/** A token, how likely it was, and the likeliest in its place, as OpenAI has them. */
export interface TokenLogprob {
  readonly token: string
  readonly logprob: number
  readonly bytes: ReadonlyArray<number>
  readonly top_logprobs: ReadonlyArray<Omit<TokenLogprob, "top_logprobs">>
}

/**
 * Log-probabilities of a token that follow from nothing but the token: itself the likeliest, then letters, each half as likely as
 * the one before, which together have no more than what is left of certainty.
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
