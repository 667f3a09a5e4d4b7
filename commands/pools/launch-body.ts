/** What `svc pools create` sends to the API, from its flags. */
import type { PoolCreated } from '../../src/api/pools.ts'
import { LAMPORT_DECIMALS, rawUnits } from '../cli/amounts.ts'
import { programsField } from '../signing/flags.ts'
import { readBytes } from '../ui/files.ts'
import { usage } from '../ui/problem.ts'
import type { CreateFlags } from './launch-flags.ts'

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

/** The keys in a launch's answer, for its signers besides the creator. */
export const secretKeysOf = ({ required_signers: keys }: Pick<PoolCreated, 'required_signers'>): number[][] => [
  keys.base_mint_secret_key,
  keys.config_secret_key,
  keys.position_nft_secret_key ?? [],
  keys.platform_position_nft_secret_key ?? [],
]
