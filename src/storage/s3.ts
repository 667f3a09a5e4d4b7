/** Keeps assets as objects of a bucket: one request stores an asset whole, and ranges of it are read and compared. */
import { createHash } from 'node:crypto'
import { type ApiError, internal } from '../errors.ts'
import {
  type Asset,
  type AssetPiece,
  damagedAsset,
  isContentOf,
  onePiece,
  type StoredContent,
} from './checked-content.ts'
import { contentTypeOf, isCid } from './cid.ts'
import { type BucketClient, bucketClient } from './s3-client.ts'
import { answerFault, errorCodeOf } from './s3-faults.ts'
import type { BucketPlace } from './s3-settings.ts'
import type { AssetBackend } from './storage.ts'

/** Bytes that one request reads; slow readers hold no connection to the bucket meanwhile. */
const RANGE_BYTES = 256 * 1024
/** Bytes that tell whether there is an object; a HEAD would not tell a missing bucket from a missing object. */
const PROBE_BYTES = 16
/** A page of the list has at most 1000 keys of 1024 bytes, with their sizes and dates. */
const BUCKET_LIST_BYTES = 4 * 1024 * 1024
/** Assets whose content was compared with their hash, by the version that was read. */
const MOST_VERIFIED = 10_000

interface FirstRange {
  piece: AssetPiece
  /** Length of the whole object. */
  length: number
  /** Entity tag: another content has another one. Null where the server gives none. */
  etag: string | null
}

export function bucketBackend(place: BucketPlace, ending?: AbortSignal): AssetBackend {
  const client = bucketClient(place, ending)
  const verified = new Map<string, string>()
  const remember = (cid: string, etag: string) => {
    verified.delete(cid)
    verified.set(cid, etag)
    if (verified.size <= MOST_VERIFIED) return
    for (const oldest of verified.keys()) {
      verified.delete(oldest)
      return
    }
  }
  const ranges = bucketRanges(place, client)
  const compare = async (cid: string, first: FirstRange) => {
    const sha256 = createHash('sha256')
    for await (const part of ranges.from(cid, first)) sha256.update(part)
    return isContentOf(cid, sha256)
  }
  const comparing = new Map<string, Promise<boolean>>()
  /** Compares a version of an object once, however many readers it has meanwhile. */
  const isWhole = async (cid: string, first: FirstRange): Promise<boolean> => {
    const { etag } = first
    if (etag === null) return compare(cid, first)
    if (verified.get(cid) !== etag) {
      const version = `${cid} ${etag}`
      const shared = comparing.get(version) ?? compare(cid, first).finally(() => comparing.delete(version))
      comparing.set(version, shared)
      if (!(await shared)) return false
    }
    remember(cid, etag)
    return true
  }

  return {
    async has(cid) {
      return (await ranges.first(cid, PROBE_BYTES)) !== null
    },

    /** Content of an entity tag that was compared before is not read twice; what is sent is always compared. */
    async read(cid): Promise<StoredContent> {
      const first = await ranges.first(cid, RANGE_BYTES)
      if (first === null) return null
      const { piece, length } = first
      const contentType = contentTypeOf(piece)
      if (piece.byteLength === length) {
        const isRight = await isContentOf(cid, createHash('sha256').update(piece))
        return isRight ? { length, contentType, pieces: () => onePiece(piece) } : 'damaged'
      }
      if (!(await isWhole(cid, first))) return 'damaged'
      return { length, contentType, pieces: () => comparedPieces(cid, ranges.from(cid, first)) } satisfies Asset
    },

    async write(cid, bytes) {
      await client.send({
        method: 'PUT',
        key: `${place.prefix}${cid}`,
        headers: { 'content-type': contentTypeOf(bytes), 'cache-control': 'public, max-age=31536000, immutable' },
        body: bytes,
        mostBytes: 0,
        expected: [200, 201, 204],
        right: 's3:PutObject',
      })
    },

    list: () => listedCids(place, client),
  }
}

/** Gives each piece once the one after it is there: the last one only where the whole is what its name says. */
async function* comparedPieces(cid: string, pieces: AsyncIterable<AssetPiece>): AsyncIterable<AssetPiece> {
  const sha256 = createHash('sha256')
  let held: AssetPiece | undefined
  for await (const piece of pieces) {
    if (held !== undefined) yield held
    sha256.update(piece)
    held = piece
  }
  if (held === undefined || !(await isContentOf(cid, sha256))) throw damagedAsset(cid)
  yield held
}

interface BucketRanges {
  /** Reads up to so many bytes from the start; null when there is no such object. */
  first(cid: string, bytes: number): Promise<FirstRange | null>
  /** The first range and all after it, of the same version. */
  from(cid: string, first: FirstRange): AsyncIterable<AssetPiece>
}

function bucketRanges(place: BucketPlace, client: BucketClient): BucketRanges {
  const read = async (cid: string, from: number, bytes: number, etag: string | null) => {
    const answer = await client.send({
      method: 'GET',
      key: `${place.prefix}${cid}`,
      headers: { range: `bytes=${from}-${from + bytes - 1}`, ...(etag !== null && { 'if-match': etag }) },
      mostBytes: bytes,
      expected: [200, 206, 404, 412, 416],
      right: 's3:GetObject',
    })
    // A server that is none of S3 knows no such key either.
    if (answer.status === 404 && errorCodeOf(answer) !== 'NoSuchKey') throw answerFault(place, answer, 's3:GetObject')
    return answer
  }
  return {
    async first(cid, bytes) {
      const { status, headers, body } = await read(cid, 0, bytes, null)
      if (status === 404) return null
      const length = status === 416 ? 0 : totalLength(status, headers)
      const piece = new Uint8Array(body)
      if (length === null || (status !== 416 && piece.byteLength !== Math.min(bytes, length))) throw noRanges(place)
      const { etag } = headers
      return { piece: status === 416 ? new Uint8Array() : piece, length, etag: typeof etag === 'string' ? etag : null }
    },

    async *from(cid, { piece, length, etag }) {
      yield piece
      for (let at = piece.byteLength; at < length; at += RANGE_BYTES) {
        const bytes = Math.min(RANGE_BYTES, length - at)
        const { status, body } = await read(cid, at, bytes, etag)
        if (status !== 206 || body.byteLength !== bytes) throw damagedAsset(cid)
        yield new Uint8Array(body)
      }
    },
  }
}

/** Length of the whole object; null where the answer does not say it. */
function totalLength(status: number, headers: Record<string, string | string[] | undefined>): number | null {
  const text = status === 206 ? headers['content-range'] : headers['content-length']
  const digits = /^(?:bytes \d{1,15}-\d{1,15}\/)?(\d{1,15})$/.exec(String(text))?.[1]
  return digits === undefined ? null : Number(digits)
}

const noRanges = ({ label }: BucketPlace): ApiError =>
  internal(`The storage cannot be read: ${label} does not answer requests for a range of bytes; check s3.endpoint`)

/** The identifiers of all assets below the prefix, in the order of the bucket. */
async function* listedCids({ prefix, ...place }: BucketPlace, client: BucketClient): AsyncIterable<string> {
  let token: string | undefined
  do {
    const answer = await client.send({
      method: 'GET',
      key: '',
      query: {
        ...{ 'list-type': '2', 'max-keys': '1000', prefix },
        ...(token !== undefined && { 'continuation-token': token }),
      },
      mostBytes: BUCKET_LIST_BYTES,
      expected: [200],
      right: 's3:ListBucket',
    })
    const page = answer.body.toString('utf8')
    if (!page.includes('</ListBucketResult>')) throw answerFault({ ...place, prefix }, answer, 's3:ListBucket')
    for (const [, key = ''] of page.matchAll(/<Key>([^<]{1,1024})<\/Key>/g)) {
      const cid = key.startsWith(prefix) ? key.slice(prefix.length) : ''
      if (isCid(cid)) yield cid
    }
    const next = /<NextContinuationToken>([^<]{1,4096})<\/NextContinuationToken>/.exec(page)?.[1]
    token = next === undefined ? undefined : plainXml(next)
  } while (token !== undefined)
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const plainXml = (text: string) => text.replace(/&(amp|lt|gt|quot|apos);/g, (_, name: string) => ENTITIES[name] ?? '')
