/** A CSV is built, stored through the daemon, and three proofs are verified without any code of svc. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { base58 } from '@scure/base'
import type { Daemon } from './program.ts'
import type { Report } from './report.ts'

const MINT = 'So11111111111111111111111111111111111111112'
const sha256 = (...parts: Uint8Array[]) => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** The root for a wallet, its amount and its proof, by the rule of docs/merkle-trees.md, in ten lines. */
function rootOf(wallet: string, amount: string, proof: string[]): string {
  const record = Buffer.alloc(48)
  record.set(base58.decode(wallet))
  record.writeBigUInt64LE(BigInt(amount), 32)
  let node = sha256(Uint8Array.of(0), sha256(record))
  for (const sibling of proof.map((hex) => Buffer.from(hex, 'hex'))) {
    const [first, second] = node.compare(sibling) <= 0 ? [node, sibling] : [sibling, node]
    node = sha256(Uint8Array.of(1), first, second)
  }
  return node.toString('hex')
}

interface Options {
  root: string
  daemon: Daemon
  report: Report
}

export async function merkleTree({ root, daemon, report }: Options): Promise<void> {
  const file = 'examples/recipients.csv'
  const rows = readFileSync(join(root, file), 'utf8').trim().split('\n').slice(1)
  const build = ['merkle', 'build', file, '--mint', MINT, '--decimals', '9']
  // biome-ignore lint/suspicious/noExplicitAny: the tree as the command prints it
  let tree: any
  await report.step('svc merkle build, without network or database', async () => {
    tree = await daemon.svc(...build)
    report.expect(
      tree.leaf_count === rows.length && rows.length >= 1000,
      `${tree.leaf_count} leaves of ${rows.length} rows`,
    )
    report.expect(/^[0-9a-f]{64}$/.test(tree.root), `root ${tree.root}`)
    return `${tree.leaf_count} leaves, root ${tree.root.slice(0, 16)}…`
  })
  await report.step('svc merkle build --persist, stored by the daemon', async () => {
    const stored = await daemon.svc(...build, '--persist')
    report.expect(stored.root === tree.root && stored.persisted === true, 'the stored tree has the same root')
    tree = stored
    return `id ${stored.id}`
  })
  const key = (await daemon.svc('keys', 'create', '--name', 'proof reader')).key as string
  for (const place of [0, Math.floor(rows.length / 2), rows.length - 1]) {
    const [wallet, amount] = rows[place]!.split(',') as [string, string]
    await report.step(`proof of ${wallet.slice(0, 8)}… over HTTP`, async () => {
      const { status, body } = await daemon.request('GET', `/v2/merkle-trees/${tree.id}/proofs/${wallet}`, key)
      report.expect(status === 200, `HTTP ${status}`)
      const { amount: raw, proof } = body.data
      const [whole, fraction = ''] = amount.split('.') as [string, string?]
      report.expect(raw === BigInt(whole + fraction.padEnd(9, '0')).toString(), `amount ${raw} is ${amount} tokens`)
      report.expect(rootOf(wallet, raw, proof) === tree.root, 'the proof gives the root')
      report.expect(rootOf(wallet, `${BigInt(raw) + 1n}`, proof) !== tree.root, 'another amount does not')
      return `${proof.length} hashes give the root`
    })
  }
  await report.step('a wallet that is not in the list is refused', async () => {
    const { status, body } = await daemon.request('GET', `/v2/merkle-trees/${tree.id}/proofs/${MINT}`, key)
    report.expect(status === 404 && body.error.code === 'not_found', `HTTP ${status}`)
    return body.error.code
  })
}
