/** What `svc pools create` sends to the API, from its flags. */
import type { PoolCreated } from '../../src/api/pools.ts'
import { WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import { groupedDecimalOf, LAMPORT_DECIMALS, rawUnits } from '../cli/amounts.ts'
import type { Session } from '../cli/session.ts'
import { type Demand, demanding, MOST_LAMPORTS, type Signing, unexpectedBuild } from '../signing/demand.ts'
import { launches } from '../signing/demanded-pools.ts'
import { programsField } from '../signing/flags.ts'
import { recall } from '../signing/remembered.ts'
import { mintState } from '../signing/token-state.ts'
import { readBytes } from '../ui/files.ts'
import { usage } from '../ui/problem.ts'
import type { CreateFlags } from './launch-flags.ts'

const demandsLaunch = demanding('this token and its pool, and a first buy of this amount', launches)

/** The body of a launch, without its creator; `base_mint` is undefined if the API makes the key of the mint. Throws a usage problem that names the flag. */
export async function poolBody(input: CreateFlags, base_mint: string | undefined) {
  const { name, symbol, image, type, preset, buy, description, website, twitter, telegram, unlocked_liquidity } = input
  // Without a list they are prompted for.
  if (name === undefined || symbol === undefined || image === undefined)
    throw usage('missing --name, --symbol or --image')
  const buy_amount = buy === undefined ? undefined : solNumber(buy, '--buy')
  const bytes = await readBytes(image)
  if (bytes.byteLength === 0) {
    throw usage(`${image === '-' ? 'standard input' : image} is empty: an image is PNG, JPEG, GIF or WebP`, {
      param: '--image',
    })
  }
  const lock_liquidity = unlocked_liquidity ? false : undefined
  const optional = {
    type,
    preset,
    buy_amount,
    description,
    website,
    telegram,
    twitter_url: twitter,
    base_mint,
    lock_liquidity,
  }
  return {
    name,
    symbol,
    image: Buffer.from(bytes).toString('base64'),
    ...programsField(input),
    ...(Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)) as {
      [K in keyof typeof optional]?: NonNullable<(typeof optional)[K]>
    }),
  }
}

export type PoolBody = Awaited<ReturnType<typeof poolBody>>

/**
 * The API takes SOL, or whole tokens of the quote, as a number; an amount that does not fit exactly is refused rather
 * than rounded.
 */
export function solNumber(sol: string, shown: string): number {
  const lamports = rawUnits(sol, LAMPORT_DECIMALS, shown)
  const amount = Number(sol)
  if (rawUnits(amount.toFixed(LAMPORT_DECIMALS), LAMPORT_DECIMALS, shown) !== lamports) {
    throw usage(`${shown} has more digits than can be sent exactly`, { param: shown })
  }
  return amount
}

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

/** What the transactions of a launch must be. */
export async function launchDemand(
  session: Session,
  of: Signing,
  {
    creator,
    body,
    bounds,
    answer,
    isBegun = false,
  }: {
    creator: string
    body: Omit<PoolBody, 'image'>
    bounds: LaunchBounds
    answer: LaunchAnswer
    /** Whether its config may have landed already; then an earlier run has checked it. */
    isBegun?: boolean
  },
): Promise<Demand> {
  requireQuote(of, bounds, answer.quoteMint)
  const { name, symbol, type = 'dbc', buy_amount = 0, lock_liquidity = true, base_mint = answer.mint } = body
  if (answer.mint !== base_mint) throw unexpectedBuild(`its mint is ${answer.mint}, not ${base_mint}`)
  const isSol = answer.quoteMint === WRAPPED_SOL
  const decimals = isSol || buy_amount === 0 ? LAMPORT_DECIMALS : (await mintState(session, answer.quoteMint)).decimals
  const buy = rawUnits(buy_amount.toFixed(decimals), decimals, '--buy')
  if (!isSol && buy > 0n) {
    of.note(`the first buy pays ${groupedDecimalOf(buy, decimals)} of ${answer.quoteMint}, ${buy} raw units`)
  }
  const asked = {
    type,
    creator,
    name,
    symbol,
    buy,
    quoteDecimals: decimals,
    lockLiquidity: lock_liquidity,
    mostCreationFee: mostCreationFee(bounds),
    mostPlatformPercentage: bounds.max_platform_percentage ?? MOST_PLATFORM_PERCENTAGE,
    sharedConfig: bounds.shared_config,
    recalledFee: (config: string) => (isBegun ? '0' : recall('shared-config', config)),
  }
  return demandsLaunch(of, { ...asked, ...answer })
}

/** The keys in a launch's answer, for its signers besides the creator. */
export const secretKeysOf = ({ required_signers: keys }: Pick<PoolCreated, 'required_signers'>): number[][] => [
  keys.base_mint_secret_key,
  keys.config_secret_key,
  keys.position_nft_secret_key ?? [],
  keys.platform_position_nft_secret_key ?? [],
]
