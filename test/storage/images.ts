/** Small real images, 16 by 12 pixels, in every format and coding that is taken. */
import { randomBytes } from 'node:crypto'
import { crc32, deflateSync } from 'node:zlib'

const decoded = (base64: string) => new Uint8Array(Buffer.from(base64, 'base64'))
const bytesOf = (...parts: (string | number[] | Uint8Array)[]) =>
  new Uint8Array(
    Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part)))),
  )
const u32be = (value: number) => [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255]
const u32le = (value: number) => u32be(value).reverse()
const u16le = (value: number) => [value & 255, value >>> 8]

export const pngChunk = (name: string, content: Uint8Array | number[] = []) => {
  const named = bytesOf(name, content)
  return bytesOf(u32be(content.length), named, u32be(crc32(named)))
}

const PNG_START = '\x89PNG\r\n\x1a\n'

interface Drawn {
  width?: number
  height?: number
  declared?: number[]
  extra?: Uint8Array[]
}

/** An RGB picture of one colour; `declared` makes the header lie. `extra` stands before the pixels. */
export function png({ width = 16, height = 12, declared, extra = [] }: Drawn = {}) {
  const rows = Buffer.alloc(height * (1 + width * 3), 0x7f)
  for (let row = 0; row < height; row++) rows[row * (1 + width * 3)] = 0
  const said = declared ?? [width, height]
  const header = pngChunk('IHDR', [...said.flatMap(u32be), 8, 2, 0, 0, 0])
  return bytesOf(PNG_START, header, ...extra, pngChunk('IDAT', deflateSync(rows)), pngChunk('IEND'))
}

/** A picture of about as many bytes, most of them a comment that nothing compresses. */
export const large = (bytes: number) => png({ extra: [pngChunk('tEXt', randomBytes(bytes))] })

/** The same picture twice, as APNG. */
export const apng = () =>
  png({
    extra: [
      pngChunk('acTL', [...u32be(1), ...u32be(0)]),
      pngChunk('fcTL', [...u32be(0), ...u32be(16), ...u32be(12), ...u32be(0), ...u32be(0), 0, 1, 0, 10, 0, 0]),
    ],
  })

/** Two colours, 16 by 12 unless the screen or the frame is said to be otherwise. */
export function gif({ screen = [16, 12], frame = [16, 12] } = {}) {
  // Code size 2, one code of three bits for each pixel with a clear before each: long, but no compressor is needed.
  const codes = Array.from({ length: 16 * 12 }, (_, pixel) => [4, pixel % 2]).flat()
  const bits = [...codes, 5].map((code) => code.toString(2).padStart(3, '0').split('').reverse().join('')).join('')
  const data = (bits.match(/.{1,8}/g) ?? []).map((byte) => Number.parseInt(byte.split('').reverse().join(''), 2))
  const blocks = bytesOf([data.length], data, [0])
  return bytesOf(
    'GIF89a',
    [...u16le(screen[0]!), ...u16le(screen[1]!), 0x80, 0, 0],
    [20, 184, 166, 79, 70, 229],
    [0x21, 0xfe, 3, 97, 98, 99, 0],
    [0x2c, 0, 0, 0, 0, ...u16le(frame[0]!), ...u16le(frame[1]!), 0, 2],
    blocks,
    [0x3b],
  )
}

export function webp(...chunks: [name: string, content: Uint8Array | number[]][]) {
  const parts = chunks.map(([name, content]) =>
    bytesOf(name, u32le(content.length), content, content.length % 2 === 1 ? [0] : []),
  )
  const body = bytesOf('WEBP', ...parts)
  return bytesOf('RIFF', u32le(body.length), body)
}

export const JPEG = decoded(
  '/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABALDA4MChAODQ4SERATGCgaGBYWGDEjJR0oOjM9PDkzODdASFxOQERXRTc4UG1RV19iZ2hnPk1xeXBkeFxlZ2P/2wBDARESEhgVGC8aGi9jQjhCY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2P/wAARCAAMABADASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAwT/xAAgEAABAgUFAAAAAAAAAAAAAAABAAIDBBESEwUVQVFh/8QAFAEBAAAAAAAAAAAAAAAAAAAABf/EABoRAAEFAQAAAAAAAAAAAAAAABEAAQIDIRL/2gAMAwEAAhEDEQA/AKtMkdymXQcuO1hdW2vIHfqDWZDbZlsHLkuYH1tpyR34pHlC8paqt+icRtMYgDV//9k=',
)
export const WEBP_LOSSY = decoded(
  'UklGRlIAAABXRUJQVlA4IEYAAAAQAgCdASoQAAwAAsBMJbACdLoAAmKMlqgAAO04Q9vO+5N+doNbXE3zqnf3ImoweMCBVDW9l7snh/8NXCFhnFMmaujhAAAA',
)
const WEBP_LOSSLESS = decoded(
  'UklGRk4BAABXRUJQVlA4TEEBAAAvD8ACAP/DsG3bSJFv/23ulkvcv7eDQbaRuoN4f4YnRNC2bZKOxvnrLDP/QoIkmmTHe3/buHmkGqTtIE4CN4ggG4GTAHASOAHAqnsAVAIE2UiCECAbBELcID1BSEuXoxqgp56ODnHTE9BTT0GI06UCevqhJG4ETkiQ07EKnABJNgJBJgFwbBI3SBDS0ki9QaoBBE59GsnN9w8gCABYNppt27Zt27a98853efzl/hDR/3lAoDEUKk+kN/j8sWSx0kNiiTQWX2lyBuKpTKnVR+FIbIFKbXdHErlyuzPDkxkcmcbhCUbT+Vp3viYwuXIFAAAAUG+MFycaS6w0wZr9ye5MF0jMNthguj88CaVaixc2XB+fbyKd9d94tNnev3wqjc5AKJWtNvvL3eXh9Uvtcofh8er6+Pb+A40Lf+Pj3e3j+xcA',
)
export const WEBP_ALPHA = decoded(
  'UklGRsAAAABXRUJQVlA4WAoAAAAQAAAADwAACwAAQUxQSFMAAAAFb6CQjSQ4uffNchzCEVxEhIiIe8wa4BC2bbu5SjfrBuDNUQlCDIIQgSIUoQh1+jFE9D/2ENLDMIv4E5u76jHaVfWknVWvz1H1pkNID0OWr1mEAABWUDggRgAAABACAJ0BKhAADAACwEwlsAJ0ugACSail8oAAxP0XqXuklffe3tHE5l72JUaPZw8m6moskm7VX8ajB/7vscal/L8+8Zs4AAA=',
)

export const IMAGES = {
  png: png(),
  apng: apng(),
  jpeg: JPEG,
  gif: gif(),
  webpLossy: WEBP_LOSSY,
  webpLossless: WEBP_LOSSLESS,
  webpAlpha: WEBP_ALPHA,
}
