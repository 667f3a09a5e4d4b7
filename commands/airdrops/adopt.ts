/** `svc airdrops adopt`: stores the list of a distributor that another tool made, to prove, claim and follow it here. */

import type { Airdrop } from '../../src/api/airdrops.ts'
import { paths } from '../../src/api/paths.ts'
import { MAX_STORED_LEAVES } from '../../src/merkle/entry-list.ts'
import { toHex } from '../../src/merkle/tree.ts'
import { type CommandOutcome, required, text, toggle, verb } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { builtTreeRecord, type RootedList } from '../merkle/built-record.ts'
import { type CsvChoices, csvFlags, hashRoot, readRecipients } from '../merkle/recipients.ts'
import { storeTree } from '../merkle/store-tree.ts'
import { otherReading } from '../merkle/verify.ts'
import { recordInTokens } from '../signing/token-state.ts'
import { failure, usage } from '../ui/problem.ts'
import { printable } from '../ui/render.ts'
import { counted } from '../ui/words.ts'

export const airdropAdoptVerb = verb({
  about: 'Take over an airdrop that another tool put on chain: store its list to prove, claim and follow it here',
  details:
    'Reads mint, version (the airdrop count) and root of the distributor from the chain, and stores FILE if its tree has that root. Nothing is signed. Without FILE it shows what is on chain and whether the list is stored here.',
  calls: [paths.airdrops.distributor, paths.merkleTrees.create, paths.airdrops.get, paths.accounts.get],
  args: {
    distributor: required(text('Address of the distributor')),
    file: text('The list: a CSV, or the file of a tree; - for standard input'),
  },
  flags: {
    ...csvFlags,
    replace: toggle('Replace a stored list that has the same mint and airdrop count but another root'),
  },
  examples: [
    'svc airdrops adopt FR4HBTXWB87YK4gR98serDF9pUeJ3egkQfth4dGpBsrB',
    'svc airdrops adopt FR4HBTXWB87YK4gR98serDF9pUeJ3egkQfth4dGpBsrB recipients.csv --decimals 6',
    'svc airdrops adopt FR4HBTXWB87YK4gR98serDF9pUeJ3egkQfth4dGpBsrB merkle_tree.json',
  ],
  async run({ distributor, file, replace, ...csv }, session) {
    const { data: airdrop } = await session.client.airdrops.distributor({ address: distributor })
    const root = rootOnChain(airdrop)
    if (file === undefined) {
      const next = isListStored(airdrop)
        ? []
        : [`Give its list as FILE to store it here; its tree must have the root ${root}.`]
      return adoptionOutcome(session, airdrop, next)
    }
    if (airdrop.total !== null && airdrop.root !== root && !replace) {
      throw usage(
        `airdrop ${airdrop.airdrop_count} of ${airdrop.mint} is stored with the root ${airdrop.root}, and its distributor has ${root}`,
        { param: '--replace', next: 'nobody can claim from the stored list: replace it with --replace' },
      )
    }
    const tree = await listWithRoot(session, { file, csv: { ...csv, mint: airdrop.mint }, root })
    const record = builtTreeRecord(tree, airdrop.mint, airdrop.airdrop_count)
    await storeTree(session, tree, record, replace)
    return adoptionOutcome(session, (await session.client.airdrops.get({ id: record.id })).data)
  },
})

/** Throws a failure if the node did not answer a second time. */
function rootOnChain({ on_chain_root, distributor }: Airdrop): string {
  if (on_chain_root !== null) return on_chain_root
  throw failure(`the distributor ${distributor ?? ''} cannot be read from the chain now`, { next: 'run it again' })
}

const isListStored = ({ total, root, on_chain_root }: Airdrop): boolean => total !== null && root === on_chain_root

interface ListOfRoot {
  file: string
  csv: CsvChoices
  /** The root on chain, in hex. */
  root: string
}

/** Reads the list; throws a usage problem if its tree has another root, or cannot be stored. */
async function listWithRoot({ ui }: Session, { file, csv, root }: ListOfRoot): Promise<RootedList> {
  const { list, hasDecimals } = await readRecipients(file, csv, ui)
  const tree = { list, root: hashRoot(list, ui) }
  const found = toHex(tree.root)
  if (found !== root) {
    const reading = hasDecimals ? otherReading(list, csv.decimals, root) : null
    throw usage(`${file} with ${counted(list.count, 'row')} has the root ${found}, and the distributor ${root}`, {
      param: '<file>',
      next:
        reading === null
          ? 'amounts, --decimals, --duplicates and the order of rows all change the root: ask the maker of the airdrop for the exact list'
          : `when read ${reading}, it has the root of the distributor`,
      details: { root: found, on_chain_root: root, reading },
    })
  }
  if (list.count <= MAX_STORED_LEAVES) return tree
  throw usage(`${counted(list.count, 'leaf', 'leaves')} do not fit in one stored tree of ${MAX_STORED_LEAVES}`, {
    param: '<file>',
    next: 'split into parts, they would have other roots; a wallet can claim with its proof: svc airdrops claim <id> --proof FILE',
  })
}

/** What is adopted, or could be, with amounts in whole tokens on a terminal. */
async function adoptionOutcome(
  session: Session,
  airdrop: Airdrop,
  next: readonly string[] = [],
): Promise<CommandOutcome> {
  const { id, mint, airdrop_count, distributor, on_chain_root, leaf_count, status, note } = airdrop
  const { total, total_locked, claimed_amount, claimed_count, vault_balance, clawback_at } = airdrop
  const data = {
    id,
    mint,
    airdrop_count,
    distributor,
    root: on_chain_root,
    stored: isListStored(airdrop),
    leaf_count,
    total,
    total_locked,
    status,
    claimed_count,
    claimed_amount,
    vault_balance,
    clawback_at,
    note,
  }
  const notes = [...(note === null ? [] : [printable(note)]), ...next]
  const amounts = ['total', 'total_locked', 'claimed_amount', 'vault_balance'] as const
  return { data, ...(await recordInTokens(session, data, amounts)), notes }
}
