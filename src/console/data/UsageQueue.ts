/** The gateway reads the usage of an account one request at a time. Reads wait for each other here, so that it refuses none of them. */
const queue: { last: Promise<unknown> } = { last: Promise.resolve() }

/** Starts a read of usage when all earlier ones have ended. */
export const inTurn = <A>(read: () => Promise<A>): Promise<A> => {
  const next = queue.last.then(read, read)
  queue.last = next.catch(() => undefined)
  return next
}
