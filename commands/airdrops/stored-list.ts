/** Checks that a stored list is the one that the user means, because its owner can replace the list under the same id. */
import type { Airdrop } from '../../src/api/airdrops.ts'
import type { TreeRecord } from '../../src/api/merkle-trees.ts'
import { keyToBase58 } from '../../src/merkle/base58.ts'
import { type EntryList, MAX_STORED_LEAVES, shardList, totalAmount } from '../../src/merkle/entry-list.ts'
import { toHex } from '../../src/merkle/tree.ts'
import { decodeTreeId } from '../../src/merkle/tree-id.ts'
import { text } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { readHash } from '../merkle/built-record.ts'
import { type CsvChoices, csvFlags, hashRoot, readRecipients } from '../merkle/recipients.ts'
import { otherReading } from '../merkle/verify.ts'
import { recall, rememberHere } from '../signing/remembered.ts'
import { failure, usage } from '../ui/problem.ts'

export const ROOT_FLAG = { placeholder: 'ROOT' }
export const listFlags = {
  list: text('The list itself, a CSV or the file of a tree; the stored list must be the same', {
    placeholder: 'FILE',
    conflicts: ['root'],
  }),
  ...csvFlags,
}

interface NamedList extends CsvChoices {
  /** Roots in hex, one for each airdrop. */
  roots: readonly string[]
  list: string | undefined
  /** Whether it moves money, so that the API's statement about the owner is not enough. */
  signs?: boolean
}

export const rootsOf = (root: string | undefined): readonly string[] => (root === undefined ? [] : [root])

/** A list as the API has it; `own` says whether the key of this command stored it, if that is known already. */
export type StoredList = Pick<TreeRecord, 'id' | 'root'> & Partial<Pick<Airdrop, 'own'>>

/** Throws a failure for an answer about another airdrop, because its fields become a path, or a token that is paid. */
export function requireAsked<T extends Pick<TreeRecord, 'id' | 'mint' | 'airdrop_count'>>(id: string, answer: T): T {
  const key = decodeTreeId(id)
  const isAsked =
    answer.id === id && key?.airdropCount === answer.airdrop_count && keyToBase58(key.mint) === answer.mint
  if (isAsked) return answer
  throw failure(`the API answered with another airdrop than ${id}: nothing was done`, {
    next: 'check which API answers: `svc config list`',
  })
}

/** Reads the record of a stored tree. Throws a failure for an answer about another one. */
export async function storedRecord({ client }: Pick<Session, 'client'>, id: string): Promise<TreeRecord> {
  return requireAsked(id, (await client.merkleTrees.get({ id })).data)
}

/**
 * Throws if a stored list is not the one that --root or --list names. Without both flags, a list of another API key is
 * refused, or on an attended terminal warned about. Commands that pay also refuse (or warn about) a list that is new to
 * this machine. Returns the list of --list.
 */
export async function requireNamedList(
  session: Session,
  stored: readonly StoredList[],
  named: NamedList,
): Promise<EntryList | null> {
  const { roots, list, signs = false } = named
  if (roots.length > 0) requireRoots(stored, roots)
  if (list !== undefined) return requireList(session, stored, { ...named, list })
  if (roots.length === 0) for (const each of stored) await requireOwn(session, each, signs)
  return null
}

function requireRoots(stored: readonly StoredList[], roots: readonly string[]): void {
  const meant = roots.map((root) => toHex(readHash(root.replace(/^0x/, '').toLowerCase(), '--root')))
  if (meant.length !== stored.length) {
    throw usage(`--root must have ${stored.length} roots, one for each airdrop in their order`, { param: '--root' })
  }
  for (const [i, { id, root }] of stored.entries()) {
    if (root !== meant[i]) throw otherList(id, root, `--root says ${meant[i]}`)
  }
}

/** A list of several trees must match the named airdrops in their order, or contain the tree of the only one. */
async function requireList(
  { ui }: Pick<Session, 'ui'>,
  stored: readonly StoredList[],
  { list: file, ...csv }: NamedList & { list: string },
): Promise<EntryList> {
  const mint = decodeTreeId(stored[0]?.id ?? '')?.mint
  const ofMint = mint === undefined ? {} : { mint: keyToBase58(mint) }
  const { list, hasDecimals, decimals } = await readRecipients(file, { ...csv, ...ofMint }, ui)
  const parts = list.count > MAX_STORED_LEAVES ? shardList(list) : [list]
  const roots = parts.map((part) => toHex(hashRoot(part, ui)))
  if (stored.length > 1 && stored.length !== roots.length) {
    throw usage(`${file} is the list of ${roots.length} airdrops, and ${stored.length} are named`, { param: '--list' })
  }
  for (const [i, { id, root }] of stored.entries()) {
    const part = parts[stored.length === 1 ? roots.indexOf(root) : i]
    if (part !== undefined && roots[parts.indexOf(part)] === root) {
      rememberHere({ ui }, 'tree', id, `${root} ${totalAmount(part)}`)
      continue
    }
    const reading = hasDecimals && parts.length === 1 ? otherReading(list, decimals, root) : null
    if (reading !== null) {
      throw usage(`when read ${reading}, ${file} is the list that is stored as ${id}`, { param: '--decimals' })
    }
    throw otherList(id, root, `that of ${file} is ${roots.join(', ')}`)
  }
  const only = stored.length === 1 ? parts[roots.indexOf(stored[0]?.root ?? '')] : undefined
  return only ?? list
}

const otherList = (id: string, root: string, meant: string) =>
  failure(`the list that is stored as ${id} has the root ${root}, and ${meant}: nothing was done`, {
    next: `it may have been replaced: \`svc merkle diff ${id} FILE\` shows how it differs from your list`,
    details: { id, stored_root: root },
  })

/** The root and the total of a list that this machine has stored or read; null for any other. */
export function seenHere(id: string): { root: string; total: string } | null {
  const [root, total] = recall('tree', id)?.split(' ') ?? []
  return root === undefined || total === undefined ? null : { root, total }
}

async function requireOwn({ client, ui }: Session, { id, root, own }: StoredList, signs: boolean): Promise<void> {
  let isOwn = own === true
  if (own === undefined) {
    const { data } = await client.airdrops.get({ id })
    isOwn = data.own === true && data.root === root
  }
  if (isOwn && (!signs || seenHere(id)?.root === root)) return
  const how = isOwn ? 'as it is now on this machine' : 'with this API key'
  const whose = `the list of ${id} was not stored ${how}; its root is ${root}`
  if (ui.attended) return ui.warn(`${whose}: compare it with your list (\`svc merkle diff ${id} FILE\`)`)
  throw usage(whose, {
    param: '--root',
    next: 'name the list that you mean: --root ROOT, or --list FILE with the list itself',
    details: { id, stored_root: root },
  })
}
