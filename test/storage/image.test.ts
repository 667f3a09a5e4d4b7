/** What is taken for a token image: one whole picture of a known type, told by its bytes, within the limits. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ApiError } from '../../src/platform/errors.ts'
import { loadConfig, type SettingName } from '../../src/settings/config.ts'
import { readImage } from '../../src/storage/image.ts'
import { runs } from '../support/runs.ts'
import { apng, gif, IMAGES, JPEG, png, pngChunk, WEBP_ALPHA, WEBP_LOSSY, webp } from './images.ts'

const configWith = (settings: Partial<Record<SettingName, unknown>> = {}) =>
  loadConfig({ flags: settings, env: {}, cwd: '/' })
const config = configWith()

async function refusalOf(bytes: Uint8Array, settings = config): Promise<string> {
  const error = await readImage(bytes, settings).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(ApiError)
  const { code, param, message } = error as ApiError
  expect([code, param]).toEqual(['bad_request', 'image'])
  return message
}

const text = (content: string) => new TextEncoder().encode(content)
const joined = (...parts: Uint8Array[]) => new Uint8Array(Buffer.concat(parts))
const changed = (bytes: Uint8Array, at: number, ...values: number[]) => {
  const copy = bytes.slice()
  copy.set(values, at)
  return copy
}

describe('an accepted image', () => {
  it.each(Object.entries(IMAGES))('is recognised by its bytes: %s', async (name, bytes) => {
    const type = name === 'apng' ? 'png' : name.startsWith('webp') ? 'webp' : name
    expect(await readImage(bytes, config)).toEqual({ type, contentType: `image/${type}`, width: 16, height: 12 })
  })

  it('is the same inside a larger buffer', async () => {
    for (const bytes of Object.values(IMAGES)) {
      const inside = joined(text('before'), bytes, text('after')).subarray(6, 6 + bytes.length)
      expect(await readImage(inside, config)).toMatchObject({ width: 16, height: 12 })
    }
  })

  it('may have sides of 1 and of 4096 pixels, and no more', async () => {
    expect(await readImage(png({ width: 1, height: 1 }), config)).toMatchObject({ width: 1, height: 1 })
    expect(await readImage(png({ width: 4096, height: 1 }), config)).toMatchObject({ width: 4096 })
    expect(await refusalOf(png({ width: 4097, height: 1 }))).toBe(
      'The image is 4097 by 1 pixels; each side must be 1 to 4096',
    )
  })

  it('may have the number of bytes of the setting, and no more', async () => {
    const bytes = png()
    const exactly = configWith({ 'image-max-bytes': bytes.length })
    expect(await readImage(bytes, exactly)).toMatchObject({ type: 'png' })
    expect(await refusalOf(joined(bytes, new Uint8Array(1)), exactly)).toMatch(/more than \d+; send a smaller one$/)
  })

  it('has the size of its own header, not that of a comment', async () => {
    const comment = new Uint8Array([0xff, 0xfe, 0, 12, 0xff, 0xc0, 0, 8, 8, 0, 1, 0, 1, 0])
    const bytes = joined(JPEG.subarray(0, 2), comment, JPEG.subarray(2))
    expect(await readImage(bytes, config)).toMatchObject({ width: 16, height: 12 })
  })
})

describe('a refused image', () => {
  it.each([
    ['nothing', new Uint8Array(), /^The image is empty; send a PNG, JPEG, GIF or WebP$/],
    ['an SVG', text('<svg xmlns="http://www.w3.org/2000/svg"/>'), /is an SVG or HTML document; send a PNG/],
    ['an SVG after a byte order mark', text('\ufeff\n <?xml version="1.0"?><svg/>'), /is an SVG or HTML document/],
    ['HTML', text('<!doctype html><script>alert(1)</script>'), /is an SVG or HTML document/],
    ['an ICO', new Uint8Array([0, 0, 1, 0, 1, 0, 16, 16]), /is an ICO; send a PNG/],
    ['a BMP', text('BM      '), /is a BMP/],
    ['an AVIF', text('\0\0\0\x1cftypavif'), /is an AVIF, HEIC or video/],
    ['a PDF', text('%PDF-1.7'), /is a PDF/],
    ['noise', new Uint8Array([9, 8, 7, 6]), /is of an unknown type/],
  ])('is named by its apparent type: %s', async (_, bytes, message) => {
    expect(await refusalOf(bytes)).toMatch(message)
  })

  it.each(Object.entries(IMAGES))('may be truncated at any place: %s', async (_, bytes) => {
    for (let length = 12; length < bytes.length; length++) {
      expect(await refusalOf(bytes.subarray(0, length))).toMatch(/save it again with an image editor$|an unknown type/)
    }
  })

  it.each(Object.entries(IMAGES))('may hide data behind its end: %s', async (_, bytes) => {
    expect(await refusalOf(joined(bytes, text('<script>alert(1)</script>')))).toContain('there are bytes after its end')
    expect(await refusalOf(joined(bytes, bytes))).toContain('there are bytes after its end')
  })

  it.each([
    ['PNG', png({ declared: [2_147_483_647, 2_147_483_647] })],
    ['PNG without a side', png({ declared: [0, 12] })],
    ['JPEG', changed(JPEG, JPEG.indexOf(0xc0) + 4, 0xff, 0xff, 0xff, 0xff)],
    ['GIF', gif({ screen: [65_535, 65_535] })],
    ['GIF without a side', gif({ screen: [0, 0], frame: [0, 0] })],
    ['WebP', changed(WEBP_ALPHA, 24, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)],
    ['lossy WebP', changed(WEBP_LOSSY, 26, 0xff, 0x3f, 0xff, 0x3f)],
  ])('may claim too many pixels, or none: %s', async (_, bytes) => {
    expect(await refusalOf(bytes)).toMatch(/^The image is \d+ by \d+ pixels; each side must be 1 to 4096$/)
  })

  it.each([
    ['a wrong checksum', changed(png(), 29, 0, 0, 0, 0), /a checksum is wrong/],
    ['a second header', png({ extra: [pngChunk('IHDR', new Uint8Array(13))] }), /begin with its header/],
    ["Apple's own form of PNG", joined(png().subarray(0, 8), pngChunk('CgBI', [0, 0, 0, 0])), /begin with its header/],
    ['no pixels', joined(png().subarray(0, 33), pngChunk('IEND')), /it holds no picture/],
    ['a GIF frame larger than the screen', gif({ frame: [4000, 4000] }), /a frame that is larger/],
    ['a GIF without frames', joined(gif().subarray(0, 19), text(';')), /it holds no picture/],
    ['a lossless JPEG', changed(JPEG, JPEG.indexOf(0xc0), 0xc3), /coded in a way that browsers do not show/],
    ['a JPEG without a frame', new Uint8Array([0xff, 0xd8, 0xff, 0xd9]), /it holds no picture/],
    ['a WebP without a picture', webp(['VP8X', [0, 0, 0, 0, 15, 0, 0, 11, 0, 0]]), /it holds no picture/],
    ['a WebP that begins with something else', webp(['EXIF', [1, 2]]), /does not begin with its header/],
  ])('may be inconsistent: %s', async (_, bytes, message) => {
    expect(await refusalOf(bytes)).toMatch(message)
  })
})

/** The image or a bad_request that names the field; anything else is a crash. */
async function outcome(bytes: Uint8Array): Promise<'taken' | 'refused'> {
  try {
    const { width, height, contentType } = await readImage(bytes, config)
    expect(Number.isInteger(width) && width >= 1 && width <= 4096).toBe(true)
    expect(Number.isInteger(height) && height >= 1 && height <= 4096).toBe(true)
    expect(contentType).toMatch(/^image\/(png|jpeg|gif|webp)$/)
    return 'taken'
  } catch (error) {
    expect(error).toBeInstanceOf(ApiError)
    expect((error as ApiError).code).toBe('bad_request')
    expect((error as ApiError).param).toBe('image')
    return 'refused'
  }
}

const MARKS = [
  [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
  [0xff, 0xd8, 0xff],
  [...text('GIF89a')],
  [...text('RIFF')],
  [],
]
const anyImage = fc.constantFrom(...Object.values(IMAGES), apng())

describe('arbitrary bytes as an image', () => {
  it('are an image or a refusal, never a crash', { tags: 'sampled' }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...MARKS), fc.uint8Array({ maxLength: 400 }), async (mark, rest) => {
        await outcome(joined(new Uint8Array(mark), rest))
      }),
      { numRuns: runs(300, 2000) },
    )
  })

  it('that come from a real image with changes are an image or a refusal', {
    tags: 'sampled',
  }, async () => {
    const mutation = fc.record({
      kind: fc.constantFrom('set', 'cut', 'insert'),
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      bytes: fc.uint8Array({ minLength: 1, maxLength: 8 }),
    })
    const seen = new Set<string>()
    await fc.assert(
      fc.asyncProperty(anyImage, fc.array(mutation, { minLength: 1, maxLength: 4 }), async (image, mutations) => {
        let bytes = image.slice()
        for (const { kind, at, bytes: put } of mutations) {
          const offset = Math.floor(at * bytes.length)
          const after = kind === 'insert' ? offset : Math.min(bytes.length, offset + put.length)
          bytes = joined(bytes.subarray(0, offset), kind === 'cut' ? new Uint8Array() : put, bytes.subarray(after))
        }
        seen.add(await outcome(bytes))
      }),
      { numRuns: runs(300, 3000) },
    )
    expect(seen).toContain('refused')
  })

  it('take time in proportion to their length', async () => {
    const large = new Uint8Array(5_242_880).fill(0xff)
    large.set([0xff, 0xd8, 0xff])
    // In quadratic time each would take an hour, which is more than a test may take.
    await outcome(large)
    await outcome(joined(JPEG.subarray(0, JPEG.length - 2), new Uint8Array(5_000_000).fill(0xff)))
    await outcome(joined(text('GIF89a'), new Uint8Array(5_000_000)))
  })
})
