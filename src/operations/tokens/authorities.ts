/** The authorities of a token: who holds one, who may use it, and the verbs that give one away or up for good. */
import type { TokenExtensions } from '../../api/extension-fields.ts'
import type { Api, TrackedResource } from '../../api/index.ts'
import type { Input } from '../../api/route.ts'
import {
  buildAuthorityTransfer,
  type OnChainToken,
  readTokenState,
  tokenStatus,
} from '../../chain/programs/tokens/index.ts'
import type { Envelope } from '../../chain/sending/unsigned.ts'
import type { Context } from '../../context.ts'
import { type ApiError, badRequest } from '../../platform/errors.ts'
import {
  type MintExtensionAuthority,
  TOKEN_AUTHORITIES,
  type TokenAuthorityType,
} from '../../solana/token-authorities.ts'
import { unsignedAct } from '../act.ts'
import { trackingOf } from '../building.ts'
import { requireRecipients } from '../recipients.ts'
import { tokenAct } from './token-act.ts'

type Routes = Api['tokens']
type TransferInput = Pick<
  Input<Routes['transferAuthority']>,
  'mint' | 'type' | 'payer' | 'new_authority' | 'allow_programs'
>

/** Returns the holder of the authority, null when it is given up, and undefined without its extension. */
function holderOf(token: OnChainToken, type: TokenAuthorityType): string | null | undefined {
  if (type === 'mint') return token.mintAuthority
  if (type === 'freeze') return token.freezeAuthority
  if (type === 'metadata') return token.metadata?.isMutable ? token.metadata.updateAuthority : null
  return token.extensions?.authorities[type]
}

/** What an error says if nobody holds an authority, and what only its holder can do. */
interface HolderWords {
  /** The mint lacks the extension of the authority. */
  missing?: () => ApiError
  /** It was given up. */
  gone: () => ApiError
  only: string
}

/** Throws bad_request unless the payer holds the authority. The error names who does. */
export function requireHolder(
  token: OnChainToken,
  type: TokenAuthorityType,
  payer: string,
  { missing, gone, only }: HolderWords,
): void {
  const holder = holderOf(token, type)
  if (holder === payer) return
  if (holder === undefined && missing !== undefined) throw missing()
  if (holder === undefined || holder === null) throw gone()
  throw badRequest(`The ${TOKEN_AUTHORITIES[type].name} of ${token.mint} is ${holder}; only it can ${only}`, {
    param: 'payer',
    details: { authority: holder },
  })
}

/** Throws bad_request unless the payer holds the authority of an extension. `param` is the field that uses it. */
export function requireExtensionAuthority(
  token: OnChainToken,
  type: MintExtensionAuthority,
  { payer, param }: { payer: string; param: string },
): void {
  const { extension } = TOKEN_AUTHORITIES[type]
  requireHolder(token, type, payer, {
    ...useWords(token, type, param),
    missing: () => noExtension(token, extension, param),
  })
}

/** The freeze authority decides on the state of new accounts. */
export function requireDefaultStateAuthority(token: OnChainToken, payer: string): void {
  const param = 'default_frozen'
  if (token.extensions?.hasDefaultState !== true) throw noExtension(token, 'default state', param)
  requireHolder(token, 'freeze', payer, useWords(token, 'freeze', param))
}

const useWords = ({ mint }: OnChainToken, type: TokenAuthorityType, param: string): HolderWords => ({
  gone: () =>
    badRequest(`The ${TOKEN_AUTHORITIES[type].name} of ${mint} was given up, so nobody can use it`, { param }),
  only: 'do this',
})

const noExtension = ({ mint }: OnChainToken, extension: string, param: string) =>
  badRequest(`${param}: ${mint} has no ${extension}: an extension can only be chosen at creation`, { param })

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

const transferFor = tokenAct<Routes['transferAuthority']>('token_authority.transfer', planTransfer)

/** The platform wallet does not sign what DELETE builds: that is unsigned alone. */
export const transferAuthority: typeof transferFor = async (context, input) => {
  const { mode, type, new_authority } = input
  if (mode === 'signed' && new_authority === null && (type === 'mint' || type === 'freeze' || type === 'metadata')) {
    throw badRequest(
      `The platform wallet cannot give up the ${TOKEN_AUTHORITIES[type].name} of a token: build it with mode unsigned`,
      { param: 'mode' },
    )
  }
  return transferFor(context, input)
}

/** A revocation is a transfer to nobody, which the platform wallet never signs. */
export const revokeAuthority = unsignedAct<Routes['revokeAuthority']>(async (context, { mint, type, payer }) => {
  const input = { mint, type, payer, new_authority: null, allow_programs: false }
  const { events, ...plan } = await planTransfer(context, input, 'revoke')
  return { ...plan, payer, summary: {}, tracked: trackingOf('token', mint, events) }
})

/** Throws bad_request unless the payer holds the authority, and for a new holder that could never use it. */
async function planTransfer(
  context: Context,
  { mint, type, payer, new_authority: to, allow_programs }: TransferInput,
  verb = to === null ? 'give up' : 'give away',
) {
  const token = await readTokenState(context.chain, mint)
  requireOwner(token, type, { payer, verb })
  if (to !== null) await requireNewHolder(context, { mint, type, payer, to, allow_programs })
  else if (type === 'metadata') requireOwnPointer(token, payer)
  const warnings = to === null ? givenUpWarnings(token, type) : []
  return {
    // One and a half times the measured cost of the most expensive one, 15,761 units for Metaplex metadata.
    fallbackUnits: 25_000,
    build: (envelope: Envelope) => buildAuthorityTransfer({ ...envelope, mint, type, to, token }),
    summary: { mint, type, authority: payer, new_authority: to, ...(warnings.length === 0 ? {} : { warnings }) },
    events: to === null ? revocationEvents(token, type) : [],
  }
}

/** Throws bad_request unless the payer holds what it gives away or up. */
export function requireOwner(
  token: OnChainToken,
  type: TokenAuthorityType,
  { payer, verb }: { payer: string; verb: string },
): void {
  const { mint, metadata, metadataElsewhere } = token
  const { name } = TOKEN_AUTHORITIES[type]
  const param = 'type'
  if (type === 'metadata' && metadata === null && metadataElsewhere === null)
    throw badRequest(`The token ${mint} has no metadata, so nobody can change it`, { param })
  requireHolder(token, type, payer, {
    missing: () => {
      const { extension } = TOKEN_AUTHORITIES[type as MintExtensionAuthority]
      return badRequest(`The token ${mint} has no ${name}: it was created without the extension ${extension}`, {
        param,
      })
    },
    gone: () => badRequest(`The token ${mint} has no ${name}: it is already revoked`, { param, details: GIVEN_UP }),
    only: verb === 'change' ? 'change the metadata' : `${verb} it`,
  })
}

const GIVEN_UP = { reason: 'given_up' }

/** Throws bad_request if another address could still replace the metadata after its authority is given up. */
export function requireOwnPointer({ mint, metadataPointerAuthority: pointer }: OnChainToken, payer: string): void {
  if (pointer === null || pointer === payer) return
  throw badRequest(
    `${pointer} can move the metadata pointer of ${mint}, and so replace the metadata: it must first give up the authority metadata_pointer`,
    { param: 'type', details: { authority: pointer } },
  )
}

async function requireNewHolder(
  context: Context,
  { mint, type, payer, to, allow_programs }: Omit<TransferInput, 'new_authority'> & { to: string },
): Promise<void> {
  const param = 'new_authority'
  if (to === payer) throw badRequest(`${to} is the ${TOKEN_AUTHORITIES[type].name} of ${mint} already`, { param })
  // The programs accept any address, even one that nobody can sign for.
  await requireRecipients(context, [{ param, wallet: to }], { allowsPrograms: allow_programs })
}

/** What stays as it is for good, because nobody could change it any more. */
function givenUpWarnings({ mint, extensions }: OnChainToken, type: TokenAuthorityType): string[] {
  if (type === 'freeze' && extensions?.isFrozenByDefault)
    return [`New token accounts of ${mint} begin frozen, and nobody could ever thaw one`]
  if (type === 'pause' && extensions?.isPaused) return [`The token ${mint} is paused, and nobody could ever resume it`]
  return []
}

/** The events of a permanent revocation. `token` is the state before it; the last one makes it fully immutable. */
export function revocationEvents(token: OnChainToken, type: TokenAuthorityType): TrackedResource['related_events'] {
  const isLast =
    tokenStatus(token) !== 'fully_immutable' && tokenStatus(tokenWithout(token, type)) === 'fully_immutable'
  return [
    ...(type === 'mint' ? (['token.mint_authority_revoked'] as const) : []),
    ...(type === 'freeze' ? (['token.freeze_authority_revoked'] as const) : []),
    ...(isLast ? (['token.fully_immutable'] as const) : []),
  ]
}

/** Returns the token after the revocation. Authorities of extensions do not count for its status. */
function tokenWithout(token: OnChainToken, type: TokenAuthorityType): OnChainToken {
  if (type === 'mint') return { ...token, mintAuthority: null }
  if (type === 'freeze') return { ...token, freezeAuthority: null }
  if (type === 'metadata_pointer') return { ...token, metadataPointerAuthority: null }
  if (type !== 'metadata') return token
  const metadata = token.metadata && { ...token.metadata, isMutable: false, updateAuthority: null }
  return { ...token, metadata, metadataPointerAuthority: null }
}
