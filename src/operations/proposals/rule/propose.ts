/** Makes a proposal of an act that needs approvals. Nothing is signed or counted, and no record is made. */
import type { Proposal, RuleApprover } from '../../../api/proposals.ts'
import { ACTS } from '../../../api/signed-operations.ts'
import { badRequest, forbidden, internal } from '../../../platform/errors.ts'
import { isoTime, SECOND_MS } from '../../../platform/timing.ts'
import { type ApprovedMovement, approvedMovement } from '../../../policy/approved-movement.ts'
import { solText, tokenText } from '../../../solana/amounts.ts'
import { plainText } from '../../../solana/decision-texts.ts'
import type { DecodedMessage } from '../../../solana/decoded-message.ts'
import { decodeInstruction } from '../../../solana/instructions.ts'
import { decodeWireTransaction } from '../../../solana/messages.ts'
import { newId, randomText } from '../../../store/id.ts'
import { insertProposal, openRuleProposals } from '../../../store/proposals/proposals.ts'
import type { Row } from '../../../store/schema.ts'
import { insertSigning } from '../../../store/signing/signings.ts'
import type { Tx } from '../../../store/store.ts'
import { audit } from '../../signing/audit.ts'
import { lockPolicyState } from '../../signing/policy-state.ts'
import { type SigningRun, sealPlan } from '../../signing/signing-run.ts'
import type { NewSigningPlan, SigningContext, SigningPlan } from '../../signing/types.ts'
import { type MustWait, timeless, timelessSha256, waitingDraft } from '../../signing/waiting-draft.ts'
import { proposalRecord, requireProposal } from '../proposal-record.ts'
import { lastMomentOf } from '../squads/last-moment.ts'
import { eligibleApprovers, mayAsk } from './approvals.ts'

/** The most proposals that may be open at once, so that the database is never filled. */
export const MOST_OPEN = 500
/** The most of one API key, so that no key can keep the others from asking. */
const MOST_OPEN_OF_KEY = MOST_OPEN / 2

/**
 * Commits the proposal with the answer of the request. Throws `Proposed` once it is stored, and bad_request if too few
 * may approve it or too many are open. A request about a subject that has an open proposal is answered with that one.
 */
export async function proposeSigning(
  context: SigningContext,
  run: SigningRun,
  plan: SigningPlan,
  waiting: MustWait,
): Promise<never> {
  const answer = await context.commit<ProposedAnswer>(async (tx) => {
    const row = await storeProposal(context, tx, run, plan, waiting)
    return { mode: 'proposed', proposal: proposalRecord(row, []) }
  })
  throw new Proposed(answer)
}

async function storeProposal(
  context: SigningContext,
  tx: Tx,
  run: SigningRun,
  plan: SigningPlan,
  { draft, movement, refusals, genesis }: MustWait,
): Promise<Row<'proposals'>> {
  const { clock, vault, proposing, actor } = context
  const { id: signing_id, operation, wallet } = run
  if (proposing === undefined) throw new Error('the request cannot wait')
  const { approvals } = (await lockPolicyState(tx, clock, wallet)).policy
  if (approvals === null) throw internal('The policy was changed meanwhile: repeat the request')
  const open = await openRuleProposals(tx, MOST_OPEN)
  const { subject = null } = proposing
  const asked_by = actor.apiKeyId
  const same = subject === null ? undefined : open.find((each) => each.subject === subject)
  if (same !== undefined) return requireProposal(tx, same.id)
  if (!(await mayAsk(tx, asked_by))) throw forbidden('The API key was revoked meanwhile')
  if (open.filter((each) => each.asked_by === asked_by).length >= MOST_OPEN_OF_KEY) {
    throw badRequest(
      `${MOST_OPEN_OF_KEY} proposals of this API key wait already, which is the share of one key: let some be approved or rejected, or cancel them (svc proposals list --status active)`,
      { details: { waiting: MOST_OPEN_OF_KEY } },
    )
  }
  if (open.length >= MOST_OPEN) {
    throw badRequest(
      `${MOST_OPEN} proposals wait already: approve, reject or cancel some first (svc proposals list --status active)`,
    )
  }
  const eligible = await eligibleApprovers(tx, { asked_by }, { wallet, approvals })
  if (eligible.length < approvals.needed) {
    throw badRequest(
      `This act needs ${approvals.needed} approvals, but ${eligible.length} of the approvers may approve what this API key asks for: add approvers (svc approvers add)`,
      { details: { rule: refusals[0].rule, needed: approvals.needed, approvers: eligible.length } },
    )
  }
  const now = clock.now()
  const id = newId('prp')
  const approved = approvedMovement(movement)
  const message_sha256 = timelessSha256(draft.transaction)
  const { message } = decodeWireTransaction(draft.transaction)
  // Nobody approves what can no longer be done.
  const expires_at = Math.min(
    now + approvals.expires_in * SECOND_MS,
    lastMomentOf(message, message.keys) ?? Number.MAX_SAFE_INTEGER,
  )
  await insertSigning(tx, {
    id: signing_id,
    signer: wallet,
    operation,
    transaction: Buffer.from(draft.transaction),
    message_sha256,
    plan: sealPlan(context, signing_id, { ...plan, waiting: waitingDraft(draft, movement) }),
    genesis,
    since_slot: movement.slot,
    state: 'waiting',
    signature: null,
    created_at: now,
  })
  const approver: RuleApprover = {
    kind: 'rule',
    rule: refusals[0].rule,
    rules: refusals.map(({ rule }) => rule),
    reason: refusals.map(({ message }) => reasonOf(message)).join('; '),
    approvers: eligible.map(({ address, name }) => ({ address, name, revoked: false })),
    genesis,
    movement: approved,
    page: `/v2/proposals/${id}/page?token=${randomText(32)}`,
  }
  const what = plainText(actText(operation, plan, { moved: approved, decimals: decimalsIn(message) }))
  const row = await insertProposal(tx, {
    id,
    kind: 'rule',
    genesis,
    status: 'active',
    operation,
    what,
    asked_by,
    message: timeless(draft.transaction),
    message_sha256,
    stored_message: null,
    request: vault.seal(JSON.stringify(proposing.request), requestPurpose(id)),
    tracked_resource_json: plan.tracked_resource === undefined ? null : JSON.stringify(plan.tracked_resource),
    approver_json: JSON.stringify(approver),
    multisig: null,
    transaction_index: null,
    member: null,
    subject,
    needed: approvals.needed,
    expires_at,
    signing_id,
    signature: null,
    fault: null,
    next_look_at: null,
    updated_at: now,
    external_uid: context.externalUid ?? null,
    metadata_json: context.metadata === undefined ? null : JSON.stringify(context.metadata),
    created_at: now,
  })
  await audit(context, tx, 'proposal.created', wallet, {
    proposal: id,
    signing: signing_id,
    operation,
    what,
    message_sha256,
    rules: approver.rules,
    needed: approvals.needed,
    expires_at: isoTime(expires_at),
  })
  return row
}

export const requestPurpose = (id: string) => `proposal:${id}`

/** Why it waits. How to change the policy stands behind a semicolon, and is of no use to an approver. */
const reasonOf = (message: string): string => message.replace(/^Refused by the rule \w+: /, '').split('; ')[0] ?? ''

/** Receivers that are named; the others are counted. */
const NAMED = 3

/** Says what the platform wallet would do, from what the simulation showed. */
function actText(
  operation: SigningRun['operation'],
  { tracked_resource, about = tracked_resource?.resource_id }: SigningPlan & Pick<Partial<NewSigningPlan>, 'about'>,
  { moved, decimals }: { moved: ApprovedMovement; decimals: ReadonlyMap<string, number> },
): string {
  const { lamports, tokens, receivers, authorities, delegates, powers, closes } = moved
  const units = (mint: string | null, amount: string) => tokenText(mint, amount, decimals.get(mint ?? ''))
  const leaves = [
    ...(lamports === '0' ? [] : [solText(lamports)]),
    ...tokens.map(({ mint, amount }) => units(mint, amount)),
  ]
  const named = receivers.slice(0, NAMED).map(({ address, owner, mint, amount }) => {
    return `${owner ?? address} receives ${units(mint, amount)}`
  })
  const others = receivers.length - named.length
  const parts = [
    leaves.length === 0 ? 'nothing leaves' : `at most ${leaves.join(' and ')} leaves`,
    ...named,
    ...(others > 0 ? [`${others} more receive`] : []),
    ...authorities.map(({ what, address, to }) => `${what} of ${address} goes to ${to ?? 'nobody'}`),
    ...delegates.map(({ kind, address, delegate }) => `${kind} ${address} gets the delegate ${delegate ?? 'unknown'}`),
    ...powers.map(({ mint, what }) => `of ${mint}, ${what}`),
    ...closes.map(({ address }) => `${address} is closed`),
  ]
  const of = about === undefined ? '' : ` (${about})`
  const acts: Readonly<Record<string, string>> = ACTS
  return `${acts[operation] ?? operation}${of}: ${parts.join('; ')}`
}

const CHECKED: readonly string[] = ['transferChecked', 'mintToChecked', 'burnChecked']

/** Decimals of mints in a message, whose checked instructions name them and which the chain enforces. */
export function decimalsIn({ keys, instructions }: DecodedMessage): ReadonlyMap<string, number> {
  const found = new Map<string, number>()
  for (const { programIdIndex, accounts, data } of instructions) {
    const addresses = [...accounts].map((index) => keys[index] ?? '')
    const called = decodeInstruction(keys[programIdIndex] ?? '', addresses, data)?.instruction
    if (called === undefined || !CHECKED.includes(called.type)) continue
    const { mint, decimals } = called as { mint?: unknown; decimals?: unknown }
    if (typeof mint === 'string' && typeof decimals === 'number') found.set(mint, decimals)
  }
  return found
}

/** The answer to a request that waits, with status 202. */
interface ProposedAnswer {
  mode: 'proposed'
  proposal: Proposal
}

/** Thrown once the proposal is committed, so that nothing of the operation runs after it. */
export class Proposed extends Error {
  readonly answer: ProposedAnswer

  constructor(answer: ProposedAnswer) {
    super(`it waits for approvals as the proposal ${answer.proposal.id}`)
    this.name = 'Proposed'
    this.answer = answer
  }
}
