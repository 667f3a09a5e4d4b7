/** Checks the addresses that extensions name, and who holds the authority of an extension. */
import type { TokenExtensions } from '../../api/extension-fields.ts'
import type { OnChainToken } from '../../chain/programs/tokens/index.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { type MintExtensionAuthority, TOKEN_AUTHORITIES } from '../../solana/token-authorities.ts'
import { requireRecipients } from '../recipients.ts'

/**
 * Throws bad_request if the mint lacks the extension (naming `param`), if its authority was given up, and if the payer
 * does not hold it.
 */
export function requireExtensionAuthority(
  { mint, extensions }: Pick<OnChainToken, 'mint' | 'extensions'>,
  authority: MintExtensionAuthority,
  { payer, param }: { payer: string; param: string },
): void {
  const { name, extension } = TOKEN_AUTHORITIES[authority]
  const holder = extensions?.authorities[authority]
  if (holder === undefined) {
    throw badRequest(`${param}: ${mint} has no ${extension}: an extension can only be chosen at creation`, { param })
  }
  if (holder === null) throw badRequest(`The ${name} of ${mint} was given up, so nobody can use it`, { param })
  if (holder === payer) return
  throw badRequest(`The ${name} of ${mint} is ${holder}; only it can do this`, {
    param: 'payer',
    details: { authority: holder },
  })
}

/** Throws bad_request for an address that is not a program: no transfer could succeed. */
export async function requireHook({ chain }: Pick<Context, 'chain'>, program: string, param: string): Promise<void> {
  if (await chain.hasProgram(program)) return
  throw badRequest(`${param}: ${program} is not a program on ${chain.cluster.label}: deploy it first`, { param })
}

/** Throws bad_request naming the field for an address that its extension could not use. */
export async function checkExtensions(context: Context, extensions: TokenExtensions | undefined): Promise<void> {
  const { transfer_hook: hook, permanent_delegate: delegate } = extensions ?? {}
  if (hook !== undefined) await requireHook(context, hook.program, 'extensions.transfer_hook.program')
  if (delegate === undefined) return
  // A multisig's vault may be the delegate; a mint or a token account could never sign.
  const recipient = { param: 'extensions.permanent_delegate', wallet: delegate }
  await requireRecipients(context, [recipient], { allowsPrograms: true })
}
