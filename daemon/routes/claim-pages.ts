/**
 * GET /claim/{id}/…: the public claim page of a stored airdrop; the files of `svc airdrops page`, made from the
 * database.
 */
import type { Hono } from 'hono'
import { airdropText, subjectText } from '../../src/claim-page/site/site-subject.ts'
import { encodeBucket } from '../../src/claim-page/site/wallet-buckets.ts'
import { readBlock } from '../../src/operations/claim-pages/page-block.ts'
import { type PageList, PageLists } from '../../src/operations/claim-pages/page-lists.ts'
import { PageSubjects } from '../../src/operations/claim-pages/page-subject.ts'
import { notFound, rateLimited } from '../../src/platform/errors.ts'
import { findTree } from '../../src/store/airdrops/merkle-trees.ts'
import type { Row } from '../../src/store/schema.ts'
import type { Kernel } from '../kernel.ts'
import { VisitorCounter } from '../limits/visitors.ts'
import type { RequestEnv } from '../pipeline/request-record.ts'
import {
  type Asked,
  BINARY,
  CHECKED,
  indexFile,
  jsonFile,
  type PageFile,
  publicAddress,
  type Site,
  servePages,
  siteFile,
} from './public-pages.ts'

/** For a list on chain, which never changes. */
const KEPT = 'public, max-age=86400, immutable'

/** Limits how many lists visitors can make the daemon load, because each one displaces other lists from memory. */
const AT_ONCE = { perAddress: 3, inAll: 16 }
const LIST_READS = { minute: { perAddress: 30, inAll: 600 }, reading: AT_ONCE, running: AT_ONCE }

export const claimPages = (hono: Hono<RequestEnv>, kernel: Kernel): void =>
  servePages(hono, kernel, 'claim', pageFilesOf(kernel))

function pageFilesOf(kernel: Kernel) {
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
  return async (site: Site, { id, path, address }: Asked): Promise<PageFile> => {
    const row = /^[\w-]{46}$/.test(id) ? await findTree(kernel.store.db, id) : null
    if (row === null) throw notFound('This airdrop does not exist here')
    if (path === 'index.html') {
      const symbol = subjects.read(kernel, row).then(({ airdrop }) => airdrop.symbol || airdrop.name)
      const address = publicAddress(kernel, `claim/${row.id}`)
      return indexFile(site, { title: 'title', intro: 'intro', symbol, address })
    }
    const file = siteFile(site, path) ?? (await ofTree(row, path, address))
    if (file === null) throw notFound('This page has no such file')
    return file
  }
}
