/** Serves files that do not change while the daemon runs: from memory, compressed once, and revalidated by ETag. */
import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Context } from 'hono'
import { accepts } from 'hono/accepts'
import { once } from '../../src/platform/timing.ts'
import { respond } from '../pipeline/answer.ts'
import type { RequestEnv } from '../pipeline/request-record.ts'
import { matchesEtag } from './entity-tags.ts'

/** Answers requests for one file; `read` is called at the first request. */
export function keptFile(read: () => Promise<Uint8Array<ArrayBuffer>>, headers: Readonly<Record<string, string>>) {
  const file = once(async () => {
    const bytes = await read()
    const packed = new Uint8Array(await promisify(gzip)(bytes, { level: 9 }))
    return { bytes, packed, tag: hash('sha256', bytes).slice(0, 32) }
  })
  return async (c: Context<RequestEnv>): Promise<Response> => {
    const record = c.env
    record.route = c.req.path
    if (record.fault !== undefined) throw record.fault
    const { bytes, packed, tag } = await file()
    // The compressed file has its own tag, so a cache never sends it to a client that cannot decompress it.
    const isPacked = acceptsGzip(c)
    const named = isPacked ? `${tag}-gzip` : tag
    const all = {
      ...headers,
      'Cache-Control': 'no-cache',
      ETag: `"${named}"`,
      Vary: 'Accept-Encoding',
      'X-Request-Id': record.requestId,
    }
    if (matchesEtag(c.req.header('if-none-match') ?? '', named)) return respond(record, 304, all, null)
    const body = isPacked ? packed : bytes
    const encoding = isPacked ? { 'Content-Encoding': 'gzip' } : {}
    return respond(record, 200, { ...all, ...encoding, 'Content-Length': String(body.length) }, body)
  }
}

const acceptsGzip = (c: Context): boolean =>
  accepts(c, {
    header: 'Accept-Encoding',
    supports: ['gzip', 'identity'],
    default: 'identity',
    match: (all) => (all.some(({ type, q }) => type === 'gzip' && q > 0) ? 'gzip' : 'identity'),
  }) === 'gzip'
