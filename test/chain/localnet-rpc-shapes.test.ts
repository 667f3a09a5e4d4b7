/** Every method, at every commitment and encoding, answers in the shape that Solana's RPC documentation records. */
import {
  createApproveInstruction,
  createAssociatedTokenAccount,
  createMint,
  mintTo,
  TOKEN_PROGRAM_ID,
} from '@solana/spl-token'
import { Connection, Keypair, SystemProgram, Transaction } from '@solana/web3.js'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { runs } from '../support/runs.ts'
import { openServer } from './serving.ts'

const u64 = z.number().int().nonnegative()
const address = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/)
const signature = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{86,88}$/)
const error = z.union([z.null(), z.string(), z.record(z.string(), z.unknown())])
const withContext = (value: z.ZodType) => z.object({ context: z.object({ slot: u64 }), value })
const encoded = (encoding: string) => z.tuple([z.string(), z.literal(encoding)])
const parsedData = z.object({
  program: z.string(),
  parsed: z.object({ type: z.string(), info: z.object({}) }),
  space: u64,
})
const accountData: Record<string, z.ZodType> = {
  base58: encoded('base58'),
  base64: encoded('base64'),
  'base64+zstd': encoded('base64+zstd'),
  jsonParsed: z.union([parsedData, encoded('base64')]),
}
const account = (encoding: string) =>
  z.object({
    data: accountData[encoding]!,
    executable: z.boolean(),
    lamports: u64,
    owner: address,
    rentEpoch: z.number(),
    space: u64,
  })
const keyed = (encoding: string) => z.array(z.object({ account: account(encoding), pubkey: address })).min(1)
const amount = z.object({
  amount: z.string().regex(/^\d+$/),
  decimals: u64,
  uiAmount: z.number().nullable(),
  uiAmountString: z.string(),
})
const status = z.union([z.object({ Ok: z.null() }), z.object({ Err: error })])
const tokenBalance = z.object({
  accountIndex: u64,
  mint: address,
  owner: address,
  programId: address,
  uiTokenAmount: amount,
})
const meta = z.object({
  err: error,
  fee: u64,
  innerInstructions: z.array(z.object({ index: u64, instructions: z.array(z.object({})) })),
  logMessages: z.array(z.string()),
  postBalances: z.array(u64).min(1),
  postTokenBalances: z.array(tokenBalance),
  preBalances: z.array(u64).min(1),
  preTokenBalances: z.array(tokenBalance),
  rewards: z.array(z.unknown()),
  status,
})
const instruction = z.object({ accounts: z.array(u64), data: z.string(), programIdIndex: u64 })
const parsedInstruction = z.union([
  z.object({ program: z.string(), programId: address, parsed: z.unknown() }),
  z.object({ programId: address, accounts: z.array(address), data: z.string() }),
])
const transactionBody: Record<string, z.ZodType> = {
  json: z.object({
    signatures: z.array(signature),
    message: z.object({
      accountKeys: z.array(address),
      header: z.object({
        numReadonlySignedAccounts: u64,
        numReadonlyUnsignedAccounts: u64,
        numRequiredSignatures: u64,
      }),
      instructions: z.array(instruction),
      recentBlockhash: address,
    }),
  }),
  jsonParsed: z.object({
    signatures: z.array(signature),
    message: z.object({
      accountKeys: z.array(
        z.object({ pubkey: address, signer: z.boolean(), writable: z.boolean(), source: z.string() }),
      ),
      instructions: z.array(parsedInstruction),
      recentBlockhash: address,
    }),
  }),
  base64: encoded('base64'),
  base58: encoded('base58'),
}
const transaction = (encoding: string) => z.object({ transaction: transactionBody[encoding]!, meta })
const block = (extra: z.ZodRawShape) =>
  z.object({
    blockHeight: u64,
    blockTime: u64,
    blockhash: address,
    parentSlot: u64,
    previousBlockhash: address,
    ...extra,
  })

type Call = [method: string, params: unknown[], shape: z.ZodType]

let server: Awaited<ReturnType<typeof openServer>>
let calls: Call[]

const COMMITMENTS = ['processed', 'confirmed', 'finalized']
const CONFIRMED = ['confirmed', 'finalized']

beforeAll(async () => {
  server = await openServer()
  const { chain } = server
  const connection = new Connection(server.url, 'processed')
  const processed = { commitment: 'processed' } as const
  const payer = Keypair.generate()
  const delegate = Keypair.generate().publicKey
  chain.airdrop(payer.publicKey.toBase58(), 100_000_000_000n)
  const mint = await createMint(connection, payer, payer.publicKey, null, 6, undefined, processed)
  const held = await createAssociatedTokenAccount(connection, payer, mint, payer.publicKey, processed)
  await mintTo(connection, payer, mint, held, payer, 1_000_000n, [], processed)
  const build = (lamports: number) => {
    const built = new Transaction().add(
      SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: delegate, lamports }),
      createApproveInstruction(held, delegate, payer.publicKey, 5),
    )
    built.recentBlockhash = chain.latestBlockhash().blockhash
    built.feePayer = payer.publicKey
    built.sign(payer)
    return built
  }
  const landed = build(1_000_000_000)
  const sent = await connection.sendRawTransaction(landed.serialize())
  const { slot } = chain.transaction(sent)!
  chain.advance(20)
  const next = build(2_000_000_000).serialize().toString('base64')
  const wallet = payer.publicKey.toBase58()
  const tokenAccount = held.toBase58()
  const token = TOKEN_PROGRAM_ID.toBase58()
  const at = (commitment: string) => ({ commitment })

  const plain: [string, unknown[], z.ZodType][] = [
    ['getBlockHeight', [], u64],
    ['getSlot', [], u64],
    ['getSlotLeader', [], address],
    ['getTransactionCount', [], u64],
    ['getLatestBlockhash', [], withContext(z.object({ blockhash: address, lastValidBlockHeight: u64 }))],
    [
      'getEpochInfo',
      [],
      z.object({
        absoluteSlot: u64,
        blockHeight: u64,
        epoch: u64,
        slotIndex: u64,
        slotsInEpoch: u64,
        transactionCount: u64,
      }),
    ],
    ['getBalance', [wallet], withContext(u64)],
    ['getMinimumBalanceForRentExemption', [50], u64],
    ['isBlockhashValid', [landed.recentBlockhash], withContext(z.boolean())],
    ['getFeeForMessage', [landed.serializeMessage().toString('base64')], withContext(u64.nullable())],
    ['getTokenAccountBalance', [tokenAccount], withContext(amount)],
    ['getTokenSupply', [mint.toBase58()], withContext(amount)],
    ['getTokenLargestAccounts', [mint.toBase58()], withContext(z.array(amount.extend({ address })).length(1))],
    ['getStakeMinimumDelegation', [], withContext(u64)],
    [
      'getSupply',
      [],
      withContext(
        z.object({ circulating: u64, nonCirculating: u64, nonCirculatingAccounts: z.array(address), total: u64 }),
      ),
    ],
    ['getLargestAccounts', [], withContext(z.array(z.object({ address, lamports: u64 })).min(1))],
    [
      'getBlockProduction',
      [],
      withContext(
        z.object({
          byIdentity: z.record(address, z.tuple([u64, u64])),
          range: z.object({ firstSlot: u64, lastSlot: u64 }),
        }),
      ),
    ],
    ['getInflationReward', [[wallet]], z.array(z.null())],
    ['getVoteAccounts', [], z.object({ current: z.array(z.unknown()), delinquent: z.array(z.unknown()) })],
    [
      'getInflationGovernor',
      [],
      z.object({
        foundation: z.number(),
        foundationTerm: z.number(),
        initial: z.number(),
        taper: z.number(),
        terminal: z.number(),
      }),
    ],
    ['requestAirdrop', [wallet, 1_000_000], signature],
  ]
  const ofHistory: [string, unknown[], z.ZodType][] = [
    ['getBlocks', [slot, slot + 3], z.array(u64).length(4)],
    ['getBlocksWithLimit', [slot, 3], z.array(u64).length(3)],
    [
      'getSignaturesForAddress',
      [wallet],
      z
        .array(
          z.object({
            blockTime: u64.nullable(),
            confirmationStatus: z.enum(['confirmed', 'finalized']),
            err: error,
            memo: z.string().nullable(),
            signature,
            slot: u64,
          }),
        )
        .min(1),
    ],
  ]
  const once: Call[] = [
    ['getBlockCommitment', [slot], z.object({ commitment: z.array(u64).nullable(), totalStake: u64 })],
    ['getBlockTime', [slot], u64],
    ['getClusterNodes', [], z.array(z.object({ pubkey: address, version: z.string().nullable() })).length(1)],
    [
      'getEpochSchedule',
      [],
      z.object({
        firstNormalEpoch: u64,
        firstNormalSlot: u64,
        leaderScheduleSlotOffset: u64,
        slotsPerEpoch: u64,
        warmup: z.boolean(),
      }),
    ],
    ['getFirstAvailableBlock', [], u64],
    ['getGenesisHash', [], address],
    ['getHealth', [], z.literal('ok')],
    ['getIdentity', [], z.object({ identity: address })],
    [
      'getInflationRate',
      [],
      z.object({ epoch: u64, foundation: z.number(), total: z.number(), validator: z.number() }),
    ],
    ['getLeaderSchedule', [], z.record(address, z.array(u64))],
    ['getMaxRetransmitSlot', [], u64],
    ['getMaxShredInsertSlot', [], u64],
    [
      'getRecentPerformanceSamples',
      [4],
      z.array(
        z.object({
          numNonVoteTransactions: u64,
          numSlots: u64,
          numTransactions: u64,
          samplePeriodSecs: u64,
          slot: u64,
        }),
      ),
    ],
    ['getRecentPrioritizationFees', [[wallet]], z.array(z.object({ prioritizationFee: u64, slot: u64 })).min(1)],
    [
      'getSignatureStatuses',
      [[sent], { searchTransactionHistory: true }],
      withContext(
        z.array(
          z.object({
            confirmationStatus: z.literal('finalized'),
            confirmations: z.null(),
            err: error,
            slot: u64,
            status,
          }),
        ),
      ),
    ],
    ['getSlotLeaders', [slot, 10], z.array(address).length(10)],
    ['getVersion', [], z.object({ 'feature-set': u64, 'solana-core': z.string() })],
    ['minimumLedgerSlot', [], u64],
  ]

  calls = [...once]
  for (const commitment of COMMITMENTS) {
    for (const [method, params, shape] of plain) calls.push([method, [...params, at(commitment)], shape])
    for (const encoding of Object.keys(accountData)) {
      const config = { commitment, encoding }
      const narrow = { filters: [{ dataSize: 82 }] }
      const small = encoding === 'base58' ? { dataSlice: { offset: 0, length: 32 } } : {}
      calls.push(['getAccountInfo', [mint.toBase58(), config], withContext(account(encoding))])
      calls.push(['getMultipleAccounts', [[wallet, mint.toBase58()], config], withContext(z.array(account(encoding)))])
      calls.push(['getProgramAccounts', [token, { ...config, ...narrow }], keyed(encoding)])
      calls.push([
        'getProgramAccounts',
        [token, { ...config, ...narrow, withContext: true }],
        withContext(keyed(encoding)),
      ])
      const config2 = { ...config, ...small }
      calls.push([
        'getTokenAccountsByOwner',
        [wallet, { mint: mint.toBase58() }, config2],
        withContext(keyed(encoding)),
      ])
      calls.push([
        'getTokenAccountsByDelegate',
        [delegate.toBase58(), { programId: token }, config2],
        withContext(keyed(encoding)),
      ])
      calls.push(['getTokenAccountsByOwner', [wallet, { programId: token }, config2], withContext(keyed(encoding))])
    }
    for (const innerInstructions of [true, false]) {
      calls.push([
        'simulateTransaction',
        [
          next,
          { commitment, encoding: 'base64', innerInstructions, accounts: { addresses: [wallet], encoding: 'base64' } },
        ],
        withContext(
          z.object({
            err: z.null(),
            accounts: z.array(account('base64')).length(1),
            logs: z.array(z.string()).min(1),
            returnData: z.null(),
            unitsConsumed: u64,
            innerInstructions: innerInstructions ? z.array(z.unknown()) : z.null(),
          }),
        ),
      ])
    }
  }
  for (const commitment of CONFIRMED) {
    for (const [method, params, shape] of ofHistory) calls.push([method, [...params, at(commitment)], shape])
    for (const encoding of Object.keys(transactionBody)) {
      const config = { commitment, encoding, maxSupportedTransactionVersion: 0 }
      const known = transaction(encoding).extend({ version: z.literal('legacy') })
      calls.push(['getTransaction', [sent, config], known.extend({ slot: u64, blockTime: u64 })])
      const transactions = z.array(transaction(encoding)).min(1)
      calls.push(['getBlock', [slot, { ...config, rewards: false }], block({ transactions })])
    }
    const view = { commitment, maxSupportedTransactionVersion: 0 }
    const accounts = z.object({
      transaction: z.object({
        accountKeys: z.array(z.object({ pubkey: address, signer: z.boolean(), writable: z.boolean() })),
        signatures: z.array(signature),
      }),
      meta: z.object({ err: error, fee: u64, postBalances: z.array(u64), preBalances: z.array(u64), status }),
    })
    calls.push([
      'getBlock',
      [slot, { ...view, transactionDetails: 'accounts' }],
      block({ transactions: z.array(accounts).min(1) }),
    ])
    calls.push([
      'getBlock',
      [slot, { ...view, transactionDetails: 'signatures' }],
      block({ signatures: z.array(signature).min(1) }),
    ])
    calls.push(['getBlock', [slot, { ...view, transactionDetails: 'none' }], block({ rewards: z.array(z.unknown()) })])
  }
  calls.push(['sendTransaction', [next, { encoding: 'base64' }], signature])
})
afterAll(async () => {
  expect(server.faults).toEqual([])
  await server.stop()
})

it('the embedded chain answers two hundred calls, alone and in batches, in the documented shapes', {
  tags: 'sampled',
}, async () => {
  expect(calls.length).toBeGreaterThanOrEqual(200)
  const wrong: string[] = []
  const post = async (body: unknown) =>
    (
      await fetch(server.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    ).json()
  const check = ([method, params, shape]: Call, answer: unknown) => {
    const { success, error } = z.object({ jsonrpc: z.literal('2.0'), id: z.number(), result: shape }).safeParse(answer)
    if (success) return
    wrong.push(
      `${method} ${JSON.stringify(params).slice(0, 120)}: ${z.prettifyError(error)} in ${JSON.stringify(answer).slice(0, 200)}`,
    )
  }
  const requests = calls.map(([method, params], id) => ({ jsonrpc: '2.0', id, method, params }))
  // What changes the chain can be asked once.
  const repeatable = requests.filter(({ method }) => method !== 'sendTransaction')
  const batched = (await post(repeatable)) as unknown[]
  for (const [i, answer] of batched.entries()) check(calls[repeatable[i]!.id]!, answer)
  const alone = requests.filter(({ id, method }) => id % runs(8, 1) === 0 || method === 'sendTransaction')
  for (const request of alone) check(calls[request.id]!, await post(request))
  expect(wrong).toEqual([])
})
