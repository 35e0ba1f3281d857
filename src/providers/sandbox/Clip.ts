/** Makes silent video clips that players open: MP4 with H.264. Making one keeps a core busy for a second or more. */
import type * as Encoders from "h264-mp4-encoder"
import { createRequire } from "node:module"
import { drawRgba } from "./Drawing.ts"
import type { ClipContent } from "./VideoTicket.ts"

/** Frames per second: few, but enough to show motion. */
const FRAME_RATE = 4
/** The quantization, from 10 to 51. At this value letters stay sharp. */
const QUANTIZATION = 34

/** The package is not an ES module. */
const require: (name: "h264-mp4-encoder") => typeof Encoders = createRequire(import.meta.url)

/** A scene as a file. A bar along the lower edge grows with the time. Every frame is a key frame, so that players can seek. */
export const clipOf = async ({ height, lines, seconds, seed, width }: ClipContent): Promise<Uint8Array> => {
  const frame = await drawRgba({ width, height, lines, seed })
  const frames = seconds * FRAME_RATE
  const barTop = height - Math.ceil(height / 40)
  const encoder = await require("h264-mp4-encoder").createH264MP4Encoder()
  try {
    encoder.width = width
    encoder.height = height
    encoder.frameRate = FRAME_RATE
    encoder.groupOfPictures = 1
    encoder.quantizationParameter = QUANTIZATION
    encoder.speed = 10
    encoder.initialize()
    for (let at = 0; at < frames; at++) {
      const barEnd = Math.round(((at + 1) / frames) * width)
      for (let row = barTop; row < height; row++) frame.fill(255, row * width * 4, (row * width + barEnd) * 4)
      encoder.addFrameRgba(frame)
    }
    encoder.finalize()
    return encoder.FS.readFile(encoder.outputFilename)
  } finally {
    encoder.delete()
  }
}
