/** The flags of a new token's Token-2022 extensions, and the body's field that they fill. */

import type { TokenExtensions } from '../../src/api/extension-fields.ts'
import { extensionMeanings } from '../../src/api/extension-meanings.ts'
import { MAX_U64 } from '../../src/solana/u64.ts'
import { rawUnits } from '../cli/amounts.ts'
import { type InputValues, text, toggle } from '../cli/command.ts'
import { WALLET_ADDRESS } from '../signing/flags.ts'
import { previewLine } from '../signing/preview.ts'
import { usage } from '../ui/problem.ts'

/** The original program has no extensions. */
const OF_TOKEN_2022 = { conflicts: ['token_program=spl'] }

export const EXTENSION_FLAGS = {
  transfer_fee: text('Token-2022: fee of each transfer, such as 1%', { placeholder: 'PERCENT', ...OF_TOKEN_2022 }),
  max_fee: text('With --transfer-fee: the most of one transfer, in whole tokens', {
    placeholder: 'AMOUNT',
    needs: ['transfer_fee'],
  }),
  interest: text('Token-2022: yearly rate that wallets add to amounts, such as 5%', {
    placeholder: 'PERCENT',
    ...OF_TOKEN_2022,
    field: 'interest_rate',
  }),
  multiplier: text('Token-2022: number by which wallets multiply amounts, such as 1.5', {
    placeholder: 'NUMBER',
    conflicts: [...OF_TOKEN_2022.conflicts, 'interest'],
    field: 'scaled_amount',
  }),
  non_transferable: toggle('Token-2022: holders can only burn it', OF_TOKEN_2022),
  default_frozen: toggle('Token-2022: token accounts begin frozen; with --keep-freeze-authority', {
    ...OF_TOKEN_2022,
    needs: ['keep_freeze_authority'],
  }),
  permanent_delegate: text('Token-2022: wallet that can take and burn what others hold', {
    ...WALLET_ADDRESS,
    ...OF_TOKEN_2022,
  }),
  pausable: toggle('Token-2022: you can pause all transfers', OF_TOKEN_2022),
  transfer_hook: text('Token-2022: program that each transfer calls', { placeholder: 'PROGRAM', ...OF_TOKEN_2022 }),
  closable: toggle('Token-2022: you can close the mint at a supply of 0', OF_TOKEN_2022),
}

type ExtensionInput = InputValues<typeof EXTENSION_FLAGS>

/** The `extensions` of the body; undefined without any of the flags. Throws a usage problem for unreadable values. */
export function extensionsOf(input: ExtensionInput, decimals: number): TokenExtensions | undefined {
  const isExtended = (Object.keys(EXTENSION_FLAGS) as (keyof ExtensionInput)[]).some((key) => Boolean(input[key]))
  if (!isExtended) return undefined
  const { transfer_fee, max_fee, interest, multiplier, permanent_delegate, transfer_hook } = input
  return {
    ...(transfer_fee === undefined
      ? {}
      : {
          transfer_fee: {
            basis_points: basisPointsOf(transfer_fee, '--transfer-fee', { least: 0, most: 10_000 }),
            maximum_fee: String(max_fee === undefined ? MAX_U64 : rawUnits(max_fee, decimals, '--max-fee')),
          },
        }),
    ...(interest === undefined ? {} : { interest_rate: { basis_points: rateOf(interest, '--interest') } }),
    ...(multiplier === undefined ? {} : { scaled_amount: { multiplier } }),
    non_transferable: input.non_transferable,
    default_frozen: input.default_frozen,
    ...(permanent_delegate === undefined ? {} : { permanent_delegate }),
    pausable: input.pausable,
    ...(transfer_hook === undefined ? {} : { transfer_hook: { program: transfer_hook } }),
    closable: input.closable,
  }
}

/** A yearly rate in basis points, which may be negative. */
export const rateOf = (typed: string, shown: string): number =>
  basisPointsOf(typed, shown, { least: -32_768, most: 32_767 })

/** `1%`, `0.25 %` or `1` as hundredths of a percent; throws a usage problem for anything else. */
export function basisPointsOf(typed: string, shown: string, { least, most }: { least: number; most: number }): number {
  const [, sign, percent] = /^(-?)([0-9]{1,5}(?:\.[0-9]{1,2})?) ?%?$/.exec(typed) ?? []
  const points = percent === undefined ? Number.NaN : Number(`${sign}${rawUnits(percent, 2, shown)}`)
  if (points >= least && points <= most) return points
  throw usage(`${shown} must be a percentage from ${least / 100} to ${most / 100}, such as 1.5%, not "${typed}"`, {
    param: shown,
  })
}

/** Columns that a preview leaves for a text. */
const TEXT_COLUMNS = 66

/** What the extensions mean for buyers, as lines of a preview at 80 columns; a meaning's further lines are indented. */
export const buyerLines = (extensions: TokenExtensions | undefined, decimals: number): string[] =>
  extensionMeanings(extensions, { who: 'you', decimals }).flatMap((meaning, i) =>
    (meaning.match(new RegExp(`.{1,${TEXT_COLUMNS}}(?:\\s|$)`, 'gu')) ?? [meaning]).map((line, part) =>
      previewLine(i + part === 0 ? 'buyers' : '', `${part === 0 ? '' : '  '}${line.trimEnd()}`),
    ),
  )
