/** `svc airdrops export`: writes every proof to static JSON files, named by wallet prefix, for a claim page without a server. */
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { TreeRecord } from '../../src/api/merkle-trees.ts'
import { paths } from '../../src/api/paths.ts'
import { entryAt } from '../../src/merkle/entry-list.ts'
import { type MerkleTree, proofAt, toHex } from '../../src/merkle/tree.ts'
import { required, text, toggle, verb } from '../command.ts'
import { hashTree } from '../merkle/recipients.ts'
import { fetchStoredList } from '../merkle/stored-list.ts'
import { reason } from '../ui/files.ts'
import { failure, usage } from '../ui/problem.ts'

/** The approximate number of proofs in one file, which a page loads to find one wallet. */
const PER_FILE = 64
/** The number of base58 characters when upper and lower case are the same. */
const SYMBOLS = 35
const MAX_PREFIX = 4
const FORMAT = 'svc-airdrop-proofs/1'

export const airdropExportVerb = verb({
  about: 'Write the proofs as static files, for a claim page without a server',
  details:
    'DIR gets airdrop.json (the record, prefix_length) and proofs/PREFIX.json, one for each first letters of a wallet in lower case, as file systems may not tell cases apart: { WALLET: { amount, proof } }. DIR is whole or not there.',
  calls: [paths.merkleTrees.get, paths.merkleTrees.entries],
  args: { id: required(text('Id of the airdrop')) },
  flags: {
    out: required(text('Folder to write', { placeholder: 'DIR' })),
    replace: toggle('Replace the folder where there is one already'),
  },
  examples: ['svc airdrops export <id> --out public/airdrop'],
  async run({ id, out, replace }, session) {
    const isThere = await hasContent(out)
    if (isThere && !(await isExport(out))) {
      throw usage(`${out} is there already, and is no export`, { param: '--out', next: 'give another folder' })
    }
    if (isThere && !replace) {
      throw usage(`${out} is there already`, { param: '--out', next: 'give another folder, or --replace' })
    }
    const { data: record } = await session.client.merkleTrees.get({ id })
    const tree = hashTree(await fetchStoredList(session, id, record.leaf_count), session.ui)
    if (toHex(tree.root) !== record.root) {
      throw failure(`the entries of ${id} lead to the root ${toHex(tree.root)}, its record says ${record.root}`, {
        next: 'it was replaced meanwhile, or the server runs another version: run it again',
      })
    }
    const prefix = prefixLength(record.leaf_count)
    const files = proofFiles(tree, prefix)
    await writeFolder(out, isThere, { record, prefix, files })
    return {
      data: { id, out, root: record.root, leaf_count: record.leaf_count, prefix_length: prefix, files: files.size + 1 },
    }
  },
})

/** The length of the wallet prefix that names a file, chosen so that a file holds about `PER_FILE` wallets. */
export function prefixLength(leafCount: number): number {
  let length = 1
  while (length < MAX_PREFIX && leafCount / SYMBOLS ** length > PER_FILE) length++
  return length
}

interface Proof {
  /** The amount in raw units. */
  amount: string
  /** The hashes in hex, from leaf to root. */
  proof: string[]
}

function proofFiles(tree: MerkleTree, prefix: number): Map<string, Record<string, Proof>> {
  const files = new Map<string, Record<string, Proof>>()
  for (let i = 0; i < tree.list.count; i++) {
    const { wallet, amount } = entryAt(tree.list, i)
    const name = wallet.slice(0, prefix).toLowerCase()
    let file = files.get(name)
    if (file === undefined) {
      file = {}
      files.set(name, file)
    }
    file[wallet] = { amount: String(amount), proof: proofAt(tree, i).map(toHex) }
  }
  return files
}

interface Exported {
  record: TreeRecord
  prefix: number
  files: ReadonlyMap<string, Record<string, Proof>>
}

/** Writes a new folder next to `out` and then renames it, so that no page ever reads an incomplete export. */
async function writeFolder(out: string, isThere: boolean, { record, prefix, files }: Exported): Promise<void> {
  const draft = `${out.replace(/\/+$/, '')}.${process.pid}.part`
  const old = `${draft}.old`
  try {
    await mkdir(dirname(draft), { recursive: true })
    await mkdir(join(draft, 'proofs'), { recursive: true })
    const { persisted: _, created_at: __, ...head } = record
    const about = { format: FORMAT, ...head, prefix_length: prefix, files: files.size }
    await writeFile(join(draft, 'airdrop.json'), `${JSON.stringify(about, undefined, 2)}\n`)
    for (const [name, proofs] of files) {
      await writeFile(join(draft, 'proofs', `${name}.json`), `${JSON.stringify(proofs)}\n`)
    }
    if (isThere) await rename(out, old)
    await rename(draft, out).catch(async (error) => {
      if (isThere) await rename(old, out)
      throw error
    })
    await rm(old, { recursive: true, force: true })
  } catch (error) {
    throw failure(`${out} cannot be written: ${reason(error)}`)
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

/** Whether the folder holds an export; no other folder is ever replaced. */
async function isExport(folder: string): Promise<boolean> {
  try {
    return JSON.parse(await readFile(join(folder, 'airdrop.json'), 'utf8')).format === FORMAT
  } catch {
    return false
  }
}

async function hasContent(folder: string): Promise<boolean> {
  try {
    return (await readdir(folder)).length > 0
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw usage(`${folder} cannot be written: ${reason(error)}`, { param: '--out' })
  }
}
