/** Multisigs of Squads v4: create and read, and find a vault that is known here. */
import type { Api, SquadsApprover } from '../api/index.ts'
import type { Input, Result } from '../api/route.ts'
import { requireProgram } from '../chain/programs/required-program.ts'
import { buildMultisigCreation, readMultisig, readSquadsSettings } from '../chain/programs/squads/index.ts'
import type { Context } from '../context.ts'
import { ApiError, notFound } from '../platform/errors.ts'
import { addressBytes } from '../solana/addresses.ts'
import { keyFault } from '../solana/bare-addresses.ts'
import { PROGRAMS } from '../solana/programs.ts'
import { freshKey } from '../solana/signatures.ts'
import { multisigAddress, type SquadsMember, vaultAddress } from '../solana/squads/index.ts'
import { knownVaults } from '../store/proposals/proposals.ts'
import { unsignedAct } from './act.ts'
import { requireRecipients } from './recipients.ts'

type Routes = Api['multisigs']

/** About twice the measured cost of one with twenty members. */
const CREATION_UNITS = 100_000

/** Throws bad_request for rules that the program refuses, and for a member that has no key. */
export const createMultisig = unsignedAct<Routes['create']>(async (context, input) => {
  const { payer, members, threshold, time_lock: timeLock } = input
  const recipients = members.map(({ address: wallet }, i) => ({ param: `members.${i}.address`, wallet }))
  await requireRecipients(context, recipients, { allowsPrograms: input.allow_programs })
  await requireProgram(context.chain, PROGRAMS.squads)
  const { treasury } = await readSquadsSettings(context.chain)
  const { address: createKey, secretKey } = freshKey()
  const multisig = multisigAddress(createKey)
  const vault = vaultAddress(multisig, 0)
  return {
    payer,
    fallbackUnits: CREATION_UNITS,
    build: async (envelope) => ({
      ...(await buildMultisigCreation({
        ...envelope,
        createKey,
        treasury,
        threshold,
        timeLock,
        members: members.map(({ address, propose, vote, execute }) => ({ address, initiate: propose, vote, execute })),
        rentCollector: input.rent_collector ?? vault,
      })),
      secretKeys: [secretKey],
    }),
    summary: { multisig, vault },
  }
})

/** Reads a multisig of Squads v4 from the chain, by its address or by that of a vault that is known here. */
export async function getMultisig(context: Context, { address }: Input<Routes['get']>): Promise<Result<Routes['get']>> {
  const { chain } = context
  let vaultIndex: number | undefined
  const found = await readMultisig(chain, address, 'address').catch(async (fault: unknown) => {
    const known = await knownVaultOr(context, { address, param: 'address' }, fault)
    vaultIndex = known.vaultIndex
    return readMultisig(chain, known.multisig, 'address')
  })
  return {
    address: found.address,
    vault: vaultAddress(found.address, vaultIndex ?? 0),
    ...(vaultIndex === undefined ? {} : { vault_index: vaultIndex }),
    threshold: found.threshold,
    time_lock: found.timeLock,
    members: memberRecords(found.members),
    transaction_index: String(found.transactionIndex),
    stale_transaction_index: String(found.staleTransactionIndex),
    config_authority: found.configAuthority,
    rent_collector: found.rentCollector,
  }
}

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
  const known = (await vaultsOf(context, vaultIndex)).find((each) => addressOf(each) === address)
  if (known !== undefined) return known
  if (keyFault(addressBytes(address)) === null) throw fault
  throw notFound(
    `There is no Squads multisig at ${address}, which may be the vault of one that is not known here: check the cluster, and give the address of the multisig, which Squads' app shows in its settings`,
    { param, cause: fault },
  )
}

const addressOf = ({ multisig, vaultIndex }: KnownVault) => vaultAddress(multisig, vaultIndex)

/** The vaults of stored proposals and of the setting `squads`; of each multisig also its first and that of `index`. */
async function vaultsOf(
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
