/** Reads the size of images from their headers. */
import { imageTypeOf } from "../../domain/ImageType.ts"

/** JPEG markers that are followed by a frame's size (ITU T.81, table B.1): SOF0 to SOF15 without DHT, JPG and DAC. */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc

const jpegPixels = (bytes: Buffer): number | undefined => {
  let at = 2
  while (at + 9 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes.readUInt8(at + 1)
    if (marker === 0xff) at += 1
    else if (isFrame(marker)) return bytes.readUInt16BE(at + 5) * bytes.readUInt16BE(at + 7)
    else at += 2 + bytes.readUInt16BE(at + 2)
  }
  return undefined
}

/** The number of pixels of a PNG, JPEG or GIF image; undefined for other formats, and when the header does not contain the size. */
export const pixelsOf = (image: Uint8Array): number | undefined => {
  const bytes = Buffer.from(image.buffer, image.byteOffset, image.byteLength)
  switch (imageTypeOf(image)) {
    case "image/png":
      return bytes.length < 24 ? undefined : bytes.readUInt32BE(16) * bytes.readUInt32BE(20)
    case "image/gif":
      return bytes.length < 10 ? undefined : bytes.readUInt16LE(6) * bytes.readUInt16LE(8)
    case "image/jpeg":
      return jpegPixels(bytes)
    default:
      return undefined
  }
}
