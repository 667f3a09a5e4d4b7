/** How a batch ends: nothing is signed for again until its first transaction is proven not to have landed. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as spl from '@solana/spl-token'
import {
  ComputeBudgetProgram,
  Keypair,
  type PublicKey,
  SystemProgram,
  type TransactionInstruction,
} from '@solana/web3.js'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { requireClaimants } from '../../commands/airdrops/claimants.ts'
import type { Session } from '../../commands/cli/session.ts'
import { demandsTransfers, type SendRow, type SendRun, walletAct } from '../../commands/lists/batches/act.ts'
import { sendBatch } from '../../commands/lists/batches/batch.ts'
import {
  type OpenBatch,
  type RequestedBatch,
  SendJournal,
  type SentBatch,
} from '../../commands/lists/batches/journal.ts'
import { requireTokens } from '../../commands/lists/batches/plan.ts'
import { untilEnded } from '../../commands/lists/until-ended.ts'
import { createWallet } from '../../commands/machine/wallets/wallet.ts'
import { checkedBuild, signingFor } from '../../commands/signing/demand.ts'
import { UnprovenEnd } from '../../commands/signing/following.ts'
import type { Problem } from '../../commands/ui/problem.ts'
import { compileUnsigned } from '../../src/chain/sending/unsigned.ts'
import { readJsonList } from '../../src/merkle/json-list.ts'
import { ApiError } from '../../src/platform/errors.ts'
import { MINUTE_MS } from '../../src/platform/timing.ts'
import { GOLDEN_BLOCKHASH, goldenKey } from '../support/golden.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-send-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const NOW = 1_700_000_000_000
const caller = { api: '/data', key: 'abc' }
const terms = { mint: 'mint', payer: 'payer', cluster: 'embedded' }
const journalAt = (name = 'list.send.jsonl') => new SendJournal(join(folder, name), terms)
const rowOf = (wallet: string, amount = 1n): SendRow => ({
  wallet,
  amount,
  status: 'to send',
  note: null,
  signature: null,
  opens: false,
})

const refusal = (message: string, extras = {}) => new ApiError('bad_request', message, extras)
const noBlockhash = () => refusal('Simulation failed: BlockhashNotFound')

/** An API whose answers are written down in order; the last of each is repeated. */
function api(script: {
  lifecycles: (string | [string, unknown])[]
  /** What the API says of a transaction that no node has shown. */
  absence?: 'proven' | 'unproven'
  heights?: number[]
  submits?: (ApiError | null)[]
  creates?: (ApiError | { mode: string; signature: string })[]
}) {
  const next = <T>(list: T[]): T => (list.length > 1 ? list.shift()! : list[0]!)
  const calls: string[] = []
  let now = NOW
  const session = {
    clock: {
      now: () => now,
      async sleep(ms: number) {
        now += ms
      },
    },
    ui: { preview: async () => undefined, waiting: () => undefined },
    setInterruptNote: () => undefined,
    wallet: { explain: async () => ({ program: null, name: 'x', message: 'it failed', hint: null }) },
    client: {
      transactions: {
        batchFetch: async () => ({ data: { transactions: [] } }),
        async get({ signature }: { signature: string }) {
          const said = next(script.lifecycles)
          const [lifecycle, err] = typeof said === 'string' ? [said, null] : said
          calls.push(`get ${lifecycle}`)
          return { data: { signature, lifecycle, err, slot: 7, absence: script.absence ?? 'proven' } }
        },
        async submit({ transaction }: { transaction: string }) {
          calls.push(`submit ${transaction}`)
          const fault = next(script.submits ?? [null])
          if (fault !== null) throw fault
          return { data: { signature: 's' } }
        },
      },
      service: {
        async cluster() {
          const block_height = next(script.heights ?? [0])
          calls.push(`height ${block_height}`)
          return { data: { block_height } }
        },
      },
      accounts: { get: async () => ({ data: { slot: 1 } }) },
      tokenTransfers: {
        async create(body: { mode?: string }, options?: { idempotencyKey: string }) {
          calls.push(`create ${body.mode ?? 'unsigned'} ${options?.idempotencyKey === undefined ? '' : 'key'}`.trim())
          const answer = next(script.creates ?? [])
          if (answer instanceof ApiError) throw answer
          return { data: answer }
        },
      },
    },
  } as unknown as Session
  return { session, calls }
}
const paidIn = (journal: SendJournal) =>
  journal.finished().flatMap(({ recipients }) => recipients.map(([wallet]) => wallet))
const signed = { transaction: 'bytes', signature: 's', last_valid_block_height: 100, isNew: false }

describe('A signed batch', () => {
  it('is expired only after its last block height, if it is still unknown', async () => {
    const { session, calls } = api({ lifecycles: ['unknown'], submits: [noBlockhash()], heights: [90, 100, 101] })
    expect(await untilEnded(session, signed)).toEqual({ kind: 'expired' })
    expect(calls.filter((call) => call.startsWith('height'))).toEqual(['height 90', 'height 100', 'height 101'])
    expect(calls.at(-1)).toBe('get unknown')
    expect(calls.filter((call) => call === 'submit bytes')).toHaveLength(3)
  })

  it('that is in the last block is confirmed, although it is not accepted again', async () => {
    const lifecycles = ['unknown', 'unknown', 'confirmed']
    const { session } = api({ lifecycles, submits: [noBlockhash()], heights: [101] })
    expect(await untilEnded(session, signed)).toEqual({ kind: 'confirmed', slot: 7 })
  })

  it('is not sent again if it is known, and expired if the API has proven it', async () => {
    const known = api({ lifecycles: ['submitted', 'submitted', ['failed', 'BlockhashExpired']] })
    expect(await untilEnded(known.session, signed)).toEqual({ kind: 'expired' })
    expect(known.calls).not.toContain('submit bytes')
    const failed = api({ lifecycles: ['submitted', ['failed', { InstructionError: [0, { Custom: 1 }] }]] })
    expect(await untilEnded(failed.session, signed)).toMatchObject({ kind: 'failed' })
  })

  it('that is refused has failed if this run signed it, and otherwise once its blockhash has expired', async () => {
    const lacks = () => refusal('Simulation failed: insufficient funds')
    const fresh = api({ lifecycles: ['unknown'], submits: [lacks()], heights: [1] })
    expect(await untilEnded(fresh.session, { ...signed, isNew: true })).toMatchObject({ kind: 'failed' })
    const earlier = api({ lifecycles: ['unknown'], submits: [lacks()], heights: [1, 2, 101] })
    expect(await untilEnded(earlier.session, signed)).toEqual({ kind: 'expired' })
  })
})

describe('A batch that no node has shown', () => {
  const unseen = { lifecycles: ['submitted'], absence: 'unproven' as const }

  it('is neither paid nor signed again without proof, and the error says what to do', async () => {
    const { session } = api(unseen)
    await expect(untilEnded(session, signed)).rejects.toMatchObject({
      message: expect.stringMatching(
        /was not seen in a block, and nothing proves that it is in none: it may have landed/,
      ),
      next: expect.stringMatching(/^do not sign it again: .* svc looks for it for a day/),
      details: { absence: 'unproven' },
    })
    const unknown = api({ ...unseen, lifecycles: ['unknown'], submits: [noBlockhash()], heights: [101] })
    await expect(untilEnded(unknown.session, signed)).rejects.toBeInstanceOf(UnprovenEnd)
  })

  it('is not replaced while its blockhash is valid, even if the user says so and the chain is slow', async () => {
    const [early, late] = [api({ ...unseen, heights: [100] }), api({ ...unseen, heights: [101] })]
    await expect(untilEnded(early.session, signed, { replacesUnseen: true })).rejects.toBeInstanceOf(UnprovenEnd)
    expect(await untilEnded(late.session, signed, { replacesUnseen: true })).toEqual({ kind: 'expired' })
  })

  it('stays open in the journal, so that each run looks again, and is replaced if the user says so', async () => {
    const journal = journalAt()
    const release = await journal.begin()
    const { isNew: _, ...sending } = signed
    const batch: OpenBatch = { batch: '1', recipients: [['a', '1']], sending }
    journal.write('1', batch)
    const run = (replacesUnseen: boolean): SendRun => ({
      ...{
        terms: { payer: 'payer', mint: 'mint' },
        journal,
        act: walletAct('send', { mint: 'mint', decimals: 6 }),
        keypair: undefined,
        caller,
      },
      ...{ signed: true, txTerms: {}, replacesUnseen, isTrusted: true },
    })
    const row = rowOf('a')
    await sendBatch(api(unseen).session, run(false), [row], batch)
    expect([row.status, row.note, journal.open().length]).toEqual([
      'unknown',
      expect.stringMatching(/may have landed/),
      1,
    ])
    const { session } = api({
      lifecycles: [...Array.from({ length: 40 }, () => 'submitted'), 'confirmed'],
      absence: 'unproven',
      heights: [101],
      creates: [{ mode: 'signed', signature: 'sig' }],
    })
    await sendBatch(session, run(true), [row], batch)
    expect([row.status, row.signature, journal.open()]).toEqual(['sent', 'sig', []])
    release()
  })
})

describe('A batch of the platform wallet', () => {
  async function opened(script: Parameters<typeof api>[0]) {
    const journal = journalAt()
    const release = await journal.begin()
    const { session, calls } = api(script)
    const run: SendRun = {
      terms: { payer: 'payer', mint: 'mint', allow_programs: false, accept_transfer_fee: false },
      journal,
      act: walletAct('send', { mint: 'mint', decimals: 6 }),
      keypair: undefined,
      signed: true,
      caller,
      txTerms: {},
      // These nodes have no bytes of transactions.
      isTrusted: true,
    }
    return { journal, release, session, calls, run }
  }
  const answer = { mode: 'signed', signature: 'sig' }

  it('is requested again with its idempotency key, and paid once', async () => {
    const lost = new ApiError('internal_error', 'gone')
    const { journal, session, calls, run, release } = await opened({
      lifecycles: ['confirmed'],
      creates: [lost, lost, lost, lost, answer],
    })
    const row = rowOf('a')
    expect(await sendBatch(session, run, [row])).toEqual([])
    expect([row.status, row.signature, journal.open()]).toEqual(['sent', 'sig', []])
    expect(calls.filter((call) => call === 'create signed key')).toHaveLength(5)
    const keys = readFileSync(journal.file, 'utf8').match(/"sending":\{"key":"[^"]+"/g)
    expect(new Set(keys).size).toBe(1)
    release()
  })

  it('stays open while the signer is paused, because an earlier request may have signed', async () => {
    const paused = refusal('The signer is paused', { details: { rule: 'paused' } })
    const { journal, session, run, release } = await opened({ lifecycles: ['unknown'], creates: [paused] })
    await expect(sendBatch(session, run, [rowOf('a')])).rejects.toThrow('paused')
    expect(journal.open()).toHaveLength(1)
    release()
  })

  it('leaves out refused recipients and those that do not fit, and requests the others with another key', async () => {
    const fault = refusal('recipients.1.wallet: b is frozen', {
      param: 'recipients.1.wallet',
      details: { reason: 'account_frozen' },
    })
    const room = refusal('recipients: 3 do not fit', { param: 'recipients', details: { fits: 2 } })
    const { journal, session, run, release } = await opened({
      lifecycles: ['confirmed'],
      creates: [fault, room, answer],
    })
    const rows = ['a', 'b', 'c', 'd'].map((wallet) => rowOf(wallet))
    expect((await sendBatch(session, run, rows)).map(({ wallet }) => wallet)).toEqual(['d'])
    expect(rows.map(({ status }) => status)).toEqual(['sent', 'left out', 'sent', 'to send'])
    expect(rows[1]!.note).toBe('b is frozen')
    expect(paidIn(journal)).toEqual(['a', 'c'])
    release()
  })

  /** As an earlier run has left it. */
  function begun(journal: SendJournal, sending: RequestedBatch): OpenBatch {
    journal.write('1', { recipients: [['a', '1']], sending })
    return journal.open()[0]!
  }
  const asked = (run: SendRun, more: Partial<RequestedBatch>): RequestedBatch => ({
    key: 'k',
    at: NOW,
    signature: null,
    caller,
    body: { ...run.terms, mode: 'signed' },
    ...more,
  })

  it('whose answer was lost is requested again for half an hour by the same caller', async () => {
    const { journal, session, calls, run, release } = await opened({ lifecycles: ['confirmed'], creates: [answer] })
    const row = rowOf('a')
    expect(await sendBatch(session, run, [row], begun(journal, asked(run, { at: NOW - 29 * MINUTE_MS })))).toEqual([])
    expect([row.status, calls[0], journal.open()]).toEqual(['sent', 'create signed key', []])
    release()
  })

  it('of an earlier run that is refused stays open, because it may have been signed', async () => {
    const fault = refusal('recipients.1.wallet: b is frozen', {
      param: 'recipients.1.wallet',
      details: { reason: 'account_frozen' },
    })
    const { journal, session, calls, run, release } = await opened({ lifecycles: ['unknown'], creates: [fault] })
    const rows = [rowOf('a'), rowOf('b')]
    await expect(sendBatch(session, run, rows, begun(journal, asked(run, {})))).rejects.toThrow('b is frozen')
    expect([journal.open().length, journal.entries.size, calls]).toEqual([1, 1, ['create signed key']])
    expect(rows.map(({ status }) => status)).toEqual(['to send', 'to send'])
    release()
  })

  it.each<[string, Partial<RequestedBatch>, string]>([
    ['half an hour ago', { at: NOW - 31 * MINUTE_MS }, 'longer ago than an API is sure to remember'],
    ['by a clock that was ahead', { at: NOW + MINUTE_MS }, 'longer ago than an API is sure to remember'],
    ['with another API key', { caller: { ...caller, key: 'abd' } }, 'with another API key'],
    ['at another API', { caller: { ...caller, api: 'https://api.test' } }, 'at https://api.test, which is not /data'],
  ])('whose answer was lost, and that was requested %s, is not requested again', async (_, more, why) => {
    const { journal, session, calls, run, release } = await opened({ lifecycles: ['unknown'], creates: [answer] })
    begun(journal, asked(run, more))
    release()
    // As the next run reads it.
    const next = journalAt()
    const releaseNext = await next.begin()
    const row = rowOf('a')
    expect(await sendBatch(session, { ...run, journal: next }, [row], next.open()[0]!)).toEqual([])
    expect([row.status, calls, next.open().length]).toEqual(['unknown', [], 1])
    for (const words of [why, 'svc audit list', 'svc tx get SIGNATURE', '--again']) expect(row.note).toContain(words)
    releaseNext()
  })

  it('without a caller is not requested again', async () => {
    const { journal, session, calls, run, release } = await opened({ lifecycles: ['unknown'], creates: [answer] })
    const { caller: _, ...nobody } = asked(run, {})
    const row = rowOf('a')
    expect(await sendBatch(session, run, [row], begun(journal, nobody))).toEqual([])
    expect([row.status, calls]).toEqual(['unknown', []])
    release()
  })

  it('that another caller had signed counts once confirmed, and is never signed again', async () => {
    for (const [lifecycle, status] of [
      ['confirmed', 'sent'],
      [['failed', 'BlockhashExpired'], 'unknown'],
    ] as const) {
      const { journal, session, run, release } = await opened({ lifecycles: [lifecycle as string], creates: [answer] })
      const request = asked(run, { signature: 'sig', caller: { ...caller, key: 'abd' } })
      const row = rowOf('a')
      expect(await sendBatch(session, run, [row], begun(journal, request))).toEqual([])
      expect(row.status).toBe(status)
      if (status === 'unknown') expect(row.note).toContain('svc tx get sig')
      release()
      rmSync(journal.file)
    }
  })

  it('is not requested again after the rate limit lasted longer than an idempotency key is trusted', async () => {
    const limited = new ApiError('rate_limited', 'wait')
    const lost = new ApiError('internal_error', 'gone')
    const creates = [lost, ...Array.from({ length: 500 }, () => limited), answer]
    const { journal, session, calls, run, release } = await opened({ lifecycles: ['confirmed'], creates })
    const row = rowOf('a')
    expect(await sendBatch(session, run, [row])).toEqual([])
    expect([row.status, journal.open().length]).toEqual(['unknown', 1])
    expect(session.clock.now() - NOW).toBeGreaterThan(30 * MINUTE_MS)
    expect(calls.length).toBeLessThan(500)
    release()
  })
})

describe('The journal of a send', () => {
  it('knows at any line who was paid and what may still be confirmed', async () => {
    const journal = journalAt()
    const release = await journal.begin()
    const sending = (n: number) => ({ transaction: `t${n}`, signature: `s${n}`, last_valid_block_height: n })
    const batches: SentBatch[] = [
      {
        recipients: [
          ['a', '1'],
          ['b', '2'],
        ],
        sending: sending(1),
      },
      { recipients: [['c', '3']], sending: sending(2) },
    ]
    const states: unknown[] = []
    const write = (batch: number, sent: SentBatch) => {
      journal.write(String(batch), sent)
      const open = journalAt()
        .open()
        .flatMap(({ recipients }) => recipients.map(([wallet]) => wallet))
      states.push({ paid: paidIn(journalAt()).join(''), open: open.join(''), next: journal.next() })
    }
    write(1, batches[0]!)
    write(2, batches[1]!)
    write(1, { ...batches[0]!, end: 'confirmed' })
    write(2, { ...batches[1]!, end: 'expired' })
    write(3, { ...batches[1]!, sending: sending(3) })
    release()
    expect(states).toEqual([
      { paid: '', open: 'ab', next: '2' },
      { paid: '', open: 'abc', next: '3' },
      { paid: 'ab', open: 'c', next: '3' },
      { paid: 'ab', open: '', next: '3' },
      { paid: 'ab', open: 'c', next: '4' },
    ])
    expect(journalAt().finished()).toMatchObject([{ recipients: batches[0]!.recipients, sending: { signature: 's1' } }])
  })
})

describe('A batch that the API built', () => {
  const [payer, mint] = [goldenKey(1).publicKey, goldenKey(2).publicKey]
  const account = (wallet: PublicKey) => spl.getAssociatedTokenAddressSync(mint, wallet, true)
  const wallets = [3, 4].map((seed) => goldenKey(seed).publicKey)
  const agreed = {
    mint: mint.toBase58(),
    decimals: 6,
    recipients: wallets.map((wallet, i) => ({ wallet: wallet.toBase58(), amount: BigInt(i + 1) })),
  }
  const transfer = (to: PublicKey, amount: bigint, from = account(payer), token = mint, owner = payer) =>
    spl.createTransferCheckedInstruction(from, token, account(to), owner, amount, 6)
  const open = (wallet: PublicKey, at = account(wallet), by = payer) =>
    spl.createAssociatedTokenAccountIdempotentInstruction(by, at, wallet, mint)
  const own = [open(wallets[0]!), transfer(wallets[0]!, 1n), transfer(wallets[1]!, 2n)]
  const check = async (instructions: TransactionInstruction[]) => {
    const session = { wallet: createWallet(), clock: { now: () => Date.now(), sleep: async () => undefined } }
    const built = await compileUnsigned({ payer: payer.toBase58(), recentBlockhash: GOLDEN_BLOCKHASH }, instructions)
    const demand = await demandsTransfers(signingFor(session, payer.toBase58(), { guard: undefined }), agreed)
    await checkedBuild(session, Buffer.from(built.transaction).toString('base64'), demand)
  }
  const stranger = Keypair.generate().publicKey

  it('is signed if it matches the list', async () => {
    await check(own)
    await check([ComputeBudgetProgram.setComputeUnitLimit({ units: 200_000 }), ...own])
  })

  it.each<[string, TransactionInstruction[]]>([
    ['another amount', [own[0]!, transfer(wallets[0]!, 2n), own[2]!]],
    ['another receiver', [own[0]!, own[1]!, transfer(stranger, 2n)]],
    ['one transfer more', [...own, transfer(stranger, 1n)]],
    ['one transfer fewer', own.slice(0, 2)],
    ['another order', [own[2]!, own[1]!]],
    ['another token', [own[1]!, transfer(wallets[1]!, 2n, account(payer), stranger)]],
    ['another source', [own[1]!, transfer(wallets[1]!, 2n, account(stranger))]],
    ['an account for a stranger', [open(stranger), ...own]],
    ['a payment of SOL', [...own, SystemProgram.transfer({ fromPubkey: payer, toPubkey: stranger, lamports: 1 })]],
    ['a delegate', [...own, spl.createApproveInstruction(account(payer), stranger, payer, 1n)]],
    [
      'a fee beyond reason',
      [
        ComputeBudgetProgram.setComputeUnitLimit({ units: 1_000_000 }),
        ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 200_000_000n }),
        ...own,
      ],
    ],
    ['another signer', [...own.slice(0, 2), transfer(wallets[1]!, 2n, account(payer), mint, stranger)]],
  ])('is not signed with %s', async (_, instructions) => {
    await expect(check(instructions)).rejects.toThrow('nothing was signed')
  })
})

describe('A list', () => {
  it('of more tokens than the payer has names how many are missing, and how SOL is wrapped', () => {
    const held = { held: 1_000_000_000n, decimals: 9, source: 'ata' } as Parameters<typeof requireTokens>[2]
    const need = (mint: string) => () => requireTokens({ payer: 'ada', mint } as never, 3_500_000_000n, held)
    const next = (act: () => void) => {
      try {
        act()
      } catch (error) {
        return (error as Problem).next
      }
    }
    expect(next(need('mint'))).toBe('send 2.5 more to ada (token account ata)')
    expect(next(need(spl.NATIVE_MINT.toBase58()))).toBe(
      'wrap 2.5 SOL of ada first, as `spl-token wrap` does (token account ata); `svc wallet send` sends SOL itself',
    )
  })

  it('of claimants is refused if an address is not a wallet, and warned about if a token account was stolen', async () => {
    const wallets = [71, 72, 73].map((seed) => goldenKey(seed).publicKey.toBase58())
    const list = readJsonList(Buffer.from(JSON.stringify(wallets.map((wallet) => ({ wallet, amount: '1' })))), {
      name: 'list',
    }).list
    const check = async (reasons: (string | null)[]) => {
      const warnings: string[] = []
      const ui = {
        progress: () => () => undefined,
        clear: () => undefined,
        warn: (text: string) => warnings.push(text),
      }
      const recipients = reasons.map((reason) => ({ reason, note: reason === null ? null : `it is ${reason}` }))
      const plan = async () => ({ data: { recipients } })
      const session = { ui, clock: { sleep: async () => undefined }, client: { tokenTransfers: { plan } } }
      const terms = { file: 'list.csv', payer: 'ada', mint: 'mint', allow_programs: false, list, isDryRun: false }
      await requireClaimants(session as unknown as Session, terms)
      return warnings
    }
    expect(await check([null, 'owner_changed', null])).toEqual(['list.csv: entries.1.wallet: it is owner_changed'])
    await expect(check(['program_owned', null, 'frozen'])).rejects.toThrow('entries.0.wallet: it is program_owned')
  })
})
