/** The files of a claim page, read back by a reader that was written from docs/claim-pages.md alone. */
import { base58 } from '@scure/base'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  airdropText,
  blockCount,
  encodeBlock,
  type SiteAirdrop,
  siteCluster,
  subjectText,
  tokenWords,
} from '../../src/claim-page/site/site-subject.ts'
import { bucketBits, bucketSteps, buildBuckets, encodeBucket } from '../../src/claim-page/site/wallet-buckets.ts'
import { canonicalRows, listFromEntries, listHash, totalAmount, totalLocked } from '../../src/merkle/entry-list.ts'
import { buildTree, proofAt, toHex } from '../../src/merkle/tree.ts'
import { GENESIS_HASHES } from '../../src/solana/genesis-hashes.ts'
import { anyAmounts, anyKey, naiveLeaf, type Recipient, sha256, u64, walletOf } from '../merkle/reference.ts'
import { runs } from '../support/runs.ts'

type Row = Required<Recipient>
type Files = Map<string, Buffer>

const ID = (tree: number) => `tree${tree}`

/** Writes the site of these lists into a map. */
function siteOf(lists: readonly (readonly Row[])[]): Files {
  const files: Files = new Map()
  const trees = lists.map((rows) => buildTree(listFromEntries(rows)))
  const index = buildBuckets(trees.map(({ list }) => list))
  const airdrops = trees.map((tree, i): SiteAirdrop => {
    const { list } = tree
    const id = ID(i)
    files.set(`${id}/list.bin`, Buffer.from(canonicalRows(list, 0, list.count)))
    for (let block = 0; block < blockCount(list.count); block++) {
      const bytes = encodeBlock(list, block * 64, proofAt(tree, block * 64), list.locked !== undefined)
      files.set(`${id}/rows/${block}.bin`, bytes)
    }
    return {
      ...{ id, mint: walletOf(1), airdrop_count: i, distributor: walletOf(2), vault: null, decimals: 6 },
      ...{ symbol: 'T', name: 'Token', root: toHex(tree.root), list_sha256: listHash(list), leaf_count: list.count },
      ...{ total: String(totalAmount(list)), total_locked: String(totalLocked(list)) },
      ...{ starts_at: null, ends_at: null, clawback_at: null },
    }
  })
  files.set('airdrops.json', Buffer.from(subjectText(siteCluster(walletOf(3)), airdrops, index)))
  for (let bucket = 0; bucket < 2 ** index.bits; bucket++) {
    files.set(`index/${bucket}.bin`, encodeBucket(index, bucket))
  }
  return files
}

const max = (a: Buffer, b: Buffer) => (Buffer.compare(a, b) <= 0 ? [a, b] : [b, a])
const pair = (a: Buffer, b: Buffer) => sha256(Buffer.from([1]), ...max(a, b))

/** Every row of a wallet with its proven amounts, and the bytes that finding them took; throws where a file is not genuine. */
function lookUp(files: Files, wallet: string) {
  const { airdrops, index } = JSON.parse(String(files.get('airdrops.json')))
  const [key, hash] = [Buffer.from(base58.decode(wallet)), sha256(base58.decode(wallet))]
  const bucket = Number((hash.readBigUInt64BE() << BigInt(index.bits)) >> 64n)
  const file = files.get(`index/${bucket}.bin`)!
  const entries = file.subarray(0, file.length - 32 * index.bits)
  let node = sha256(Buffer.from([0]), entries)
  for (let level = 0; level < index.bits; level++) {
    const sibling = file.subarray(entries.length + 32 * level, entries.length + 32 * (level + 1))
    node = sha256(Buffer.from([1]), ...((bucket >> level) % 2 === 0 ? [node, sibling] : [sibling, node]))
  }
  if (node.toString('hex') !== index.root) throw new Error(`index/${bucket}.bin was changed`)
  let bytes = file.length
  const found: (Row & { tree: number })[] = []
  for (let at = 0; at < entries.length; at += index.entry_bytes) {
    if (!entries.subarray(at, at + 8).equals(hash.subarray(4, 12))) continue
    let row = entries.readUInt32LE(at + 8)
    let tree = 0
    while (row >= airdrops[tree].leaf_count) row -= airdrops[tree++].leaf_count
    const { id, root, leaf_count, row_bytes, block_rows } = airdrops[tree]
    const path = `${id}/rows/${Math.floor(row / block_rows)}.bin`
    const block = files.get(path)!
    bytes += block.length
    const rows = Math.min(block_rows, leaf_count - block_rows * Math.floor(row / block_rows))
    const rowsOf = Array.from({ length: rows }, (_, i) => block.subarray(i * row_bytes, (i + 1) * row_bytes))
    const own = rowsOf[row % block_rows]!
    if (!own.subarray(0, 32).equals(key)) throw new Error(`${path} has another wallet there`)
    let levels = 0
    while (2 ** levels < leaf_count) levels++
    let nodes = rowsOf.map((each) =>
      sha256(Buffer.from([0]), sha256(each, ...(row_bytes === 40 ? [Buffer.alloc(8)] : []))),
    )
    for (let level = 0; level < Math.min(6, levels); level++) {
      const below = nodes
      nodes = below.flatMap((each, i) => (i % 2 === 0 ? [pair(each, below[i + 1] ?? each)] : []))
    }
    let top = nodes[0]!
    for (let at = rows * row_bytes; at < block.length; at += 32) top = pair(top, block.subarray(at, at + 32))
    if (nodes.length !== 1 || top.toString('hex') !== root) throw new Error(`${path} was changed`)
    const locked = row_bytes === 48 ? own.readBigUInt64LE(40) : 0n
    found.push({ wallet, amount: own.readBigUInt64LE(32), locked, tree })
  }
  return { found, bytes }
}

const anyRows = (most: number) =>
  fc
    .uniqueArray(fc.tuple(anyKey, anyAmounts, fc.boolean()), {
      minLength: 1,
      maxLength: most,
      selector: ([k]) => String(k),
    })
    .map((rows) =>
      rows.map(
        ([key, amounts, vests]): Row => ({
          wallet: base58.encode(key),
          amount: amounts.amount,
          locked: vests ? amounts.locked : 0n,
        }),
      ),
    )

const many = (count: number, from = 0): Row[] =>
  Array.from({ length: count }, (_, i) => ({ wallet: walletOf(from + i), amount: BigInt(i), locked: 0n }))

describe('the files of a claim page', () => {
  it('prove every wallet of every list, and show that other wallets are in none', { tags: 'sampled' }, () => {
    fc.assert(
      fc.property(fc.array(anyRows(150), { minLength: 1, maxLength: 4 }), anyKey, (lists, stranger) => {
        const files = siteOf(lists)
        const wallets = new Set(lists.flatMap((rows) => rows.map(({ wallet }) => wallet)))
        for (const wallet of wallets) {
          const expected = lists.flatMap((rows, tree) =>
            rows.filter((row) => row.wallet === wallet).map((row) => ({ ...row, tree })),
          )
          const sorted = lookUp(files, wallet).found.sort((a, b) => a.tree - b.tree)
          expect(sorted).toEqual(expected)
        }
        const other = base58.encode(stranger)
        if (!wallets.has(other)) expect(lookUp(files, other).found).toEqual([])
      }),
      { numRuns: runs(10, 25) },
    )
  })

  it('show any changed byte as a change, and never as absence', { tags: 'sampled' }, () => {
    const rows = many(700)
    const files = siteOf([rows])
    fc.assert(
      fc.property(
        fc.nat(699),
        fc.boolean(),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (row, inIndex, place, flip) => {
          const wallet = rows[row]!.wallet
          const { index } = JSON.parse(String(files.get('airdrops.json')))
          const bucket = sha256(base58.decode(wallet)).readUInt32BE() >>> (32 - index.bits)
          const path = inIndex ? `index/${bucket}.bin` : `${ID(0)}/rows/${Math.floor(row / 64)}.bin`
          const changed = Buffer.from(files.get(path)!)
          changed[place % changed.length] = changed[place % changed.length]! ^ flip
          expect(() => lookUp(new Map(files).set(path, changed), wallet)).toThrow(/was changed|another wallet/)
        },
      ),
      { numRuns: runs(60, 200) },
    )
  })

  it('have the published hashes: the SHA-256 of list.bin, and the root of its leaves', () => {
    const rows = many(300).map((row, i) => ({ ...row, locked: i % 3 === 0 ? 5n : 0n }))
    const files = siteOf([rows])
    const { airdrops } = JSON.parse(String(files.get('airdrops.json')))
    const list = files.get(`${ID(0)}/list.bin`)!
    expect(sha256(list).toString('hex')).toBe(airdrops[0].list_sha256)
    expect(list).toEqual(
      Buffer.concat(
        rows.map(({ wallet, amount, locked }) => Buffer.concat([base58.decode(wallet), u64(amount), u64(locked)])),
      ),
    )
    expect(airdrops[0]).toMatchObject({ row_bytes: 48, block_rows: 64, total_locked: '500', leaf_count: 300 })
    expect(naiveLeaf(rows[0]!)).toHaveLength(32)
  })

  it('are built in steps of a few milliseconds, so that a daemon answers in between', () => {
    const steps = bucketSteps([listFromEntries(many(20_000))])
    let count = 0
    for (let step = steps.next(); !step.done; step = steps.next()) count++
    expect(count).toBeGreaterThan(15)
  })

  it('show the texts of a token with control characters escaped, and its address if it has none', () => {
    const mint = walletOf(1)
    expect(tokenWords(mint, ' Acme\u202e\u0007 ', 'ACME')).toEqual({ name: 'Acme\\u202e\\u0007', symbol: 'ACME' })
    const short = `${mint.slice(0, 4)}…${mint.slice(-4)}`
    expect(tokenWords(mint, 'x'.repeat(999), '\u200b')).toEqual({ name: 'x'.repeat(64), symbol: short })
  })

  it('name the cluster as wallets do, also for each airdrop alone', () => {
    expect(siteCluster(GENESIS_HASHES['mainnet-beta']!)).toMatchObject({ name: 'mainnet', chain: 'solana:mainnet' })
    expect(siteCluster(GENESIS_HASHES.devnet!)).toMatchObject({ name: 'devnet', chain: 'solana:devnet' })
    expect(siteCluster(walletOf(9))).toMatchObject({ name: 'localnet', chain: 'solana:localnet' })
    const { airdrops, cluster } = JSON.parse(String(siteOf([many(3)]).get('airdrops.json')))
    expect(JSON.parse(airdropText(cluster, airdrops[0]))).toEqual({
      format: 'svc-claim-page/1',
      cluster,
      ...airdrops[0],
    })
    expect([0, 1, 256, 257, 50_000, 1_000_000].map(bucketBits)).toEqual([0, 0, 0, 1, 8, 12])
  })
})
