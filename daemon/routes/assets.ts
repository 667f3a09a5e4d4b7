/** GET /assets/{cid}: serves stored images and metadata without a key; the content of an identifier never changes. */
import type { Hono } from 'hono'
import { ApiError, notFound, Overloaded } from '../../src/platform/errors.ts'
import type { Kernel } from '../kernel.ts'
import { errorResponse, jsonResponse, respond } from '../pipeline/answer.ts'
import type { RequestEnv, RequestRecord } from '../pipeline/request-record.ts'
import { matchesEtag } from './entity-tags.ts'

const PATH = '/assets/{cid}'

/** Explorers and wallets read metadata from their own web pages, which need this header on errors too. */
const FOR_ANY_PAGE = { 'Access-Control-Allow-Origin': '*' }

export function assets(hono: Hono<RequestEnv>, kernel: Kernel): void {
  hono.get('/assets/:cid', async (c) => {
    const record = c.env
    record.route = PATH
    try {
      if (record.fault !== undefined) throw record.fault
      return await assetResponse(kernel, record, c.req.param('cid'), c.req.header('if-none-match') ?? '')
    } catch (thrown) {
      const { status, body } = errorResponse(kernel, thrown, record.requestId, new URL(c.req.url).origin)
      const wait = thrown instanceof ApiError ? thrown.retryAfter : undefined
      // A 503 tells proxies that the daemon is healthy but overloaded.
      const shown = thrown instanceof Overloaded ? 503 : status
      const retry: Record<string, string> = wait === undefined ? {} : { 'Retry-After': String(wait) }
      return jsonResponse(kernel, record, shown, body, { ...retry, ...FOR_ANY_PAGE })
    }
  })
}

async function assetResponse(
  kernel: Kernel,
  record: RequestRecord,
  cid: string,
  ifNoneMatch: string,
): Promise<Response> {
  const headers = {
    'Cache-Control': 'public, max-age=31536000, immutable',
    ETag: `"${cid}"`,
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'Cross-Origin-Resource-Policy': 'cross-origin',
    ...FOR_ANY_PAGE,
    'X-Request-Id': record.requestId,
  }
  // The identifier is a hash of the bytes, so a client that has the bytes needs no new copy.
  if (matchesEtag(ifNoneMatch, cid) && (await kernel.storage.has(cid))) return respond(record, 304, headers, null)
  const asset = await kernel.storage.get(cid)
  if (asset === null) throw notFound('This asset does not exist here')
  record.bytes = asset.length
  // A piece is read after the client has taken the previous one, so slow clients do not fill the memory.
  return new Response(ReadableStream.from(asset.pieces()), {
    headers: { ...headers, 'Content-Type': asset.contentType, 'Content-Length': String(asset.length) },
  })
}
