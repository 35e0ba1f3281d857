/** The clock of this process, which the demo lets run behind real time. Ids, receipts and budgets take their time from it. */

const RealDate = Date

const clock = { behindMs: 0 }

const now = (): number => RealDate.now() - clock.behindMs

/** Sets how far the clock of this process runs behind. The time until a timer fires does not change. */
export const runBehind = (ms: number): void => {
  clock.behindMs = ms
}

/** Replaces the process's `Date` by one that runs behind. */
export const shiftClock = (): void => {
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, parts, newTarget) => Reflect.construct(target, parts.length === 0 ? [now()] : parts, newTarget),
    get: (target, name) => (name === "now" ? now : Reflect.get(target, name))
  })
}
