/**
 * GET /claim/{id}/…: the public claim page of a stored airdrop; the files of `svc airdrops page`, made from the
 * database.
 */
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
import { airdropText, subjectText } from '../../src/claim-page/site/site-subject.ts'
import { encodeBucket } from '../../src/claim-page/site/wallet-buckets.ts'
import { readBlock } from '../../src/operations/claim-pages/page-block.ts'
import { type PageList, PageLists } from '../../src/operations/claim-pages/page-lists.ts'
import { PageSubjects } from '../../src/operations/claim-pages/page-subject.ts'
import { ApiError, internal, notFound, Overloaded, rateLimited } from '../../src/platform/errors.ts'
import { once, withTimeout } from '../../src/platform/timing.ts'
import { publicRoot } from '../../src/settings/config.ts'
import { findTree } from '../../src/store/airdrops/merkle-trees.ts'
import type { Row } from '../../src/store/schema.ts'
import { callerOf, visitorAddressOf } from '../client-address.ts'
import type { Kernel } from '../kernel.ts'
import { VisitorCounter } from '../limits/visitors.ts'
import { respond } from '../pipeline/answer.ts'
import type { RequestEnv, RequestRecord } from '../pipeline/request-record.ts'
import { matchesEtag } from './entity-tags.ts'

/** The answer to one request of a page. */
interface PageFile {
  bytes: Uint8Array<ArrayBuffer> | string
  type: string
  /** Identifies the content; for files of a tree it is the root. */
  tag: string
  cache: string
}

const BINARY = 'application/octet-stream'
const JSON_TYPE = 'application/json; charset=utf-8'
/** The longest wait for the symbol in the head of a page. */
const SYMBOL_PATIENCE_MS = 700
/** For content that may change at any time: the browser must revalidate it. */
const CHECKED = 'no-cache'
/** For a list on chain, which never changes. */
const KEPT = 'public, max-age=86400, immutable'

/** Limits how many lists visitors can make the daemon load, because each one displaces other lists from memory. */
const AT_ONCE = { perAddress: 3, inAll: 16 }
const LIST_READS = { minute: { perAddress: 30, inAll: 600 }, reading: AT_ONCE, running: AT_ONCE }

export function claimPages(hono: Hono<RequestEnv>, kernel: Kernel): void {
  const site = once(() => readSite(kernel))
  site().catch((error) => kernel.log.error({ err: error }, 'the settings of claim pages are invalid'))
  const files = pageFilesOf(kernel, site)
  hono.get('/claim/:id', async (c) => {
    c.env.route = '/claim/{id}'
    // The page's paths are relative to its folder; a link may name a wallet.
    const { search } = new URL(c.req.url)
    return new Response(null, {
      status: 308,
      headers: { Location: `./${encodeURIComponent(c.req.param('id'))}/${search}`, 'X-Request-Id': c.env.requestId },
    })
  })
  hono.get('/claim/:id/:path{.*}', async (c) => {
    const record = c.env
    record.route = '/claim/{id}/{path}'
    const path = c.req.param('path')
    try {
      if (record.fault !== undefined) throw record.fault
      const address = visitorAddressOf(callerOf(c), kernel)
      const file = await files(c.req.param('id'), path === '' ? 'index.html' : path, address)
      return answer(record, file, path, c.req.header('if-none-match') ?? '', await securityPolicy(site))
    } catch (thrown) {
      return refusal(kernel, record, thrown)
    }
  })
}

type Site = Awaited<ReturnType<typeof readSite>>

/** The files of the page itself, and the operator's settings. */
async function readSite({ config, localRpc }: Kernel) {
  const page = await readPageFiles()
  const index = page.get('index.html')?.toString('utf8') ?? ''
  const [, policy] = /http-equiv="content-security-policy" content="([^"]+)"/i.exec(index) ?? []
  if (policy === undefined) throw internal('The files of the claim page are missing from this installation')
  const { 'claim-page-config': path, 'claim-page-rpc-url': rpc } = config.values
  const read = path === undefined ? { settings: {} } : readPageSettings(await readFile(path, 'utf8'), textsIn(page))
  if ('faults' in read) {
    const [{ field, message } = { field: '', message: 'cannot be used' }] = read.faults
    throw internal(`claim-page-config: ${field === '' ? 'the file' : field} ${message}`)
  }
  // Never the node that this daemon asks, because its URL may contain a key; but the embedded chain that it serves. The
  // daemon of the page sponsors the claims.
  const node = rpc ?? localRpc?.()
  const nodes = node === undefined ? {} : { rpc: [node] }
  const settings: PageSettings = { sponsor: '', ...nodes, ...read.settings }
  const texts = textsIn(page, settings.language) ?? {}
  if (path === undefined || settings.logo === undefined) return { page, policy, settings, texts, logo: null }
  const name = logoName(settings.logo)
  const bytes = (await readFile(resolve(dirname(path), settings.logo))) as Buffer<ArrayBuffer>
  return { page, policy, settings: { ...settings, logo: name }, texts, logo: { name, bytes } }
}

const securityPolicy = async (site: () => Promise<Site>) => `${(await site()).policy}; frame-ancestors 'none'`

function pageFilesOf(kernel: Kernel, site: () => Promise<Site>) {
  const [lists, subjects] = [new PageLists(), new PageSubjects()]
  const visitors = new VisitorCounter(kernel.clock, LIST_READS)
  const listOf = async (row: Row<'merkle_trees'>, address: string): Promise<PageList> => {
    if (lists.isAtHand(row)) return lists.read(kernel, row)
    const done = await visitors.run(address, { read: undefined, run: () => lists.read(kernel, row) })
    if ('wait' in done) throw rateLimited('Too many lists are being loaded for this address', done.wait)
    return done.answer
  }
  const ofTree = async (row: Row<'merkle_trees'>, path: string, address: string): Promise<PageFile | null> => {
    const tree = { type: BINARY, tag: row.root, cache: row.status === 'tree_built' ? CHECKED : KEPT }
    const [, bucket] = /^index\/(0|[1-9]\d{0,7})\.bin$/.exec(path) ?? []
    if (bucket !== undefined) {
      const { index } = await listOf(row, address)
      if (Number(bucket) >= 2 ** index.bits) return null
      return { ...tree, bytes: encodeBucket(index, Number(bucket)) as Buffer<ArrayBuffer> }
    }
    if (path === 'airdrops.json') {
      const [{ cluster, airdrop }, { index }] = await Promise.all([subjects.read(kernel, row), listOf(row, address)])
      return jsonFile(subjectText(cluster, [airdrop], index))
    }
    if (!path.startsWith(`${row.id}/`)) return null
    const own = path.slice(row.id.length + 1)
    if (own === 'list.bin') return { ...tree, bytes: (await listOf(row, address)).rows }
    if (own === 'airdrop.json') {
      const { cluster, airdrop } = await subjects.read(kernel, row)
      return jsonFile(airdropText(cluster, airdrop))
    }
    const [, block] = /^rows\/(0|[1-9]\d{0,7})\.bin$/.exec(own) ?? []
    const bytes = block === undefined ? null : await readBlock(kernel, row, Number(block))
    return bytes === null ? null : { ...tree, bytes: bytes as Buffer<ArrayBuffer> }
  }
  /** Empty if the chain does not answer soon: the page itself shows what is wrong. */
  const symbolOf = (row: Row<'merkle_trees'>): Promise<string> =>
    withTimeout(SYMBOL_PATIENCE_MS, undefined, () => subjects.read(kernel, row)).then(
      ({ airdrop }) => airdrop.symbol || airdrop.name,
      () => '',
    )
  return async (id: string, path: string, address: string): Promise<PageFile> => {
    const row = /^[\w-]{46}$/.test(id) ? await findTree(kernel.store.db, id) : null
    if (row === null) throw notFound('This airdrop does not exist here')
    const { page, settings, texts, logo } = await site()
    const own = page.get(path)
    if (path === 'index.html' && own !== undefined) {
      const text = withHead(own.toString('utf8'), {
        settings,
        texts,
        symbol: await symbolOf(row),
        address: publicAddress(kernel, row.id) ?? settings.url,
      })
      return { bytes: text, type: pageContentType(path), tag: tagOf(text), cache: CHECKED }
    }
    if (own !== undefined) return { bytes: own, type: pageContentType(path), tag: tagOf(own), cache: CHECKED }
    if (path === 'site.json') return jsonFile(settingsText(settings))
    if (logo !== null && path === logo.name) {
      const type = LOGO_TYPES[path.split('.').at(-1) ?? ''] ?? BINARY
      return { bytes: logo.bytes, type, tag: tagOf(logo.bytes), cache: CHECKED }
    }
    const file = await ofTree(row, path, address)
    if (file === null) throw notFound('This page has no such file')
    return file
  }
}

/** Where others reach the page; undefined if the settings do not say. */
function publicAddress({ config }: Kernel, id: string): string | undefined {
  const root = publicRoot(config)
  return root === undefined ? undefined : `${root}/claim/${id}/`
}

const tagOf = (content: Uint8Array | string): string => createHash('sha256').update(content).digest('hex').slice(0, 32)
const jsonFile = (bytes: string): PageFile => ({ bytes, type: JSON_TYPE, tag: tagOf(bytes), cache: CHECKED })

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
function refusal(kernel: Kernel, record: RequestRecord, thrown: unknown): Response {
  const { requestId } = record
  const isMissing = thrown instanceof ApiError && thrown.code === 'not_found'
  const isBusy = thrown instanceof Overloaded
  const isRefused = thrown instanceof ApiError && thrown.status < 500
  if (!isRefused && !isBusy) kernel.log.error({ err: thrown, request_id: requestId }, 'a claim page failed')
  const isLimited = thrown instanceof ApiError && thrown.code === 'rate_limited'
  const [status, words] = isMissing
    ? [404, 'This claim page does not exist. Check the link that you were given.']
    : isBusy || isLimited
      ? [isLimited ? 429 : 503, 'There are too many visitors at the moment. Try again in a few seconds.']
      : isRefused
        ? [thrown.status, 'This claim page cannot be shown. Tell the person who gave you the link.']
        : [503, 'This claim page cannot be shown at the moment. Try again in a minute.']
  const text = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Claim</title><h1>Claim</h1><p>${words}</p></html>\n`
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
