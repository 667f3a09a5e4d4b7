/** The airdrops of one list: the on-chain state of each, and whether the payer has the tokens for the open ones. */
import type { Airdrop } from '../../src/api/airdrops.ts'
import type { TreeRecord } from '../../src/api/merkle-trees.ts'
import type { Proposal } from '../../src/api/proposals.ts'
import { groupedDecimalOf } from '../cli/amounts.ts'
import { pagesOf } from '../cli/pages.ts'
import type { Session } from '../cli/session.ts'
import type { RootedList } from '../merkle/built-record.ts'
import type { ListToken } from '../merkle/list-units.ts'
import { tokenBalance } from '../signing/token-state.ts'
import { nullIfNotFound, usage } from '../ui/problem.ts'
import { isOwnOnChain, missingIn, type Payer } from './ownership.ts'
import { wayBack } from './vault-words.ts'

export interface LaunchPart {
  tree: RootedList
  record: TreeRecord
  /** Whether the API has the tree, without which no proof can be found. */
  isStored: boolean
  isOnChain: boolean
  /** Whether the vault was withdrawn after its clawback time, so that nothing can be claimed. */
  isWithdrawn: boolean
  distributor: string | null
  /** The API's warning about the airdrop. */
  note: string | null
  /** Raw units that its vault lacks; a new airdrop is funded in the transaction that creates it. */
  missing: bigint
  /** Whether the vault may be funded: what is sent to it returns to the payer if nobody claims it. */
  isFundable: boolean
  /** How and when unclaimed tokens come back; null if there are none. */
  wayBack: string | null
  signature: string | null
  /** The proposal to a multisig that makes it, an open one first; null without one. */
  proposal: Proposal | null
}

/** The fields that are read from the chain. */
export type PartState = Pick<
  LaunchPart,
  'isOnChain' | 'isWithdrawn' | 'distributor' | 'note' | 'missing' | 'isFundable' | 'wayBack'
>

/**
 * The state of each airdrop. Throws a usage problem if another list has the id, or if another wallet made the
 * distributor.
 */
export async function launchParts(
  session: Session,
  trees: readonly Pick<LaunchPart, 'tree' | 'record'>[],
  { payer, replace }: { payer: Payer; replace: boolean },
): Promise<LaunchPart[]> {
  const { client } = session
  const parts: LaunchPart[] = []
  for (const { tree, record } of trees) {
    const existing = await nullIfNotFound(client.airdrops.get({ id: record.id }))
    const open: LaunchPart = {
      tree,
      record,
      isStored: false,
      isOnChain: false,
      isWithdrawn: false,
      distributor: null,
      note: null,
      missing: BigInt(record.total),
      isFundable: false,
      wayBack: null,
      signature: null,
      proposal: null,
    }
    if (existing === null) {
      parts.push(open)
      continue
    }
    const { data } = existing
    const isOnChain = isOwnOnChain(data, record.root, payer)
    if (data.root !== record.root && !replace) {
      throw usage(
        `airdrop ${record.airdrop_count} of ${record.mint} is another list: its root is ${data.root}, that of this one ${record.root}`,
        { param: '--airdrop-count', next: 'take another --airdrop-count, or --replace the stored list' },
      )
    }
    const isStored = data.total !== null && data.root === record.root
    const part = { ...open, isStored, ...(isOnChain ? chainStateOf(session, data, payer, record) : {}) }
    // The note is about the stored list, which this list replaces.
    parts.push(data.root === record.root ? part : { ...part, note: null })
  }
  return parts
}

/**
 * Throws a usage problem if a list to be launched is already on chain under another count, because it would pay twice.
 */
export async function refuseLaunchedTwice({ client }: Session, parts: readonly LaunchPart[]): Promise<void> {
  const open = new Map(parts.filter(({ isOnChain }) => !isOnChain).map(({ record }) => [record.root, record]))
  const [first] = open.values()
  if (first === undefined) return
  const { mint } = first
  for await (const { data } of pagesOf((paging) => client.airdrops.list({ mint, ...paging }))) {
    const duplicate = data.find(({ root, status }) => status !== 'tree_built' && open.has(root))
    const own = duplicate && open.get(duplicate.root)
    if (duplicate !== undefined && own !== undefined) {
      const { airdrop_count } = own
      throw usage(
        `the list of airdrop ${airdrop_count} is already airdrop ${duplicate.airdrop_count} of this mint (${duplicate.status}): launching it again would pay everybody twice`,
        {
          param: '--again',
          next: `continue with ${duplicate.airdrop_count} (--airdrop-count or --counts), or add --again`,
          details: { id: duplicate.id, root: duplicate.root },
        },
      )
    }
  }
}

/** The state of an airdrop that is on chain. */
export function chainStateOf(
  { clock }: Pick<Session, 'clock'>,
  airdrop: Airdrop,
  payer: Payer,
  { total }: Pick<TreeRecord, 'total'>,
): PartState {
  const { status, distributor, note, admin, vault_lacks, clawed_back } = airdrop
  // The node may lag behind: `clawed_back` then shows the old vault, while the status is current.
  const isWithdrawn = clawed_back === true || status === 'vault_drained'
  return {
    isOnChain: true,
    isWithdrawn,
    distributor,
    note,
    missing: isWithdrawn ? 0n : missingIn(airdrop, total),
    // The vault may be funded only by its admin, because an admin may change the receiver at any time.
    isFundable: admin === payer.address && vault_lacks !== null,
    wayBack: wayBack(airdrop, clock.now()),
  }
}

/** Whether the airdrop is on chain with all that its wallets can still claim. */
export const isFunded = ({ isOnChain, isWithdrawn, missing }: LaunchPart): boolean =>
  isOnChain && !isWithdrawn && missing === 0n

interface LaunchNeeds {
  token: ListToken
  payer: Payer
  parts: readonly LaunchPart[]
}

/** Throws a usage problem for a Token-2022 token, or if the payer lacks tokens. */
export async function requireLaunchTokens(
  session: Session,
  { token: { mint, decimals, isToken2022 }, payer, parts }: LaunchNeeds,
): Promise<void> {
  if (isToken2022) {
    throw usage(
      `the token ${mint} is a Token-2022 token, and the merkle distributor takes only tokens of the original program (SPL Token)`,
      { param: '--mint' },
    )
  }
  if (parts.length === 0) return
  const need = parts.reduce((sum, { record }) => sum + BigInt(record.total), 0n)
  const have = await tokenBalance(session, payer.tokenAccount)
  if (have >= need) return
  throw usage(
    `${payer.address} has ${groupedDecimalOf(have, decimals)} of the ${groupedDecimalOf(need, decimals)} tokens that this takes: ${groupedDecimalOf(need - have, decimals)} are missing`,
    {
      next: `send them to ${payer.address}`,
      details: { have: String(have), need: String(need), token_account: payer.tokenAccount },
    },
  )
}
