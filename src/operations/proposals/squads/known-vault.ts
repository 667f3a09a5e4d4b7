/** Finds the multisig of a vault, whose address does not lead to it, among those that are known here. */
import type { SquadsApprover } from '../../../api/index.ts'
import type { Context } from '../../../context.ts'
import { ApiError, notFound } from '../../../platform/errors.ts'
import { addressBytes } from '../../../solana/addresses.ts'
import { keyFault } from '../../../solana/bare-addresses.ts'
import { type SquadsMember, vaultAddress } from '../../../solana/squads/index.ts'
import { knownVaults } from '../../../store/proposals/proposals.ts'

/** Members of a multisig with their rights, as the API answers them. */
export const memberRecords = (members: readonly SquadsMember[]): SquadsApprover['members'] =>
  members.map(({ address, initiate, vote, execute }) => ({ address, propose: initiate, vote, execute }))

/** A vault of which the multisig is known here, because the address of a vault does not lead to it. */
export interface KnownVault {
  multisig: string
  vaultIndex: number
}

interface Sought {
  address: string
  /** The field that named the address. */
  param: string
  /** A further number of a vault at which each multisig is tried. */
  vaultIndex?: number
}

/**
 * Returns the multisig of which an address without a multisig is a vault. `fault` is why it was not read: it is thrown,
 * or not_found, if it is no vault that is known here.
 */
export async function knownVaultOr(
  context: Pick<Context, 'chain' | 'store' | 'config'>,
  { address, param, vaultIndex = 0 }: Sought,
  fault: unknown,
): Promise<KnownVault> {
  if (!(fault instanceof ApiError) || fault.code !== 'not_found') throw fault
  const known = await knownVault(context, address, vaultIndex)
  if (known !== null) return known
  if (keyFault(addressBytes(address)) === null) throw fault
  throw notFound(
    `There is no Squads multisig at ${address}, which may be the vault of one that is not known here: check the cluster, and give the address of the multisig, which Squads' app shows in its settings`,
    { param, cause: fault },
  )
}

/** Returns the vault at an address, or null if no multisig is known here that has it. */
export async function knownVault(
  context: Pick<Context, 'chain' | 'store' | 'config'>,
  address: string,
  vaultIndex = 0,
): Promise<KnownVault | null> {
  return (await findVaults(context, vaultIndex)).find((each) => addressOf(each) === address) ?? null
}

const addressOf = ({ multisig, vaultIndex }: KnownVault) => vaultAddress(multisig, vaultIndex)

/** The vaults of stored proposals and of the setting `squads`; of each multisig also its first and that of `index`. */
async function findVaults(
  { chain, store, config }: Pick<Context, 'chain' | 'store' | 'config'>,
  index: number,
): Promise<KnownVault[]> {
  const stored = await knownVaults(store.db, await chain.genesisHash())
  const [set = '', number = '0'] = (config.values.squads ?? '').split(':')
  const known = [...(set === '' ? [] : [{ multisig: set, vaultIndex: Number(number) }]), ...stored]
  const multisigs = [...new Set(known.map(({ multisig }) => multisig))]
  const others = multisigs.flatMap((multisig) =>
    [...new Set([0, index])].map((vaultIndex) => ({ multisig, vaultIndex })),
  )
  return [...known, ...others]
}
