/** Determines type and size of a token image from its bytes, and rejects files that browsers or wallets may misinterpret. */
import { type ApiError, badRequest } from '../platform/errors.ts'
import type { Config } from '../settings/config.ts'
import { type ImageType, imageTypeOf, readStructure, Unreadable } from './image-structure.ts'

export type { ImageType } from './image-structure.ts'

export interface Image {
  type: ImageType
  contentType: `image/${ImageType}`
  /** Width and height in pixels. */
  width: number
  height: number
}

/** Maximum width and height in pixels. */
const LARGEST_SIDE = 4096

const IMAGE_TYPES = 'PNG, JPEG, GIF or WebP'
const IMAGE_TYPE_NAMES: Readonly<Record<ImageType, string>> = { png: 'PNG', jpeg: 'JPEG', gif: 'GIF', webp: 'WebP' }

const imageRefusal = (message: string): ApiError => badRequest(message, { param: 'image' })

/** Throws bad_request (`image`) for more bytes than `image-max-bytes`. */
export function requireImageSize(bytes: number, { values }: Pick<Config, 'values'>): void {
  const maxBytes = values['image-max-bytes']
  if (bytes > maxBytes) throw imageRefusal(`The image has ${bytes} bytes, more than ${maxBytes}; send a smaller one`)
}

/**
 * Returns type and size in pixels of an image. Throws bad_request (`image`) unless it is exactly one complete image
 * within the limits.
 */
export async function readImage(bytes: Uint8Array, config: Pick<Config, 'values'>): Promise<Image> {
  if (bytes.byteLength === 0) throw imageRefusal(`The image is empty; send a ${IMAGE_TYPES}`)
  requireImageSize(bytes.byteLength, config)
  const type = imageTypeOf(bytes)
  if (type === undefined) throw imageRefusal(`The image is ${otherType(bytes)}; send a ${IMAGE_TYPES}`)
  const { width, height } = await measure(bytes, type)
  if (width < 1 || height < 1 || width > LARGEST_SIDE || height > LARGEST_SIDE) {
    throw imageRefusal(`The image is ${width} by ${height} pixels; each side must be 1 to ${LARGEST_SIDE}`)
  }
  return { type, contentType: `image/${type}`, width, height }
}

async function measure(bytes: Uint8Array, type: ImageType): Promise<{ width: number; height: number }> {
  const unreadable = (why: string) =>
    imageRefusal(`The image is not a valid ${IMAGE_TYPE_NAMES[type]}: ${why}; save it again with an image editor`)
  try {
    const parsed = readStructure(bytes, type)
    const { imageSize } = await import('image-size')
    const { width, height } = imageSize(bytes)
    if (width !== parsed.width || height !== parsed.height) throw new Unreadable('it states two different sizes')
    return { width, height }
  } catch (error) {
    // image-size throws various errors for bytes that it cannot parse.
    throw unreadable(error instanceof Unreadable ? error.message : 'its size cannot be read')
  }
}

const SIGNATURES: readonly (readonly [offset: number, hex: string, what: string])[] = [
  [0, '00000100', 'an ICO'],
  [0, '00000200', 'a CUR'],
  [0, '424d', 'a BMP'],
  [0, '49492a00', 'a TIFF'],
  [0, '4d4d002a', 'a TIFF'],
  [4, '66747970', 'an AVIF, HEIC or video'],
  [0, 'ff0a', 'a JPEG XL'],
  [0, '0000000c4a584c20', 'a JPEG XL'],
  [0, '25504446', 'a PDF'],
  [0, '504b0304', 'a ZIP archive'],
  [0, '1f8b', 'a gzip archive'],
  [0, '38425053', 'a Photoshop document'],
]

/** Guesses the actual type of the bytes, only for the wording of the error. */
function otherType(bytes: Uint8Array): string {
  const head = Buffer.from(bytes.subarray(0, 256))
  const hex = head.toString('hex')
  const known = SIGNATURES.find(([offset, signature]) => hex.startsWith(signature, offset * 2))
  if (known !== undefined) return known[2]
  return /^\ufeff?\s*</.test(head.toString('utf8')) ? 'an SVG or HTML document' : 'of an unknown type'
}
