/** Lists the assets of a bucket, page by page. */
import { type ApiError, internal } from '../platform/errors.ts'
import { isCid } from './cid.ts'
import type { BucketClient } from './s3-client.ts'
import { answerFault } from './s3-faults.ts'
import type { BucketPlace } from './s3-settings.ts'

/** A page of the list has at most 1000 keys of 1024 bytes, with their sizes and dates. */
const BUCKET_LIST_BYTES = 4 * 1024 * 1024

interface BucketPage {
  cids: string[]
  /** Token of the next page; undefined on the last one. */
  next: string | undefined
}

/** The identifiers of all assets below the prefix, in the order of the bucket. Throws internal_error. */
export async function* listedCids(place: BucketPlace, client: BucketClient): AsyncIterable<string> {
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
export async function bucketPage(place: BucketPlace, client: BucketClient, token?: string): Promise<BucketPage> {
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
