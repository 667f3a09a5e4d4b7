/** Serves /v2/openapi.json, the reference page /v2/docs and the files of that page from this process. */

import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Hono } from 'hono'
import type { Kernel } from '../kernel.ts'
import type { RequestEnv } from '../pipeline/request-record.ts'
import { keptFile } from './kept-files.ts'

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
