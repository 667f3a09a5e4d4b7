/** Writes the files of a claim page as its format says, apart from the code that ships, and serves them as any web server does. */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, extname, join, normalize } from 'node:path'
import { keyFromBase58 } from '../../src/merkle/base58.ts'
import { type EntryList, entryAt } from '../../src/merkle/entry-list.ts'
import { buildTree, toHex } from '../../src/merkle/tree.ts'

const sha = (...parts: Uint8Array[]) => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

export interface SiteTree {
  id: string
  list: EntryList
  mint: string
  distributor: string
  decimals?: number
  symbol?: string
  airdropCount?: number
}

export interface SiteCluster {
  genesis_hash: string
  name: string | null
  chain: string
}

/** The files of the site by path; the page's own are not among them. */
export function siteFiles(
  trees: readonly SiteTree[],
  cluster: SiteCluster,
  settings: object = {},
): Map<string, Buffer> {
  const files = new Map<string, Buffer>()
  const count = trees.reduce((sum, { list }) => sum + list.count, 0)
  let bits = 0
  while (count / 2 ** bits > 256) bits++
  const buckets: Buffer[][] = Array.from({ length: 2 ** bits }, () => [])
  const airdrops: object[] = []
  let row = 0
  for (const { id, list, mint, distributor, decimals = 6, symbol = 'DROP', airdropCount = 0 } of trees) {
    const tree = buildTree(list)
    const isLocked = list.locked !== undefined
    const rows: Buffer[] = []
    let [total, totalLocked] = [0n, 0n]
    for (let leaf = 0; leaf < list.count; leaf++, row++) {
      const { wallet, amount, locked } = entryAt(list, leaf)
      const key = Buffer.from(typeof wallet === 'string' ? keyFromBase58(wallet)! : wallet)
      const amounts = Buffer.alloc(isLocked ? 16 : 8)
      amounts.writeBigUInt64LE(amount)
      if (isLocked) amounts.writeBigUInt64LE(locked, 8)
      rows.push(Buffer.concat([key, amounts]))
      total += amount + locked
      totalLocked += locked
      const hash = sha(key)
      const entry = Buffer.alloc(12)
      hash.copy(entry, 0, 4, 12)
      entry.writeUInt32LE(row, 8)
      buckets[bits === 0 ? 0 : hash.readUInt32BE() >>> (32 - bits)]!.push(entry)
    }
    const bytes = Buffer.concat(rows)
    files.set(`${id}/list.bin`, bytes)
    const levels = tree.counts.length - 1
    for (let block = 0; block * 64 < list.count; block++) {
      const siblings: Uint8Array[] = []
      for (let level = 6, node = block; level < levels; level++, node >>= 1) {
        const sibling = (node ^ 1) < tree.counts[level]! ? node ^ 1 : node
        const at = tree.offsets[level]! + 32 * sibling
        siblings.push(tree.nodes.subarray(at, at + 32))
      }
      files.set(`${id}/rows/${block}.bin`, Buffer.concat([...rows.slice(64 * block, 64 * block + 64), ...siblings]))
    }
    airdrops.push({
      id,
      mint,
      airdrop_count: airdropCount,
      distributor,
      decimals,
      symbol,
      name: `${symbol} airdrop`,
      root: toHex(tree.root),
      list_sha256: toHex(sha(bytes)),
      leaf_count: list.count,
      total: String(total),
      total_locked: String(totalLocked),
      row_bytes: isLocked ? 48 : 40,
      block_rows: 64,
      starts_at: null,
      ends_at: null,
      clawback_at: null,
    })
  }
  const entries = buckets.map((bucket) => Buffer.concat(bucket.sort(Buffer.compare)))
  const levels = [entries.map((bucket) => sha(Buffer.of(0), bucket))]
  while (levels.at(-1)!.length > 1) {
    const below = levels.at(-1)!
    levels.push(below.filter((_, n) => n % 2 === 0).map((node, n) => sha(Buffer.of(1), node, below[2 * n + 1]!)))
  }
  entries.forEach((bucket, k) => {
    const siblings = Array.from({ length: bits }, (_, level) => levels[level]![(k >> level) ^ 1]!)
    files.set(`index/${k}.bin`, Buffer.concat([bucket, ...siblings]))
  })
  const index = { bits, root: toHex(levels.at(-1)![0]!), entry_bytes: 12, count }
  files.set('airdrops.json', Buffer.from(JSON.stringify({ format: 'svc-claim-page/1', cluster, airdrops, index })))
  files.set('site.json', Buffer.from(JSON.stringify(settings)))
  return files
}

export function writeSite(folder: string, files: ReadonlyMap<string, Buffer>): void {
  for (const [path, bytes] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), bytes)
  }
}

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.png': 'image/png',
}

export interface FileServer {
  url: string
  close(): Promise<void>
}

/** A plain file server over folders: the first that has the file serves it. It knows nothing of the page. */
export async function serveFiles(...folders: string[]): Promise<FileServer> {
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url ?? '/', 'http://x').pathname))
    for (const folder of folders) {
      try {
        const body = readFileSync(join(folder, path.endsWith('/') ? `${path}index.html` : path))
        response.writeHead(200, { 'content-type': TYPES[extname(path) || '.html'] ?? 'application/octet-stream' })
        response.end(body)
        return
      } catch {
        // The next folder may have it.
      }
    }
    response.writeHead(404).end()
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', () => listening()))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () =>
      new Promise<void>((closed) => {
        server.close(() => closed())
        server.closeAllConnections()
      }),
  }
}
