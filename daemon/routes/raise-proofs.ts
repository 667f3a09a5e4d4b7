/**
 * GET /raise/{id}/{registry}/{wallet}: the public proof of a wallet on the stored allowlist of a raise, as clients of
 * the presale program ask for it. And the body by which such a list is stored.
 */
import { createHash } from 'node:crypto'
import type { Hono } from 'hono'
import { validateInput } from '../../src/api/input-validation.ts'
import { proofText } from '../../src/merkle/allowlist.ts'
import { keyFromBase58 } from '../../src/merkle/base58.ts'
import { findAllowance } from '../../src/operations/raises/admission.ts'
import { type AllowlistInput, allowlistFields, allowlistFromBody } from '../../src/operations/raises/allowlists.ts'
import { notFound } from '../../src/platform/errors.ts'
import type { Kernel } from '../kernel.ts'
import { errorResponse, jsonResponse, respond } from '../pipeline/answer.ts'
import type { Prepare } from '../pipeline/handler.ts'
import type { RequestEnv } from '../pipeline/request-record.ts'
import { matchesEtag } from './entity-tags.ts'

export const prepareAllowlist: Prepare<Omit<AllowlistInput, 'id'>> = async (kernel, raw) => {
  const built = await allowlistFromBody(kernel, raw)
  return { ...validateInput(allowlistFields, built.fields), built }
}

/** Any page may read proofs; the list may grow at any time. */
const OPEN = { 'Access-Control-Allow-Origin': '*', 'X-Content-Type-Options': 'nosniff' }
const CACHED = 'public, max-age=60'

export function raiseProofs(hono: Hono<RequestEnv>, kernel: Kernel): void {
  hono.get('/raise/:id/:registry{[0-9]+}/:wallet', async (c) => {
    const record = c.env
    record.route = '/raise/{id}/{registry}/{wallet}'
    const { id, registry, wallet } = c.req.param()
    try {
      if (record.fault !== undefined) throw record.fault
      const text = await proofOf(kernel, id, registry, wallet)
      const tag = createHash('sha256').update(text).digest('hex').slice(0, 32)
      const headers = { ...OPEN, 'Cache-Control': CACHED, ETag: `"${tag}"`, 'X-Request-Id': record.requestId }
      if (matchesEtag(c.req.header('if-none-match') ?? '', tag)) return respond(record, 304, headers, null)
      const length = String(Buffer.byteLength(text))
      const all = { ...headers, 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': length }
      return respond(record, 200, all, text)
    } catch (thrown) {
      const { status, body } = errorResponse(kernel, thrown, record.requestId, new URL(c.req.url).origin)
      return jsonResponse(kernel, record, status, body, { ...OPEN, 'Cache-Control': 'no-store' })
    }
  })
}

/** The program numbers registries, which are rounds, from 0. */
async function proofOf(kernel: Kernel, id: string, registry: string, wallet: string): Promise<string> {
  const isAsked = /^[0-4]$/.test(registry) && [id, wallet].every((address) => keyFromBase58(address) !== undefined)
  const found = isAsked ? await findAllowance(kernel, id, { wallet, round: Number(registry) + 1 }) : null
  if (found === null) throw notFound('This wallet is not on the allowlist of this raise and round')
  return proofText(found.config, found)
}
