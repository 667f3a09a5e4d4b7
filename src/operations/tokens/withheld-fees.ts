/** Withdraws and harvests the transfer fees that a Token-2022 mint and its token accounts withhold. */
import type { Api } from '../../api/index.ts'
import { findWithheld, readWithheld, type WithheldAccount } from '../../chain/holders/withheld.ts'
import { MOST_EXECUTED_ACCOUNTS } from '../../chain/programs/squads/index.ts'
import {
  buildHarvest,
  buildWithheldWithdrawal,
  MOST_GUARDED_WITHHELD,
  MOST_WITHHELD,
  type OnChainToken,
  readReceivers,
  readTokenState,
  receivingFault,
} from '../../chain/programs/tokens/index.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { addsGuards } from '../build-guards.ts'
import { requireRecipients } from '../recipients.ts'
import { transferNote } from '../token-transfers/transfer-faults.ts'
import { requireExtensionAuthority } from './authorities.ts'
import { tokenAct } from './token-act.ts'

type Routes = Api['tokens']

/** More than a transaction uses: about 3,500 units for each account, and 40,000 to open one. */
const unitsOf = (accounts: number) => 80_000 + accounts * 8_000

export const withdrawWithheld = tokenAct<Routes['withdrawWithheld']>(
  'token.withdraw_withheld',
  async (context, { mint, payer, recipient = payer, accounts, allow_programs }) => {
    const token = await readTokenState(context.chain, mint)
    requireExtensionAuthority(token, 'withheld_withdraw', { payer, param: 'mint' })
    const { tokenAccount, opens } = await requireReceiver(context, token, { recipient, payer, allow_programs })
    const fromMint = token.extensions?.withheldInMint ?? 0n
    const chosen = await chooseWithheld(context, mint, accounts)
    const amount = sumOf(chosen.taken) + fromMint
    if (amount === 0n) throw nothingWithheld(mint)
    const sources = chosen.taken.map(({ address }) => address)
    const withdrawal = { mint, recipient, tokenAccount, opens, fromMint: fromMint > 0n, accounts: sources }
    return {
      fallbackUnits: unitsOf(sources.length),
      build: (envelope) => buildWithheldWithdrawal({ ...envelope, ...withdrawal }),
      summary: {
        mint,
        authority: payer,
        recipient,
        token_account: tokenAccount,
        opens,
        amount: String(amount),
        from_mint: String(fromMint),
        ...chosenFields(chosen),
      },
    }
  },
)

export const harvestFees = tokenAct<Routes['harvestFees']>('token.harvest', async (context, { mint, accounts }) => {
  const { extensions } = await readTokenState(context.chain, mint)
  if (extensions === null || extensions.transferFee === null) {
    throw badRequest(`mint: ${mint} has no transfer fee, so nothing is withheld`, { param: 'mint' })
  }
  const chosen = await chooseWithheld(context, mint, accounts)
  if (chosen.taken.length === 0) throw nothingWithheld(mint)
  const sources = chosen.taken.map(({ address }) => address)
  return {
    fallbackUnits: unitsOf(sources.length),
    build: (envelope) => buildHarvest({ ...envelope, mint, accounts: sources }),
    summary: { mint, amount: String(sumOf(chosen.taken)), ...chosenFields(chosen) },
  }
})

interface Chosen {
  /** Those of this transaction, with what they withhold now. */
  taken: readonly WithheldAccount[]
  /** Those that did not fit, as of the listing. */
  rest: readonly WithheldAccount[]
}

/** Throws bad_request naming an account of the request that is not one of the mint, or for too many of them. */
async function chooseWithheld(context: Context, mint: string, asked: readonly string[] | undefined): Promise<Chosen> {
  const { chain, txVersion, vaultActing } = context
  const fitting = (await addsGuards(context)) ? MOST_GUARDED_WITHHELD : MOST_WITHHELD
  const most = vaultActing === undefined ? fitting[txVersion] : MOST_EXECUTED_ACCOUNTS
  if (asked !== undefined && asked.length > most) {
    throw badRequest(`accounts: ${asked.length} do not fit into one transaction, ${most} do: send those first`, {
      param: 'accounts',
      details: { accounts: asked.length, fits: most },
    })
  }
  const found = asked === undefined ? await findWithheld(chain, mint) : []
  const addresses = asked ?? found.slice(0, most).map(({ address }) => address)
  const amounts = await readWithheld(chain, mint, addresses)
  const taken = addresses.flatMap((address, i): WithheldAccount[] => {
    const amount = amounts[i] ?? null
    if (amount === null && asked !== undefined) {
      const param = `accounts.${i}`
      throw badRequest(`${param}: ${address} is not a token account of ${mint}`, { param })
    }
    return amount === null || amount === 0n ? [] : [{ address, amount }]
  })
  return { taken, rest: found.slice(most) }
}

const sumOf = (accounts: readonly WithheldAccount[]) => accounts.reduce((sum, { amount }) => sum + amount, 0n)

const chosenFields = ({ taken, rest }: Chosen) => ({
  accounts: taken.map(({ address, amount }) => ({ address, amount: String(amount) })),
  remaining_accounts: rest.length,
  remaining_amount: String(sumOf(rest)),
})

const nothingWithheld = (mint: string) =>
  badRequest(`Nothing is withheld for ${mint} now`, {
    param: 'mint',
    details: { reason: 'nothing_withheld' },
  })

/** Throws bad_request naming the recipient if the fees could not arrive there. */
async function requireReceiver(
  context: Context,
  { mint, tokenProgram, extensions }: OnChainToken,
  { recipient, payer, allow_programs }: { recipient: string; payer: string; allow_programs: boolean },
): Promise<{ tokenAccount: string; opens: boolean }> {
  const param = recipient === payer ? 'payer' : 'recipient'
  if (recipient !== payer)
    await requireRecipients(context, [{ param, wallet: recipient }], { allowsPrograms: allow_programs })
  const [receiver] = await readReceivers(context.chain, { mint, tokenProgram, wallets: [recipient] })
  if (receiver === undefined) throw new Error('the receiver was not read')
  const fault = receivingFault(receiver, {
    payer: '',
    mint,
    allowsPrograms: true,
    opensFrozen: extensions?.isFrozenByDefault === true,
  })
  // A withdrawal is not a transfer, so it needs no memo.
  if (fault !== null && fault !== 'memo_required') {
    throw badRequest(`${param}: ${transferNote(fault, receiver)}`, { param, details: { reason: fault } })
  }
  return { tokenAccount: receiver.tokenAccount, opens: receiver.isMissing }
}
