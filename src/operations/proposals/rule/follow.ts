/** Follows proposals of rules: ends those that have expired, executes those approved when a process ended, and finds outcomes. */

import { failureWords } from '../../../chain/sending/stored-errors.ts'
import type { Services } from '../../../context.ts'
import { type Follower, follow } from '../../../following/follower.ts'
import { MINUTE_MS } from '../../../platform/timing.ts'
import {
  dueRuleProposals,
  findProposal,
  lockProposal,
  openRuleProposals,
  updateProposal,
} from '../../../store/proposals/proposals.ts'
import type { Row } from '../../../store/schema.ts'
import { findSigning } from '../../../store/signing/signings.ts'
import { findTransaction } from '../../../store/transactions/transactions.ts'
import { audit } from '../../signing/audit.ts'
import { endUnsigned, FIRST_OUTCOME_MS } from './end.ts'
import { type ExecutingServices, tryExecute } from './execute.ts'
import { MOST_OPEN } from './propose.ts'

/** Whoever approved it last executes it within this time, or has ended. */
const ABANDONED_AFTER_MS = MINUTE_MS / 2

/** A proposal with a fault waits until somebody executes it again. */
export async function followRuleProposals(
  services: ExecutingServices,
  { stopping }: { stopping?: AbortSignal } = {},
): Promise<void> {
  try {
    const { store, clock } = services
    await followOutcomes(services, () => dueRuleProposals(store.db, clock.now(), PER_ROUND), stopping)
  } catch (error) {
    // A shutdown is no failure: what was not reached is due again.
    if (!stopping?.aborted || error !== stopping.reason) throw error
  } finally {
    await endOpen(services, stopping)
  }
}

/** Ends those that have expired, and executes those that a process left. What has to happen is here, not on the chain. */
async function endOpen(services: ExecutingServices, stopping?: AbortSignal): Promise<void> {
  const { store, clock } = services
  for (const row of await openRuleProposals(store.db, MOST_OPEN)) {
    if (stopping?.aborted) return
    const now = clock.now()
    if ((row.expires_at ?? 0) <= now && (await expire(services, row))) continue
    const isAbandoned = now - row.updated_at >= ABANDONED_AFTER_MS
    if (row.status === 'approved' && row.fault === null && isAbandoned) await tryExecute(services, row.id)
  }
}

/** Returns whether the proposal has expired. One with a signed transaction goes on. */
async function expire(
  { store, clock, vault }: ExecutingServices,
  { id }: Pick<Row<'proposals'>, 'id'>,
): Promise<boolean> {
  const now = clock.now()
  const by = { actor: { apiKeyId: 'worker:proposals', scopes: [] }, requestId: id, clock, vault }
  return store.write(async (tx) => {
    const row = await lockProposal(tx, id)
    if (row === null || (row.status !== 'active' && row.status !== 'approved')) return true
    if ((row.expires_at ?? 0) > now) return false
    return (await endUnsigned(by, tx, row, { status: 'expired', fault: null })) !== null
  })
}

type OutcomeServices = Pick<Services, 'store' | 'clock' | 'log' | 'vault'>

const LONGEST_OUTCOME_WAIT_MS = 10 * MINUTE_MS
const PER_ROUND = 100

type ExecutedProposal = Pick<Row<'proposals'>, 'id' | 'signature' | 'updated_at'>
type Outcome = Pick<Row<'proposals'>, 'next_look_at' | 'fault'>

/** Stores the outcome once it is final, or the time of the next look. */
export async function lookAtOutcome(
  services: OutcomeServices,
  row: ExecutedProposal,
): Promise<Row<'proposals'> | null> {
  await followOutcomes(services, async () => [row])
  return findProposal(services.store.db, row.id)
}

function followOutcomes(
  services: OutcomeServices,
  due: () => Promise<ExecutedProposal[]>,
  signal?: AbortSignal,
): Promise<void> {
  const { store, clock, vault } = services
  const outcomes: Follower<ExecutedProposal, Row<'transactions'> | null, Outcome> = {
    named: ({ id }) => ({ proposal: id }),
    due,
    perRead: PER_ROUND,
    read: (rows) => Promise.all(rows.map(({ signature }) => findTransaction(store.db, signature ?? ''))),
    decide: (row, sent) => outcomeOf(row, sent, clock.now()),
    isWrittenAlone: true,
    async write(tx, { id, signature }, { next_look_at, fault }) {
      const row = await lockProposal(tx, id)
      if (row?.status !== 'executed' || row.signature !== signature) return []
      if (fault === null) await updateProposal(tx, id, { next_look_at })
      else {
        const signer = (await findSigning(tx, row.signing_id ?? ''))?.signer ?? null
        const by = { actor: { apiKeyId: 'worker:proposals', scopes: [] }, requestId: id, clock, vault }
        await audit(by, tx, 'proposal.failed', signer, { proposal: id, fault })
        await updateProposal(tx, id, { status: 'failed', fault, next_look_at, updated_at: clock.now() })
      }
      return []
    },
    async postpone(tx, { id, signature }, next_look_at) {
      const row = await lockProposal(tx, id)
      // A look at a proposal that has ended meanwhile would be due for ever.
      if (row?.status === 'executed' && row.signature === signature) await updateProposal(tx, id, { next_look_at })
    },
  }
  return follow(services, outcomes, signal)
}

function outcomeOf({ updated_at }: ExecutedProposal, sent: Row<'transactions'> | null, now: number): Outcome {
  if (sent !== null && sent.next_check_at !== null) {
    const wait = Math.min(Math.max(now - updated_at, FIRST_OUTCOME_MS), LONGEST_OUTCOME_WAIT_MS)
    return { next_look_at: now + wait, fault: null }
  }
  return { next_look_at: null, fault: sent?.lifecycle === 'failed' ? failureOf(sent) : null }
}

/** Why it failed, as a sentence without its full stop. */
function failureOf(row: Row<'transactions'>): string {
  const { signature } = row
  if (row.confirmation_status === null) {
    return `its transaction ${signature} expired before it was in a block, so nothing has happened`
  }
  return `its transaction ${signature} failed on the chain, so only its fee was paid: ${failureWords(row)}`
}
