/** `svc airdrops export`: writes every proof to static JSON files, named by wallet prefix, for a claim page without a server. */
import { paths } from '../../src/api/paths.ts'
import { entryAt } from '../../src/merkle/entry-list.ts'
import { type MerkleTree, proofAt, toHex } from '../../src/merkle/tree.ts'
import { required, text, toggle, verb } from '../cli/command.ts'
import { hashTree } from '../merkle/recipients.ts'
import { fetchStoredList } from '../merkle/stored-list.ts'
import { failure, nullIfNotFound } from '../ui/problem.ts'
import { wholeFolder } from '../ui/whole-folder.ts'
import { aboutAirdrop } from './about-airdrop.ts'
import { listFlags, ROOT_FLAG, requireNamedList, rootsOf, storedRecord } from './stored-list.ts'

/** The approximate number of proofs in one file, which a page loads to find one wallet. */
const PER_FILE = 64
/** The number of base58 characters when upper and lower case are the same. */
const SYMBOLS = 35
const MAX_PREFIX = 4
const FORMAT = 'svc-airdrop-proofs/1'

export const airdropExportVerb = verb({
  about: 'Write the proofs as static files, for a claim page without a server',
  details:
    'For a page of your own; `svc airdrops page` writes a complete one. DIR gets airdrop.json (the record, cluster, distributor, decimals, times, prefix_length) and a file proofs/PREFIX.json for each prefix of wallets: { WALLET: { amount, amount_locked, proof } }. Prefixes are in lower case, because some file systems ignore case. DIR appears only when it is complete.',
  calls: [
    paths.merkleTrees.get,
    paths.merkleTrees.entries,
    paths.airdrops.get,
    paths.accounts.get,
    paths.tokens.get,
    paths.service.cluster,
  ],
  args: { id: required(text('Id of the airdrop')) },
  flags: {
    out: required(text('Folder to write', { placeholder: 'DIR' })),
    root: text('Merkle root that the stored list must have, hex', ROOT_FLAG),
    ...listFlags,
    replace: toggle('Replace the folder if it exists'),
  },
  examples: [
    'svc airdrops export 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw --out public/airdrop',
    'svc airdrops export 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw --out public/airdrop --replace',
  ],
  async run({ id, out, replace, root, ...meant }, session) {
    const folder = await wholeFolder(out, { replace, kind: 'export', file: 'airdrop.json', format: FORMAT })
    const record = await storedRecord(session, id)
    await requireNamedList(session, [record], { ...meant, roots: rootsOf(root) })
    const onChain = await nullIfNotFound(aboutAirdrop(session, record))
    const tree = hashTree(await fetchStoredList(session, id, record.leaf_count), session.ui)
    if (toHex(tree.root) !== record.root) {
      throw failure(`the entries of ${id} lead to the root ${toHex(tree.root)}, its record says ${record.root}`, {
        next: 'the list was replaced meanwhile, or the server runs another version: run the command again',
      })
    }
    const prefix = prefixLength(record.leaf_count)
    const files = proofFiles(tree, prefix)
    const { persisted: _, created_at: __, ...head } = record
    const about = { format: FORMAT, ...head, ...chainFields(onChain), prefix_length: prefix, files: files.size }
    await folder.write(async (put) => {
      await put('airdrop.json', `${JSON.stringify(about, undefined, 2)}\n`)
      for (const [name, proofs] of files) await put(`proofs/${name}.json`, `${JSON.stringify(proofs)}\n`)
    })
    return {
      data: { id, out, root: record.root, leaf_count: record.leaf_count, prefix_length: prefix, files: files.size + 1 },
      notes:
        onChain === null ? [`there is no token ${record.mint} on this chain: airdrop.json says nothing about it`] : [],
    }
  },
})

/** All of them are null if the chain has no such token. */
const chainFields = (onChain: Awaited<ReturnType<typeof aboutAirdrop>> | null) => {
  const { cluster = null, airdrop } = onChain ?? {}
  const { distributor = null, vault = null, decimals = null, symbol = null, name = null } = airdrop ?? {}
  const { starts_at = null, ends_at = null, clawback_at = null } = airdrop ?? {}
  return { cluster, distributor, vault, decimals, symbol, name, starts_at, ends_at, clawback_at }
}

/** The length of the wallet prefix that names a file, chosen so that a file holds about `PER_FILE` wallets. */
export function prefixLength(leafCount: number): number {
  let length = 1
  while (length < MAX_PREFIX && leafCount / SYMBOLS ** length > PER_FILE) length++
  return length
}

interface Proof {
  /** What can be claimed at once, in raw units. */
  amount: string
  /** What vests besides that, in raw units. */
  amount_locked: string
  /** The hashes in hex, from leaf to root. */
  proof: string[]
}

function proofFiles(tree: MerkleTree, prefix: number): Map<string, Record<string, Proof>> {
  const files = new Map<string, Record<string, Proof>>()
  for (let i = 0; i < tree.list.count; i++) {
    const { wallet, amount, locked } = entryAt(tree.list, i)
    const name = wallet.slice(0, prefix).toLowerCase()
    let file = files.get(name)
    if (file === undefined) {
      file = {}
      files.set(name, file)
    }
    file[wallet] = { amount: String(amount), amount_locked: String(locked), proof: proofAt(tree, i).map(toHex) }
  }
  return files
}
