/** GET /assets/{cid}: serves stored images and metadata without a key; the content of an identifier never changes. */
import type { Hono } from 'hono'
import { ApiError, notFound, Overloaded } from '../../src/platform/errors.ts'
import type { Kernel } from '../kernel.ts'
import { errorResponse, jsonResponse, withBytes } from '../pipeline/answer.ts'
import type { RequestEnv } from '../pipeline/request-record.ts'
import { matchesEtag } from './entity-tags.ts'

const PATH = '/assets/{cid}'

export function assets(hono: Hono<RequestEnv>, kernel: Kernel): void {
  hono.get('/assets/:cid', async (c) => {
    const { requestId: id, fault } = c.env
    c.env.route = PATH
    const response = await assetResponse(kernel, c.req.param('cid'), c.req.header('if-none-match') ?? '', fault).catch(
      (thrown) => {
        const { status, body } = errorResponse(kernel, thrown, id, new URL(c.req.url).origin)
        const wait = thrown instanceof ApiError ? thrown.retryAfter : undefined
        // A 503 tells proxies that the daemon is whole and has too much to do.
        const shown = thrown instanceof Overloaded ? 503 : status
        return jsonResponse(kernel, shown, body, wait === undefined ? {} : { 'Retry-After': String(wait) })
      },
    )
    response.headers.set('X-Request-Id', id)
    // Explorers and wallets read metadata from their own web pages, which need this header on errors too.
    response.headers.set('Access-Control-Allow-Origin', '*')
    return response
  })
}

async function assetResponse(kernel: Kernel, cid: string, ifNoneMatch: string, fault: unknown): Promise<Response> {
  if (fault !== undefined) throw fault
  const headers = {
    'Cache-Control': 'public, max-age=31536000, immutable',
    ETag: `"${cid}"`,
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'Cross-Origin-Resource-Policy': 'cross-origin',
  }
  // The identifier is a hash of the bytes, so a client that has them needs no new copy.
  if (matchesEtag(ifNoneMatch, cid) && (await kernel.storage.has(cid)))
    return new Response(null, { status: 304, headers })
  const asset = await kernel.storage.get(cid)
  if (asset === null) throw notFound('There is no such asset here')
  // A piece is read when the client has taken the one before, so that slow clients do not fill the memory.
  const response = new Response(ReadableStream.from(asset.pieces()), {
    headers: { ...headers, 'Content-Type': asset.contentType, 'Content-Length': String(asset.length) },
  })
  return withBytes(response, asset.length)
}
