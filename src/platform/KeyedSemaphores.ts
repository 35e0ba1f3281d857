import { Effect, type Scope, Semaphore } from "effect"

/** Creates semaphores by key, each with this many permits. The semaphore of a key exists while a scope uses it. */
export const makeKeyedSemaphores = (permits: number) => {
  const semaphores = new Map<string, { readonly semaphore: Semaphore.Semaphore; users: number }>()
  return (key: string): Effect.Effect<Semaphore.Semaphore, never, Scope.Scope> =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const used = semaphores.get(key) ?? { semaphore: Semaphore.makeUnsafe(permits), users: 0 }
        used.users += 1
        semaphores.set(key, used)
        return used.semaphore
      }),
      () =>
        Effect.sync(() => {
          const used = semaphores.get(key)!
          used.users -= 1
          if (used.users === 0) semaphores.delete(key)
        })
    )
}
