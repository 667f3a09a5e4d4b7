/**
 * Lists the calls that launch a token with its pool, share a config, trade on a pool, or transfer the creator's role.
 */
import { TIP_ACCOUNTS } from '../../src/solana/bundles.ts'
import { TOKEN_2022_PROGRAM, WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { decimalOf, LAMPORT_DECIMALS, solOf } from '../cli/amounts.ts'
import { usage } from '../ui/problem.ts'
import {
  anyValue,
  atMost,
  type Call,
  demanding,
  MOST_LAMPORTS,
  opens,
  pays,
  provesDecimals,
  type Signing,
  same,
  type Wanted,
  wraps,
} from './demand.ts'
import { makesToken, setsAuthority } from './demanded-tokens.ts'

export interface AskedLaunch {
  type: 'dbc' | 'damm_v2'
  creator: string
  name: string
  symbol: string
  /** Raw units of the quote; 0 without a first buy. */
  buy: bigint
  pool: string
  mint: string
  quoteMint: string
  quoteDecimals: number
  lockLiquidity: boolean
  /** The most lamports that the preset may take as pool creation fee. */
  mostCreationFee: bigint
  /** The shared config account, if the user named it. */
  sharedConfig: string | undefined
  /** The fee in lamports of a config account shared from this machine; null for any other. */
  recalledFee(config: string): string | null
  /** The platform's part of the position, in percent, as the answer shows it. */
  platformPercentage: number
  mostPlatformPercentage: number
}

/** The terms of a preset (curve, trading fees, supply) come from the API, which makes the config from them. */
export async function launches(of: Signing, asked: AskedLaunch): Promise<Call[]> {
  const tip = { ...pays(of.payer, TIP_ACCOUNTS, atMost(MOST_LAMPORTS)), least: 0 }
  return [...(await (asked.type === 'dbc' ? opensCurve : opensPool)(of, asked)), tip]
}

async function opensCurve(of: Signing, asked: AskedLaunch): Promise<Call[]> {
  const { creator, pool, mint, name, symbol, buy, quoteMint } = asked
  const config = same()
  const makes = { ...makesConfig(of, config, { quoteMint, mostFee: asked.mostCreationFee }), least: 0 }
  let made: string | undefined
  const init = (call: string): Call => ({
    program: PROGRAMS.dbc.id,
    call,
    fields: {
      pool,
      config: (address) => config(address) && (address === made || isShared(of, asked, address)),
      creator,
      payer: of.payer,
      base_mint: mint,
      quote_mint: quoteMint,
      name,
      symbol,
    },
    group: 'pool',
  })
  return [
    {
      ...makes,
      fields: {
        ...makes.fields,
        config: (address) => {
          made = address
          return config(address)
        },
      },
    },
    init('initialize_virtual_pool_with_spl_token'),
    init('initialize_virtual_pool_with_token2022'),
    ...(buy === 0n
      ? []
      : [
          opens(of.payer, creator, mint),
          ...(quoteMint === WRAPPED_SOL
            ? await wraps(of, creator, buy)
            : [provesDecimals(await of.accounts(quoteMint, creator), quoteMint, asked.quoteDecimals, creator)]),
          await curveSwap(of, { pool, payer: creator, paid: quoteMint, received: mint, amount: buy, least: anyValue }),
        ]),
  ]
}

export const makesConfig = (
  of: Signing,
  config: Wanted,
  { quoteMint = anyValue, mostFee }: { quoteMint?: Wanted; mostFee: bigint },
): Call => ({
  program: PROGRAMS.dbc.id,
  call: 'create_config',
  fields: {
    config,
    payer: of.payer,
    quote_mint: quoteMint,
    pool_creation_fee: (lamports) => {
      const fee = BigInt(lamports)
      if (fee > mostFee) throw tooMuch(fee, mostFee)
      if (fee > 0n) of.note(`the preset's pool creation fee: ${solOf(fee)} SOL for each launch`)
      return true
    },
  },
})

const tooMuch = (fee: bigint, most: bigint) =>
  usage(`the preset takes ${solOf(fee)} SOL as pool creation fee, more than ${solOf(most)}; nothing was signed`, {
    param: '--max-creation-fee',
    next: `allow it with --max-creation-fee ${decimalOf(fee, LAMPORT_DECIMALS)}`,
  })

/** Whether a config that this launch does not make was shared here, named, or is shown to the user. */
function isShared(of: Signing, { sharedConfig, recalledFee, mostCreationFee }: AskedLaunch, config: string): boolean {
  if (sharedConfig !== undefined) return config === sharedConfig
  const fee = recalledFee(config)
  if (fee === null)
    of.apiSays(`the pool has the config ${config}, whose pool creation fee may be 100 SOL`, '--shared-config')
  else if (BigInt(fee) > mostCreationFee) throw tooMuch(BigInt(fee), mostCreationFee)
  return true
}

/** The program takes this many lamports into a pool without SOL, because it rounds up. */
const LEAST_SOL = 1n

async function opensPool(of: Signing, asked: AskedLaunch): Promise<Call[]> {
  const { creator, pool, mint, name, symbol, buy, lockLiquidity, platformPercentage, mostPlatformPercentage } = asked
  if (platformPercentage > mostPlatformPercentage) {
    const part = `the preset gives away ${platformPercentage} % of the position`
    throw usage(`${part}, more than ${mostPlatformPercentage}; nothing was signed`, {
      param: '--max-platform-percentage',
      next: `allow it with --max-platform-percentage ${platformPercentage}`,
    })
  }
  const { dammV2 } = PROGRAMS
  const token = { uri: null, decimals: null, supply: null, program: 'spl' } as const
  const position = same()
  const shared = same()
  const first = same()
  const trade = { pool, payer: creator, paid: WRAPPED_SOL, received: mint, amount: buy, least: anyValue }
  let liquidity: string | undefined
  const locks: Call = {
    program: dammV2.id,
    call: 'permanent_lock_position',
    fields: { pool, position, signer: creator, permanent_lock_liquidity: (units) => units === liquidity },
  }
  const splits: Call = {
    program: dammV2.id,
    call: 'split_position2',
    fields: {
      pool,
      first_position: position,
      first_owner: creator,
      second_owner: creator,
      second_position_nft_account: shared,
      numerator: platformPercentage * 10_000_000,
    },
    ...(lockLiquidity ? { after: locks } : {}),
  }
  const receives = (wallet: string) => {
    of.note(`${platformPercentage} % of the position goes to ${wallet}, which the API names as the platform's wallet`)
    return true
  }
  return [
    ...(await makesToken(of, {
      ...token,
      mint,
      name,
      symbol,
      keepsFreeze: false,
      revokesMint: true,
      isImmutable: true,
    })),
    ...(await wraps(of, creator, buy + LEAST_SOL)),
    {
      program: dammV2.id,
      call: 'initialize_customizable_pool',
      fields: {
        pool,
        creator,
        payer: creator,
        position,
        token_a_mint: mint,
        token_b_mint: WRAPPED_SOL,
        payer_token_a: await of.accounts(mint, creator),
        payer_token_b: await of.accounts(WRAPPED_SOL, creator),
        // The pool begins at its lowest price, so that it takes only the new token.
        sqrt_min_price: first,
        sqrt_price: first,
        dynamic_fee: 'none',
        activation_point: 'none',
        liquidity: (units) => {
          liquidity = units
          return true
        },
      },
    },
    ...(lockLiquidity ? [locks] : []),
    ...(platformPercentage === 0
      ? []
      : [
          {
            program: dammV2.id,
            call: 'create_position',
            fields: { owner: creator, payer: creator, pool, position_nft_account: shared },
          },
          splits,
          {
            ...setsAuthority({ of: shared, kind: ACCOUNT_OWNER, to: receives, payer: creator }),
            program: TOKEN_2022_PROGRAM,
            after: splits,
          },
        ]),
    ...(buy === 0n ? [] : [await poolSwap(of, trade)]),
  ]
}

const ACCOUNT_OWNER = 2

export interface AskedSwap {
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
async function swaps(of: Signing, asked: AskedSwap): Promise<Call[]> {
  const { payer, paid, received, amount, decimals } = asked
  return [
    ...[paid, received].filter((mint) => mint !== WRAPPED_SOL).map((mint) => opens(payer, payer, mint)),
    ...(decimals === undefined || paid === WRAPPED_SOL
      ? []
      : [provesDecimals(await of.accounts(paid, payer), paid, decimals, payer)]),
    ...([paid, received].includes(WRAPPED_SOL)
      ? await wraps(of, payer, paid === WRAPPED_SOL ? (amount ?? 0n) : 0n)
      : []),
    { ...(await curveSwap(of, asked)), group: 'swap' },
    { ...(await poolSwap(of, asked)), group: 'swap' },
  ]
}

export const demandsSwap = demanding('one trade on this pool, of this amount, with your own accounts', swaps)

async function tradeAccounts({ accounts }: Signing, { payer, paid, received, pool }: AskedSwap) {
  const [input_token_account, output_token_account] = [await accounts(paid, payer), await accounts(received, payer)]
  return { pool, payer, input_token_account, output_token_account }
}

/** The mints of the pool, whose vaults the programs compare with them. */
const [ofCurve, ofPool] = [
  ['base_mint', 'quote_mint'],
  ['token_a_mint', 'token_b_mint'],
].map(([first = '', second = '']) => ({ base, paid, received }: AskedSwap): Call['fields'] => {
  const either = [paid, received]
  return { [first]: base ?? either, [second]: base === undefined ? either : either.filter((mint) => mint !== base) }
}) as [(asked: AskedSwap) => Call['fields'], (asked: AskedSwap) => Call['fields']]

/** `swap_mode` 2 puts the received amount first, so the payment would have no limit here. */
const curveSwap = async (of: Signing, asked: AskedSwap): Promise<Call> => ({
  program: PROGRAMS.dbc.id,
  call: 'swap2',
  fields: {
    ...(await tradeAccounts(of, asked)),
    ...ofCurve(asked),
    amount_0: asked.amount ?? anyValue,
    amount_1: asked.least,
    swap_mode: ['0', '1'],
    referral_token_account: PROGRAMS.dbc.id,
  },
})

const poolSwap = async (of: Signing, asked: AskedSwap): Promise<Call> => ({
  program: PROGRAMS.dammV2.id,
  call: 'swap',
  fields: {
    ...(await tradeAccounts(of, asked)),
    ...ofPool(asked),
    amount_in: asked.amount ?? anyValue,
    minimum_amount_out: asked.least,
    referral_token_account: PROGRAMS.dammV2.id,
  },
})
