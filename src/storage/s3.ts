/** Keeps assets as objects of a bucket: one request stores an asset whole, and ranges of it are read and compared. */

import { createHash } from 'node:crypto'
import { type ApiError, internal } from '../platform/errors.ts'
import type { AssetBackend } from './backend.ts'
import {
  type Asset,
  type AssetPiece,
  damagedAsset,
  isContentOf,
  onePiece,
  type StoredContent,
} from './checked-content.ts'
import { contentTypeOf } from './cid.ts'
import { ComparedObjects, RangeHashes } from './range-hashes.ts'
import { type BucketClient, bucketClient } from './s3-client.ts'
import { answerFault, type BucketAnswer, errorCodeOf } from './s3-faults.ts'
import { bucketPage, listedCids } from './s3-list.ts'
import type { BucketPlace } from './s3-settings.ts'

/** Bytes that one request reads; slow readers hold no connection to the bucket meanwhile. */
const RANGE_BYTES = 256 * 1024
/** Bytes that tell whether there is an object; a HEAD would not tell a missing bucket from a missing object. */
const PROBE_BYTES = 16
/** The most that `image-max-bytes` may be; a longer object is none of ours, and is not read to its end. */
export const MOST_OBJECT_BYTES = 104_857_600
/** Longer entity tags, which no server of S3 gives, are not kept. */
const MOST_ETAG_CHARACTERS = 128

interface FirstRange {
  piece: AssetPiece
  /** Length of the whole object. */
  length: number
  /** Entity tag: another content has another one. Null where the server gives none that is of use. */
  etag: string | null
}

export function bucketBackend(place: BucketPlace, ending?: AbortSignal): AssetBackend {
  const client = bucketClient(place, ending)
  const ranges = bucketRanges(place, client)
  const compared = new ComparedObjects()
  /** Reads the whole object; null where it is not what its name says. */
  const compare = async (cid: string, first: FirstRange): Promise<RangeHashes | null> => {
    const sha256 = createHash('sha256')
    const hashes: Uint8Array[] = []
    for await (const part of ranges.from(cid, first)) {
      sha256.update(part)
      hashes.push(createHash('sha256').update(part).digest())
    }
    return (await isContentOf(cid, sha256)) ? new RangeHashes(hashes) : null
  }
  const comparing = new Map<string, Promise<RangeHashes | null>>()
  /** Compares a version of an object once, however many readers it has meanwhile. */
  const hashesOf = async (cid: string, first: FirstRange): Promise<RangeHashes | null> => {
    const version = `${first.length} ${first.etag ?? ''}`
    const known = first.etag === null ? null : compared.get(cid, version)
    if (known !== null) return known
    const name = `${cid} ${version}`
    const shared = comparing.get(name) ?? compare(cid, first).finally(() => comparing.delete(name))
    comparing.set(name, shared)
    const hashes = await shared
    if (hashes !== null && first.etag !== null) compared.set(cid, version, hashes)
    return hashes
  }

  return {
    async has(cid) {
      return (await ranges.first(cid, PROBE_BYTES)) !== null
    },

    /** Content of an entity tag that was compared before is not read twice; each range is compared before it is given. */
    async read(cid): Promise<StoredContent> {
      const first = await ranges.first(cid, RANGE_BYTES)
      if (first === null) return null
      const { piece, length } = first
      const contentType = contentTypeOf(piece)
      if (piece.byteLength === length) {
        const isRight = await isContentOf(cid, createHash('sha256').update(piece))
        return isRight ? { length, contentType, pieces: () => onePiece(piece) } : 'damaged'
      }
      if (length > MOST_OBJECT_BYTES) return 'damaged'
      const hashes = await hashesOf(cid, first)
      if (!hashes?.hasRange(0, piece)) return 'damaged'
      return { length, contentType, pieces: () => comparedPieces(cid, ranges.from(cid, first), hashes) } satisfies Asset
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

/** Fails at the first piece that is not the one that was compared, as after a change of the object in between. */
async function* comparedPieces(
  cid: string,
  pieces: AsyncIterable<AssetPiece>,
  hashes: RangeHashes,
): AsyncIterable<AssetPiece> {
  let number = 0
  for await (const piece of pieces) {
    if (!hashes.hasRange(number++, piece)) throw damagedAsset(cid)
    yield piece
  }
}

/** Asks for an object that is not there, and for one page of the list; writes nothing. Throws internal_error. */
export async function checkBucket(place: BucketPlace): Promise<void> {
  const client = bucketClient(place)
  await bucketRanges(place, client).first(`bafkrei${'a'.repeat(52)}`, PROBE_BYTES)
  await bucketPage(place, client)
}

interface BucketRanges {
  /** Reads up to so many bytes from the start; null when there is no such object. */
  first(cid: string, bytes: number): Promise<FirstRange | null>
  /** The first range and all after it; what they are of is for the caller to compare. */
  from(cid: string, first: FirstRange): AsyncIterable<AssetPiece>
}

function bucketRanges(place: BucketPlace, client: BucketClient): BucketRanges {
  const read = async (cid: string, from: number, bytes: number) => {
    const answer = await client.send({
      method: 'GET',
      key: `${place.prefix}${cid}`,
      headers: { range: `bytes=${from}-${from + bytes - 1}` },
      mostBytes: bytes,
      expected: [200, 206, 404, 416],
      right: 's3:GetObject',
    })
    // A server that is none of S3 knows no such key either.
    if (answer.status === 404 && errorCodeOf(answer) !== 'NoSuchKey') throw answerFault(place, answer, 's3:GetObject')
    return answer
  }
  return {
    async first(cid, bytes) {
      const { status, headers, body } = await read(cid, 0, bytes)
      if (status === 404) return null
      const length = status === 416 ? 0 : totalLength(status, headers)
      const piece = new Uint8Array(body)
      if (length === null || (status !== 416 && piece.byteLength !== Math.min(bytes, length))) throw noRanges(place)
      return { piece: status === 416 ? new Uint8Array() : piece, length, etag: entityTag(headers) }
    },

    async *from(cid, { piece, length }) {
      yield piece
      for (let at = piece.byteLength; at < length; at += RANGE_BYTES) {
        const bytes = Math.min(RANGE_BYTES, length - at)
        const { status, body } = await read(cid, at, bytes)
        if (status !== 206 || body.byteLength !== bytes) throw damagedAsset(cid)
        yield new Uint8Array(body)
      }
    },
  }
}

const entityTag = ({ etag }: BucketAnswer['headers']): string | null =>
  typeof etag === 'string' && etag.length <= MOST_ETAG_CHARACTERS ? etag : null

/** Length of the whole object; null where the answer does not say it. */
function totalLength(status: number, headers: BucketAnswer['headers']): number | null {
  const text = status === 206 ? headers['content-range'] : headers['content-length']
  const digits = /^(?:bytes \d{1,15}-\d{1,15}\/)?(\d{1,15})$/.exec(String(text))?.[1]
  return digits === undefined ? null : Number(digits)
}

const noRanges = ({ label }: BucketPlace): ApiError =>
  internal(`The storage cannot be read: ${label} does not answer requests for a range of bytes; check s3.endpoint`)
