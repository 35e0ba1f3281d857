/** Decodes audio, images and videos with FFmpeg. */
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { announceSkip } from "./Skips.ts"

const has = (program: string): boolean => spawnSync(program, ["-version"], { stdio: "ignore" }).status === 0

/** Why media cannot be decoded on this machine; undefined when they can. */
export const decoderMissing: string | undefined =
  has("ffprobe") && has("ffmpeg") ? undefined : "ffmpeg is not on the PATH (Debian: apt-get install ffmpeg)"

announceSkip("the decoding of media", decoderMissing)

interface Decoded {
  readonly codec: string
  readonly container: string
  readonly sampleRate: number
  readonly channels: number
  readonly seconds: number
  /** The samples, mono at 24 kHz. */
  readonly samples: Int16Array
}

/** FFmpeg's options for a format. Raw samples have no header. */
const inputOf = (format: string): ReadonlyArray<string> =>
  format === "pcm" ? ["-f", "s16le", "-ar", "24000", "-ac", "1"] : []

const run = (program: string, args: ReadonlyArray<string>, input?: Uint8Array): Buffer => {
  const { status, stderr, stdout } = spawnSync(program, [...args], { input, maxBuffer: 256 * 1024 * 1024 })
  const said = stderr.toString().trim()
  if (status !== 0 || said !== "") throw new Error(`${program} ${args.join(" ")}: ${said}`)
  return stdout
}

/** Decodes an audio file to the last sample. Dies of every complaint of the decoder. */
export const decoded = (file: Uint8Array, format: string): Effect.Effect<Decoded> =>
  Effect.sync(() => {
    const input = [...inputOf(format), "-i", "pipe:0"]
    const entries = ["-show_entries", "stream=codec_name,sample_rate,channels:format=format_name", "-of", "json"]
    const said = JSON.parse(run("ffprobe", ["-v", "error", ...entries, ...input], file).toString())
    const pcm = run("ffmpeg", ["-v", "error", ...input, "-f", "s16le", "-ar", "24000", "-ac", "1", "-"], file)
    const samples = new Int16Array(pcm.buffer.slice(pcm.byteOffset, pcm.byteOffset + pcm.length))
    const [stream] = said.streams
    return {
      codec: stream.codec_name,
      container: said.format.format_name,
      sampleRate: Number(stream.sample_rate),
      channels: stream.channels,
      seconds: samples.length / 24_000,
      samples
    }
  })

interface DecodedImage {
  readonly codec: string
  readonly width: number
  readonly height: number
  /** Row by row from the top, three bytes a pixel: red, green, blue. */
  readonly rgb: Uint8Array
}

/** Decodes an image file. Dies of every complaint of the decoder. */
export const decodedImage = (file: Uint8Array): Effect.Effect<DecodedImage> =>
  Effect.sync(() => {
    const entries = ["-show_entries", "stream=codec_name,width,height", "-of", "json"]
    const said = JSON.parse(run("ffprobe", ["-v", "error", ...entries, "-i", "pipe:0"], file).toString())
    const rgb = run("ffmpeg", ["-v", "error", "-i", "pipe:0", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"], file)
    const [stream] = said.streams
    return { codec: stream.codec_name, width: stream.width, height: stream.height, rgb }
  })

interface DecodedVideo {
  readonly codecs: ReadonlyArray<string>
  readonly width: number
  readonly height: number
  readonly seconds: number
  /** One frame a second, row by row from the top, one byte a pixel: its brightness. */
  readonly frames: ReadonlyArray<Uint8Array>
}

/** Decodes a video, from a temporary file because FFmpeg seeks in it. Dies of every complaint of the decoder. */
export const decodedVideo = (file: Uint8Array): Effect.Effect<DecodedVideo> =>
  Effect.sync(() => {
    const directory = mkdtempSync(join(tmpdir(), "tollgate-video-"))
    try {
      const path = join(directory, "clip.mp4")
      writeFileSync(path, file)
      const entries = ["-show_entries", "stream=codec_name,width,height,duration", "-of", "json"]
      const said = JSON.parse(run("ffprobe", ["-v", "error", ...entries, "-i", path]).toString())
      // Decodes the whole file first, so that a fault in any frame is found.
      run("ffmpeg", ["-v", "error", "-i", path, "-f", "null", "-"])
      const looked = ["-vf", "fps=1", "-f", "rawvideo", "-pix_fmt", "gray", "-"]
      const gray = run("ffmpeg", ["-v", "error", "-i", path, ...looked])
      const codecs: ReadonlyArray<string> = said.streams.map((stream: { codec_name: string }) => stream.codec_name)
      const [{ duration, height, width }] = said.streams
      const size = width * height
      const frames = Array.from({ length: Math.floor(gray.length / size) }, (_, at) =>
        gray.subarray(at * size, (at + 1) * size)
      )
      return { codecs, width, height, seconds: Number(duration), frames }
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })
