/** Plans the acts of a buyer, each as one transaction with the effect that a simulation has to show. */
import { WRAPPED_SOL } from '../../../solana/program-ids.ts'
import { PRESALE_ESCROW_BYTES } from '../../../solana/programs/presale.ts'
import type { PlainInstruction } from '../../../solana/programs/table.ts'
import { TOKEN } from '../../../solana/programs/token.ts'
import {
  claimInstruction,
  closeEscrowInstruction,
  depositInstruction,
  escrowInstruction,
  provenEscrowInstruction,
  refundInstruction,
  withdrawalInstruction,
} from '../../../solana/raise-acts.ts'
import { buyerCan, paymentOf, wholePart } from '../../../solana/raise-amounts.ts'
import { decodeRaiseEscrow } from '../../../solana/raises.ts'
import { readTokenAccount } from '../../../solana/token-accounts.ts'
import {
  decimalsInstruction,
  openingInstruction,
  unwrappingInstructions,
  wrappingInstructions,
} from '../../../solana/token-acts.ts'
import { feeOn } from '../../../solana/transfer-fees.ts'
import type { ChainRecord } from '../chain-records.ts'
import { PageFault } from '../page-fault.ts'
import {
  type Expected,
  MOST_PRIORITY_FEE,
  type PlannedTransaction,
  requireFitting,
  SIGNATURE_FEE,
} from '../planned-transaction.ts'
import { type OwnTokens, type RaisePart, type RaiseState, type RaiseToken, unusual } from './raise-state.ts'

export type RaiseAct = 'deposit' | 'withdraw' | 'claim' | 'refund'

/** Compute units, half more than the largest run used. */
const ACT_UNITS = 90_000
const OPENING_UNITS = 45_000
const TOKEN_UNITS = 6_000

/** What a wallet can do now in a round, in raw units. */
export type PartAmounts = ReturnType<typeof amountsOf>
export const amountsOf = ({ raise, now }: RaiseState, { round, escrow, listed }: RaisePart) =>
  buyerCan(raise, { round, escrow, cap: escrow?.cap ?? listed?.cap }, now)

/** Tokens of a claim that arrive, without the transfer fee of the mint. */
export const arriving = ({ token }: RaiseState, tokens: bigint): bigint => tokens - feeOn(token.fee, tokens)

/** Whether SOL is wrapped and unwrapped, because the wallet has no account for wrapped SOL that would have to stay. */
export const unwraps = ({ quote, wallet }: RaiseState): boolean =>
  quote.mint === WRAPPED_SOL && wallet?.quotes.state === null

/** Throws PageFault for an act that cannot be done as asked. */
export function planAct(state: RaiseState, part: RaisePart, act: RaiseAct, amount = 0n): PlannedTransaction {
  const { wallet } = state
  if (wallet === null) throw new PageFault('raiseConnect')
  const fault = unusual(state)
  if (fault !== null) throw new PageFault(fault)
  const planned = PLANS[act]({ state, part, amount, wallet: wallet.address, ...wallet })
  return requireFitting(wallet.address, planned)
}

interface Asked {
  state: RaiseState
  part: RaisePart
  amount: bigint
  wallet: string
  tokens: OwnTokens
  quotes: OwnTokens
}

const PLANS: Readonly<Record<RaiseAct, (asked: Asked) => PlannedTransaction>> = {
  deposit: planDeposit,
  withdraw: planWithdrawal,
  claim: planClaim,
  refund: planRefund,
}

function planDeposit(asked: Asked): PlannedTransaction {
  const { state, part, amount, wallet, quotes } = asked
  const { raise, quote, rentOf } = state
  const { least, most } = amountsOf(state, part).deposit
  const { moved, total } = paymentOf(raise, part.round, amount)
  if (moved < least || moved > most) throw new PageFault('effectDiffers')
  const isNew = part.escrow === null
  if (isNew && raise.allowlist === 'merkle' && part.listed === null) throw new PageFault('notInRound')
  const isSol = quote.mint === WRAPPED_SOL
  if (!isSol && (quotes.state?.amount ?? 0n) < total) throw new PageFault('lacksQuote')
  const paying = isSol
    ? wrappingInstructions({ wallet, account: quotes.address }, total)
    : [
        decimalsInstruction(
          { wallet, account: quotes.address, mint: quote.mint, program: quote.program },
          quote.decimals,
        ),
      ]
  const place = { escrow: part.escrowAddress, owner: wallet, payer: wallet }
  const lasting = (isNew ? rentOf(PRESALE_ESCROW_BYTES) : 0n) + (isSol ? total : 0n)
  const opening = isNew
    ? [
        part.listed
          ? provenEscrowInstruction(raise.address, place, part.listed)
          : escrowInstruction(raise.address, place),
      ]
    : []
  const paid = { ...place, from: quotes.address, amount: moved }
  return withAccount(asked, quotes, quote, {
    instructions: [...opening, ...paying, depositInstruction(raise, paid)],
    units: 2 * ACT_UNITS + 2 * TOKEN_UNITS,
    takes: lasting,
    writable: [raise.address, raise.quoteVault],
    expected: [
      { address: part.escrowAddress, least: (part.escrow?.deposited ?? 0n) + moved, of: depositIn(part.escrowAddress) },
      ...(isSol ? [] : [{ address: quotes.address, least: (quotes.state?.amount ?? 0n) - total, of: tokensIn }]),
      ...walletKeeps(state, lasting),
    ],
  })
}

const payoutTo = ({ part, wallet }: Asked, { address }: OwnTokens) => ({
  ...{ escrow: part.escrowAddress, owner: wallet, to: address },
})

function planWithdrawal(asked: Asked): PlannedTransaction {
  const { state, part, amount, quotes } = asked
  const { all, mostOfPart } = amountsOf(state, part).withdraw
  const moved = amount === all ? all : wholePart(state.raise.price, amount)
  if (moved === 0n || (moved !== all && moved > mostOfPart)) throw new PageFault('effectDiffers')
  return payingQuotes(asked, moved, [withdrawalInstruction(state.raise, payoutTo(asked, quotes), moved)])
}

function planRefund(asked: Asked): PlannedTransaction {
  const { state, part, quotes } = asked
  const { refund } = amountsOf(state, part)
  if (refund === 0n) throw new PageFault('effectDiffers')
  return payingQuotes(asked, refund, [refundInstruction(state.raise, payoutTo(asked, quotes)), ...closing(asked)])
}

function payingQuotes(asked: Asked, amount: bigint, instructions: PlainInstruction[]): PlannedTransaction {
  const { raise, quote } = asked.state
  return withAccount(asked, asked.quotes, quote, {
    ...{ instructions, units: instructions.length * ACT_UNITS, takes: 0n },
    writable: [raise.address, raise.quoteVault],
    expected: quotesArrive(asked, amount),
  })
}

/** Claims what is released; the excess of a pro rata raise is a refund of its own. */
function planClaim(asked: Asked): PlannedTransaction {
  const { state, part, tokens } = asked
  const { claim } = amountsOf(state, part)
  if (claim.now === 0n) throw new PageFault('effectDiffers')
  const instructions = [claimInstruction(state.raise, payoutTo(asked, tokens)), ...closing(asked, 'claim')]
  return withAccount(asked, tokens, state.token, {
    ...{ instructions, units: instructions.length * ACT_UNITS, takes: 0n },
    writable: [state.raise.address, state.raise.baseVault],
    expected: [
      { address: tokens.address, least: (tokens.state?.amount ?? 0n) + arriving(state, claim.now), of: tokensIn },
      ...walletKeeps(state, tokens.state === null ? rentOfTokens(state) : 0n),
    ],
  })
}

/** Closes the escrow with the last act in it, which returns its rent. */
function closing({ state, part, wallet }: Asked, act: 'claim' | 'refund' = 'refund'): PlainInstruction[] {
  const { claim, refund } = amountsOf(state, part)
  const hasMore = act === 'claim' ? refund > 0n : claim.now > 0n
  const isLast = !hasMore && claim.next === null
  return isLast ? [closeEscrowInstruction(state.raise.address, { escrow: part.escrowAddress, owner: wallet })] : []
}

const rentOfTokens = ({ rentOf }: RaiseState) => rentOf(TOKEN.sizeOf('account'))

/** Opens the token account if it is not, and closes one of wrapped SOL that was opened for this act alone. */
function withAccount(
  { state, wallet }: Asked,
  { address, state: open }: OwnTokens,
  { mint, program }: RaiseToken,
  planned: PlannedTransaction,
): PlannedTransaction {
  if (open !== null) return planned
  const own = { wallet, account: address, mint, program, isOpen: false }
  return {
    ...planned,
    instructions: [openingInstruction(own), ...planned.instructions, ...unwrappingInstructions(own)],
    units: planned.units + OPENING_UNITS + TOKEN_UNITS,
    takes: planned.takes + rentOfTokens(state),
  }
}

/** What arrives of the quote: SOL in the wallet, or units in its token account. */
function quotesArrive({ state, quotes }: Asked, amount: bigint): Expected[] {
  if (unwraps(state)) return walletKeeps(state, -amount)
  const rent = quotes.state === null ? rentOfTokens(state) : 0n
  return [
    { address: quotes.address, least: (quotes.state?.amount ?? 0n) + amount, of: tokensIn },
    ...walletKeeps(state, rent),
  ]
}

/** The SOL of the wallet falls by no more than this and the fees. */
const walletKeeps = ({ wallet, lamports }: RaiseState, spent: bigint): Expected[] => [
  {
    address: wallet?.address ?? '',
    least: lamports - spent - SIGNATURE_FEE - MOST_PRIORITY_FEE,
    of: (record) => record?.lamports ?? 0n,
  },
]

const tokensIn = (record: ChainRecord | null): bigint => (record && readTokenAccount(record)?.amount) ?? 0n
const depositIn = (escrow: string) => (record: ChainRecord | null) => decodeRaiseEscrow(escrow, record)?.deposited ?? 0n
