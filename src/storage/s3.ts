/** Stores assets as objects of a bucket. One request stores a whole asset; its ranges are read and compared. */
import { createHash } from 'node:crypto'
import { type ApiError, internal } from '../platform/errors.ts'
import type { AssetBackend } from './backend.ts'
import {
  type Asset,
  type AssetPiece,
  damagedAsset,
  hasContent,
  onePiece,
  type StoredContent,
} from './checked-content.ts'
import { contentTypeOf, isCid } from './cid.ts'
import { type BucketClient, bucketClient } from './s3-client.ts'
import { answerFault, type BucketAnswer, errorCodeOf } from './s3-faults.ts'
import type { BucketPlace } from './s3-settings.ts'

/** Bytes that one request reads, so that slow readers do not occupy a connection to the bucket. */
const RANGE_BYTES = 256 * 1024
/**
 * Bytes that are read to check for an object. A HEAD request would not distinguish a missing bucket from a missing
 * object.
 */
const PROBE_BYTES = 16
/** The highest possible `image-max-bytes`. A longer object is not an asset, and is not read to its end. */
export const MOST_OBJECT_BYTES = 104_857_600
/** Longer entity tags, which no S3 server sends, are ignored. */
const MOST_ETAG_CHARACTERS = 128

interface FirstRange {
  piece: AssetPiece
  /** Length of the whole object. */
  length: number
  /** Entity tag, which differs for other content. Null if the server sends no usable one. */
  etag: string | null
}

export function bucketBackend(place: BucketPlace, ending?: AbortSignal, renew?: () => boolean): AssetBackend {
  const client = bucketClient(place, ending, { ...(renew && { renew }) })
  const ranges = bucketRanges(place, client)
  const compared = new ComparedObjects()
  /** Reads the whole object. Returns null if its content does not match its name. */
  const compare = async (cid: string, first: FirstRange): Promise<RangeHashes | null> => {
    const sha256 = createHash('sha256')
    const hashes: Uint8Array[] = []
    for await (const part of ranges.from(cid, first)) {
      sha256.update(part)
      hashes.push(createHash('sha256').update(part).digest())
    }
    return (await hasContent(cid, sha256)) ? new RangeHashes(hashes) : null
  }
  const comparing = new Map<string, Promise<RangeHashes | null>>()
  /** Compares a version of an object once, even with many readers at that time. */
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

    /**
     * Content with an entity tag that was compared before is not read twice. Each range is compared before it is
     * served.
     */
    async read(cid): Promise<StoredContent> {
      const first = await ranges.first(cid, RANGE_BYTES)
      if (first === null) return null
      const { piece, length } = first
      const contentType = contentTypeOf(piece)
      if (piece.byteLength === length) {
        const isRight = await hasContent(cid, createHash('sha256').update(piece))
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

/** Fails at the first piece that differs from the compared one, for example because the object has changed. */
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

/** Reads an object that does not exist, and one page of the list. Writes nothing. Throws internal_error. */
export async function checkBucket(place: BucketPlace): Promise<void> {
  const client = bucketClient(place)
  await bucketRanges(place, client).first(`bafkrei${'a'.repeat(52)}`, PROBE_BYTES)
  await bucketPage(place, client)
}

interface BucketRanges {
  /** Reads up to the given number of bytes from the start. Returns null if there is no such object. */
  first(cid: string, bytes: number): Promise<FirstRange | null>
  /** Yields the first range and all later ones. The caller must compare them. */
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
    // A server without S3 also lacks the key.
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

/** Length of the whole object, or null if the answer does not contain it. */
function totalLength(status: number, headers: BucketAnswer['headers']): number | null {
  const text = status === 206 ? headers['content-range'] : headers['content-length']
  const digits = /^(?:bytes \d{1,15}-\d{1,15}\/)?(\d{1,15})$/.exec(String(text))?.[1]
  return digits === undefined ? null : Number(digits)
}

const noRanges = ({ label }: BucketPlace): ApiError =>
  internal(`The storage cannot be read: ${label} does not answer requests for a range of bytes; check s3.endpoint`)

// Hashes of each range of an object that was compared as a whole. They ensure that later answers have the same bytes.

const HASH_BYTES = 32
/** Bytes of cached hashes: enough for about ten thousand images of 5 MiB. */
const MOST_HASH_BYTES = 8 * 1024 * 1024

class RangeHashes {
  readonly #hashes: Buffer

  constructor(hashes: readonly Uint8Array[]) {
    this.#hashes = Buffer.concat(hashes)
  }

  get bytes(): number {
    return this.#hashes.byteLength
  }

  /** Whether the range with this number, from 0, has these bytes. */
  hasRange(number: number, piece: AssetPiece): boolean {
    const own = this.#hashes.subarray(number * HASH_BYTES, (number + 1) * HASH_BYTES)
    return own.byteLength > 0 && own.equals(createHash('sha256').update(piece).digest())
  }
}

/** Caches the hashes of the objects that were read last, by the version that was compared. */
class ComparedObjects {
  readonly #objects = new Map<string, { version: string; hashes: RangeHashes }>()
  #bytes = 0

  get(cid: string, version: string): RangeHashes | null {
    const known = this.#objects.get(cid)
    if (known?.version !== version) return null
    // The map is ordered by the last use.
    this.#objects.delete(cid)
    this.#objects.set(cid, known)
    return known.hashes
  }

  set(cid: string, version: string, hashes: RangeHashes): void {
    this.#remove(cid)
    this.#objects.set(cid, { version, hashes })
    this.#bytes += hashes.bytes
    for (const oldest of this.#objects.keys()) {
      if (this.#bytes <= MOST_HASH_BYTES) return
      this.#remove(oldest)
    }
  }

  #remove(cid: string): void {
    this.#bytes -= this.#objects.get(cid)?.hashes.bytes ?? 0
    this.#objects.delete(cid)
  }
}

/** A page of the list has at most 1000 keys of 1024 bytes, with their sizes and dates. */
const BUCKET_LIST_BYTES = 4 * 1024 * 1024

interface BucketPage {
  cids: string[]
  /** Token of the next page; undefined on the last one. */
  next: string | undefined
}

/** The identifiers of all assets below the prefix, in the order of the bucket. Throws internal_error. */
async function* listedCids(place: BucketPlace, client: BucketClient): AsyncIterable<string> {
  let token: string | undefined
  do {
    const { cids, next } = await bucketPage(place, client, token)
    yield* cids
    // A server that returns the same token again would cause an endless loop.
    if (next !== undefined && next === token) throw unfinishedList(place)
    token = next
  } while (token !== undefined)
}

/** Reads the page of a token, or the first one. Objects that are not assets are left out. */
async function bucketPage(place: BucketPlace, client: BucketClient, token?: string): Promise<BucketPage> {
  const { prefix } = place
  const answer = await client.send({
    method: 'GET',
    key: '',
    query: {
      'list-type': '2',
      'max-keys': '1000',
      prefix,
      ...(token !== undefined && { 'continuation-token': token }),
    },
    mostBytes: BUCKET_LIST_BYTES,
    expected: [200],
    right: 's3:ListBucket',
  })
  const page = answer.body.toString('utf8')
  if (!page.includes('</ListBucketResult>')) throw answerFault(place, answer, 's3:ListBucket')
  const keys = [...page.matchAll(/<Key>([^<]{1,1024})<\/Key>/g)].map(([, key = '']) => key)
  const cids = keys.map((key) => (key.startsWith(prefix) ? key.slice(prefix.length) : '')).filter(isCid)
  const next = /<NextContinuationToken>([^<]{1,4096})<\/NextContinuationToken>/.exec(page)?.[1]
  if (next === undefined && /<IsTruncated>\s*true\s*</.test(page)) throw unfinishedList(place)
  return { cids, next: next === undefined ? undefined : plainXml(next) }
}

const unfinishedList = ({ label }: BucketPlace): ApiError =>
  internal(`The storage cannot be listed: ${label} does not say where its list continues (ListObjectsV2)`)

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const plainXml = (text: string) => text.replace(/&(amp|lt|gt|quot|apos);/g, (_, name: string) => ENTITIES[name] ?? '')
