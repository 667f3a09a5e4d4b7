/** GET /raise/{id}/…: the public page of a stored raise, on which buyers deposit, claim and take back. */
import type { Hono } from 'hono'
import { readTokenState } from '../../src/chain/programs/tokens/index.ts'
import { raiseText, siteCluster, tokenWords } from '../../src/claim-page/site/site-subject.ts'
import { keyFromBase58 } from '../../src/merkle/base58.ts'
import { creatorVaultOf } from '../../src/operations/raises/reads.ts'
import { notFound } from '../../src/platform/errors.ts'
import { findRaise, type RaiseRow } from '../../src/store/resources/raises.ts'
import type { Kernel } from '../kernel.ts'
import type { RequestEnv } from '../pipeline/request-record.ts'
import { indexFile, jsonFile, type PageFile, publicAddress, type Site, servePages, siteFile } from './public-pages.ts'

export const raisePages = (hono: Hono<RequestEnv>, kernel: Kernel): void =>
  servePages(hono, kernel, 'raise', async (site, { id, path }) => {
    const row = keyFromBase58(id) === undefined ? null : await findRaise(kernel.store.db, id)
    if (row === null) throw notFound('This raise does not exist here')
    return pageFile(kernel, site, row, path)
  })

async function pageFile(kernel: Kernel, site: Site, row: RaiseRow, path: string): Promise<PageFile> {
  if (path === 'index.html') {
    const address = publicAddress(kernel, `raise/${row.id}`)
    return indexFile(site, { title: 'raiseTitle', intro: 'raiseIntro', symbol: symbolOf(kernel, row), address })
  }
  if (path === 'raise.json') {
    const [genesis, vault] = await Promise.all([kernel.chain.genesisHash(), creatorVaultOf(kernel, row.creator, row)])
    return jsonFile(raiseText(siteCluster(genesis), row.id, vault))
  }
  const file = siteFile(site, path)
  if (file === null) throw notFound('This page has no such file')
  return file
}

async function symbolOf({ chain }: Kernel, { mint }: RaiseRow): Promise<string> {
  const { metadata } = await readTokenState(chain, mint)
  return tokenWords(mint, metadata?.name, metadata?.symbol).symbol
}
