/** Signing at the command line: signatures beside web3.js's, and what is asked before anything is sent. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { base58 } from '@scure/base'
import {
  AddressLookupTableAccount,
  Keypair,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import type { Session } from '../../commands/cli/session.ts'
import { createWallet } from '../../commands/machine/wallets/wallet.ts'
import type { BuiltTransactions } from '../../commands/signing/built-transactions.ts'
import { contentOutcome } from '../../commands/signing/content.ts'
import { type CheckedBuild, writesMemo } from '../../commands/signing/demand.ts'
import { runSigned } from '../../commands/signing/run.ts'
import { signChecked } from '../../commands/signing/signatures.ts'
import type { SignedRun } from '../../commands/signing/signed-run.ts'
import { Cancelled, failure } from '../../commands/ui/problem.ts'
import { withBlockhash } from '../../src/chain/sending/cosign.ts'
import { ApiError } from '../../src/platform/errors.ts'
import { SYSTEM_PROGRAM } from '../../src/solana/program-ids.ts'
import { memo, someone } from '../support/local-chain.ts'
import { runs } from '../support/runs.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'
import { signV1, unsignedV1 } from '../support/version1.ts'

const folder = makeSharedFolder('svc-signing-')
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const wallet = createWallet()
const keypairFile = (keypair: Keypair) => {
  const file = join(folder, `${keypair.publicKey.toBase58()}.json`)
  writeFileSync(file, JSON.stringify([...keypair.secretKey]), { mode: 0o600 })
  return file
}
const BLOCKHASH = someone().toBase58()

/** Moves lamports from each of the signers; the first one pays. */
function built(kind: 'legacy' | 'v0' | 'table', signers: readonly Keypair[]): VersionedTransaction {
  const to = someone()
  const instructions = [
    ...signers.map(({ publicKey: fromPubkey }) => SystemProgram.transfer({ fromPubkey, toPubkey: to, lamports: 1 })),
    memo('hello'),
  ]
  const message = new TransactionMessage({ payerKey: signers[0]!.publicKey, recentBlockhash: BLOCKHASH, instructions })
  const state = {
    deactivationSlot: 2n ** 64n - 1n,
    lastExtendedSlot: 0,
    lastExtendedSlotStartIndex: 0,
    addresses: [someone(), to],
  }
  const table = new AddressLookupTableAccount({ key: someone(), state })
  return new VersionedTransaction(
    kind === 'legacy' ? message.compileToLegacyMessage() : message.compileToV0Message(kind === 'table' ? [table] : []),
  )
}
const base64 = (transaction: VersionedTransaction) => Buffer.from(transaction.serialize()).toString('base64')

describe('The priority fees of a command', () => {
  it('are added up also if several transactions are signed at a time, and end at 1 SOL', async () => {
    const config = {
      compute_unit_limit: 1,
      loaded_accounts_data_size_limit: 1,
      heap_size: null,
      priority_fee: '300000000',
    }
    const wallet = {
      describe: async () => ({ version: 1, config, instructions: [] }),
      sign: async () => ({ transaction: '', signature: 'signed', missing: [] }),
    }
    const session = { wallet } as unknown as Session
    const signing = Array.from({ length: 8 }, () => signChecked(session, 'bytes' as CheckedBuild, {}))
    const ends = await Promise.allSettled(signing)
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
    expect(ends.at(-1)).toMatchObject({ reason: { message: expect.stringContaining('more than 1 SOL') } })
  })
})

describe('A signature', () => {
  it('is the same as that of web3.js, for any order of the signers', { tags: 'sampled' }, async () => {
    const kinds = fc.constantFrom<'legacy' | 'v0' | 'table'>('legacy', 'v0', 'table')
    const order = fc.shuffledSubarray([0, 1, 2], { minLength: 3 })
    await fc.assert(
      fc.asyncProperty(kinds, order, fc.boolean(), async (kind, order, returned) => {
        const signers = order.map(() => Keypair.generate())
        const transaction = built(kind, signers)
        let signed = base64(transaction)
        for (const [i, place] of order.entries()) {
          const keypair = signers[place]!
          const keys =
            returned && i < 2 ? { secretKeys: [[...keypair.secretKey]], own: false } : { keypair: keypairFile(keypair) }
          const answer = await wallet.sign(signed, keys)
          expect(answer.signed).toContain(keypair.publicKey.toBase58())
          expect(answer.missing).toHaveLength(order.length - i - 1)
          signed = answer.transaction
        }
        transaction.sign(signers)
        expect(signed).toBe(base64(transaction))
        const { signature, missing } = await wallet.sign(signed, { keypair: keypairFile(signers[0]!) })
        expect({ signature, missing }).toEqual({ signature: base58.encode(transaction.signatures[0]!), missing: [] })
      }),
      { numRuns: runs(8, 25) },
    )
  })

  it('is refused to a key that is not a signer, with the names of those who must sign', async () => {
    const [payer, stranger] = [Keypair.generate(), Keypair.generate()]
    const transaction = base64(built('v0', [payer]))
    await expect(wallet.sign(transaction, { keypair: keypairFile(stranger) })).rejects.toMatchObject({
      code: 'bad_request',
      message: expect.stringContaining(`its signers are ${payer.publicKey.toBase58()}`),
    })
    await expect(wallet.sign(transaction, { secretKeys: [[...stranger.secretKey]], own: false })).rejects.toThrow(
      'which is not a signer',
    )
    await expect(wallet.sign(transaction, { secretKeys: [[1, 2, 3]], own: false })).rejects.toThrow('holds 3 entries')
    await expect(wallet.sign('AAAA', { keypair: keypairFile(payer) })).rejects.toMatchObject({ code: 'bad_request' })
  })

  it('is reported as valid, missing or invalid', async () => {
    const [payer, second] = [Keypair.generate(), Keypair.generate()]
    const transaction = built('legacy', [payer, second])
    const states = async () => (await wallet.decode(base64(transaction))).signers.map(({ signature }) => signature)
    expect(await states()).toEqual(['missing', 'missing'])
    transaction.sign([second])
    expect(await states()).toEqual(['missing', 'valid'])
    transaction.signatures[0] = transaction.signatures[1]!
    expect(await states()).toEqual(['invalid', 'valid'])
    const repaired = await wallet.sign(base64(transaction), { keypair: keypairFile(payer) })
    expect(repaired.missing).toEqual([])
  })

  it('is made over a message that is decoded like web3.js does', async () => {
    const payer = Keypair.generate()
    const transaction = built('table', [payer])
    const content = await wallet.decode(base64(transaction))
    const { message } = transaction
    expect(content).toMatchObject({
      version: 0,
      signature: null,
      fee_payer: payer.publicKey.toBase58(),
      recent_blockhash: BLOCKHASH,
    })
    expect(content.instructions.map(({ program, name, data }) => [program, name, data])).toEqual(
      message.compiledInstructions.map(({ programIdIndex, data }, i) => [
        message.staticAccountKeys[programIdIndex]!.toBase58(),
        ['System program', 'Memo'][i],
        Buffer.from(data).toString('hex'),
      ]),
    )
    const table = message.addressTableLookups[0]!
    expect(content.instructions[0]!.accounts).toEqual([
      { address: payer.publicKey.toBase58(), signer: true, writable: true },
      { address: `${table.accountKey.toBase58()}[${table.writableIndexes[0]}]`, signer: false, writable: true },
    ])
  })
})

describe('A transaction of version 1', () => {
  const [payer, second] = [Keypair.generate(), Keypair.generate()]
  const approval = new TransactionInstruction({
    programId: SystemProgram.programId,
    keys: [{ pubkey: second.publicKey, isSigner: true, isWritable: false }],
    data: Buffer.of(1),
  })
  const unsigned = unsignedV1({
    payer: payer.publicKey,
    blockhash: BLOCKHASH,
    instructions: [approval],
    config: { priorityFeeLamports: 77n, heapSize: 65_536 },
  })
  const text = Buffer.from(unsigned).toString('base64')

  it('is signed by each of its keys in turn, after its message', async () => {
    const first = await wallet.sign(text, { keypair: keypairFile(second) })
    expect([first.signature, first.missing]).toEqual([null, [payer.publicKey.toBase58()]])
    const whole = await wallet.sign(first.transaction, { keypair: keypairFile(payer) })
    expect(whole.missing).toEqual([])
    expect(whole.transaction).toBe(Buffer.from(signV1(unsigned, [payer, second])).toString('base64'))
  })

  it('is decoded with the priority fee and the limits of its message', async () => {
    const content = await wallet.decode(text)
    expect(content).toMatchObject({
      version: 1,
      fee_payer: payer.publicKey.toBase58(),
      recent_blockhash: BLOCKHASH,
      config: {
        priority_fee: '77',
        compute_unit_limit: 1_400_000,
        loaded_accounts_data_size_limit: 67_108_864,
        heap_size: 65_536,
      },
    })
    const findings = { trial: null, state: null, lastValid: undefined, untried: 'not asked for' }
    const { text: shown } = await contentOutcome(await wallet.describe(text), findings)
    expect(shown).toContain('priority  0.000000077 SOL')
    expect(shown).toContain('limits    1400000 compute units')
  })
})

interface Setting {
  cluster?: string | null
  interactive?: boolean
  yes?: boolean
  simulation?: object
  lifecycles?: string[]
  /** What each attempt to submit comes to. */
  submits?: (Error | null)[]
  /** What a person answers. */
  agrees?: boolean
  /** What the API makes of transactions that are to be refreshed. */
  refresh?: (transaction: string) => string
  /** The block height that the API tells. */
  height?: number
}
const FRESH = someone().toBase58()
const refreshed = (transaction: string) =>
  Buffer.from(withBlockhash(Buffer.from(transaction, 'base64'), FRESH)).toString('base64')

/** A session whose API is a few lines, with a real wallet; it keeps what happened, in order. */
function setting({
  cluster = 'embedded',
  interactive = false,
  yes = false,
  simulation = {},
  lifecycles = ['confirmed'],
  submits = [],
  agrees = false,
  refresh = refreshed,
  height = 1_000,
}: Setting) {
  const payer = Keypair.generate()
  const mint = Keypair.generate()
  const did: string[] = []
  const said: string[] = []
  const keys: unknown[] = []
  let now = 0
  let submitted = ''
  let words: string | null = null
  const sleep = async (ms: number) => {
    now += ms
  }
  const session = {
    wallet,
    clock: { now: () => now, sleep },
    setInterruptNote: (text: string | null) => {
      if (text !== null) words = text
    },
    cluster: async () => cluster,
    unchosenCluster: async () => null,
    ui: {
      interactive,
      confirmable: interactive || yes,
      note: (text: string) => said.push(text),
      waiting: () => undefined,
      preview: async (lines: string[]) => void said.push(...lines),
      async confirm(question: string) {
        did.push('ask')
        said.push(question)
        if (!yes && !agrees) throw new Cancelled()
        return !yes
      },
    },
    client: {
      service: { cluster: async () => ({ data: { block_height: height, slot_ms: 250 } }) },
      transactions: {
        async refresh({ transactions }: { transactions: string[] }) {
          did.push('refresh')
          return { data: { transactions: transactions.map(refresh), last_valid_block_height: 1_150 } }
        },
        async simulate() {
          did.push('simulate')
          return {
            data: {
              err: null,
              logs: [],
              units_consumed: 1,
              return_data: null,
              slot: 1,
              fee: '10000',
              rent: '0',
              balance_changes: [],
              ...simulation,
            },
          }
        },
        async submit({ transaction }: { transaction: string }, { idempotencyKey }: { idempotencyKey: string }) {
          did.push('submit')
          keys.push(idempotencyKey)
          submitted = transaction
          const fate = submits.shift()
          if (fate) throw fate
          return { data: { signature: '' } }
        },
        async get({ signature }: { signature: string }) {
          did.push('get')
          const lifecycle = lifecycles.length > 1 ? lifecycles.shift() : lifecycles[0]
          return {
            data: {
              signature,
              lifecycle,
              confirmation_status: null,
              err: lifecycle === 'failed' ? 'BlockhashNotFound' : null,
              slot: 7,
              confirmations: 0,
            },
          }
        },
      },
    },
  }
  const transfers = { program: SYSTEM_PROGRAM, call: 'transfer', fields: { lamports: 1 }, least: 2, most: 2 }
  const command: SignedRun<BuiltTransactions & { secret: number[] }> = {
    what: 'Create the token X',
    async build(address: string) {
      did.push('build')
      expect(address).toBe(payer.publicKey.toBase58())
      const transaction = base64(built('v0', [payer, mint]))
      return { data: { transaction, last_valid_block_height: 1_148, secret: [...mint.secretKey] } }
    },
    demand: async (of) => ({
      says: 'two transfers',
      guarded: null,
      payer: of.payer,
      calls: [transfers, writesMemo('hello')],
      inOrder: true,
    }),
    secretKeys: ({ secret }: { secret: number[] }) => [secret],
    show: () => ({ mint: mint.publicKey.toBase58() }),
  }
  const flags = {
    keypair: keypairFile(payer),
    tx_version: undefined,
    guard: undefined,
    dry_run: false,
    build_only: false,
    force: false,
    wait: undefined,
  }
  return {
    did,
    said,
    keys,
    payer,
    mint,
    passed: () => now,
    words: () => words,
    submitted: () => VersionedTransaction.deserialize(Buffer.from(submitted, 'base64')),
    run: (more: object = {}) => runSigned(session as unknown as Session, { ...flags, ...more }, command),
  }
}

describe('A command that signs', () => {
  it.each(['mainnet-beta', 'rpc.example.com', null])(
    'on %s asks nothing of anybody without a terminal and --yes',
    async (cluster) => {
      const { run, did } = setting({ cluster })
      await expect(run()).rejects.toMatchObject({
        code: 'bad_request',
        param: '--yes',
        next: expect.stringContaining('--yes'),
      })
      expect(did).toEqual([])
    },
  )

  it.each(['mainnet-beta', 'rpc.example.com', null])('on %s goes on with --yes', async (cluster) => {
    const { run, did, said } = setting({ cluster, yes: true })
    await run()
    expect(did).toEqual(['build', 'simulate', 'ask', 'submit', 'get'])
    expect(said).toContain(`Create the token X on ${cluster ?? 'the cluster of the API'}?`)
    expect(said.at(-1)).toMatch(/^signature \w{80,}$/)
  })

  it.each(['embedded', 'devnet', 'testnet', 'localhost'])('on %s asks nobody, a person neither', async (cluster) => {
    const alone = setting({ cluster })
    await alone.run()
    expect(alone.did).toEqual(['build', 'simulate', 'submit', 'get'])
    const asked = setting({ cluster, interactive: true })
    await asked.run()
    expect(asked.did).toEqual(['build', 'simulate', 'submit', 'get'])
  })

  it('submits what both keys have signed and waits for the status of --wait', async () => {
    const confirmed = setting({ lifecycles: ['submitted', 'processing', 'confirmed', 'finalized'] })
    const { data } = await confirmed.run()
    const { signatures } = confirmed.submitted()
    expect(data).toEqual({
      mint: confirmed.mint.publicKey.toBase58(),
      signature: base58.encode(signatures[0]!),
      lifecycle: 'confirmed',
      slot: 7,
    })
    expect(signatures).toHaveLength(2)
    expect(signatures.every((signature) => signature.some((byte) => byte !== 0))).toBe(true)
    const finalized = setting({ lifecycles: ['submitted', 'confirmed', 'finalized'] })
    expect((await finalized.run({ wait: 'finalized' })).data).toMatchObject({ lifecycle: 'finalized' })
    const unwatched = setting({})
    expect((await unwatched.run({ wait: 'none' })).data).toMatchObject({ lifecycle: 'submitted' })
    expect(unwatched.did).not.toContain('get')
  })

  it('sends nothing that would fail, and says how to fix it', async () => {
    const { run, did, said, payer } = setting({
      simulation: { err: 'AccountNotFound', logs: ['Program log: \u001b[31mred'], fee: null },
      yes: true,
    })
    await expect(run()).rejects.toMatchObject({
      code: 'bad_request',
      message: expect.stringContaining('nothing was sent'),
      next: `give the signer SOL: \`svc localnet airdrop ${payer.publicKey.toBase58()} 10\``,
    })
    expect(did).toEqual(['build', 'simulate'])
    expect(said.join('\n')).not.toContain('\u001b')
    expect(said).toContain('  fee       not known')
  })

  it('retries with the same idempotency key, and names the signature if it may have been sent', async () => {
    const gone = () => failure('http://127.0.0.1:1 cannot be reached: it closed the connection')
    const { run, keys, submitted, words } = setting({ submits: [gone(), gone(), gone()] })
    const error = (await run().catch((error) => error)) as Error & { next: string }
    const signature = base58.encode(submitted().signatures[0]!)
    expect(error.message).toContain(`it is unknown whether ${signature} was sent`)
    expect(error.next).toContain(`svc tx get ${signature}`)
    expect(words()).toContain(`svc tx get ${signature}`)
    expect(new Set(keys).size).toBe(1)
    expect(keys).toHaveLength(3)
    const recovered = setting({ submits: [gone(), null] })
    expect((await recovered.run()).data).toMatchObject({ lifecycle: 'confirmed' })
  })

  it('exits 1 if the transaction failed, or after three minutes without a result', async () => {
    const failed = setting({ lifecycles: ['submitted', 'failed'] })
    await expect(failed.run()).rejects.toMatchObject({
      code: 'internal_error',
      details: { err: 'BlockhashNotFound', signature: expect.any(String) },
    })
    const stuck = setting({ lifecycles: ['processing'] })
    await expect(stuck.run()).rejects.toMatchObject({
      message: expect.stringContaining('still processing after 180 seconds'),
      next: expect.stringContaining('svc tx watch '),
    })
    expect(stuck.passed()).toBeGreaterThanOrEqual(180_000)
    expect(stuck.passed()).toBeLessThan(185_000)
    expect(stuck.did.length).toBeLessThan(120)
    expect(stuck.words()).toContain('svc tx watch')
  })

  it('--build-only prints what the returned key has signed and no secret, without --yes', async () => {
    const { run, did, payer, mint } = setting({ cluster: 'mainnet-beta' })
    const { data, notes } = await run({ build_only: true })
    expect(did).toEqual(['build'])
    expect(notes?.at(-1)).toContain('until block height 1148, for about 37 seconds')
    expect(data).toMatchObject({
      signed_by: [mint.publicKey.toBase58()],
      missing_signers: [payer.publicKey.toBase58()],
      last_valid_block_height: 1_148,
    })
    expect(JSON.stringify({ data, notes })).not.toContain([...mint.secretKey].slice(0, 4).join(','))
    expect(notes?.join()).toContain(payer.publicKey.toBase58())
  })

  it('takes a new blockhash after a yes, and changes nothing else', async () => {
    const asked = setting({ cluster: 'mainnet-beta', interactive: true, agrees: true })
    await asked.run()
    expect(asked.did).toEqual(['build', 'simulate', 'ask', 'refresh', 'submit', 'get'])
    const { message } = asked.submitted()
    expect(message.recentBlockhash).toBe(FRESH)
    expect(asked.submitted().signatures.every((signature) => signature.some((byte) => byte !== 0))).toBe(true)
    const refused = setting({ cluster: 'mainnet-beta', interactive: true })
    await expect(refused.run()).rejects.toThrow(Cancelled)
    expect(refused.did).toEqual(['build', 'simulate', 'ask'])
  })

  it('signs nothing that returns with another change than the blockhash', async () => {
    const refresh = (transaction: string) => {
      const bytes = Buffer.from(refreshed(transaction), 'base64')
      bytes[bytes.length - 3]! ^= 1
      return bytes.toString('base64')
    }
    const asked = setting({ cluster: 'mainnet-beta', interactive: true, agrees: true, refresh })
    await expect(asked.run()).rejects.toThrow('changed more than the blockhash')
    expect(asked.did).not.toContain('submit')
  })

  it('keeps its blockhash with an API that cannot refresh it', async () => {
    const refresh = () => {
      throw new ApiError('not_found', 'no such route')
    }
    const asked = setting({ cluster: 'mainnet-beta', interactive: true, agrees: true, refresh })
    await asked.run()
    expect(asked.submitted().message.recentBlockhash).toBe(BLOCKHASH)
    // The build is good up to block 1,148.
    const late = setting({ cluster: 'mainnet-beta', interactive: true, agrees: true, refresh, height: 1_149 })
    await expect(late.run()).rejects.toMatchObject({
      message: 'it expired before you answered, so nothing was signed or sent',
      next: expect.stringContaining('answer within 150 blocks, about 38 seconds'),
    })
    expect(late.did).not.toContain('submit')
  })

  it('without the key only builds or simulates', async () => {
    const elsewhere = someone().toBase58()
    const { run, payer } = setting({})
    const own = payer.publicKey.toBase58()
    expect((await run({ payer: own })).data).toMatchObject({ lifecycle: 'confirmed' })
    expect((await run({ payer: own, build_only: true, keypair: undefined })).data).toMatchObject({
      missing_signers: [own],
    })
    await expect(run({ payer: elsewhere })).rejects.toMatchObject({
      message: expect.stringContaining(`--payer is ${elsewhere}, and --keypair is that of ${own}`),
    })
    await expect(run({ payer: elsewhere, build_only: true })).rejects.toMatchObject({ param: '--payer' })
    await expect(run({ payer: own, creator: elsewhere, build_only: true })).rejects.toMatchObject({
      message: expect.stringContaining('give either --payer or --creator'),
    })
    await expect(run({ authority: 'O0', build_only: true })).rejects.toMatchObject({ param: '--authority' })
  })

  it('--dry-run stops after the simulation, and exits 1 if it would fail', async () => {
    const well = setting({ cluster: 'mainnet-beta' })
    expect(await well.run({ dry_run: true })).toMatchObject({
      exitCode: 0,
      data: { err: null, cluster: 'mainnet-beta' },
    })
    expect(well.did).toEqual(['build', 'simulate'])
    const ill = setting({ simulation: { err: { InstructionError: [0, { Custom: 1 }] }, logs: ['a', 'b'] } })
    expect(await ill.run({ dry_run: true })).toMatchObject({ exitCode: 1, text: expect.stringContaining('failed') })
  })
})
