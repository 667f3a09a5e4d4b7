/** Determines what owners of tokens are: wallets, vaults of known programs, escrows, other accounts of programs. */

import { base58 } from '@scure/base'
import type { HolderKind } from '../../merkle/allocation/holder-kinds.ts'
import { isEd25519Point } from '../../solana/curve.ts'
import { INCINERATOR, SYSTEM_PROGRAM } from '../../solana/program-ids.ts'
import { DAMM_V2_POOL_AUTHORITY, DBC_POOL_AUTHORITY, PRESALE_AUTHORITY, PROGRAMS } from '../../solana/programs.ts'
import type { AccountKind } from '../../solana/recipients.ts'
import type { NodeCalls } from '../nodes/node-call.ts'
import { readAccountKinds } from '../reads/account-kinds.ts'

export interface OwnerKind {
  kind: HolderKind
  /** Program that owns the account at the address; null without an account or if it is the System program. */
  program: string | null
}

interface OwnerKindsOptions {
  /** Whether the account of every owner is read, or only of those that no key can sign for. */
  owners: 'all' | 'off_curve'
  /** Slot that the node must have reached. */
  minSlot: number
  nextTurn: () => Promise<void> | undefined
}

const KNOWN_OWNERS: Readonly<Record<string, HolderKind | undefined>> = {
  [DBC_POOL_AUTHORITY]: 'dbc_vault',
  [DAMM_V2_POOL_AUTHORITY]: 'damm_v2_vault',
  [PRESALE_AUTHORITY]: 'raise_vault',
  [INCINERATOR]: 'burn',
  [SYSTEM_PROGRAM]: 'burn',
}

/** Kinds of accounts that own tokens, by the program that owns the account. */
const KIND_BY_PROGRAM: Readonly<Record<string, HolderKind | undefined>> = {
  [PROGRAMS.dbc.id]: 'dbc_vault',
  [PROGRAMS.dammV2.id]: 'damm_v2_vault',
  [PROGRAMS.distributor.id]: 'distributor_vault',
  [PROGRAMS.lock.id]: 'lock_escrow',
}

/** Returns the kinds in the order of the owners, which are 32 bytes each. Throws internal_error when the node fails. */
export async function ownerKinds(
  chain: NodeCalls,
  owners: Iterable<Uint8Array>,
  { owners: read, minSlot, nextTurn }: OwnerKindsOptions,
): Promise<OwnerKind[]> {
  const kinds: OwnerKind[] = []
  const asked: AskedOwner[] = []
  for (const key of owners) {
    const address = base58.encode(key)
    const known = KNOWN_OWNERS[address]
    const isWallet = known === undefined && isEd25519Point(key)
    if (known === undefined && (read === 'all' || !isWallet)) asked.push({ index: kinds.length, address, isWallet })
    kinds.push({ kind: known ?? 'wallet', program: null })
    await nextTurn()
  }
  await readAccountKinds(
    chain,
    asked.map(({ address }) => address),
    { commitment: 'finalized', minContextSlot: minSlot },
    (account, i) => {
      const owner = asked[i]
      if (owner !== undefined) kinds[owner.index] = kindOf(owner, account)
    },
  )
  return kinds
}

interface AskedOwner {
  index: number
  address: string
  isWallet: boolean
}

function kindOf({ isWallet }: AskedOwner, account: AccountKind | null): OwnerKind {
  if (account === null || account.owner === SYSTEM_PROGRAM) return { kind: isWallet ? 'wallet' : 'pda', program: null }
  const { owner: program, executable } = account
  return { kind: executable ? 'program' : (KIND_BY_PROGRAM[program] ?? 'program'), program }
}
