/** Parses an image from its first to its last byte, so that truncated files and appended data are detected. */
import { crc32 } from 'node:zlib'

export type ImageType = 'png' | 'jpeg' | 'gif' | 'webp'

/** Size in pixels according to the header. */
interface Size {
  width: number
  height: number
}

/** The error of an invalid image. Its message is a clause that follows a colon. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable'
}

const TRUNCATED = 'it ends too early'
const TRAILING = 'there are bytes after its end'

const ascii = (bytes: Uint8Array, start: number, length: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1', start, start + length)

/** Detects the type from the signature in the first bytes. */
export function imageTypeOf(bytes: Uint8Array): ImageType | undefined {
  if (ascii(bytes, 0, 8) === '\x89PNG\r\n\x1a\n') return 'png'
  if (ascii(bytes, 0, 3) === '\xff\xd8\xff') return 'jpeg'
  if (/^GIF8[79]a$/.test(ascii(bytes, 0, 6))) return 'gif'
  if (ascii(bytes, 0, 4) === 'RIFF' && ascii(bytes, 8, 4) === 'WEBP') return 'webp'
  return undefined
}

/** Parses the whole image and returns its size. Throws `Unreadable`. */
export function readStructure(bytes: Uint8Array, type: ImageType): Size {
  const file = new Cursor(bytes)
  const size = { png: readPng, jpeg: readJpeg, gif: readGif, webp: readWebp }[type](file)
  if (file.left !== 0) throw new Unreadable(TRAILING)
  return size
}

/** Reads forward through bytes. Throws `Unreadable` at the end. */
class Cursor {
  readonly bytes: Uint8Array
  readonly #view: DataView
  at = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  get left(): number {
    return this.bytes.byteLength - this.at
  }

  /** Returns the offset of the next `length` bytes and moves past them. */
  skip(length: number): number {
    if (length > this.left) throw new Unreadable(TRUNCATED)
    const start = this.at
    this.at += length
    return start
  }

  take(length: number): Uint8Array {
    const start = this.skip(length)
    return this.bytes.subarray(start, start + length)
  }

  text = (length: number): string => ascii(this.bytes, this.skip(length), length)
  u8 = (): number => this.#view.getUint8(this.skip(1))
  u16be = (): number => this.#view.getUint16(this.skip(2))
  u16le = (): number => this.#view.getUint16(this.skip(2), true)
  u32be = (): number => this.#view.getUint32(this.skip(4))
  u32le = (): number => this.#view.getUint32(this.skip(4), true)
  u24le = (): number => this.u16le() + this.u8() * 0x10000
}

/** Parses PNG (third edition, 5): chunks with checksums, IHDR first, IDAT, IEND last. */
function readPng(file: Cursor): Size {
  file.skip(8)
  let size: Size | undefined
  let hasPixels = false
  for (;;) {
    const length = file.u32be()
    const start = file.at
    const name = file.text(4)
    if (!/^[A-Za-z]{4}$/.test(name)) throw new Unreadable('it has a chunk without a name')
    if ((size === undefined) !== (name === 'IHDR')) throw new Unreadable('it does not begin with its header')
    file.skip(length)
    if (crc32(file.bytes.subarray(start, file.at)) !== file.u32be()) throw new Unreadable('a checksum is wrong')
    if (name === 'IHDR') {
      if (length !== 13) throw new Unreadable('its header has the wrong length')
      const header = new Cursor(file.bytes.subarray(start + 4, start + 17))
      size = { width: header.u32be(), height: header.u32be() }
    }
    if (name === 'IDAT') hasPixels = true
    if (name !== 'IEND') continue
    if (length !== 0) throw new Unreadable('its end has the wrong length')
    if (size === undefined || !hasPixels) throw new Unreadable('it holds no picture')
    return size
  }
}

const SOI = 0xd8
const EOI = 0xd9
const SOS = 0xda
/** Frames that browsers show: baseline, extended and progressive with Huffman coding. */
const FRAMES_SHOWN = new Set([0xc0, 0xc1, 0xc2])
/** These three markers between C0 and CF are tables. The others are frames that browsers do not show. */
const TABLES = new Set([0xc4, 0xc8, 0xcc])
const isRestart = (marker: number) => marker >= 0xd0 && marker <= 0xd7

/** Parses JPEG (ITU T.81, annex B): segments, one frame header, scans, EOI. */
function readJpeg(file: Cursor): Size {
  file.skip(2)
  let size: Size | undefined
  let hasPixels = false
  for (;;) {
    if (file.u8() !== 0xff) throw new Unreadable('it has bytes between its segments')
    let marker = file.u8()
    while (marker === 0xff) marker = file.u8()
    if (marker === EOI) break
    if (marker === SOI || marker < 0xc0 || isRestart(marker)) throw new Unreadable('it has a marker out of place')
    const length = file.u16be()
    if (length < 2) throw new Unreadable('it has a segment without a length')
    const start = file.skip(length - 2)
    if (FRAMES_SHOWN.has(marker)) {
      if (size !== undefined) throw new Unreadable('it has more than one frame')
      if (length < 8) throw new Unreadable('its header has the wrong length')
      const header = new Cursor(file.bytes.subarray(start + 1, start + 5))
      const height = header.u16be()
      size = { width: header.u16be(), height }
    } else if (marker > 0xc0 && marker <= 0xcf && !TABLES.has(marker)) {
      throw new Unreadable('it is coded in a way that browsers do not show')
    }
    if (marker !== SOS) continue
    if (size === undefined) throw new Unreadable('its picture comes before its header')
    hasPixels = true
    skipScan(file)
  }
  if (size === undefined || !hasPixels) throw new Unreadable('it holds no picture')
  return size
}

/** Moves to the next marker that is not part of the coded data. */
function skipScan(file: Cursor): void {
  for (;;) {
    const next = file.bytes.indexOf(0xff, file.at)
    const follows = next === -1 ? undefined : file.bytes[next + 1]
    if (follows === undefined) throw new Unreadable(TRUNCATED)
    if (follows !== 0 && !isRestart(follows)) {
      file.at = next
      return
    }
    file.at = next + 2
  }
}

/** Parses GIF89a: screen, colours, blocks, trailer. */
function readGif(file: Cursor): Size {
  file.skip(6)
  const size = { width: file.u16le(), height: file.u16le() }
  const colours = () => {
    const packed = file.u8()
    return packed & 0x80 ? 3 * 2 ** ((packed & 7) + 1) : 0
  }
  const screenColours = colours()
  file.skip(2 + screenColours)
  let hasPixels = false
  for (;;) {
    const block = file.u8()
    if (block === 0x3b) break
    if (block === 0x21) {
      file.skip(1)
    } else if (block === 0x2c) {
      const [left, top, width, height] = [file.u16le(), file.u16le(), file.u16le(), file.u16le()]
      if (left + width > size.width || top + height > size.height) {
        throw new Unreadable('it has a frame that is larger than the picture')
      }
      file.skip(colours() + 1)
      hasPixels = true
    } else {
      throw new Unreadable('it has a block of an unknown kind')
    }
    for (let length = file.u8(); length !== 0; length = file.u8()) file.skip(length)
  }
  if (!hasPixels) throw new Unreadable('it holds no picture')
  return size
}

/** Parses WebP (RFC 9649): one RIFF chunk spans the file and contains chunks padded to an even length. */
function readWebp(file: Cursor): Size {
  file.skip(4)
  const length = file.u32le()
  if (length > file.left) throw new Unreadable(TRUNCATED)
  if (length < file.left) throw new Unreadable(TRAILING)
  file.skip(4)
  let size: Size | undefined
  let hasPixels = false
  while (file.left > 0) {
    const name = file.text(4)
    const chunk = new Cursor(file.take(file.u32le()))
    if (chunk.bytes.byteLength % 2 === 1) file.skip(1)
    const isPicture = name === 'VP8 ' || name === 'VP8L'
    if (size === undefined) {
      if (isPicture) size = name === 'VP8 ' ? readLossy(chunk) : readLossless(chunk)
      else if (name === 'VP8X') size = readExtended(chunk)
      else throw new Unreadable('it does not begin with its header')
    } else if (name === 'VP8X') {
      throw new Unreadable('it has more than one header')
    }
    if (isPicture || name === 'ANMF') hasPixels = true
  }
  if (size === undefined || !hasPixels) throw new Unreadable('it holds no picture')
  return size
}

/** Parses the header of a VP8 key frame (RFC 6386, 9.1). */
function readLossy(chunk: Cursor): Size {
  const isKeyFrame = (chunk.u24le() & 1) === 0
  if (!isKeyFrame || chunk.text(3) !== '\x9d\x01\x2a')
    throw new Unreadable('its picture does not begin with a key frame')
  return { width: chunk.u16le() & 0x3fff, height: chunk.u16le() & 0x3fff }
}

function readLossless(chunk: Cursor): Size {
  if (chunk.u8() !== 0x2f) throw new Unreadable('its header is wrong')
  const packed = chunk.u32le()
  return { width: (packed & 0x3fff) + 1, height: ((packed >>> 14) & 0x3fff) + 1 }
}

function readExtended(chunk: Cursor): Size {
  chunk.skip(4)
  return { width: chunk.u24le() + 1, height: chunk.u24le() + 1 }
}
