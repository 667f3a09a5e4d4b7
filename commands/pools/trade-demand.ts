/** What the transaction of a trade on a pool must be. */
import { WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import {
  anyValue,
  type Call,
  demanding,
  opens,
  provesDecimals,
  type Signing,
  type Wanted,
  wraps,
} from '../signing/demand.ts'

export interface Trade {
  pool: Wanted
  payer: string
  /** Mints of what is paid and what is received. */
  paid: string
  received: string
  /** The mint that the pool sells, which the programs compare with the pool; without it, either of the two. */
  base?: string
  /** Decimals with which the amount was converted; the chain checks them. */
  decimals?: number
  /** The most raw units that are paid; null is any. */
  amount: bigint | null
  /** The least that is received, which the transaction enforces. */
  least: Wanted
}

/** A trade on a pool of either type, with the payer's own accounts. */
async function swaps(of: Signing, trade: Trade): Promise<Call[]> {
  const { payer, paid, received, amount, decimals } = trade
  return [
    ...[paid, received].filter((mint) => mint !== WRAPPED_SOL).map((mint) => opens(payer, payer, mint)),
    ...(decimals === undefined || paid === WRAPPED_SOL
      ? []
      : [provesDecimals(await of.accounts(paid, payer), paid, decimals, payer)]),
    ...([paid, received].includes(WRAPPED_SOL)
      ? await wraps(of, payer, paid === WRAPPED_SOL ? (amount ?? 0n) : 0n)
      : []),
    { ...(await curveSwap(of, trade)), group: 'swap' },
    { ...(await poolSwap(of, trade)), group: 'swap' },
  ]
}

export const demandsSwap = demanding('one trade on this pool, of this amount, with your own accounts', swaps)

async function tradeAccounts({ accounts }: Signing, { payer, paid, received, pool }: Trade) {
  const [input_token_account, output_token_account] = [await accounts(paid, payer), await accounts(received, payer)]
  return { pool, payer, input_token_account, output_token_account }
}

/** The mints of the pool by the names of a program, which compares its vaults with them. */
function poolMints({ base, paid, received }: Trade, sold: string, quote: string): Call['fields'] {
  const either = [paid, received]
  return { [sold]: base ?? either, [quote]: base === undefined ? either : either.filter((mint) => mint !== base) }
}

/** `swap_mode` 2 puts the received amount first, so the payment would have no limit here. */
export const curveSwap = async (of: Signing, trade: Trade): Promise<Call> => ({
  program: PROGRAMS.dbc.id,
  call: 'swap2',
  fields: {
    ...(await tradeAccounts(of, trade)),
    ...poolMints(trade, 'base_mint', 'quote_mint'),
    amount_0: trade.amount ?? anyValue,
    amount_1: trade.least,
    swap_mode: ['0', '1'],
    referral_token_account: PROGRAMS.dbc.id,
  },
})

export const poolSwap = async (of: Signing, trade: Trade): Promise<Call> => ({
  program: PROGRAMS.dammV2.id,
  call: 'swap',
  fields: {
    ...(await tradeAccounts(of, trade)),
    ...poolMints(trade, 'token_a_mint', 'token_b_mint'),
    amount_in: trade.amount ?? anyValue,
    minimum_amount_out: trade.least,
    referral_token_account: PROGRAMS.dammV2.id,
  },
})
