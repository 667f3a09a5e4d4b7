/** Serves /v2/openapi.json, the reference page /v2/docs and the files of that page from this process. */
import type { Context, Hono } from 'hono'
import { once } from '../../src/platform/timing.ts'
import { publicRoot } from '../../src/settings/config.ts'
import type { Kernel } from '../kernel.ts'
import type { RequestEnv } from '../pipeline/request-record.ts'
import { answerFile, readBuilt, servedFile } from './built-files.ts'

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
      withServer(text, publicRoot(config)),
    ),
    '/v2/docs': builtFile('docs/index.html', 'text/html'),
    '/assets/docs/page.css': builtFile('docs/page.css', 'text/css'),
    '/assets/docs/page.js': builtFile('docs/page.js', 'text/javascript'),
    '/assets/docs/swagger-ui.css': builtFile('docs/swagger-ui.css', 'text/css'),
    '/assets/docs/swagger-ui-bundle.js': builtFile('docs/swagger-ui-bundle.js', 'text/javascript'),
  }
  for (const [path, answer] of Object.entries(files)) hono.get(path, answer)
}

function builtFile(
  file: string,
  type: string,
  headers: Record<string, string> = PAGE_HEADERS,
  change = (text: Buffer<ArrayBuffer>) => text,
) {
  return keptFile(async () => change(await readBuilt(file)), { ...headers, 'Content-Type': `${type}; charset=utf-8` })
}

/** The document with the public URL as its server, if that has a path: `/` would lead clients, and their keys, elsewhere. */
function withServer(document: Buffer<ArrayBuffer>, url: string | undefined): Buffer<ArrayBuffer> {
  if (url === undefined || new URL(url).pathname === '/') return document
  const text = document
    .toString('utf8')
    .replace('"servers":[{"url":"/"}]', () => `"servers":[{"url":${JSON.stringify(url)}}]`)
  return Buffer.from(text)
}

/** Answers requests for one file; `read` is called at the first request. */
function keptFile(read: () => Promise<Uint8Array<ArrayBuffer>>, headers: Readonly<Record<string, string>>) {
  const file = once(async () => servedFile(await read()))
  return async (c: Context<RequestEnv>): Promise<Response> => {
    c.env.route = c.req.path
    if (c.env.fault !== undefined) throw c.env.fault
    return answerFile(c, await file(), { ...headers, 'Cache-Control': 'no-cache' })
  }
}
