/** Makes video clips that players open: MP4 with H.264, and AAC if there is sound. Making one keeps a core busy for seconds. */
import type * as Encoders from "h264-mp4-encoder"
import { createRequire } from "node:module"
import { drawRgba } from "./Drawing.ts"
import type { Scene } from "./FilmTicket.ts"
import { SAMPLE_RATE } from "./Voice.ts"

/** Frames per second: few, but enough to show motion. */
const FRAME_RATE = 12
/** The quantization, from 10 to 51. At this value letters stay sharp. */
const QUANTIZATION = 28
/** The bit rate of the sound, in bits per second. */
const BITRATE = 64_000

/** The package is not an ES module. */
const require: (name: "h264-mp4-encoder") => typeof Encoders = createRequire(import.meta.url)

/**
 * A scene as a file that plays while it is still being downloaded, with one key frame a second and a ball that rolls from left to
 * right.
 */
export const clipOf = async (scene: Scene): Promise<Uint8Array> => muxed(await framesOf(scene), scene)

const framesOf = async (scene: Scene): Promise<Uint8Array> => {
  const { height, lines, picture, seconds, seed, width } = scene
  const shown = picture === undefined ? undefined : Buffer.from(picture, "base64")
  const still = await drawRgba({ width, height, lines, seed, picture: shown })
  const ball = await ballOf(Math.min(width, height))
  const encoder = await require("h264-mp4-encoder").createH264MP4Encoder()
  const frames = seconds * FRAME_RATE
  try {
    encoder.width = width
    encoder.height = height
    encoder.frameRate = FRAME_RATE
    encoder.groupOfPictures = FRAME_RATE
    encoder.quantizationParameter = QUANTIZATION
    encoder.speed = 10
    encoder.initialize()
    const frame = new Uint8Array(still.length)
    for (let at = 0; at < frames; at++) {
      frame.set(still)
      const left = Math.round((at / (frames - 1)) * (width - ball.side))
      put(frame, width, ball, left, height - ball.side)
      encoder.addFrameRgba(frame)
    }
    encoder.finalize()
    return encoder.FS.readFile(encoder.outputFilename)
  } finally {
    encoder.delete()
  }
}

/** A square of pixels. */
interface Sprite {
  readonly side: number
  readonly pixels: Uint8Array
}

/** The ball by itself, because drawing every frame completely would take five times as long. */
const ballOf = async (side: number): Promise<Sprite> => {
  const drawn = await drawRgba({ width: side, height: side, lines: [], seed: 0, phase: 0, transparent: true })
  const ball = Math.ceil(side / 10)
  const pixels = new Uint8Array(ball * ball * 4)
  for (let row = 0; row < ball; row++) {
    const from = (side - ball + row) * side * 4
    pixels.set(drawn.subarray(from, from + ball * 4), row * ball * 4)
  }
  return { side: ball, pixels }
}

/** Draws a premultiplied sprite onto a picture of this width. */
const put = (into: Uint8Array, width: number, { pixels, side }: Sprite, left: number, top: number): void => {
  for (let at = 0; at < pixels.length; at++) {
    const pixel = Math.floor(at / 4)
    const place = ((top + Math.floor(pixel / side)) * width + left + (pixel % side)) * 4 + (at % 4)
    const opacity = (pixels[pixel * 4 + 3] ?? 0) / 255
    into[place] = (pixels[at] ?? 0) + (into[place] ?? 0) * (1 - opacity)
  }
}

/** One second of a fading tone, which climbs a scale chosen by the seed. */
const toneOf = (seed: number, second: number): Int16Array => {
  const samples = new Int16Array(SAMPLE_RATE)
  const hertz = 220 * 2 ** (((seed % 12) + [0, 4, 7, 12][second % 4]!) / 12)
  for (let at = 0; at < samples.length; at++) {
    const loudness = Math.min(1, at / 500) * (1 - at / samples.length)
    samples[at] = Math.round(Math.sin((2 * Math.PI * hertz * at) / SAMPLE_RATE) * loudness * 12_000)
  }
  return samples
}

/**
 * Whether a picture is a key frame: its first unit, after four bytes of length, has type 5 (ITU-T H.264, table 7-1). The encoder marks
 * every picture as one.
 */
const isKey = (picture: Uint8Array): boolean => ((picture[4] ?? 0) & 0x1f) === 5

/** Puts the encoder's pictures, and a tone if requested, into an MP4 file. */
const muxed = async (pictures: Uint8Array, { audio, seconds, seed }: Scene): Promise<Uint8Array> => {
  const [media, { registerAacEncoder }] = await Promise.all([import("mediabunny"), import("@mediabunny/aac-encoder")])
  registerAacEncoder()
  const input = new media.Input({ formats: [media.MP4], source: new media.BufferSource(pictures) })
  const track = await input.getPrimaryVideoTrack()
  const decoderConfig = await track?.getDecoderConfig()
  if (!track || !decoderConfig) throw new Error("the encoder gave no pictures")
  const target = new media.BufferTarget()
  const output = new media.Output({ format: new media.Mp4OutputFormat({ fastStart: "in-memory" }), target })
  const seen = new media.EncodedVideoPacketSource("avc")
  const heard = new media.AudioSampleSource({ codec: "aac", bitrate: BITRATE })
  output.addVideoTrack(seen, { frameRate: FRAME_RATE })
  if (audio) output.addAudioTrack(heard)
  const copied = async () => {
    for await (const packet of new media.EncodedPacketSink(track).packets()) {
      await seen.add(packet.clone({ type: isKey(packet.data) ? "key" : "delta" }), { decoderConfig })
    }
    seen.close()
  }
  /** The sound is encoded in a thread of its own, which ends with the file. */
  const sounded = async () => {
    for (let second = 0; second < seconds; second++) {
      const layout = { format: "s16", numberOfChannels: 1, sampleRate: SAMPLE_RATE } as const
      const sample = new media.AudioSample({ ...layout, data: toneOf(seed, second), timestamp: second })
      await heard.add(sample)
      sample.close()
    }
    heard.close()
  }
  try {
    await output.start()
    // In parallel, because a track waits until the other one has come as far.
    await Promise.all(audio ? [copied(), sounded()] : [copied()])
    await output.finalize()
  } catch (error) {
    await output.cancel()
    throw error
  }
  return new Uint8Array(target.buffer ?? new ArrayBuffer(0))
}
