/** Multisigs of Squads v4: create and read. */
import type { Api } from '../api/index.ts'
import type { Input, Result } from '../api/route.ts'
import { requireProgram } from '../chain/programs/required-program.ts'
import { buildMultisigCreation, readMultisig, readSquadsSettings } from '../chain/programs/squads/index.ts'
import type { Context } from '../context.ts'
import { PROGRAMS } from '../solana/programs.ts'
import { freshKey } from '../solana/signatures.ts'
import { multisigAddress, vaultAddress } from '../solana/squads/index.ts'
import { unsignedAct } from './act.ts'
import { knownVaultOr, memberRecords } from './proposals/squads/known-vault.ts'
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
