/** What the transactions of a launch must be: the token, its pool or curve, and a first buy, at terms that the user allows. */
import type { PoolCreated } from '../../src/api/pools.ts'
import { TIP_ACCOUNTS } from '../../src/solana/bundles.ts'
import { TOKEN_2022_PROGRAM, WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import { decimalOf, groupedDecimalOf, LAMPORT_DECIMALS, rawUnits, solOf } from '../cli/amounts.ts'
import type { Session } from '../cli/session.ts'
import {
  anyValue,
  atMost,
  type Call,
  type Demand,
  demanding,
  MOST_LAMPORTS,
  opens,
  pays,
  provesDecimals,
  type Signing,
  same,
  unexpectedBuild,
  type Wanted,
  wraps,
} from '../signing/demand.ts'
import { makesToken, setsAuthority } from '../signing/demanded-tokens.ts'
import { recall } from '../signing/remembered.ts'
import { mintState } from '../signing/token-state.ts'
import { usage } from '../ui/problem.ts'
import type { PoolBody } from './launch-body.ts'
import type { CreateFlags } from './launch-flags.ts'
import { curveSwap, poolSwap } from './trade-demand.ts'

/** What only the answer says about a launch. */
export interface LaunchAnswer {
  pool: string
  mint: string
  quoteMint: string
  platformPercentage: number
}

export const launchAnswer = ({ pool, platform_position_percentage: percentage }: PoolCreated): LaunchAnswer => ({
  pool: pool.address,
  mint: pool.base_mint,
  quoteMint: pool.quote_mint,
  platformPercentage: percentage ?? 0,
})

/** What the user allows a preset to cost and to contain, because its terms come from the API. */
export type LaunchBounds = Pick<CreateFlags, 'quote' | 'max_creation_fee' | 'max_platform_percentage' | 'shared_config'>

const MOST_PLATFORM_PERCENTAGE = 50

export const mostCreationFee = ({ max_creation_fee: most }: Pick<LaunchBounds, 'max_creation_fee'>): bigint =>
  most === undefined ? MOST_LAMPORTS : rawUnits(most, LAMPORT_DECIMALS, '--max-creation-fee')

/** Refuses any quote but SOL, unless the user named it or a person reads it. */
export function requireQuote(
  of: Signing,
  { quote = WRAPPED_SOL }: Pick<LaunchBounds, 'quote'>,
  quoteMint: string,
): void {
  if (quoteMint === quote) return
  if (quote !== WRAPPED_SOL) throw unexpectedBuild(`its quote is ${quoteMint}, not ${quote}`)
  of.apiSays(`the quote of the pool is the token ${quoteMint}, not SOL`, '--quote')
}

/** A launch as it was requested, what the user allows, and what only the answer says. */
interface Launch {
  creator: string
  body: Omit<PoolBody, 'image'>
  bounds: LaunchBounds
  answer: LaunchAnswer
  /** Whether its config may have landed already; then an earlier run has checked it. */
  isBegun?: boolean
}

/** What the transactions of a launch must be. */
export async function launchDemand(session: Session, of: Signing, launch: Launch): Promise<Demand> {
  const { body, bounds, answer } = launch
  requireQuote(of, bounds, answer.quoteMint)
  const { buy_amount = 0, base_mint = answer.mint } = body
  if (answer.mint !== base_mint) throw unexpectedBuild(`its mint is ${answer.mint}, not ${base_mint}`)
  const isSol = answer.quoteMint === WRAPPED_SOL
  const decimals = isSol || buy_amount === 0 ? LAMPORT_DECIMALS : (await mintState(session, answer.quoteMint)).decimals
  const buy = rawUnits(buy_amount.toFixed(decimals), decimals, '--buy')
  if (!isSol && buy > 0n) {
    of.note(`the first buy pays ${groupedDecimalOf(buy, decimals)} of ${answer.quoteMint}, ${buy} raw units`)
  }
  return demandsLaunch(of, { ...launch, buy, decimals, mostFee: mostCreationFee(bounds) })
}

interface PricedLaunch extends Launch {
  /** The first buy in raw units of the quote; 0 without one. */
  buy: bigint
  /** Those of the quote. */
  decimals: number
  /** The most lamports that the preset may take as pool creation fee. */
  mostFee: bigint
}

/** The terms of a preset (curve, trading fees, supply) come from the API, which makes the config from them. */
const demandsLaunch = demanding(
  'this token and its pool, and a first buy of this amount',
  async (of, launch: PricedLaunch): Promise<Call[]> => {
    const tip = { ...pays(of.payer, TIP_ACCOUNTS, atMost(MOST_LAMPORTS)), least: 0 }
    const { type = 'dbc' } = launch.body
    return [...(await (type === 'dbc' ? opensCurve : opensPool)(of, launch)), tip]
  },
)

async function opensCurve(of: Signing, launch: PricedLaunch): Promise<Call[]> {
  const { creator, buy, decimals, body, mostFee } = launch
  const { pool, mint, quoteMint } = launch.answer
  const config = same()
  const makes = { ...makesConfig(of, config, { quoteMint, mostFee }), least: 0 }
  let made: string | undefined
  const init = (call: string): Call => ({
    program: PROGRAMS.dbc.id,
    call,
    fields: {
      pool,
      config: (address) => config(address) && (address === made || isShared(of, launch, address)),
      creator,
      payer: of.payer,
      base_mint: mint,
      quote_mint: quoteMint,
      name: body.name,
      symbol: body.symbol,
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
            : [provesDecimals(await of.accounts(quoteMint, creator), quoteMint, decimals, creator)]),
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
function isShared(of: Signing, { bounds, isBegun = false, mostFee }: PricedLaunch, config: string): boolean {
  if (bounds.shared_config !== undefined) return config === bounds.shared_config
  const fee = isBegun ? '0' : recall('shared-config', config)
  if (fee === null)
    of.apiSays(`the pool has the config ${config}, whose pool creation fee may be 100 SOL`, '--shared-config')
  else if (BigInt(fee) > mostFee) throw tooMuch(BigInt(fee), mostFee)
  return true
}

/** The program takes this many lamports into a pool without SOL, because it rounds up. */
const LEAST_SOL = 1n

async function opensPool(of: Signing, { creator, buy, body, bounds, answer }: PricedLaunch): Promise<Call[]> {
  const { name, symbol, lock_liquidity: lockLiquidity = true } = body
  const { pool, mint, platformPercentage } = answer
  const most = bounds.max_platform_percentage ?? MOST_PLATFORM_PERCENTAGE
  if (platformPercentage > most) {
    const part = `the preset gives away ${platformPercentage} % of the position`
    throw usage(`${part}, more than ${most}; nothing was signed`, {
      param: '--max-platform-percentage',
      next: `allow it with --max-platform-percentage ${platformPercentage}`,
    })
  }
  const { dammV2 } = PROGRAMS
  const token = { uri: null, decimals: null, initial_supply: null, token_program: 'spl' } as const
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
      revoke_freeze_authority: true,
      revoke_mint_authority: true,
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
