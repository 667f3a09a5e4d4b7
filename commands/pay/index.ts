/** `svc pay`: QR codes with which the wallet on a phone fetches a transaction, signs and sends it. */

import { paths } from '../../src/api/paths.ts'
import type { PayRequest } from '../../src/api/pay-requests.ts'
import { choiceOf, integer, type Noun, required, text, verb } from '../cli/command.ts'
import { listVerb } from '../cli/reads.ts'
import { WALLET_ADDRESS } from '../signing/flags.ts'
import { readText } from '../ui/files.ts'
import { usage } from '../ui/problem.ts'
import { requireCodeFile, showCode } from './code.ts'
import { followPayment } from './following.ts'

const { create, list, get, revoke } = paths.payRequests
const EXAMPLE = 'pay_8LtQz5WmXc2RvYb7KdNe4JhF'
const id = required(text('Pay request', { placeholder: 'ID' }))
const QR = text('Show its QR code; with a name, write it to that file too', { placeholder: 'FILE.svg', bare: true })

export const payNoun: Noun = {
  aliases: { delete: 'revoke', show: 'get' },
  verbs: {
    create: verb({
      about: 'Make a QR code for a transaction that any wallet signs',
      details:
        'The transaction is built when a wallet fetches it, for its account. Commands that sign make one with --qr, for your wallet. The id is a secret: whoever has it can fetch the transaction.',
      calls: [create],
      args: {
        path: required(text('Path of the API that builds it, such as /v2/sol-transfers', { placeholder: 'PATH' })),
      },
      flags: {
        method: choiceOf(['POST', 'PUT', 'DELETE'], 'Method of that path (default POST)'),
        body: text('Body as JSON, or @FILE, without the field of the wallet', { placeholder: 'JSON' }),
        account: text('The only wallet that may pay', WALLET_ADDRESS),
        expires_in: integer('Seconds until it expires, 60 to 604800 (default 3600)', { min: 60, max: 604_800 }),
        qr: QR,
      },
      examples: [
        `svc pay create /v2/sol-transfers --body '{"recipient":"6UV1mWvsFyVUsPz986frJxSdAhkLzygc2we2gmZcZm78","lamports":"1000000"}' --qr`,
        'svc pay create /v2/airdrops/hTzQb6GuRwcBhMrLpWn3YsVdKx8JtF2eNaZoCiUqE4AAAAA/claims --expires-in 86400 --json',
      ],
      async run({ path, method = 'POST', body, account, expires_in, qr }, session) {
        if (qr !== undefined) requireCodeFile(qr)
        const { data } = await session.client.payRequests.create({
          request: { method, path, body: await readBody(body) },
          ...(account === undefined ? {} : { account }),
          ...(expires_in === undefined ? {} : { expires_in }),
        })
        if (qr !== undefined) await showCode(session, data, qr)
        return { data, notes: [`Follow it with \`svc pay watch ${data.id}\`.`] }
      },
    }),
    list: listVerb<PayRequest>({
      about: 'List pay requests, newest first',
      at: list,
      examples: ['svc pay list', 'svc pay list --all --json'],
      columns: ['id', 'state', 'account', 'signature', 'builds', 'expires_at'],
      call: (client, query) => client.payRequests.list(query),
    }),
    get: verb({
      about: 'Read one pay request, and whether it is paid',
      calls: [get],
      args: { id },
      flags: { qr: QR },
      examples: [`svc pay get ${EXAMPLE}`, `svc pay get ${EXAMPLE} --qr`],
      async run({ id, qr }, session) {
        if (qr !== undefined) requireCodeFile(qr)
        const { data } = await session.client.payRequests.get({ id })
        if (qr !== undefined) await showCode(session, data, qr)
        return { data }
      },
    }),
    watch: verb({
      about: 'Wait until a pay request is paid and its transaction is confirmed',
      calls: [get, paths.transactions.get],
      args: { id },
      flags: { wait: choiceOf(['confirmed', 'finalized'], 'Wait until it is confirmed (default) or finalized') },
      examples: [`svc pay watch ${EXAMPLE}`, `svc pay watch ${EXAMPLE} --wait finalized`],
      run: ({ id, wait }, session) => followPayment(session, id, wait),
    }),
    revoke: verb({
      about: 'Revoke a pay request: wallets get no further transaction',
      calls: [revoke],
      args: { id },
      examples: [`svc pay revoke ${EXAMPLE}`, `svc pay revoke ${EXAMPLE} --json`],
      run: async ({ id }, { client }) => ({
        data: (await client.payRequests.revoke({ id })).data,
        text: `Revoked ${id}.`,
      }),
    }),
  },
}

/** The body that was typed, or that of a file. Throws a usage problem unless it is a JSON object. */
async function readBody(given: string | undefined): Promise<Record<string, unknown>> {
  if (given === undefined) return {}
  const typed = given.startsWith('@') ? await readText(given.slice(1)) : given
  let value: unknown
  try {
    value = JSON.parse(typed)
  } catch (error) {
    throw usage(`--body is not valid JSON: ${(error as Error).message}`, { param: '--body' })
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw usage('--body must be a JSON object', { param: '--body' })
  }
  return value as Record<string, unknown>
}
