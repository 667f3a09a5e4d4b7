/** GET and POST /v2/pay/{id}: what a wallet fetches after it has read a QR code, as Solana Pay specifies it. */
import { readFile } from 'node:fs/promises'
import { z } from '@hono/zod-openapi'
import type { Hono, Context as HonoContext } from 'hono'
import { address } from '../../src/api/chain-scalars.ts'
import { validateInput } from '../../src/api/input-validation.ts'
import { buildPayment, unknownPayRequest } from '../../src/operations/pay-requests/build-payment.ts'
import { ApiError, internal, rateLimited } from '../../src/platform/errors.ts'
import { findPayRequest, type PayRequestRow } from '../../src/store/resources/pay-requests.ts'
import { callerOf, visitorAddressOf } from '../client-address.ts'
import type { Kernel } from '../kernel.ts'
import { VisitorCounter } from '../limits/visitors.ts'
import { errorResponse, jsonResponse, respond } from '../pipeline/answer.ts'
import { KIB } from '../pipeline/body-room.ts'
import { makeContext, UNLINKED } from '../pipeline/context.ts'
import type { RequestEnv } from '../pipeline/request-record.ts'
import { readVisitorFields } from '../pipeline/visitor-body.ts'

const PATH = '/v2/pay/{id}'
/** Bytes of a body, which has only an address. */
const CEILING = KIB
const LIMITS = {
  minute: { perAddress: 30, inAll: 600 },
  reading: { perAddress: 3, inAll: 64 },
  running: { perAddress: 3, inAll: 16 },
}
/** Wallets in a browser call from their own origin. They send no key, so any page may. */
const FOR_ANY_PAGE = { 'Access-Control-Allow-Origin': '*' }
const PREFLIGHT = {
  ...FOR_ANY_PAGE,
  'Access-Control-Allow-Methods': 'GET, POST, OPTIONS',
  'Access-Control-Allow-Headers': 'content-type',
  'Access-Control-Max-Age': '7200',
}
/** What a wallet shows next to the message; a setting of claim pages names the operator. */
const LABEL = 'svc'
const MOST_LABEL_CHARACTERS = 64

const accountFields = z.object({ account: address })

export function pay(hono: Hono<RequestEnv>, kernel: Kernel): void {
  const visitors = new VisitorCounter(kernel.clock, LIMITS)
  const answer = async (c: HonoContext<RequestEnv>, run: (row: PayRequestRow, account: string) => Promise<object>) => {
    const record = c.env
    record.route = PATH
    try {
      if (record.fault !== undefined) throw record.fault
      const read = record.method === 'POST' ? () => readAccount(c) : undefined
      const done = await visitors.run(visitorAddressOf(callerOf(c), kernel), {
        read,
        run: async (account = '') => {
          const id = c.req.param('id') ?? ''
          const row = /^pay_\w{24}$/.test(id) ? await findPayRequest(kernel.store.db, id) : null
          if (row === null) throw unknownPayRequest()
          return run(row, account)
        },
      })
      if ('wait' in done) throw rateLimited('Too many requests from here: try again in a minute', done.wait)
      return jsonResponse(kernel, record, 200, JSON.stringify(done.answer), FOR_ANY_PAGE)
    } catch (thrown) {
      return refusal(kernel, c, forWallets(thrown))
    }
  }
  hono.get('/v2/pay/icon.svg', (c) => {
    c.env.route = '/v2/pay/icon.svg'
    const headers = {
      'Content-Type': 'image/svg+xml',
      'Cache-Control': 'public, max-age=86400',
      'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      'X-Content-Type-Options': 'nosniff',
      'X-Request-Id': c.env.requestId,
      ...FOR_ANY_PAGE,
    }
    return respond(c.env, 200, headers, ICON)
  })
  hono.on('OPTIONS', '/v2/pay/:id', (c) => {
    c.env.route = PATH
    return respond(c.env, 204, { ...PREFLIGHT, 'X-Request-Id': c.env.requestId }, null)
  })
  hono.get('/v2/pay/:id', (c) =>
    answer(c, async ({ url }) => ({ label: await readLabel(kernel), icon: new URL('icon.svg', url).href })),
  )
  hono.post('/v2/pay/:id', (c) =>
    answer(c, async (row, account) => {
      const context = makeContext(kernel, undefined, { request_id: c.env.requestId }, UNLINKED, (work) =>
        kernel.store.write(work),
      )
      const { transaction, message } = await buildPayment(context, row, account)
      return { transaction, message }
    }),
  )
}

const readAccount = async (c: HonoContext<RequestEnv>): Promise<string> =>
  validateInput(accountFields, await readVisitorFields(c, CEILING)).account

/** A wallet's user cannot repair what is wrong inside; the log has it. */
const forWallets = (thrown: unknown): unknown =>
  thrown instanceof ApiError && thrown.code !== 'internal_error'
    ? thrown
    : internal('Something went wrong here: try again in a minute', { cause: thrown })

/** `message` at the top is what wallets show; the rest is the error of every other route. */
function refusal(kernel: Kernel, c: HonoContext<RequestEnv>, thrown: unknown): Response {
  const { requestId } = c.env
  const { status, body } = errorResponse(kernel, thrown, requestId, new URL(c.req.url).origin)
  const answer = JSON.parse(body) as { error: { message: string } }
  const wait = thrown instanceof ApiError ? thrown.retryAfter : undefined
  const headers: Record<string, string> = wait === undefined ? {} : { 'Retry-After': String(wait) }
  const text = JSON.stringify({ message: answer.error.message, ...answer })
  return jsonResponse(kernel, c.env, status, text, { ...headers, ...FOR_ANY_PAGE })
}

/** The name in the settings of claim pages, or `svc`. A file that cannot be used is a fault of the claim pages. */
async function readLabel({ config }: Kernel): Promise<string> {
  const path = config.values['claim-page-config']
  if (path === undefined) return LABEL
  const text = await readFile(path, 'utf8').catch(() => '{}')
  try {
    const { name } = JSON.parse(text) as { name?: unknown }
    return typeof name === 'string' && name !== '' ? name.slice(0, MOST_LABEL_CHARACTERS) : LABEL
  } catch {
    return LABEL
  }
}

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" rx="14" fill="#101828"/><path d="M20 18h30l-6 8H14zM14 29h30l6 8H20zM20 40h30l-6 8H14z" fill="#14f195"/></svg>
`
