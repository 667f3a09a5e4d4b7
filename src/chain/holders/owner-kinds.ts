/** Tells what the owners of tokens are: wallets, vaults of known programs, escrows, other accounts of programs. */
import { base58 } from '@scure/base'
import type { HolderKind } from '../../allocation/holder-kinds.ts'
import { isAddress } from '../../solana/addresses.ts'
import { ACCOUNTS_PER_CALL } from '../../solana/constants.ts'
import { isEd25519Point } from '../../solana/curve.ts'
import { INCINERATOR, SYSTEM_PROGRAM } from '../../solana/program-ids.ts'
import { DAMM_V2_POOL_AUTHORITY, DBC_POOL_AUTHORITY, PROGRAMS } from '../../solana/programs.ts'
import type { Chain } from '../connection.ts'
import { atSlot } from '../node-call.ts'
import { askNode } from '../rpc-faults.ts'

export interface OwnerKind {
  kind: HolderKind
  /** Program that owns an account at the address; null without an account, and for one of the System program. */
  program: string | null
}

export interface OwnerKindsOptions {
  /** Whether the account of every owner is read, or of those alone that no key can sign for. */
  owners: 'all' | 'off_curve'
  /** Slot that the node must have reached. */
  minSlot: number
  nextTurn: () => Promise<void> | undefined
}

/** Calls of one hundred accounts that are under way together. */
const CALLS_AT_ONCE = 8

const KNOWN_OWNERS: Readonly<Record<string, HolderKind | undefined>> = {
  [DBC_POOL_AUTHORITY]: 'dbc_vault',
  [DAMM_V2_POOL_AUTHORITY]: 'damm_v2_vault',
  [INCINERATOR]: 'burn',
  [SYSTEM_PROGRAM]: 'burn',
}

/** What an account of a program is, when it owns tokens. */
const KIND_BY_PROGRAM: Readonly<Record<string, HolderKind | undefined>> = {
  [PROGRAMS.dbc.id]: 'dbc_vault',
  [PROGRAMS.dammV2.id]: 'damm_v2_vault',
  [PROGRAMS.distributor.id]: 'distributor_vault',
  [PROGRAMS.lock.id]: 'lock_escrow',
}

/** Returns the kinds in the order of the owners, which are 32 bytes each. Throws internal_error when the node fails. */
export async function ownerKinds(
  chain: Pick<Chain, 'call'>,
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
  let next = 0
  const readSome = async () => {
    for (let from = next; from < asked.length; from = next) {
      next += ACCOUNTS_PER_CALL
      const part = asked.slice(from, from + ACCOUNTS_PER_CALL)
      const accounts = await readOwners(chain, part, minSlot)
      part.forEach((owner, i) => {
        kinds[owner.index] = kindOf(owner, accounts[i] ?? null)
      })
    }
  }
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, readSome))
  return kinds
}

interface AskedOwner {
  index: number
  address: string
  isWallet: boolean
}

interface OwnerAccount {
  owner: string
  executable: boolean
}

function kindOf({ isWallet }: AskedOwner, account: OwnerAccount | null): OwnerKind {
  if (account === null || account.owner === SYSTEM_PROGRAM) return { kind: isWallet ? 'wallet' : 'pda', program: null }
  const { owner: program, executable } = account
  return { kind: executable ? 'program' : (KIND_BY_PROGRAM[program] ?? 'program'), program }
}

function readOwners(
  chain: Pick<Chain, 'call'>,
  owners: readonly AskedOwner[],
  minSlot: number,
): Promise<(OwnerAccount | null)[]> {
  const dataSlice = { offset: 0, length: 0 }
  const options = { encoding: 'base64', commitment: 'finalized', dataSlice, minContextSlot: minSlot }
  return askNode('Reading the owners of accounts', async () => {
    const addresses = owners.map(({ address }) => address)
    const result = await chain.call<unknown>('getMultipleAccounts', [addresses, options])
    const { value } = atSlot<unknown[]>(result, (shown) => Array.isArray(shown) && shown.length === owners.length)
    return value.map((shown) => {
      if (shown === null) return null
      const { owner, executable } = (shown ?? {}) as Partial<OwnerAccount>
      if (typeof owner !== 'string' || !isAddress(owner) || typeof executable !== 'boolean') {
        throw new Error('it answers with parts missing')
      }
      return { owner, executable }
    })
  })
}
