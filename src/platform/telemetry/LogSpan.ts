import { type Logger, Option, type Tracer } from "effect"

/** The span of a log entry. Effect's own spans are off, but Effect still provides one with a placeholder instead of ids. */
export const spanAround = (entry: Logger.Options<unknown>): Tracer.AnySpan | undefined => {
  let span = entry.fiber.cache.span
  while (span?._tag === "Span" && span.traceId === "noop") span = Option.getOrUndefined(span.parent)
  return span
}
