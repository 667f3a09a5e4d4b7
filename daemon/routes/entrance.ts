/** Answers `/`: a small page about the service for people, and the same as JSON for programs. */
import { hash } from 'node:crypto'
import type { Hono } from 'hono'
import { accepts } from 'hono/accepts'
import { health } from '../../src/operations/service/health.ts'
import { VERSION } from '../../src/platform/version.ts'
import type { Kernel } from '../kernel.ts'
import { envelope, jsonResponse, respond } from '../pipeline/answer.ts'
import type { RequestEnv } from '../pipeline/request-record.ts'

const JSON_TYPE = 'application/json'
const PAGE_TYPE = 'text/html'

/** Links to the main routes. */
const LINKS = { reference: '/v2/docs', openapi: '/v2/openapi.json', health: '/v2/health', ready: '/ready' } as const

const ABOUT: Readonly<Record<keyof typeof LINKS, string>> = {
  reference: 'API reference',
  openapi: 'The API reference as an OpenAPI document, for programs',
  health: 'Health: the service answers',
  ready: 'Readiness: the database and the node answer',
}

const STYLE =
  ':root{color-scheme:light dark}body{font:1rem/1.6 system-ui,sans-serif;max-width:36rem;margin:10vh auto;padding:0 1.25rem}h1{font-size:1.5rem}li{margin:.75rem 0}a{color:LinkText}'

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>svc</title>
<link rel="icon" href="data:,">
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>svc ${VERSION}</h1>
<p>Token launches on Solana: pools, airdrops, tokens, NFTs and fees, over HTTP under <code>/v2</code>. This service is up.</p>
<ul>
${Object.entries(LINKS)
  .map(([name, path]) => `<li><a href="${path}">${path}</a><br>${ABOUT[name as keyof typeof LINKS]}</li>`)
  .join('\n')}
</ul>
</main>
</body>
</html>
`

const PAGE_HEADERS = {
  'content-type': `${PAGE_TYPE}; charset=utf-8`,
  // Only the page's own style is allowed, by its hash.
  'content-security-policy': `default-src 'none'; img-src data:; style-src 'sha256-${hash('sha256', STYLE, 'base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
}

export function entrance(hono: Hono<RequestEnv>, kernel: Kernel): void {
  hono.get('/', (c) => {
    const record = c.env
    record.route = '/'
    if (record.fault !== undefined) throw record.fault
    const headers = { Vary: 'Accept' }
    const type = accepts(c, { header: 'Accept', supports: [JSON_TYPE, PAGE_TYPE], default: JSON_TYPE })
    if (type === PAGE_TYPE)
      return respond(record, 200, { ...PAGE_HEADERS, ...headers, 'X-Request-Id': record.requestId }, PAGE)
    const body = envelope({ ...health(kernel), ...LINKS }, { request_id: record.requestId })
    return jsonResponse(kernel, record, 200, body, headers)
  })
}
