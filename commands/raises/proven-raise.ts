/** What commands of a raise share: which one they name, what is proven of it, and the calls of its program. */
import type { Raise } from '../../src/api/raises.ts'
import { hexOf } from '../../src/solana/bytes.ts'
import { SOL_DECIMALS } from '../../src/solana/constants.ts'
import { WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import { PRESALE, PRESALE_SEEDS } from '../../src/solana/programs/presale.ts'
import { required, text } from '../cli/command.ts'
import type { Session } from '../cli/session.ts'
import { readKey } from '../merkle/built-record.ts'
import type { Call } from '../signing/demand.ts'
import { failure } from '../ui/problem.ts'

export const RAISE_ARG = required(text('Address of the raise', { placeholder: 'RAISE', field: 'id' }))

/**
 * The address of a raise follows from its base, its token and what is paid, so that no other tokens can be said of it;
 * the decimals of SOL are known.
 */
export async function readProvenRaise({ client }: Pick<Session, 'client'>, id: string): Promise<Raise> {
  readKey(id, 'RAISE')
  const { data: raise } = await client.raises.get({ id })
  const { base, mint, quote_mint } = raise
  for (const [key, field] of Object.entries({ base, mint, quote_mint })) readKey(field, key)
  const { deriveAddress } = await import('../../src/solana/program-addresses.ts')
  if (deriveAddress(PRESALE.id, ...PRESALE_SEEDS.presale(base, mint, quote_mint)).address !== id) {
    throw failure(`the API says that the raise ${id} sells ${mint} for ${quote_mint}, which is not so`, {
      next: 'check which API answers: `svc config list`',
    })
  }
  return { ...raise, id, quote_decimals: quote_mint === WRAPPED_SOL ? SOL_DECIMALS : raise.quote_decimals }
}

type Instruction = Parameters<typeof PRESALE.data>[0]
/** A call with exactly these arguments, if any are given: no accounts of a transfer hook follow. */
export const presaleCall = <Name extends Instruction>(
  call: Name,
  fields: Call['fields'],
  args?: Parameters<typeof PRESALE.data<Name>>[1],
): Call => ({
  ...{ program: PRESALE.id, call, fields },
  ...(args === undefined ? {} : { data: hexOf(PRESALE.data(call, args)) }),
})
