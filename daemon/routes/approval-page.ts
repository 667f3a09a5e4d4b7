/** GET and POST /v2/proposals/{id}/page: the page on which a phone's wallet approves a proposal of a rule, without a key. */

import { createHash, timingSafeEqual } from 'node:crypto'
import { z } from '@hono/zod-openapi'
import type { Hono, Context as HonoContext } from 'hono'
import { address } from '../../src/api/chain-scalars.ts'
import { validateInput } from '../../src/api/input-validation.ts'
import type { RuleApprover } from '../../src/api/proposals.ts'
import { line, recordId } from '../../src/api/scalars.ts'
import { nextStep, planTexts } from '../../src/operations/proposals/proposal-record.ts'
import { decided } from '../../src/operations/proposals/rule/approvals.ts'
import { decideByRule } from '../../src/operations/proposals/rule/decide.ts'
import { decimalsIn } from '../../src/operations/proposals/rule/propose.ts'
import { type ApiError, badRequest, notFound, rateLimited } from '../../src/platform/errors.ts'
import { printable } from '../../src/platform/printable.ts'
import { isoTime, rejectLate } from '../../src/platform/timing.ts'
import { tokenText } from '../../src/solana/amounts.ts'
import { decisionText } from '../../src/solana/decision-texts.ts'
import { GENESIS_HASHES } from '../../src/solana/genesis-hashes.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { findProposal, readDecisions } from '../../src/store/proposals/proposals.ts'
import type { Row } from '../../src/store/schema.ts'
import { callerOf, visitorAddressOf } from '../client-address.ts'
import type { Kernel } from '../kernel.ts'
import { VisitorCounter } from '../limits/visitors.ts'
import { envelope, errorResponse, jsonResponse } from '../pipeline/answer.ts'
import { declaredLength, parseJsonObject, readRequestBody } from '../pipeline/body.ts'
import { KIB } from '../pipeline/body-room.ts'
import { makeContext, UNLINKED } from '../pipeline/context.ts'
import type { RequestEnv } from '../pipeline/request-record.ts'

// Style and script of the approval page: finds wallets of the wallet standard, and lets one sign the text of a
// decision.

const APPROVAL_STYLE = `:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;margin:0;background:#fff;color:#111}main{max-width:40rem;margin:0 auto;padding:1rem;overflow-wrap:anywhere}h1{font-size:1.25rem;line-height:1.35}dt{font-weight:600}dd{margin:0 0 .5rem}#check,#state{font-weight:600}pre{white-space:pre-wrap;font:.8125rem/1.4 ui-monospace,monospace}.code{font:.875rem/1.5 ui-monospace,monospace}#check{border-top:1px solid #767676;padding-top:1rem}#wallets{display:grid;grid-template-columns:repeat(auto-fit,minmax(15rem,1fr));gap:.5rem}button{font:inherit;padding:.75rem 1rem;border:1px solid #1a4fa0;border-radius:.4rem;background:#fff;color:#1a4fa0}button.approved{background:#1a4fa0;color:#fff}button:disabled{opacity:.5}@media(prefers-color-scheme:dark){body{background:#111;color:#eee}button{background:#111;color:#9cc2ff;border-color:#9cc2ff}button.approved{background:#9cc2ff;color:#111}}`

/**
 * Plain JavaScript. The hash is computed here from the transaction: of everything after the signatures, because the
 * blockhash is zero. A transaction of version 1 has its signatures at the end.
 */
const APPROVAL_SCRIPT = `'use strict'
const data = JSON.parse(document.getElementById('data').textContent)
const show = (id, text) => { document.getElementById(id).textContent = text }
const bytes = Uint8Array.from(atob(data.transaction), (c) => c.charCodeAt(0))
const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
function base58(input) {
  let value = 0n, text = ''
  for (const byte of input) value = value * 256n + BigInt(byte)
  for (; value > 0n; value /= 58n) text = ALPHABET[Number(value % 58n)] + text
  for (const byte of input) { if (byte !== 0) break; text = '1' + text }
  return text
}
function messageOf(raw) {
  if (raw[0] === 129) return raw.slice(0, raw.length - 64 * raw[1])
  return raw.slice(1 + 64 * raw[0])
}
async function check() {
  if (!globalThis.crypto || !crypto.subtle) {
    show('check', 'This browser computes no hash here: open the link with https.')
    return false
  }
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', messageOf(bytes)))
  const hex = [...hash].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  const fits = hex === data.message_sha256 && data.texts.approved.includes(hex) && data.texts.rejected.includes(hex)
  show('check', fits ? 'Checked here: the hash is that of the transaction.' : 'Do not sign: the hash is not that of the transaction.')
  return fits
}
const wallets = []
function register(...found) {
  for (const wallet of found) {
    if (!wallet.features['standard:connect'] || !wallet.features['solana:signMessage'] || wallets.includes(wallet)) continue
    wallets.push(wallet)
    for (const decision of ['approved', 'rejected']) {
      const button = document.createElement('button')
      button.className = decision
      button.textContent = (decision === 'approved' ? 'Approve with ' : 'Reject with ') + String(wallet.name).slice(0, 40)
      button.addEventListener('click', () => run(wallet, decision))
      document.getElementById('wallets').append(button)
    }
  }
  return () => {}
}
const buttons = () => [...document.getElementById('wallets').children]
async function run(wallet, decision) {
  for (const button of buttons()) button.disabled = true
  try {
    show('state', await decide(wallet, decision))
  } catch (error) {
    const why = String((error && error.message) || error).slice(0, 500)
    show('state', 'Nothing was recorded. ' + (why.endsWith('.') ? why : why + '.'))
  }
  for (const button of buttons()) button.disabled = false
}
async function decide(wallet, decision) {
  show('state', 'Connect in your wallet.')
  const { accounts } = await wallet.features['standard:connect'].connect()
  const account = accounts.find(({ address }) => data.approvers.includes(address)) || accounts[0]
  if (!account) throw new Error('The wallet shows no account.')
  const message = new TextEncoder().encode(data.texts[decision])
  show('state', 'Sign the text in your wallet.')
  const [signed] = await wallet.features['solana:signMessage'].signMessage({ account, message })
  show('state', 'Recording your decision.')
  const sent = JSON.stringify({ approver: account.address, signature: base58(signed.signature), decision })
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(location.href, { method: 'POST', headers, body: sent }).catch(() => null)
  const body = answer && await answer.json().catch(() => null)
  if (!body || answer.status >= 500) return 'The server did not say that it was recorded: open the link again to see.'
  if (!answer.ok) throw new Error(body.error.message)
  const { status, fault } = body.data
  document.getElementById('wallets').replaceChildren()
  return 'Recorded. The act is ' + status + '.' + (fault ? ' It was not executed: ' + fault + '.' : '')
}
async function start() {
  if (!(await check()) || data.closed) return
  const api = Object.freeze({ register })
  addEventListener('wallet-standard:register-wallet', (event) => event.detail(api))
  dispatchEvent(new CustomEvent('wallet-standard:app-ready', { detail: api }))
  setTimeout(() => { if (wallets.length === 0) show('state', 'No wallet that signs messages was found in this browser.') }, 2000)
}
start()
`

const PATH = '/v2/proposals/{id}/page'
const CEILING = 4 * KIB
const BODY_MS = 5_000
const LIMITS = {
  minute: { perAddress: 30, inAll: 600 },
  reading: { perAddress: 3, inAll: 64 },
  running: { perAddress: 2, inAll: 8 },
}

const query = z.strictObject({ id: recordId, token: z.string().regex(/^[A-Za-z0-9]{32}$/, 'must be that of the link') })
const decisionFields = z.strictObject({
  approver: address,
  signature: line(128),
  decision: z.enum(['approved', 'rejected']),
})

const sha256 = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
/** Nothing but the page's own script and style, and its own origin. */
const POLICY = [
  "default-src 'none'",
  `script-src ${sha256(APPROVAL_SCRIPT)}`,
  `style-src ${sha256(APPROVAL_STYLE)}`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

export function approvalPage(hono: Hono<RequestEnv>, kernel: Kernel): void {
  const visitors = new VisitorCounter(kernel.clock, LIMITS)
  const limited = async <T extends object>(c: HonoContext<RequestEnv>, run: () => Promise<T>): Promise<T> => {
    if (c.env.fault !== undefined) throw c.env.fault
    const done = await visitors.run(visitorAddressOf(callerOf(c), kernel), { read: undefined, run })
    if ('wait' in done) throw rateLimited('Too many requests from here: try again later', done.wait)
    return done.answer
  }
  const answering = async (c: HonoContext<RequestEnv>, run: () => Promise<Response>): Promise<Response> => {
    c.env.route = PATH
    try {
      return await run()
    } catch (thrown) {
      const { status, body } = errorResponse(kernel, thrown, c.env.requestId, new URL(c.req.url).origin)
      const wait = (thrown as Partial<ApiError>).retryAfter
      return jsonResponse(kernel, c.env, status, body, wait === undefined ? {} : { 'Retry-After': String(wait) })
    }
  }
  hono.get('/v2/proposals/:id/page', (c) =>
    answering(c, async () => {
      const text = await limited(c, async () => {
        const row = await proposalOfLink(kernel, c)
        const decisions = (await readDecisions(kernel.store.db, [row.id])).get(row.id) ?? []
        return { html: pageText(row, decisions, kernel.clock.now()) }
      })
      return new Response(text.html, {
        headers: {
          'Content-Type': 'text/html; charset=utf-8',
          'Content-Security-Policy': POLICY,
          'Cache-Control': 'no-store',
          'Referrer-Policy': 'no-referrer',
          'X-Content-Type-Options': 'nosniff',
          'X-Request-Id': c.env.requestId,
        },
      })
    }),
  )
  hono.post('/v2/proposals/:id/page', (c) =>
    answering(c, async () => {
      const answer = await limited(c, async () => {
        const row = await proposalOfLink(kernel, c)
        const { decision, ...signed } = validateInput(decisionFields, await readFields(c))
        const context = makeContext(kernel, undefined, { request_id: c.env.requestId }, UNLINKED, (work) =>
          kernel.store.write(work),
        )
        const actor = { apiKeyId: 'approval-page', scopes: [] }
        const { proposal } = await decideByRule({ ...context, actor }, row, signed, decision)
        return { status: proposal.status, signature: proposal.signature, fault: proposal.fault }
      })
      return jsonResponse(kernel, c.env, 200, envelope(answer, { request_id: c.env.requestId }))
    }),
  )
}

/** Returns the proposal of the link. Throws not_found for another token, so that the link is the only way in. */
async function proposalOfLink({ store }: Kernel, c: HonoContext<RequestEnv>): Promise<Row<'proposals'>> {
  const { id, token } = validateInput(query, { id: c.req.param('id'), token: c.req.query('token') ?? '' })
  const row = await findProposal(store.db, id)
  const page = row?.kind === 'rule' ? (JSON.parse(row.approver_json) as RuleApprover).page : ''
  // The path of a page is relative; any base makes it a URL.
  const wanted = Buffer.from((new URL(page, 'http://page').searchParams.get('token') ?? '').padEnd(32).slice(0, 32))
  if (row === null || page === '' || !timingSafeEqual(wanted, Buffer.from(token))) {
    throw notFound('There is no proposal behind this link')
  }
  return row
}

async function readFields({ req, env }: HonoContext<RequestEnv>): Promise<Record<string, unknown>> {
  const contentType = req.header('content-type') ?? ''
  const declared = declaredLength(req.header('content-length') ?? null, CEILING)
  const body = readRequestBody(env.incoming ?? req.raw, { contentType, ceiling: CEILING, declared, inspect: undefined })
  return parseJsonObject(await rejectLate(BODY_MS, body, () => badRequest('The body was not sent in time')))
}

const escaped = (text: string) => printable(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

/** The page. Once nothing can be decided any more it says so, and offers no button. */
function pageText(row: Row<'proposals'>, decisions: readonly Row<'proposal_decisions'>[], now: number): string {
  const { reason, movement, approvers } = JSON.parse(row.approver_json) as RuleApprover
  const named = decided(row)
  const isOpen = row.status === 'active' || row.status === 'approved'
  const status = isOpen && named.expires_at <= now ? 'expired' : row.status
  const closed = status !== 'active' && status !== 'approved'
  const data = {
    transaction: row.message.toString('base64'),
    message_sha256: row.message_sha256,
    texts: { approved: decisionText('approved', named), rejected: decisionText('rejected', named) },
    approvers: approvers.map(({ address }) => address),
    closed,
  }
  const nameOf = (address: string) => approvers.find((each) => each.address === address)?.name ?? address
  const decimals = decimalsIn(decodeWireTransaction(row.message).message)
  const units = (mint: string | null, amount: string) => tokenText(mint, amount, decimals.get(mint ?? ''))
  const next = row.fault === null ? null : nextStep(row)
  const rows: [string, string, string?][] = [
    ['Status', status],
    ...(row.fault === null ? [] : [['Fault', row.fault] as [string, string]]),
    ...(next === null ? [] : [['Next step', next] as [string, string]]),
    ['Why it waits', reason],
    [
      'Leaves at most',
      [units(null, movement.lamports), ...movement.tokens.map((each) => units(each.mint, each.amount))].join(', '),
    ],
    ...movement.receivers.map((each): [string, string] => [
      'Receives',
      `${each.owner ?? each.address}: ${units(each.mint, each.amount)}`,
    ]),
    ...movement.authorities.map((each): [string, string] => [
      'Gives away',
      `${each.what} of ${each.address} to ${each.to ?? 'nobody'}`,
    ]),
    ...movement.delegates.map((each): [string, string] => [
      'Delegates',
      `${each.kind} ${each.address} to ${each.delegate ?? 'somebody'}`,
    ]),
    // What was proposed before there were powers has none.
    ...(movement.powers ?? []).map((each): [string, string] => ['To holders', `${each.what} (${each.mint})`]),
    ...movement.closes.map((each): [string, string] => ['Closes', `${each.what} ${each.address}`]),
    ['Needs', `${row.needed} of ${approvers.map(({ name }) => name).join(', ')}`],
    ...decisions.map((each): [string, string] => [
      each.decision === 'approved' ? 'Approved by' : 'Rejected by',
      `${nameOf(each.approver)} at ${isoTime(each.at)}`,
    ]),
    ['Network', clusterOf(row.genesis), 'code'],
    ['Until', isoTime(named.expires_at)],
    ['Message SHA-256', row.message_sha256, 'code'],
  ]
  const fields = rows
    .map(([name, value, style = '']) => `<dt>${escaped(name)}</dt><dd class="${style}">${escaped(value)}</dd>`)
    .join('')
  const state = closed ? `The act is ${status}: nothing more can be decided about it.` : ''
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Approve an act</title><style>${APPROVAL_STYLE}</style></head><body><main><h1>${escaped(row.what)}</h1><dl>${fields}</dl><h2>What it does</h2><pre>${planTexts(row).map(escaped).join('\n')}</pre><p id="check">Checking the hash in this browser</p><div id="wallets"></div><p id="state" role="status">${escaped(state)}</p></main><script type="application/json" id="data">${JSON.stringify(data).replaceAll('<', '\\u003c')}</script><script>${APPROVAL_SCRIPT}</script></body></html>`
}

/** The name of a public cluster with its genesis hash, or the hash alone. */
function clusterOf(genesis: string): string {
  const name = Object.entries(GENESIS_HASHES).find(([, hash]) => hash === genesis)?.[0]
  return name === undefined ? genesis : `${name} (${genesis})`
}
