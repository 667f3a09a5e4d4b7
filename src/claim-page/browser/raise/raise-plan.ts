/** Plans the acts of a buyer, each as one transaction with the effect that a simulation has to show. */
import { WRAPPED_SOL } from '../../../solana/program-ids.ts'
import { PRESALE } from '../../../solana/programs/presale.ts'
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
  isFitting,
  MOST_PRIORITY_FEE,
  type PlannedTransaction,
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

export interface PlannedAct extends PlannedTransaction {
  /** Raw units that the wallet deposits or gets. */
  moves: bigint
}

/** Whether SOL is wrapped and unwrapped, because the wallet has no account for wrapped SOL that would have to stay. */
export const unwraps = ({ quote, wallet }: RaiseState): boolean =>
  quote.mint === WRAPPED_SOL && wallet?.quotes.state === null

/** Throws PageFault for an act that cannot be done as asked. */
export function planAct(state: RaiseState, part: RaisePart, act: RaiseAct, amount = 0n): PlannedAct {
  const { wallet } = state
  if (wallet === null) throw new PageFault('raiseConnect')
  const fault = unusual(state)
  if (fault !== null) throw new PageFault(fault)
  const planned = PLANS[act]({ state, part, amount, wallet: wallet.address, ...wallet })
  if (!isFitting(wallet.address, planned.instructions)) throw new PageFault('tooLarge')
  return planned
}

interface Asked {
  state: RaiseState
  part: RaisePart
  amount: bigint
  wallet: string
  tokens: OwnTokens
  quotes: OwnTokens
}

const PLANS: Readonly<Record<RaiseAct, (asked: Asked) => PlannedAct>> = {
  deposit: planDeposit,
  withdraw: planWithdrawal,
  claim: planClaim,
  refund: planRefund,
}

function planDeposit(asked: Asked): PlannedAct {
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
  const lasting = (isNew ? rentOf(PRESALE.sizeOf('escrow')) : 0n) + (isSol ? total : 0n)
  const opening = isNew
    ? [
        part.listed
          ? provenEscrowInstruction(raise.address, place, part.listed)
          : escrowInstruction(raise.address, place),
      ]
    : []
  const paid = { ...place, from: quotes.address, amount: moved }
  return withAccount(asked, quotes, quote, {
    moves: moved,
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

function planWithdrawal(asked: Asked): PlannedAct {
  const { state, part, amount, quotes } = asked
  const { all, mostOfPart } = amountsOf(state, part).withdraw
  const moved = amount === all ? all : wholePart(state.raise.price, amount)
  if (moved !== all && moved > mostOfPart) throw new PageFault('effectDiffers')
  return planPayout(asked, 'quotes', moved, [withdrawalInstruction(state.raise, payoutTo(asked, quotes), moved)])
}

function planRefund(asked: Asked): PlannedAct {
  const { state, part, quotes } = asked
  const { refund, claim } = amountsOf(state, part)
  const instruction = refundInstruction(state.raise, payoutTo(asked, quotes))
  return planPayout(asked, 'quotes', refund, [instruction, ...closing(asked, claim.now)])
}

/** Claims what is released; the excess of a pro rata raise is a refund of its own. */
function planClaim(asked: Asked): PlannedAct {
  const { state, part, tokens } = asked
  const { refund, claim } = amountsOf(state, part)
  const instruction = claimInstruction(state.raise, payoutTo(asked, tokens))
  return planPayout(asked, 'tokens', claim.now, [instruction, ...closing(asked, refund)])
}

/** Closes the escrow if neither this nor anything later is left in it, which returns its rent. */
function closing({ state, part, wallet }: Asked, left: bigint): PlainInstruction[] {
  const isLast = left === 0n && amountsOf(state, part).claim.next === null
  return isLast ? [closeEscrowInstruction(state.raise.address, { escrow: part.escrowAddress, owner: wallet })] : []
}

/** Pays from a vault: into a token account of the wallet, or SOL into the wallet. */
function planPayout(
  asked: Asked,
  side: 'tokens' | 'quotes',
  moves: bigint,
  instructions: PlainInstruction[],
): PlannedAct {
  if (moves === 0n) throw new PageFault('effectDiffers')
  const { state } = asked
  const { raise } = state
  const own = asked[side]
  const isToken = side === 'tokens'
  const arrival = {
    address: own.address,
    least: (own.state?.amount ?? 0n) + (isToken ? arriving(state, moves) : moves),
    of: tokensIn,
  }
  const intoAccount = [arrival, ...walletKeeps(state, own.state === null ? rentOfTokens(state) : 0n)]
  return withAccount(asked, own, isToken ? state.token : state.quote, {
    ...{ moves, instructions, units: instructions.length * ACT_UNITS, takes: 0n },
    writable: [raise.address, isToken ? raise.baseVault : raise.quoteVault],
    expected: !isToken && unwraps(state) ? walletKeeps(state, -moves) : intoAccount,
  })
}

const rentOfTokens = ({ rentOf }: RaiseState) => rentOf(TOKEN.sizeOf('account'))

/** Opens the token account if it is not, and closes one of wrapped SOL that was opened for this act alone. */
function withAccount(
  { state, wallet }: Asked,
  { address, state: open }: OwnTokens,
  { mint, program }: RaiseToken,
  planned: PlannedAct,
): PlannedAct {
  if (open !== null) return planned
  const own = { wallet, account: address, mint, program, isOpen: false }
  return {
    ...planned,
    instructions: [openingInstruction(own), ...planned.instructions, ...unwrappingInstructions(own)],
    units: planned.units + OPENING_UNITS + TOKEN_UNITS,
    takes: planned.takes + rentOfTokens(state),
  }
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
