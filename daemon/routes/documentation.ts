/** Serves /v2/openapi.json, the reference page /v2/docs and the files of that page from this process. */

import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Hono } from 'hono'
import { once } from '../../src/platform/timing.ts'
import type { RequestEnv } from '../pipeline/request-record.ts'
import { framePaths, type RefuseInvalid } from './framed-paths.ts'
import { keptFile } from './kept-files.ts'

/** What a browser may do with the page: nothing but show it and run its one script, which writes no HTML. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const PAGE_HEADERS = {
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
}

/** Adds the routes of the documentation; `refuse` answers a request whose id is invalid. */
export function documentation(hono: Hono<RequestEnv>, refuse: RefuseInvalid): void {
  framePaths(hono, ['/v2/openapi.json', '/v2/docs', '/assets/docs/*'], refuse)
  const openapi = once(async () =>
    Buffer.from(JSON.stringify((await import('../../src/api/openapi.ts')).openApiDocument())),
  )
  const files = {
    '/v2/openapi.json': keptFile(openapi, {
      'Content-Type': 'application/json; charset=utf-8',
      'X-Content-Type-Options': 'nosniff',
    }),
    '/v2/docs': builtFile('index.html', 'text/html'),
    '/assets/docs/page.css': builtFile('page.css', 'text/css'),
    '/assets/docs/page.js': builtFile('page.js', 'text/javascript'),
  }
  for (const [path, answer] of Object.entries(files)) hono.get(path, answer)
}

/** A file of dist/docs/, which is next to the built program, or in dist/ when the program runs from source. */
function builtFile(file: string, type: string) {
  const here = import.meta.url
  const path = fileURLToPath(new URL(here.endsWith('.ts') ? `../../dist/docs/${file}` : `./docs/${file}`, here))
  return keptFile(() => readFile(path) as Promise<Buffer<ArrayBuffer>>, {
    ...PAGE_HEADERS,
    'Content-Type': `${type}; charset=utf-8`,
  })
}
