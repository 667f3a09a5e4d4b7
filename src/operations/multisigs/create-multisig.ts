/** Builds the creation of a multisig of Squads v4. */
import type { Api } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { requireProgram } from '../../chain/programs/required-program.ts'
import { buildMultisigCreation, readSquadsSettings } from '../../chain/programs/squads/index.ts'
import type { Context } from '../../context.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import { freshKey } from '../../solana/signatures.ts'
import { multisigAddress, vaultAddress } from '../../solana/squads/index.ts'
import { buildTransaction, unsignedAnswer } from '../building.ts'
import { requireRecipients } from '../recipients.ts'
import { generatedKeysField } from '../transactions/generated-keys.ts'

type CreateMultisigRoute = Api['multisigs']['create']

/** About twice the measured cost of one with twenty members. */
const CREATION_UNITS = 100_000

/** Throws bad_request for rules that the program refuses, and for a member that has no key. */
export async function createMultisig(
  context: Context,
  input: Input<CreateMultisigRoute>,
): Promise<Result<CreateMultisigRoute>> {
  const { payer, members, threshold, time_lock: timeLock } = input
  const recipients = members.map(({ address: wallet }, i) => ({ param: `members.${i}.address`, wallet }))
  await requireRecipients(context, recipients, { allowsPrograms: input.allow_programs })
  await requireProgram(context.chain, PROGRAMS.squads)
  const { treasury } = await readSquadsSettings(context.chain)
  const { address: createKey, secretKey } = freshKey()
  const multisig = multisigAddress(createKey)
  const vault = vaultAddress(multisig, 0)
  const built = await buildTransaction(context, {
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
  })
  return {
    ...unsignedAnswer(built),
    ...generatedKeysField(context.vault, [built.transaction], [secretKey]),
    multisig,
    vault,
  }
}
