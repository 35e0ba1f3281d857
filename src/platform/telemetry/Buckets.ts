/** The bucket boundaries of histograms. */

/** Durations of calls to models, in seconds, by OpenTelemetry's semantic conventions. */
export const DURATION_SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
/** Times to the first token, in seconds, by OpenTelemetry's semantic conventions. */
export const FIRST_TOKEN_SECONDS = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10
]
/** Times per output token, in seconds, by OpenTelemetry's semantic conventions. */
export const OUTPUT_TOKEN_SECONDS = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5]
/** Tokens of one call, by OpenTelemetry's semantic conventions. */
export const TOKENS = [
  1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864
]

/** Durations of HTTP requests, in seconds, by OpenTelemetry's semantic conventions. */
export const HTTP_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

/** The gateway's own part of a request's duration, in seconds: powers of two around the usual values. */
export const OVERHEAD_SECONDS = [
  0.000_5, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024, 2.048, 4.096
]
/** Waits of seconds to half an hour, in seconds: powers of two. */
export const WAIT_SECONDS = [0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048]
/** Output speeds, in tokens per second: powers of two. */
export const TOKENS_PER_SECOND = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048]
/** Operations in one group commit of the ledger: powers of two. */
export const GROUP_SIZE = [1, 2, 4, 8, 16, 32, 64, 128]

/** Amounts that the operator absorbed, in nano-USD: powers of ten from a millionth of a USD to ten USD. */
export const ABSORBED_NANO_USD = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10]
