/** Encodes audio as files that players open. The encoders are loaded when first needed. */
import { setImmediate } from "node:timers/promises"
import type { AudioFormat } from "../Work.ts"
import { SAMPLE_RATE } from "./Voice.ts"

/** The bit rate of lossy formats in bits per second, which is enough for a voice. */
const BITRATE = 64_000

/** Mono samples in pieces. Each piece is consumed before the next is generated. */
export type Pieces = Iterable<Int16Array>

const bytesOf = (piece: Int16Array): Uint8Array => new Uint8Array(piece.buffer, piece.byteOffset, piece.byteLength)

/** Other work gets a turn of the event loop after each piece. */
async function* inTurns(pieces: Pieces, signal: AbortSignal): AsyncGenerator<Int16Array> {
  for (const piece of pieces) {
    signal.throwIfAborted()
    yield piece
    await setImmediate()
  }
}

const samplesOf = async (pieces: Pieces, signal: AbortSignal): Promise<Buffer> => {
  const all: Array<Uint8Array> = []
  for await (const piece of inTurns(pieces, signal)) all.push(bytesOf(piece))
  return Buffer.concat(all)
}

/** The header of a RIFF file with this many bytes of 16-bit mono samples (Microsoft's WAVE format, PCM). */
const waveHead = (bytes: number): Buffer => {
  const head = Buffer.alloc(44)
  head.write("RIFF", 0)
  head.writeUInt32LE(36 + bytes, 4)
  head.write("WAVEfmt ", 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(SAMPLE_RATE, 24)
  head.writeUInt32LE(SAMPLE_RATE * 2, 28)
  head.writeUInt16LE(2, 32)
  head.writeUInt16LE(16, 34)
  head.write("data", 36)
  head.writeUInt32LE(bytes, 40)
  return head
}

const wave = async (pieces: Pieces, signal: AbortSignal): Promise<Buffer> => {
  const samples = await samplesOf(pieces, signal)
  return Buffer.concat([waveHead(samples.length), samples])
}

const loadEncoders = async () => {
  const [media, mp3, aac, flac] = await Promise.all([
    import("mediabunny"),
    import("@mediabunny/mp3-encoder"),
    import("@mediabunny/aac-encoder"),
    import("@mediabunny/flac-encoder")
  ])
  mp3.registerMp3Encoder()
  aac.registerAacEncoder()
  flac.registerFlacEncoder()
  return media
}

type Media = Awaited<ReturnType<typeof loadEncoders>>

let loaded: Promise<Media> | undefined
const encoders = (): Promise<Media> => (loaded ??= loadEncoders())

/** Each file is encoded in a thread of its own, which ends with the file. */
const encoded = async (format: "mp3" | "aac" | "flac", pieces: Pieces, signal: AbortSignal): Promise<Uint8Array> => {
  const media = await encoders()
  const containers = {
    mp3: () => new media.Mp3OutputFormat(),
    aac: () => new media.AdtsOutputFormat(),
    flac: () => new media.FlacOutputFormat()
  }
  const target = new media.BufferTarget()
  const output = new media.Output({ format: containers[format](), target })
  const source = new media.AudioSampleSource({ codec: format, bitrate: BITRATE })
  output.addAudioTrack(source)
  try {
    await output.start()
    let samples = 0
    for await (const piece of inTurns(pieces, signal)) {
      const layout = { format: "s16", numberOfChannels: 1, sampleRate: SAMPLE_RATE } as const
      const sample = new media.AudioSample({ ...layout, data: bytesOf(piece), timestamp: samples / SAMPLE_RATE })
      await source.add(sample)
      sample.close()
      samples += piece.length
    }
    await output.finalize()
  } catch (error) {
    await output.cancel()
    throw error
  }
  return new Uint8Array(target.buffer ?? new ArrayBuffer(0))
}

/** The samples of a 20-millisecond packet. */
const PACKET_SAMPLES = 480

/** Splits samples into packets of equal length. The last one is padded with silence, and one more flushes the encoder. */
async function* packetsOf(pieces: Pieces, signal: AbortSignal): AsyncGenerator<Int16Array> {
  const packet = new Int16Array(PACKET_SAMPLES)
  let filled = 0
  for await (const piece of inTurns(pieces, signal)) {
    for (let at = 0; at < piece.length;) {
      const part = piece.subarray(at, at + PACKET_SAMPLES - filled)
      packet.set(part, filled)
      filled += part.length
      at += part.length
      if (filled < PACKET_SAMPLES) continue
      yield packet
      filled = 0
    }
  }
  packet.fill(0, filled)
  yield packet
  yield packet.fill(0)
}

/** The header of Opus in Ogg (RFC 7845, section 5.1). Decoders drop `skip` samples of 48 kHz at the start. */
const opusHead = (skip: number): Uint8Array => {
  const head = Buffer.alloc(19)
  head.write("OpusHead", 0)
  head.writeUInt8(1, 8)
  head.writeUInt8(1, 9)
  head.writeUInt16LE(skip, 10)
  head.writeUInt32LE(SAMPLE_RATE, 12)
  return head
}

const opus = async (pieces: Pieces, signal: AbortSignal): Promise<Uint8Array> => {
  const [media, { Application, createEncoder }] = await Promise.all([encoders(), import("libopus-wasm")])
  const encoder = await createEncoder({
    channels: 1,
    sampleRate: SAMPLE_RATE,
    frameSize: PACKET_SAMPLES,
    application: Application.Voip,
    bitrate: BITRATE / 2,
    // The encoder runs in this thread, where time matters more than the last bit of quality.
    complexity: 1
  })
  const target = new media.BufferTarget()
  const output = new media.Output({ format: new media.OggOutputFormat(), target })
  const source = new media.EncodedAudioPacketSource("opus")
  output.addAudioTrack(source)
  const description = opusHead((encoder.getLookahead() * 48_000) / SAMPLE_RATE)
  const decoderConfig = { codec: "opus", numberOfChannels: 1, sampleRate: SAMPLE_RATE, description }
  const seconds = PACKET_SAMPLES / SAMPLE_RATE
  try {
    await output.start()
    let packets = 0
    for await (const samples of packetsOf(pieces, signal)) {
      const packet = new media.EncodedPacket(encoder.encode(samples).slice(), "key", packets * seconds, seconds)
      await source.add(packet, packets === 0 ? { decoderConfig } : undefined)
      packets += 1
    }
    await output.finalize()
  } catch (error) {
    await output.cancel()
    throw error
  } finally {
    encoder.free()
  }
  return new Uint8Array(target.buffer ?? new ArrayBuffer(0))
}

/** Encodes samples as a file: MP3, Opus in Ogg, AAC in ADTS, FLAC, RIFF WAVE, or raw little-endian samples. */
export const audioFile = (format: AudioFormat, pieces: Pieces, signal: AbortSignal): Promise<Uint8Array> => {
  switch (format) {
    case "pcm":
      return samplesOf(pieces, signal)
    case "wav":
      return wave(pieces, signal)
    case "opus":
      return opus(pieces, signal)
    default:
      return encoded(format, pieces, signal)
  }
}
