/** GET /assets/{cid}: stored images and metadata as they are, for everyone; what an identifier leads to never changes. */
import type { Hono } from 'hono'
import { notFound } from '../../src/errors.ts'
import type { Kernel } from '../kernel.ts'
import { errorResponse, jsonResponse } from '../pipeline/answer.ts'
import { requestIdOf } from '../pipeline/request-id.ts'

const PATH = '/assets/{cid}'

export function assets(hono: Hono, kernel: Kernel): void {
  hono.get('/assets/:cid', async (c) => {
    const started = performance.now()
    const { id, fault } = requestIdOf(c.req.raw)
    const response = await assetResponse(kernel, c.req.param('cid'), c.req.header('if-none-match') ?? '', fault).catch(
      (thrown) => {
        const { status, body } = errorResponse(kernel, thrown, id, new URL(c.req.url).origin)
        return jsonResponse(kernel, status, body, {})
      },
    )
    response.headers.set('X-Request-Id', id)
    // Explorers and wallets read metadata from pages of their own, errors included.
    response.headers.set('Access-Control-Allow-Origin', '*')
    kernel.metrics.request('get', PATH, response.status, (performance.now() - started) / 1000)
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
  // Who has it has it right: its bytes need no second look.
  if (matchesEtag(ifNoneMatch, cid) && (await kernel.storage.has(cid)))
    return new Response(null, { status: 304, headers })
  const asset = await kernel.storage.get(cid)
  if (asset === null) throw notFound('There is no such asset here')
  return new Response(asset.bytes, {
    headers: { ...headers, 'Content-Type': asset.contentType, 'Content-Length': String(asset.bytes.byteLength) },
  })
}

/** RFC 9110, 13.1.2: a list of tags, compared weakly, or `*`. */
const matchesEtag = (header: string, cid: string): boolean =>
  header.split(',').some((tag) => ['*', `"${cid}"`, `W/"${cid}"`].includes(tag.trim()))
