/** What the public pages of the daemon share: the files of their sites, and the answers to visitors. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { Hono } from 'hono'
import { pageContentType, readPageFiles, textsIn } from '../../src/claim-page/site/page-files.ts'
import { withHead } from '../../src/claim-page/site/page-head.ts'
import {
  LOGO_TYPES,
  logoName,
  type PageSettings,
  readPageSettings,
  settingsText,
} from '../../src/claim-page/site/site-settings.ts'
import { ApiError, internal, Overloaded } from '../../src/platform/errors.ts'
import { once, withTimeout } from '../../src/platform/timing.ts'
import { publicRoot } from '../../src/settings/config.ts'
import { callerOf, visitorAddressOf } from '../client-address.ts'
import type { Kernel } from '../kernel.ts'
import { respond } from '../pipeline/answer.ts'
import type { RequestEnv, RequestRecord } from '../pipeline/request-record.ts'
import { matchesEtag } from './entity-tags.ts'

/** The answer to one request of a page. */
export interface PageFile {
  bytes: Uint8Array<ArrayBuffer> | string
  type: string
  /** Identifies the content; for files of a tree it is the root. */
  tag: string
  cache: string
}

export const BINARY = 'application/octet-stream'
const JSON_TYPE = 'application/json; charset=utf-8'
/** The longest wait for the symbol in the head of a page. */
const SYMBOL_PATIENCE_MS = 700
/** For content that may change at any time: the browser must revalidate it. */
export const CHECKED = 'no-cache'

export type Site = Awaited<ReturnType<typeof readSite>>

/** The files of a page itself, and the operator's settings, which are those of claim pages. */
async function readSite({ config, localRpc }: Kernel, name: 'claim-page' | 'raise-page') {
  // One file of settings serves both pages, and a raise's page has the texts of both.
  const page = await readPageFiles(name)
  const both = name === 'raise-page' ? page : await readPageFiles('raise-page')
  const index = page.get('index.html')?.toString('utf8') ?? ''
  const [, policy] = /http-equiv="content-security-policy" content="([^"]+)"/i.exec(index) ?? []
  if (policy === undefined) throw internal('The files of the page are missing from this installation')
  const { 'claim-page-config': path, 'claim-page-rpc-url': rpc } = config.values
  const read = path === undefined ? { settings: {} } : readPageSettings(await readFile(path, 'utf8'), textsIn(both))
  if ('faults' in read) {
    const [{ field, message } = { field: '', message: 'cannot be used' }] = read.faults
    throw internal(`claim-page-config: ${field === '' ? 'the file' : field} ${message}`)
  }
  // Never the node that this daemon asks, because its URL may contain a key; but the embedded chain that it serves. The
  // daemon of the page sponsors the claims.
  const node = rpc ?? localRpc?.()
  const nodes = node === undefined ? {} : { rpc: [node] }
  const settings: PageSettings = { sponsor: '', ...nodes, ...read.settings }
  const texts = textsIn(page, settings.language) ?? textsIn(page) ?? {}
  if (path === undefined || settings.logo === undefined) return { page, policy, settings, texts, logo: null }
  const logo = logoName(settings.logo)
  const bytes = (await readFile(resolve(dirname(path), settings.logo))) as Buffer<ArrayBuffer>
  return { page, policy, settings: { ...settings, logo }, texts, logo: { name: logo, bytes } }
}

/** A file that is the same for every page of a site, except `index.html`; null for another path. */
export function siteFile({ page, settings, logo }: Site, path: string): PageFile | null {
  const own = page.get(path)
  if (own !== undefined) return { bytes: own, type: pageContentType(path), tag: tagOf(own), cache: CHECKED }
  if (path === 'site.json') return jsonFile(settingsText(settings))
  if (logo === null || path !== logo.name) return null
  const type = LOGO_TYPES[path.split('.').at(-1) ?? ''] ?? BINARY
  return { bytes: logo.bytes, type, tag: tagOf(logo.bytes), cache: CHECKED }
}

/** What the head of a page says in its texts. */
interface Head {
  /** Keys of the texts. */
  title: string
  intro: string
  /** Empty if the chain does not answer soon: the page itself shows what is wrong. */
  symbol: Promise<string>
  address: string | undefined
}

export async function indexFile({ page, settings, texts }: Site, { title, intro, symbol, address }: Head) {
  const own = page.get('index.html')?.toString('utf8') ?? ''
  const soon = await withTimeout(SYMBOL_PATIENCE_MS, undefined, () => symbol).catch(() => '')
  const head = { settings, texts, keys: { title, intro }, symbol: soon, address: address ?? settings.url }
  const text = withHead(own, head)
  return { bytes: text, type: pageContentType('index.html'), tag: tagOf(text), cache: CHECKED }
}

/** A file in the folder of a page, and the address of the visitor. */
export interface Asked {
  id: string
  path: string
  address: string
}
type Find = (site: Site, asked: Asked) => Promise<PageFile>

/** Serves the pages of a kind, each in a folder of its own. */
export function servePages(hono: Hono<RequestEnv>, kernel: Kernel, root: 'claim' | 'raise', find: Find): void {
  const site = once(() => readSite(kernel, `${root}-page`))
  site().catch((error) => kernel.log.error({ err: error }, `the settings of ${root} pages are invalid`))
  toFolder(hono, root)
  hono.get(`/${root}/:id/:path{.*}`, async (c) => {
    const record = c.env
    record.route = `/${root}/{id}/{path}`
    const [id, path] = [c.req.param('id') ?? '', c.req.param('path') ?? '']
    try {
      if (record.fault !== undefined) throw record.fault
      const address = visitorAddressOf(callerOf(c), kernel)
      const given = await site()
      const file = await find(given, { id, path: path === '' ? 'index.html' : path, address })
      const policy = `${given.policy}; frame-ancestors 'none'`
      return answer(record, file, path, c.req.header('if-none-match') ?? '', policy)
    } catch (thrown) {
      return refusal(kernel, record, thrown, root)
    }
  })
}

/** The paths of a page are relative to its folder. A link may name a wallet. */
function toFolder(hono: Hono<RequestEnv>, root: 'claim' | 'raise'): void {
  hono.get(`/${root}/:id`, (c) => {
    c.env.route = `/${root}/{id}`
    const { search } = new URL(c.req.url)
    return new Response(null, {
      status: 308,
      headers: { Location: `./${encodeURIComponent(c.req.param('id'))}/${search}`, 'X-Request-Id': c.env.requestId },
    })
  })
}

/** Where others reach the page; undefined if the settings do not say. */
export function publicAddress({ config }: Kernel, path: string): string | undefined {
  const root = publicRoot(config)
  return root === undefined ? undefined : `${root}/${path}/`
}

const tagOf = (content: Uint8Array | string): string => createHash('sha256').update(content).digest('hex').slice(0, 32)
export const jsonFile = (bytes: string): PageFile => ({ bytes, type: JSON_TYPE, tag: tagOf(bytes), cache: CHECKED })

/** A picture or data file that is opened directly must not run anything. */
const ALONE = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

function answer(
  record: RequestRecord,
  { bytes, type, tag, cache }: PageFile,
  path: string,
  ifNoneMatch: string,
  policy: string,
): Response {
  const isPage = /^$|\.(html|js|css)$/.test(path)
  const headers = {
    'Content-Security-Policy': isPage ? policy : ALONE,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin-allow-popups',
    'Cache-Control': cache,
    ETag: `"${tag}"`,
    'X-Request-Id': record.requestId,
  }
  if (matchesEtag(ifNoneMatch, tag)) return respond(record, 304, headers, null)
  const all = { ...headers, 'Content-Type': type, 'Content-Length': String(Buffer.byteLength(bytes)) }
  return respond(record, 200, all, bytes)
}

/** Visitors see these answers: a short page without the cause, which is in the log. */
function refusal(kernel: Kernel, record: RequestRecord, thrown: unknown, root: 'claim' | 'raise'): Response {
  const [page, title] = [`${root} page`, root === 'claim' ? 'Claim' : 'Raise']
  const { requestId } = record
  const isMissing = thrown instanceof ApiError && thrown.code === 'not_found'
  const isBusy = thrown instanceof Overloaded
  const isRefused = thrown instanceof ApiError && thrown.status < 500
  if (!isRefused && !isBusy) kernel.log.error({ err: thrown, request_id: requestId }, `a ${page} failed`)
  const isLimited = thrown instanceof ApiError && thrown.code === 'rate_limited'
  const [status, words] = isMissing
    ? [404, `This ${page} does not exist. Check the link that you were given.`]
    : isBusy || isLimited
      ? [isLimited ? 429 : 503, 'There are too many visitors at the moment. Try again in a few seconds.']
      : isRefused
        ? [thrown.status, `This ${page} cannot be shown. Tell the person who gave you the link.`]
        : [503, `This ${page} cannot be shown at the moment. Try again in a minute.`]
  const text = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><h1>${title}</h1><p>${words}</p></html>\n`
  const headers = {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
    ...(status === 503 || isLimited
      ? { 'Retry-After': String(isBusy || isLimited ? (thrown.retryAfter ?? 1) : 30) }
      : {}),
    'X-Request-Id': requestId,
  }
  return respond(record, Number(status), headers, text)
}
