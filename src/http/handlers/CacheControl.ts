import { Result } from "effect"
import type { ApiRequest } from "../edge/ApiRequest.ts"
import { DEFAULT_LIFE_SECONDS, MAX_LIFE_SECONDS } from "../../cache/Answers.ts"
import { type Failure, invalid } from "../../domain/Failure.ts"
import type { CacheOptions } from "../../inference/CachedChat.ts"

const SWITCH = "X-Svc-Cache"
const LIFE = "X-Svc-Cache-TTL"

const lifeOf = (header: string | undefined): Result.Result<number, Failure> => {
  if (header === undefined) return Result.succeed(DEFAULT_LIFE_SECONDS)
  const seconds = /^\d{1,9}$/.test(header.trim()) ? Number(header) : 0
  return seconds >= 1 && seconds <= MAX_LIFE_SECONDS
    ? Result.succeed(seconds)
    : Result.fail(invalid(LIFE, `must be an integer from 1 to ${MAX_LIFE_SECONDS.toLocaleString("en-US")}`))
}

/** The cache options that differ from the default, for the fingerprint of a request; undefined if there are none. */
export const changedOptionsOf = ({ lifeSeconds, use }: CacheOptions): Partial<CacheOptions> | undefined => {
  if (!use) return { use }
  return lifeSeconds === DEFAULT_LIFE_SECONDS ? undefined : { lifeSeconds }
}

/** The cache options in the headers `X-Svc-Cache`, `X-Svc-Cache-TTL` and `Cache-Control`. `no-store` overrides the others. */
export const cacheOptionsOf = (headers: ApiRequest["headers"]): Result.Result<CacheOptions, Failure> => {
  const wanted = headers["x-svc-cache"]?.trim().toLowerCase() ?? "true"
  if (wanted !== "true" && wanted !== "false") return Result.fail(invalid(SWITCH, "must be true or false"))
  const noStore = (headers["cache-control"] ?? "").split(",").some((one) => one.trim().toLowerCase() === "no-store")
  return Result.map(lifeOf(headers["x-svc-cache-ttl"]), (lifeSeconds) => ({
    use: wanted === "true" && !noStore,
    lifeSeconds
  }))
}
