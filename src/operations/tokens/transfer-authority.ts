/** Gives one authority of a token to another address or up for good, unsigned or signed by the platform wallet. */
import type { Api, TrackedResource } from '../../api/index.ts'
import type { Input, Result } from '../../api/route.ts'
import { buildAuthorityTransfer, type OnChainToken, readTokenState } from '../../chain/programs/tokens/index.ts'
import type { Context } from '../../context.ts'
import { badRequest } from '../../platform/errors.ts'
import { TOKEN_AUTHORITIES, type TokenAuthorityType } from '../../solana/token-authorities.ts'
import { type BuiltTransaction, buildTransaction, signingDraft, trackingOf, unsignedAnswer } from '../building.ts'
import { requireRecipients } from '../recipients.ts'
import { signAndSubmit } from '../signing/sign-and-submit.ts'
import { openSigningRun } from '../signing/signing-run.ts'
import type { NewSigningPlan } from '../signing/types.ts'
import { requireHolder, requireOwnPointer } from './authority-holder.ts'
import { revocationEvents } from './revocation-events.ts'

type TransferAuthorityRoute = Api['tokens']['transferAuthority']
type TransferInput = Input<TransferAuthorityRoute>

/** The part of the answer that is the same in both modes. */
type TransferSummary = Pick<
  Result<TransferAuthorityRoute>,
  'mint' | 'type' | 'authority' | 'new_authority' | 'warnings'
>

/** Throws bad_request unless the payer holds the authority, and for a new holder that could never use it. */
export async function transferAuthority(
  context: Context,
  input: TransferInput,
): Promise<Result<TransferAuthorityRoute>> {
  if (input.mode === 'signed') {
    if (input.new_authority === null) refuseSignedRevocation(input.type)
    return signedTransfer(context, input)
  }
  const { built, summary, events } = await planTransfer(context, input)
  return { ...unsignedAnswer(built), ...summary, tracked_resource: trackingOf('token', input.mint, events) }
}

/** The platform wallet does not sign what DELETE builds: that is unsigned alone. */
function refuseSignedRevocation(type: TokenAuthorityType): void {
  if (type !== 'mint' && type !== 'freeze' && type !== 'metadata') return
  throw badRequest(
    `The platform wallet cannot give up the ${TOKEN_AUTHORITIES[type].name} of a token: build it with mode unsigned`,
    { param: 'mode' },
  )
}

async function signedTransfer(context: Context, input: TransferInput): Promise<Result<TransferAuthorityRoute>> {
  const run = await openSigningRun<TransferSummary>(context, 'token_authority.transfer')
  const plan = run.resumed ?? (await planSignedTransfer(context, { ...input, payer: run.wallet }))
  return signAndSubmit(context, run, plan, {
    answer: ([signature]) => ({ mode: 'signed', signature, ...plan.state }),
  })
}

async function planSignedTransfer(context: Context, input: TransferInput): Promise<NewSigningPlan<TransferSummary>> {
  const { built, summary, events } = await planTransfer(context, input)
  return { first: signingDraft(built), state: summary, tracked_resource: trackingOf('token', input.mint, events) }
}

async function planTransfer(
  context: Context,
  { mint, type, payer, new_authority: to, allow_programs }: TransferInput,
): Promise<{ built: BuiltTransaction; summary: TransferSummary; events: TrackedResource['related_events'] }> {
  const token = await readTokenState(context.chain, mint)
  requireHolder(token, type, { payer, verb: to === null ? 'give up' : 'give away' })
  if (to !== null) await requireNewHolder(context, { mint, type, payer, to, allow_programs })
  else if (type === 'metadata') requireOwnPointer(token, payer)
  const built = await buildTransaction(context, {
    payer,
    // One and a half times the measured cost of the most expensive one, of Metaplex metadata.
    fallbackUnits: 25_000,
    build: (envelope) => buildAuthorityTransfer({ ...envelope, mint, type, to, token }),
  })
  const warnings = to === null ? givenUpWarnings(token, type) : []
  return {
    built,
    summary: { mint, type, authority: payer, new_authority: to, ...(warnings.length === 0 ? {} : { warnings }) },
    events: to === null ? revocationEvents(token, type) : [],
  }
}

async function requireNewHolder(
  context: Context,
  {
    mint,
    type,
    payer,
    to,
    allow_programs,
  }: Pick<TransferInput, 'mint' | 'type' | 'payer' | 'allow_programs'> & { to: string },
): Promise<void> {
  const param = 'new_authority'
  if (to === payer) {
    const { name } = TOKEN_AUTHORITIES[type]
    throw badRequest(`${to} is the ${name} of ${mint} already`, { param })
  }
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
