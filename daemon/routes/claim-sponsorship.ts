/** /claim/{id}/sponsorship and /claim/{id}/sponsored-claims: the routes that a claim page calls without a key. */
import { z } from '@hono/zod-openapi'
import type { Hono } from 'hono'
import { CLAIM_FAULTS } from '../../src/api/airdrops.ts'
import { treeId } from '../../src/api/chain-scalars.ts'
import { validateInput } from '../../src/api/input-validation.ts'
import { recordId } from '../../src/api/scalars.ts'
import {
  SPONSORSHIP_REFUSALS,
  type SponsorshipRefusal,
  sponsoredClaimFields,
  submissionFields,
} from '../../src/api/sponsorships.ts'
import type { Context } from '../../src/context.ts'
import { RefusalCounts } from '../../src/operations/signing/refusal-counts.ts'
import { buildSponsoredClaimFor } from '../../src/operations/sponsorships/build-sponsored-claim.ts'
import { submitSponsoredClaim } from '../../src/operations/sponsorships/submit-sponsored-claim.ts'
import { offerSponsorship } from '../../src/operations/sponsorships/verbs.ts'
import { ApiError, internal, rateLimited } from '../../src/platform/errors.ts'
import { silentLog } from '../../src/platform/log.ts'
import { callerOf, visitorAddressOf } from '../client-address.ts'
import type { Kernel } from '../kernel.ts'
import { VisitorCounter } from '../limits/visitors.ts'
import { envelope, errorResponse, jsonResponse } from '../pipeline/answer.ts'
import { KIB } from '../pipeline/body-room.ts'
import { makeContext, UNLINKED } from '../pipeline/context.ts'
import type { RequestEnv } from '../pipeline/request-record.ts'
import { readVisitorFields } from '../pipeline/visitor-body.ts'

/** The most bytes of a body, several times the size of the largest transaction. */
const CEILING = 16 * KIB
const LIMITS = {
  minute: { perAddress: 20, inAll: 600 },
  // Together they take at most two megabytes.
  reading: { perAddress: 3, inAll: 128 },
  running: { perAddress: 3, inAll: 16 },
}

const offerFields = z.strictObject({ id: treeId })
const buildFields = z.strictObject({ id: treeId, claimer: sponsoredClaimFields.claimer })
const submitFields = z.strictObject({ id: treeId, claim: recordId, ...submissionFields })

/** Returns a function that writes the counted refusals that are not written yet. */
export function claimSponsorship(hono: Hono<RequestEnv>, kernel: Kernel): () => Promise<void> {
  const refusals = new RefusalCounts(kernel)
  const visitors = new VisitorCounter(kernel.clock, LIMITS)
  const mount = (
    method: 'GET' | 'POST',
    path: string,
    operate: (context: Context, input: Record<string, unknown>) => Promise<object>,
  ) => {
    hono.on(method, path.replace(/\{(\w+)\}/g, ':$1'), async (c) => {
      const { requestId, fault } = c.env
      c.env.route = path
      const read = method === 'GET' || fault !== undefined ? undefined : () => readVisitorFields(c, CEILING)
      const run = async (body: Record<string, unknown> = {}) => {
        if (fault !== undefined) throw fault
        // The path determines the airdrop and the claim, not the body.
        return operate({ ...contextFor(kernel, requestId), refusals }, { ...body, ...c.req.param() })
      }
      try {
        const address = visitorAddressOf(callerOf(c), kernel)
        const done = await visitors.run(address, { read, run })
        if ('wait' in done) throw rateLimited('Too many requests for sponsored claims: try again later', done.wait)
        return jsonResponse(kernel, c.env, 200, envelope(done.answer, { request_id: requestId }))
      } catch (thrown) {
        const shown = forVisitors(kernel, thrown, requestId)
        // The failure is already logged with its cause.
        const { status, body } = errorResponse(
          { config: kernel.config, log: silentLog },
          shown,
          requestId,
          new URL(c.req.url).origin,
        )
        const wait = shown.retryAfter
        return jsonResponse(kernel, c.env, status, body, wait === undefined ? {} : { 'Retry-After': String(wait) })
      }
    })
  }
  mount('GET', '/claim/{id}/sponsorship', async (context, input) =>
    offerSponsorship(context, validateInput(offerFields, input).id),
  )
  mount('POST', '/claim/{id}/sponsored-claims', async (context, input) => {
    const fields = {
      ...validateInput(buildFields, input),
      tx_version: 0,
      guard: 'when_it_fits',
      mode: 'unsigned',
    } as const
    const { id, transaction, fee_payer, lamports, last_valid_block_height } = await buildSponsoredClaimFor(
      context,
      fields,
    )
    return { id, transaction, fee_payer, lamports, last_valid_block_height }
  })
  mount('POST', '/claim/{id}/sponsored-claims/{claim}/submissions', async (context, input) => {
    const fields = { ...validateInput(submitFields, input), mode: 'signed' } as const
    const { signature } = await submitSponsoredClaim(context, fields)
    return { signature, status: 'submitted' }
  })
  return () => refusals.write()
}

/** The name of this caller in the audit log, instead of an API key. */
function contextFor(kernel: Kernel, requestId: string): Context {
  const context = makeContext(kernel, undefined, { request_id: requestId }, UNLINKED, (work) =>
    kernel.store.write(work),
  )
  return { ...context, actor: { apiKeyId: 'claim-page', scopes: [] } }
}

/** Messages for visitors, instead of instructions for operators. */
const WORDS: Record<SponsorshipRefusal, string> = {
  not_sponsored: 'The claims of this airdrop are not sponsored: claim at your own cost',
  not_listed: 'This wallet is not in the list of this airdrop',
  sponsored_already: 'A sponsored claim of this wallet is on its way, or has landed',
  attempts_exhausted: 'Too many sponsored claims of this wallet have failed: claim at your own cost',
  budget_exhausted: 'The budget for sponsored claims is used up: claim at your own cost',
  changed_transaction: 'The transaction differs from the one that was built, or the wallet has not signed it',
  expired: 'The transaction was signed too late: build and sign a new one',
  would_fail: 'The claim as built would fail: build and sign a new one',
  sponsor_unavailable: 'Claims cannot be sponsored at the moment: try again later, or claim at your own cost',
}

const isRefusal = (reason: unknown): reason is SponsorshipRefusal =>
  (SPONSORSHIP_REFUSALS as readonly unknown[]).includes(reason)
const isFault = (reason: unknown) => (CLAIM_FAULTS as readonly unknown[]).includes(reason)

/** Visitors do not see limits of the policy, settings and causes of failures; a failure is logged. */
function forVisitors(kernel: Kernel, thrown: unknown, requestId: string): ApiError {
  if (!(thrown instanceof ApiError) || thrown.code === 'internal_error') {
    kernel.log.error({ err: thrown, request_id: requestId }, 'a sponsored claim of a visitor failed')
    return internal('Something went wrong: try again')
  }
  const { code, message, param, details = {}, retryAfter } = thrown
  const { reason, signature } = details
  if (isRefusal(reason)) {
    const shown = { reason, ...(signature === undefined ? {} : { signature }) }
    return new ApiError(code, WORDS[reason], { details: shown })
  }
  return new ApiError(code, message, {
    ...(param === undefined ? {} : { param }),
    ...(isFault(reason) ? { details: { reason } } : {}),
    ...(retryAfter === undefined ? {} : { retryAfter }),
  })
}
