/** The terms of a launch from its preset and its request: who receives what, and in which quote. */
import { imageParts } from '../../api/chain-scalars.ts'
import type { LaunchCurve } from '../../chain/programs/dbc/index.ts'
import type { Services } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { SOL_DECIMALS } from '../../solana/constants.ts'
import { WRAPPED_SOL } from '../../solana/program-ids.ts'
import { MAX_U64 } from '../../solana/u64.ts'
import { type Image, readImage, requireImageSize } from '../../storage/image.ts'
import { platformWallet } from '../platform-wallet.ts'
import { requireRecipients } from '../recipients.ts'
import type { NamedCurve } from './presets.ts'

export interface LaunchReceivers {
  /** Address of the partner, which may claim the fees. */
  feeClaimer: string
  leftoverReceiver: string
}

/**
 * Returns the addresses that the preset names, else the platform wallet. Throws internal_error if that is needed but
 * not set.
 */
export async function readLaunchReceivers(
  services: Pick<Services, 'config' | 'signer' | 'log'>,
  { fee_claimer, leftover_receiver }: NamedCurve['preset'],
): Promise<LaunchReceivers> {
  if (fee_claimer !== undefined && leftover_receiver !== undefined) {
    return { feeClaimer: fee_claimer, leftoverReceiver: leftover_receiver }
  }
  const platform = await platformWallet(services)
  return { feeClaimer: fee_claimer ?? platform, leftoverReceiver: leftover_receiver ?? platform }
}

/**
 * Reads the image of a launch. Throws bad_request (`image`) if it is not an image, or has another type than its data
 * URL declares.
 */
export async function launchImage(
  { image }: { image: string },
  config: Services['config'],
): Promise<Image & { bytes: Uint8Array }> {
  const { declared, base64 } = imageParts(image)
  // Known from the length of the text, without decoding megabytes.
  requireImageSize(Buffer.byteLength(base64, 'base64'), config)
  const bytes = Buffer.from(base64, 'base64')
  const read = await readImage(bytes, config)
  if (declared === null || declared === read.contentType) return { bytes, ...read }
  throw badRequest(
    `image: the data URL declares ${declared}, but the image is ${read.contentType}: declare that type`,
    {
      param: 'image',
    },
  )
}

/** Throws bad_request if the preset gives fees or leftovers to an address that is not a wallet. */
export async function requireReceivers(
  services: Pick<Services, 'chain'>,
  { allow_programs, ...preset }: NamedCurve['preset'],
): Promise<void> {
  const receivers = (['fee_claimer', 'leftover_receiver'] as const).flatMap((as) => {
    const wallet = preset[as]
    return wallet === undefined ? [] : [{ param: 'preset', wallet, as }]
  })
  if (receivers.length > 0) await requireRecipients(services, receivers, { allowsPrograms: allow_programs })
}

/** Returns what the first buy spends, in raw units of the preset's quote. */
export const firstBuyOf = (
  { buy_amount }: { buy_amount: number },
  { quoteMint, quoteDecimals }: Pick<LaunchCurve, 'quoteMint' | 'quoteDecimals'>,
): bigint =>
  quoteMint === WRAPPED_SOL
    ? lamportsOfSol(buy_amount, 'buy_amount')
    : rawUnitsOf(buy_amount, { decimals: quoteDecimals, unit: 'the quote' }, 'buy_amount')

/** Throws bad_request for a `damm_v2` launch with a preset that only a curve can have. */
export function requireFittingPreset(
  type: 'dbc' | 'damm_v2',
  { name, preset }: Pick<NamedCurve, 'name' | 'preset'>,
): void {
  if (type === 'dbc') return
  const field =
    preset.quote_mint !== WRAPPED_SOL ? 'quote_mint' : preset.token_program !== 'spl' ? 'token_program' : null
  if (field === null) return
  throw badRequest(
    `The preset ${name} sets ${field}, but pools of type damm_v2 are launched in SOL with SPL tokens: send type dbc, or use another preset`,
    { param: 'preset' },
  )
}

/** Returns the exact amount of the number's text. Throws bad_request for more than nine fractional digits. */
export const lamportsOfSol = (sol: number, param: string): bigint =>
  rawUnitsOf(sol, { decimals: SOL_DECIMALS, unit: 'SOL' }, param)

/**
 * Returns the exact amount of the number's text. Throws bad_request for more fractional digits than `decimals`, or
 * beyond 64 bits.
 */
function rawUnitsOf(amount: number, { decimals, unit }: { decimals: number; unit: string }, param: string) {
  const [, whole = '0', fraction = '', exponent = '0'] =
    /^(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/.exec(String(amount)) ?? []
  const places = fraction.length - Number(exponent)
  const digits = BigInt(whole + fraction)
  const divisor = 10n ** BigInt(Math.max(0, places - decimals))
  if (digits % divisor !== 0n) {
    throw badRequest(`${param}: ${unit} has at most ${decimals} fractional digits, ${amount} has more`, { param })
  }
  const raw = places > decimals ? digits / divisor : digits * 10n ** BigInt(decimals - places)
  if (raw > MAX_U64) throw badRequest(`${param}: ${amount} in raw units does not fit in 64 bits`, { param })
  return raw
}
