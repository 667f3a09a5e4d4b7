/** Reads without web3.js's schemas: they ask what web3.js asks, and take and refuse the answers that it does. */
import {
  type AccountInfo,
  Connection,
  Keypair,
  PublicKey,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { transferInstruction } from '../src/chain/programs/sol-transfers.ts'
import { exactLamports, withExactLamports } from '../src/chain/reads/exact-lamports.ts'
import {
  type NodeAccount,
  plainAccounts,
  plainBlockhash,
  plainRecentFees,
  plainTokenAccounts,
  plainTrial,
} from '../src/chain/reads/plain-reads.ts'
import { SYSTEM_PROGRAM, TOKEN_PROGRAM } from '../src/solana/program-ids.ts'

const [payer, other] = [Keypair.generate().publicKey.toBase58(), Keypair.generate().publicKey.toBase58()]
const trial = new VersionedTransaction(
  new TransactionMessage({
    payerKey: new PublicKey(payer),
    recentBlockhash: other,
    instructions: [await transferInstruction(payer, other, 5n)],
  }).compileToV0Message(),
)
const wire = trial.serialize()

interface Read {
  plain(connection: Connection): Promise<unknown>
  /** The same by web3.js alone. */
  checked(connection: Connection): Promise<unknown>
  usual: unknown
}

const account = (more: object = {}) => ({
  lamports: 5,
  owner: TOKEN_PROGRAM,
  executable: false,
  data: ['AQID', 'base64'],
  rentEpoch: 0,
  space: 3,
  ...more,
})
const at = (value: unknown, slot: unknown = 7) => ({ context: { slot, apiVersion: '3.0' }, value })
const ran = { err: null, logs: ['a', 'b'], unitsConsumed: 150, returnData: null, accounts: null }
const returned = { programId: SYSTEM_PROGRAM, data: ['AQ==', 'base64'] }

const READS: Record<string, Read> = {
  blockhash: {
    plain: plainBlockhash,
    checked: (connection) => connection.getLatestBlockhash('confirmed'),
    usual: at({ blockhash: other, lastValidBlockHeight: 9 }),
  },
  fees: {
    plain: (connection) => plainRecentFees(connection, [payer, other]),
    async checked(connection) {
      const lockedWritableAccounts = [payer, other].map((address) => new PublicKey(address))
      const fees = await connection.getRecentPrioritizationFees({ lockedWritableAccounts })
      return fees.map(({ prioritizationFee }) => prioritizationFee)
    },
    usual: [
      { slot: 1, prioritizationFee: 0 },
      { slot: 2, prioritizationFee: 77 },
    ],
  },
  trial: {
    plain: async (connection) => reduced(await plainTrial(connection, wire)),
    async checked(connection) {
      const options = { sigVerify: false, replaceRecentBlockhash: true }
      return reduced((await connection.simulateTransaction(trial, options)).value)
    },
    usual: at(ran),
  },
  accounts: {
    plain: async (connection) => readable(await plainAccounts(connection, [payer, other])),
    checked: (connection) => accountsByWeb3(connection),
    usual: at([account(), null]),
  },
  'accounts of an owner': {
    async plain(connection) {
      const held = await plainTokenAccounts(connection, payer, TOKEN_PROGRAM)
      return held.map(({ address, account: read }) => ({ address, account: shown(read) }))
    },
    checked: (connection) => tokenAccountsByWeb3(connection),
    usual: at([{ pubkey: other, account: account() }]),
  },
  'accounts since a slot': {
    plain: async (connection) => readable(await plainAccounts(connection, [payer, other], 70)),
    checked: (connection) => accountsByWeb3(connection, { minContextSlot: 70 }),
    usual: at([account({ lamports: 2 ** 53 - 1, owner: SYSTEM_PROGRAM, data: ['', 'base64'] })], 70),
  },
}

const tokenAccountsByWeb3 = async (connection: Connection) => {
  const filter = { programId: new PublicKey(TOKEN_PROGRAM) }
  const { value } = await connection.getTokenAccountsByOwner(new PublicKey(payer), filter)
  return value.map(({ pubkey, account: read }) => ({ address: pubkey.toBase58(), account: shownByWeb3(read) }))
}

const reduced = ({ err, logs, unitsConsumed }: { err: unknown; logs: unknown; unitsConsumed?: unknown }) => ({
  err,
  logs,
  unitsConsumed,
})

const shown = (read: NodeAccount) => ({ ...read, lamports: String(read.lamports), data: read.data.toString('hex') })

const readable = ({ slot, accounts }: Awaited<ReturnType<typeof plainAccounts>>) => ({
  slot,
  accounts: accounts.map((read) => read && shown(read)),
})

const shownByWeb3 = (read: AccountInfo<Buffer>) => ({
  lamports: String(exactLamports(read)),
  owner: read.owner.toBase58(),
  data: read.data.toString('hex'),
  executable: read.executable,
})

async function accountsByWeb3(connection: Connection, config: { minContextSlot?: number } = {}) {
  const keys = [payer, other].map((address) => new PublicKey(address))
  const { context, value } = await connection.getMultipleAccountsInfoAndContext(keys, config)
  const accounts = value.map((read) => read && shownByWeb3(read))
  return { slot: context.slot, accounts }
}

/** What a read answers or throws, and every request that it makes, without the random id. */
async function outcome(read: (connection: Connection) => Promise<unknown>, response: () => Response) {
  const requests: string[] = []
  const send = async (_: unknown, init?: RequestInit) => {
    requests.push(String(init?.body).replace(/"id":"[^"]*"/, '"id":""'))
    return response()
  }
  const options = { commitment: 'confirmed', disableRetryOnRateLimit: true } as const
  const connection = new Connection('http://node.test', { ...options, fetch: withExactLamports(send as typeof fetch) })
  const result = await read(connection).then(
    (value) => ({ value }),
    (error: Error) => ({ thrown: error.message, name: error.constructor.name }),
  )
  return { result, requests }
}

async function expectSame({ plain, checked }: Read, text: string, status = 200) {
  const response = () => new Response(text, { status, statusText: 'Some Text' })
  const [own, web3] = [await outcome(plain, response), await outcome(checked, response)]
  expect(own).toEqual(web3)
  expect(own.requests).toHaveLength(1)
  return own.result
}

const answered = (parts: object) => JSON.stringify({ jsonrpc: '2.0', id: 'x', ...parts })

describe.each(Object.entries(READS))('%s', (_, read) => {
  it('are read as web3.js reads them', async () => {
    expect(await expectSame(read, answered({ result: read.usual }))).toHaveProperty('value')
  })

  it('are refused in the words of web3.js where the node does not answer them', async () => {
    const error = { code: -32005, message: 'Node is behind by 200 slots', data: { numSlotsBehind: 200 } }
    const texts = [
      answered({ error }),
      answered({ error, result: read.usual }),
      answered({ error: { message: 'no code' } }),
      answered({ error: 'no object' }),
      answered({}),
      answered({ result: null }),
      JSON.stringify({ jsonrpc: '1.0', id: 'x', result: read.usual }),
      JSON.stringify({ id: 'x', result: read.usual }),
      JSON.stringify({ jsonrpc: '2.0', id: 1, result: read.usual }),
      ...['[]', 'null', '7', '"text"', '', '{', '<html>'],
    ]
    for (const text of texts) expect(await expectSame(read, text)).toHaveProperty('thrown')
    for (const status of [429, 500, 404]) {
      expect(await expectSame(read, answered({ result: read.usual }), status)).toHaveProperty('thrown')
    }
  })

  it('are read or refused as by web3.js whatever part of the answer is another', async () => {
    const values = fc.constantFrom<unknown>(
      ...[null, '', 'text', 0, -1, 1.5, 2 ** 60, true, false, [], {}, [null], ['AQID', 'base64'], ['AQID', 'base58']],
      ...[['AQID'], ['AQID', 'base64', 1], { a: 1 }, ['text'], [account()], returned, SYSTEM_PROGRAM, undefined],
    )
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(), { minLength: 1, maxLength: 5 }), values, async (path, value) => {
        await expectSame(read, answered({ result: replaced(read.usual, path, value) }))
      }),
      { numRuns: 150 },
    )
  })
})

/** A copy with one of its parts replaced: `path` chooses among the fields, each by its remainder, as deep as it can. */
function replaced(whole: unknown, [first, ...rest]: readonly number[], value: unknown): unknown {
  if (first === undefined || typeof whole !== 'object' || whole === null) return value
  const names = Object.keys(whole)
  const name = names[first % Math.max(names.length, 1)]
  if (name === undefined) return value
  const part = replaced((whole as Record<string, unknown>)[name], rest, value)
  if (Array.isArray(whole)) return whole.map((item, i) => (String(i) === name ? part : item))
  return { ...whole, [name]: part }
}

it.each([
  ['err', { InstructionError: [0, { Custom: 1 }] }],
  ['err', 'AccountNotFound'],
  ['err', ['a list']],
  ['logs', null],
  ['unitsConsumed', undefined],
  ['returnData', returned],
  ['returnData', { ...returned, data: ['AQ==', 'base58'] }],
  ['returnData', { ...returned, data: ['AQ=='] }],
  ['accounts', [null, account({ owner: 'any text' })]],
  ['accounts', [account({ executable: 1 })]],
  ['innerInstructions', [{ index: 0, instructions: [] }]],
  ['innerInstructions', [{ index: '0', instructions: [] }]],
])('a trial with the %s %j is what it is to web3.js', async (name, value) => {
  await expectSame(READS.trial!, answered({ result: at({ ...ran, [name]: value }) }))
})

it.each([
  { owner: '11111111111111111111111111111112' },
  { owner: '1111111111111111111111111111111' },
  { owner: 'not base58: 0OIl' },
  { owner: 'z'.repeat(44) },
  { rentEpoch: undefined },
  { rentEpoch: 2 ** 64 },
  { data: ['not base64 at all', 'base64'] },
  { data: 'AQID' },
  { data: { parsed: {}, program: 'x', space: 1 } },
  { exactLamports: 5 },
])('an account with %j is what it is to web3.js', async (more) => {
  await expectSame(READS.accounts!, answered({ result: at([null, account(more)]) }))
})

it('lamports beyond the numbers of JSON stay exact', async () => {
  const text = answered({ result: at([account()]) }).replace('"lamports":5', '"lamports":18446744073709551615')
  expect(await expectSame(READS.accounts!, text)).toMatchObject({
    value: { accounts: [{ lamports: '18446744073709551615' }] },
  })
})

it('fees of no account in particular are asked for without a list', async () => {
  const response = () => new Response(answered({ result: [] }))
  const own = await outcome((connection) => plainRecentFees(connection, []), response)
  expect(own).toEqual(await outcome((connection) => connection.getRecentPrioritizationFees(), response))
})

it('a failed request is not sent again, and fails as with web3.js', async () => {
  for (const { plain, checked } of Object.values(READS)) {
    const broken = () => {
      throw new Error('socket hang up')
    }
    const own = await outcome(plain, broken)
    expect(own).toEqual(await outcome(checked, broken))
    expect(own.requests).toHaveLength(1)
  }
})
