/** `svc proposals create`: proposes a transaction of the vault that no other command builds, exactly as it was given. */
import { instructionTexts } from '../../src/solana/described-instructions.ts'
import type { CommandOutcome } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { addressNames } from '../signing/address-names.ts'
import { trackedField } from '../signing/built-transactions.ts'
import { unexpectedBuild } from '../signing/demand.ts'
import { buildFields, vaultApprover } from '../signing/flags.ts'
import { previewLine } from '../signing/preview.ts'
import { proposeRun } from '../signing/propose.ts'
import type { RunFlags } from '../signing/signed-run.ts'
import { readTransaction } from '../signing/transaction-input.ts'
import { usage } from '../ui/problem.ts'
import { printable } from '../ui/render.ts'
import { counted } from '../ui/words.ts'
import { messageSha256 } from './answered.ts'
import { readPlaces } from './squads-plan.ts'

type CreateFlags = Omit<RunFlags, 'force' | 'squads'> & Pick<RunFlags, 'squads'> & { transaction: string }

/** There is no request to compare the transaction with, so a person must agree to what its bytes say. */
export async function createProposal(
  session: Session,
  { transaction: argument, ...given }: CreateFlags,
): Promise<CommandOutcome> {
  const flags = { ...given, force: false }
  const { squads } = flags
  if (squads === undefined) {
    throw usage('a proposal needs its multisig', { param: '--squads', next: 'give it with --squads MULTISIG[:VAULT]' })
  }
  const input = await readTransaction(argument)
  const { transaction } = input
  const { fee_payer } = await session.wallet.decode(transaction)
  if (fee_payer !== squads.vault) {
    throw usage(`${fee_payer} pays for the transaction, not the vault ${squads.vault}`, {
      param: '<transaction>',
      next: 'build it with the vault as payer: it then signs for it when it is executed',
    })
  }
  const loaded = await readPlaces(session.client, transaction)
  const content = await session.wallet.describe(transaction, loaded)
  const { instructions } = content
  const names = await addressNames(session, content, new Map([[squads.vault, 'this vault']]))
  const sha256 = messageSha256(transaction)
  return proposeRun(
    session,
    flags,
    {
      what: `a transaction of ${counted(instructions.length, 'instruction')}, with the message ${sha256}`,
      async build() {
        const { data } = await session.client.proposals.create({
          ...buildFields(flags),
          ...trackedField(input),
          transaction,
          approver: vaultApprover(squads),
        })
        if (data.mode !== 'unsigned') throw unexpectedBuild('it answered without transactions to sign')
        return { data: { transaction, proposal: data.proposal } }
      },
      demand: null,
      preview: () => [
        previewLine('act', 'as it is decoded here:'),
        previewLine('guards', 'when it is executed, if they fit: the message itself has none'),
        ...[...loaded].map(([place, address]) => previewLine('', `${place} is ${address} now, and has to stay it`)),
        ...instructionTexts(instructions, names).map(printable),
      ],
      show: () => ({ message_sha256: sha256 }),
    },
    squads,
  )
}
