/** Serves /v2/openapi.json, the reference page /v2/docs and the files of that page from this process. */
import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Context, Hono } from 'hono'
import { accepts } from 'hono/accepts'
import { once } from '../../src/platform/timing.ts'
import type { Kernel } from '../kernel.ts'
import { respond } from '../pipeline/answer.ts'
import type { RequestEnv } from '../pipeline/request-record.ts'
import { matchesEtag } from './entity-tags.ts'

/** A browser may show the page, run its scripts, and send requests to this service. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const PAGE_HEADERS = {
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
}

export function documentation(hono: Hono<RequestEnv>, { config }: Pick<Kernel, 'config'>): void {
  const files = {
    '/v2/openapi.json': builtFile('openapi.json', 'application/json', { 'X-Content-Type-Options': 'nosniff' }, (text) =>
      withServer(text, config.values['public-url']),
    ),
    '/v2/docs': builtFile('docs/index.html', 'text/html'),
    '/assets/docs/page.css': builtFile('docs/page.css', 'text/css'),
    '/assets/docs/page.js': builtFile('docs/page.js', 'text/javascript'),
    '/assets/docs/swagger-ui.css': builtFile('docs/swagger-ui.css', 'text/css'),
    '/assets/docs/swagger-ui-bundle.js': builtFile('docs/swagger-ui-bundle.js', 'text/javascript'),
  }
  for (const [path, answer] of Object.entries(files)) hono.get(path, answer)
}

/** A file of dist/; when run from source, it is read from there too. */
function builtFile(
  file: string,
  type: string,
  headers: Record<string, string> = PAGE_HEADERS,
  change = (text: Buffer<ArrayBuffer>) => text,
) {
  const here = import.meta.url
  const path = fileURLToPath(new URL(here.endsWith('.ts') ? `../../dist/${file}` : `./${file}`, here))
  return keptFile(async () => change((await readFile(path)) as Buffer<ArrayBuffer>), {
    ...headers,
    'Content-Type': `${type}; charset=utf-8`,
  })
}

/** The document with the public URL as its server, if that has a path: `/` would lead clients, and their keys, elsewhere. */
function withServer(document: Buffer<ArrayBuffer>, publicUrl: string | undefined): Buffer<ArrayBuffer> {
  const url = publicUrl?.replace(/\/+$/, '')
  if (url === undefined || new URL(url).pathname === '/') return document
  const text = document
    .toString('utf8')
    .replace('"servers":[{"url":"/"}]', () => `"servers":[{"url":${JSON.stringify(url)}}]`)
  return Buffer.from(text)
}

/** Answers requests for one file; `read` is called at the first request. */
function keptFile(read: () => Promise<Uint8Array<ArrayBuffer>>, headers: Readonly<Record<string, string>>) {
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
