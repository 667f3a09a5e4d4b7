/** Serves /v2/openapi.json, the interactive page /v2/docs and the files of that page from this process. */

import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Hono } from 'hono'
import { ERROR_STATUS } from '../../src/errors.ts'
import { once } from '../../src/timing.ts'
import type { RequestEnv } from '../pipeline/request-record.ts'
import { framePaths, type RefuseInvalid } from './framed-paths.ts'

const CONTENT_TYPES: Record<string, string> = { css: 'text/css', js: 'text/javascript' }
const FILES = ['swagger-ui.css', 'swagger-ui-bundle.js'] as const

const CODES: Record<keyof typeof ERROR_STATUS, string> = {
  bad_request:
    'The body or a parameter is invalid, or a business rule is violated. <code>param</code> names the field.',
  unauthorized: 'The bearer header is missing or malformed.',
  forbidden: 'The key is invalid or revoked, or lacks a scope.',
  not_found: 'The resource exists neither on chain nor in storage.',
  conflict: 'The <code>Idempotency-Key</code> was used with another request, or that request is still in progress.',
  rate_limited: 'A quota is exceeded. Wait for <code>Retry-After</code> seconds.',
  internal_error: 'An unhandled fault. Retry up to three times, starting after a second.',
}

const documentationPage = () => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>svc API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/assets/docs/swagger-ui.css">
<link rel="stylesheet" href="/assets/docs/page.css">
</head>
<body>
<div id="reference"></div>
<section class="errors">
<h2 id="errors">Errors</h2>
<p>Every failure is <code>{ error: { code, message, param?, details?, doc_url }, meta: { request_id } }</code>.</p>
<dl>
${Object.entries(ERROR_STATUS)
  .map(
    ([code, status]) =>
      `<dt id="error-${code}"><code>${code}</code> (HTTP ${status})</dt><dd>${CODES[code as keyof typeof CODES]}</dd>`,
  )
  .join('\n')}
</dl>
</section>
<script src="/assets/docs/swagger-ui-bundle.js"></script>
<script src="/assets/docs/page.js"></script>
</body>
</html>
`

const PAGE_FILES: ReadonlyMap<string, string> = new Map([
  [
    'page.css',
    'body{margin:0;font-family:system-ui,sans-serif}.errors{max-width:1460px;margin:0 auto;padding:0 20px 60px;box-sizing:border-box}dt{margin-top:1em;font-weight:600}:target{background:#fff3c4}',
  ],
  // The reference above the errors grows while it is drawn. The linked error is kept in view until the reader moves.
  [
    'page.js',
    `const target = () => document.getElementById(location.hash.slice(1))
const growth = new ResizeObserver(() => target()?.scrollIntoView())
growth.observe(document.getElementById('reference'))
for (const move of ['wheel', 'touchstart', 'pointerdown', 'keydown']) {
  addEventListener(move, () => growth.disconnect(), { once: true, passive: true })
}
window.ui = SwaggerUIBundle({
  url: '/v2/openapi.json',
  dom_id: '#reference',
  deepLinking: false,
  persistAuthorization: false,
  validatorUrl: null,
  docExpansion: 'list',
})
`,
  ],
])

const SECURITY = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}

/** Adds the routes of the documentation; `refuse` answers a request whose id is invalid. */
export function documentation(hono: Hono<RequestEnv>, refuse: RefuseInvalid): void {
  framePaths(hono, ['/v2/openapi.json', '/v2/docs', '/assets/docs/*'], refuse)
  const openapi = once(async () =>
    Buffer.from(JSON.stringify((await import('../../src/api/openapi.ts')).openApiDocument())),
  )
  hono.get('/v2/openapi.json', async () => {
    const headers = { 'content-type': 'application/json; charset=utf-8', 'x-content-type-options': 'nosniff' }
    return new Response(await openapi(), { headers })
  })
  const built = new Map<string, () => Promise<Buffer<ArrayBuffer>>>(
    FILES.map((file) => [file, once(() => readFile(builtFile(file)) as Promise<Buffer<ArrayBuffer>>)]),
  )
  hono.get('/v2/docs', (c) =>
    c.body(documentationPage(), 200, { 'content-type': 'text/html; charset=utf-8', ...SECURITY }),
  )
  hono.get('/assets/docs/:file', async (c, next) => {
    const file = c.req.param('file')
    const content = PAGE_FILES.get(file) ?? (await built.get(file)?.())
    if (content === undefined) return next()
    const type = CONTENT_TYPES[file.slice(file.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
    return new Response(content, {
      headers: {
        'content-type': `${type}; charset=utf-8`,
        'cache-control': 'public, max-age=3600',
        'x-content-type-options': 'nosniff',
      },
    })
  })
}

/** The file is next to the built program, or in dist/ when the program runs from source. */
function builtFile(file: string): string {
  const here = import.meta.url
  return fileURLToPath(new URL(here.endsWith('.ts') ? `../../dist/docs/${file}` : `./docs/${file}`, here))
}
