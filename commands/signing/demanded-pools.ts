/** The calls that launch a token with its pool, share a config, trade on a pool, or hand its creator's role over. */
import { TIP_ACCOUNTS } from '../../src/solana/bundles.ts'
import { TOKEN_2022_PROGRAM, WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import {
  anyValue,
  atMost,
  type Call,
  MOST_LAMPORTS,
  opens,
  pays,
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
  lockLiquidity: boolean
  /** The platform's part of the position, in percent, as the answer shows it. */
  platformPercentage: number
}

/** What a preset says (curve, fees, supply) is the API's word: its config is made of it. */
export async function launches(of: Signing, asked: AskedLaunch): Promise<Call[]> {
  const tip = { ...pays(of.payer, TIP_ACCOUNTS, atMost(MOST_LAMPORTS)), least: 0 }
  return [...(await (asked.type === 'dbc' ? opensCurve : opensPool)(of, asked)), tip]
}

async function opensCurve(of: Signing, asked: AskedLaunch): Promise<Call[]> {
  const { creator, pool, mint, name, symbol, buy, quoteMint } = asked
  const config = same()
  const init = (call: string): Call => ({
    program: PROGRAMS.dbc.id,
    call,
    fields: { pool, config, creator, payer: of.payer, base_mint: mint, quote_mint: quoteMint, name, symbol },
    group: 'pool',
  })
  return [
    { ...makesConfig(of.payer, config, quoteMint), least: 0 },
    init('initialize_virtual_pool_with_spl_token'),
    init('initialize_virtual_pool_with_token2022'),
    ...(buy === 0n
      ? []
      : [
          opens(of.payer, creator, mint),
          ...(quoteMint === WRAPPED_SOL ? await wraps(of, creator, buy) : []),
          await curveSwap(of, { pool, payer: creator, paid: quoteMint, received: mint, amount: buy, least: anyValue }),
        ]),
  ]
}

export const makesConfig = (payer: string, config: Wanted, quoteMint: Wanted = anyValue): Call => ({
  program: PROGRAMS.dbc.id,
  call: 'create_config',
  fields: { config, payer, quote_mint: quoteMint },
})

/** The program takes so many lamports into a pool without SOL, because it rounds up from nothing. */
const LEAST_SOL = 1n

async function opensPool(of: Signing, asked: AskedLaunch): Promise<Call[]> {
  const { creator, pool, mint, name, symbol, buy, lockLiquidity, platformPercentage } = asked
  const { dammV2 } = PROGRAMS
  const token = { uri: null, decimals: null, supply: null, program: 'spl' } as const
  const position = same()
  const shared = same()
  const trade = { pool, payer: creator, paid: WRAPPED_SOL, received: mint, amount: buy, least: anyValue }
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
      },
      data: isSingleSided,
    },
    ...(lockLiquidity
      ? [{ program: dammV2.id, call: 'permanent_lock_position', fields: { pool, position, signer: creator } }]
      : []),
    ...(platformPercentage === 0
      ? []
      : [
          {
            program: dammV2.id,
            call: 'create_position',
            fields: { owner: creator, payer: creator, pool, position_nft_account: shared },
          },
          {
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
          },
          {
            ...setsAuthority({ of: shared, kind: ACCOUNT_OWNER, to: anyValue, payer: creator }),
            program: TOKEN_2022_PROGRAM,
          },
        ]),
    ...(buy === 0n ? [] : [await poolSwap(of, trade)]),
  ]
}

const ACCOUNT_OWNER = 2
/** Bytes of the instruction without a dynamic fee and an activation point, and of what follows its fees, in hex. */
const [POOL_DATA, AFTER_FEES] = [107 * 2, 68 * 2]

/** Whether the pool begins at its lowest price, so that it takes the new token alone. */
function isSingleSided(hex: string): boolean {
  const terms = hex.slice(-AFTER_FEES)
  const [lowest, first] = [terms.slice(0, 32), terms.slice(49 * 2, 65 * 2)]
  return hex.length === POOL_DATA && lowest === first && terms.endsWith('00')
}

export interface AskedSwap {
  pool: Wanted
  payer: string
  /** Mints of what is paid and what is received. */
  paid: string
  received: string
  /** The most that is paid, in raw units. */
  amount: bigint
  /** The least that is received, which the transaction enforces. */
  least: Wanted
}

/** A trade on a pool of either type, with the payer's own accounts. */
export async function swaps(of: Signing, asked: AskedSwap): Promise<Call[]> {
  const { payer, paid, received, amount } = asked
  return [
    ...[paid, received].filter((mint) => mint !== WRAPPED_SOL).map((mint) => opens(payer, payer, mint)),
    ...([paid, received].includes(WRAPPED_SOL) ? await wraps(of, payer, paid === WRAPPED_SOL ? amount : 0n) : []),
    { ...(await curveSwap(of, asked)), group: 'swap' },
    { ...(await poolSwap(of, asked)), group: 'swap' },
  ]
}

async function tradeAccounts({ accounts }: Signing, { payer, paid, received, pool }: AskedSwap) {
  const [input_token_account, output_token_account] = [await accounts(paid, payer), await accounts(received, payer)]
  return { pool, payer, input_token_account, output_token_account }
}

/** `swap_mode` 2 names what is received first, so that nothing here would bound what is paid. */
const curveSwap = async (of: Signing, asked: AskedSwap): Promise<Call> => ({
  program: PROGRAMS.dbc.id,
  call: 'swap2',
  fields: {
    ...(await tradeAccounts(of, asked)),
    amount_0: asked.amount,
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
    amount_in: asked.amount,
    minimum_amount_out: asked.least,
    referral_token_account: PROGRAMS.dammV2.id,
  },
})
