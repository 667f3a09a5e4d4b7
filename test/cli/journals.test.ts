/** Journals of lists: what they refuse, what they keep after a crash, and that one run at a time has them. */
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { base58 } from '@scure/base'
import { Keypair, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { LaunchJournal } from '../../commands/airdrops/launch-journal.ts'
import type { Session } from '../../commands/cli/session.ts'
import { readStateFile, writeStateFile } from '../../commands/cli/state-file.ts'
import { SendJournal } from '../../commands/lists/batches/journal.ts'
import type { ListJournal } from '../../commands/lists/journal.ts'
import { keyedJournal, planKeyedRows } from '../../commands/lists/keyed-rows.ts'
import { doubtsAbout } from '../../commands/lists/proof.ts'
import { proposalListJournal } from '../../commands/lists/propose-rows.ts'
import { headOf, LOCK_KIND } from '../../commands/locks/lock-list.ts'
import { MINT_KIND } from '../../commands/nfts/index.ts'
import { type CreateBody, type LaunchRequest, requestLaunch } from '../../commands/pools/launch-request.ts'
import { launchedOf, launchListJournal, requestedOf } from '../../commands/pools/list-journal.ts'
import { DEPOSIT } from '../../commands/raises/buyer-acts.ts'
import { buyerJournal } from '../../commands/raises/buyer-list.ts'
import { ApiError, type ErrorCode } from '../../src/platform/errors.ts'
import { GOLDEN_BLOCKHASH } from '../support/golden.ts'
import { makeSharedFolder } from '../support/shared-folder.ts'

const folder = makeSharedFolder('svc-journals-')
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const STRANGER = 12_345
let count = 0
const newFile = () => join(folder, `journal-${count++}`)

const lockTerms = { mint: 'mint', terms: '["none"]', signer: 'a keypair' }
const terms = { payer: 'payer', cluster: 'embedded' }
interface Kind {
  open(file: string, changed?: object): ListJournal<Record<string, never>, object>
  entry: object
  doing: string
  loss: string
  others: readonly [changed: object, message: string][]
}
const kind = <T extends object>({ open, ...rest }: Omit<Kind, 'open'> & { open(file: string, changed?: object): T }) =>
  ({ open: open as unknown as Kind['open'], ...rest }) satisfies Kind

/** One row for each command with a journal. */
const KINDS: Record<string, Kind> = {
  'airdrops send': kind({
    open: (file, changed) => new SendJournal(file, { mint: 'mint', ...terms, ...changed }),
    entry: {
      recipients: [['wallet', '1']],
      sending: { transaction: 'bytes', signature: 's', last_valid_block_height: 1 },
    },
    doing: 'sending',
    loss: 'another --journal pays everybody again',
    others: [
      [{ mint: 'other' }, 'the token mint, not other'],
      [{ payer: 'other' }, 'the sender payer, not other'],
      [{ cluster: 'mainnet-beta' }, 'the cluster embedded, not mainnet-beta'],
    ],
  }),
  'airdrops launch': kind({
    open: (file) => new LaunchJournal(file, 'tree'),
    entry: { terms: { payer: 'payer' }, sending: { key: 'k', at: 1, signature: null } },
    doing: 'launching this airdrop',
    loss: 'remove it',
    others: [],
  }),
  'pools create --from': kind({
    open: (file, changed) => launchListJournal(file, { ...terms, ...changed }),
    entry: { sha256: '', pool: 'pool', isLive: false },
    doing: 'launching',
    loss: 'another --journal launches every row again',
    others: [
      [{ payer: 'other' }, 'the keypair payer, not other'],
      [{ cluster: 'mainnet-beta' }, 'the cluster embedded, not mainnet-beta'],
    ],
  }),
  'pools create --from --squads': kind({
    open: (file, changed) => proposalListJournal(file, { ...terms, mint: 'A', act: 'mint', ...changed }),
    entry: { proposals: ['prp_1'] },
    doing: 'proposing',
    loss: 'another --journal proposes every row again',
    others: [
      [{ payer: 'other' }, 'the vault payer, not other'],
      [{ mint: 'B' }, 'the token A, not B'],
      [{ act: 'burn' }, 'the act mint, not burn'],
      [{ cluster: 'mainnet-beta' }, 'the cluster embedded, not mainnet-beta'],
    ],
  }),
  'locks create --from': kind({
    open: (file, changed) => keyedJournal(file, { ...lockTerms, ...terms, ...changed }, LOCK_KIND, headOf(1n)),
    entry: { wallet: 'wallet', at: 1, signature: null, isMade: false },
    doing: 'locking',
    loss: 'another --journal locks every row again',
    others: [
      [{ mint: 'other' }, 'the mint mint, not other'],
      [{ terms: '[]' }, 'the terms ["none"], not []'],
      [{ signer: 'the platform wallet' }, 'the signer a keypair, not the platform wallet'],
    ],
  }),
  'nfts mint --from': kind({
    open: (file, changed) => keyedJournal(file, { collection: 'collection', ...terms, ...changed }, MINT_KIND),
    entry: { name: '#1', at: 1 },
    doing: 'minting',
    loss: 'another --journal mints every row again',
    others: [
      [{ collection: 'other' }, 'the collection collection, not other'],
      [{ payer: 'other' }, 'the keypair payer, not other'],
      [{ cluster: 'mainnet-beta' }, 'the cluster embedded, not mainnet-beta'],
    ],
  }),
  'raises deposit --from': kind({
    open: (file, { raise = 'raise', cluster = 'embedded' }: { raise?: string; cluster?: string } = {}) =>
      buyerJournal({ kind: DEPOSIT, raise: { id: raise }, file: 'keys.csv', journal: file } as never, cluster),
    entry: { units: '1', answer: { amount: '1' }, sending: { transaction: 'bytes', signature: 's' } },
    doing: 'depositing',
    loss: 'another --journal does every row again',
    others: [
      [{ raise: 'other' }, 'the raise raise, not other'],
      [{ cluster: 'mainnet-beta' }, 'the cluster embedded, not mainnet-beta'],
    ],
  }),
}

describe.each(Object.entries(KINDS))('The journal of `svc %s`', (_, { open, entry, doing, loss, others }) => {
  it('is open to one run at a time, and the next run reads it', async () => {
    const file = newFile()
    const [first, second] = [open(file), open(file)]
    second.refuseWhileHeld()
    const release = await first.begin()
    first.write('A', entry)
    const inUse = expect.objectContaining({
      code: 'conflict',
      message: `another run is ${doing} with the journal ${file}`,
    })
    expect(() => second.refuseWhileHeld()).toThrow(inUse)
    await expect(second.begin()).rejects.toThrow(inUse)
    release()

    const end = await second.begin()
    second.write('B', entry)
    end()
    expect([...open(file).entries]).toEqual([
      ['A', entry],
      ['B', entry],
    ])
    expect([file, `${file}.lock`].map((name) => statSync(name).mode & 0o777)).toEqual([0o600, 0o600])
  })

  it('has only the last entry of each row at the end of a run', async () => {
    const journal = open(newFile())
    const release = await journal.begin()
    for (const step of [1, 2, 3]) journal.write('A', { ...entry, step })
    release()
    const [, ...lines] = readFileSync(journal.file, 'utf8').trim().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toEqual([{ row: 'A', ...entry, step: 3 }])
  })

  it('that is cut off at any byte has every entry whose line is complete', async () => {
    const journal = open(newFile())
    const release = await journal.begin()
    for (const row of ['A', 'B', 'Ç']) journal.write(row, entry)
    const bytes = readFileSync(journal.file)
    release()
    const ends = [...bytes].flatMap((byte, i) => (byte === 10 ? [i + 1] : []))
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: ends[0]!, max: bytes.length }), async (length) => {
        writeFileSync(journal.file, bytes.subarray(0, length))
        const whole = ['A', 'B', 'Ç'].slice(0, ends.filter((end) => end <= length).length - 1)
        const next = open(journal.file)
        expect([...next.entries.keys()]).toEqual(whole)
        const end = await next.begin()
        next.write('D', entry)
        end()
        expect([...open(journal.file).entries.keys()]).toEqual([...whole, 'D'])
      }),
      { numRuns: 20 },
    )
  })

  it('of another version, of another command or with a damaged line is refused and unchanged', async () => {
    const file = newFile()
    const release = await open(file).begin()
    release()
    const head = readFileSync(file, 'utf8')
    const other = Object.values(KINDS).find((each) => each.doing !== doing)!
    const stranger = newFile()
    ;(await other.open(stranger).begin())()
    const faults: [text: string, line: number][] = [
      [`${JSON.stringify({ version: 1, ...terms, launches: {} }, undefined, 2)}\n`, 1],
      [head.replace('"version":2', '"version":1'), 1],
      [readFileSync(stranger, 'utf8'), 1],
      ['not JSON', 1],
      [`${head}{"row":"A"}\n`, 2],
      [`${head}${JSON.stringify({ row: 1, ...entry })}\n`, 2],
    ]
    for (const [text, line] of faults) {
      writeFileSync(file, text)
      expect(() => open(file), text).toThrow(
        expect.objectContaining({
          code: 'bad_request',
          message: expect.stringContaining(`${file}:${line} is not a journal of`),
          next: expect.stringContaining(loss),
        }),
      )
      expect(readFileSync(file, 'utf8')).toBe(text)
    }
  })

  it('that others could have written is refused and unchanged, in a folder like /tmp too', async () => {
    const place = join(folder, `open-${count++}`)
    mkdirSync(place)
    const file = join(place, 'journal')
    const release = await open(file).begin()
    release()
    const own = readFileSync(file)
    const refused = (what: RegExp, path = file) =>
      expect(() => open(path), String(what)).toThrow(
        expect.objectContaining({ code: 'bad_request', message: expect.stringMatching(what) }),
      )
    chmodSync(place, 0o1777)
    expect(open(file).entries.size).toBe(0)
    chmodSync(file, 0o666)
    refused(/can be written by others \(mode 666\): others could mark rows in it as done/)
    chmodSync(file, 0o600)
    chmodSync(place, 0o777)
    refused(/is in a folder that can be written by others/)
    refused(/is in a folder that can be written by others/, join(place, 'of a first run'))
    chmodSync(place, 0o1777)
    symlinkSync(file, join(place, 'link'))
    refused(/is a symbolic link/, join(place, 'link'))
    if (process.getuid?.() === 0) {
      chownSync(file, STRANGER, STRANGER)
      refused(/belongs to another user \(uid 12345, not 0\)/)
    }
    expect(readFileSync(file)).toEqual(own)
  })

  it('belongs to one payer, cluster and token; an unknown cluster matches any', async () => {
    const journal = open(newFile())
    ;(await journal.begin())()
    for (const [changed, message] of others) {
      expect(() => open(journal.file, changed)).toThrow(`was started with ${message}`)
      const later = open(newFile(), changed)
      writeFileSync(later.file, readFileSync(journal.file))
      await expect(later.begin()).rejects.toThrow(`was started with ${message}`)
    }
    expect(open(journal.file, { cluster: null }).entries.size).toBe(0)
  })

  it('leaves only its lock file when it is removed', async () => {
    const journal = open(newFile())
    const release = await journal.begin()
    journal.write('A', entry)
    journal.remove()
    release()
    expect(readdirSync(folder).filter((name) => join(folder, name).startsWith(journal.file))).toEqual([
      journal.file.slice(folder.length + 1).concat('.lock'),
    ])
  })
})

it('A batch of a list never gets the number of another, even if a line was removed from the journal', async () => {
  const journal = new SendJournal(newFile(), { mint: 'mint', ...terms })
  ;(await journal.begin())()
  const sending = { transaction: 'bytes', signature: 's', last_valid_block_height: 1 }
  const lines = ['1', '3'].map((row) =>
    JSON.stringify({ row, recipients: [[`wallet ${row}`, '1']], sending, end: 'confirmed' }),
  )
  writeFileSync(journal.file, `${readFileSync(journal.file, 'utf8')}${lines.join('\n')}\n`)
  const release = await journal.begin()
  journal.write(journal.next(), { recipients: [['wallet new', '1']], sending, end: 'confirmed' })
  release()
  expect(
    new SendJournal(journal.file, { mint: 'mint', ...terms })
      .finished()
      .flatMap(({ recipients }) => recipients.map(([wallet]) => wallet)),
  ).toEqual(['wallet 1', 'wallet 3', 'wallet new'])
})

it('A list of launches knows what was only requested from what was built, by versions of before too', async () => {
  const head = { kind: 'svc-pool-launches', version: 2, ...terms }
  const built = { sha256: 'a', pool: 'p', mint: 'm', isLive: true, built: null, signed: null, signatures: ['s'] }
  const requested = { sha256: 'b', requested: { key: 'k', at: 1, bodySha256: 'c' } }
  const ended = { sha256: 'b', requested: null }
  const written = (...entries: object[]) => {
    const file = newFile()
    writeFileSync(file, [head, ...entries].map((line) => `${JSON.stringify(line)}\n`).join(''), { mode: 0o600 })
    return () => launchListJournal(file, terms)
  }
  const rows = { BUILT: built, REQ: requested, ENDED: ended }
  const { entries } = written(...Object.entries(rows).map(([row, entry]) => ({ row, ...entry })))()
  const known = [...entries].map(([row, entry]) => [row, launchedOf(entry)?.pool, requestedOf(entry)?.key])
  expect(known).toEqual([
    ['BUILT', 'p', undefined],
    ['REQ', undefined, 'k'],
    ['ENDED', undefined, undefined],
  ])
  for (const broken of [{ sha256: 'b' }, { sha256: 'b', requested: { key: 'k' } }, { requested: null }]) {
    expect(written({ row: 'X', ...broken })).toThrow('is not a journal of')
  }
})

it('The keys of a list of NFTs are derived from the seed of its journal', async () => {
  const file = newFile()
  const first = keyedJournal(file, { collection: 'collection', ...terms }, MINT_KIND)
  writeFileSync(file, `${JSON.stringify({ ...first.head, seed: '07'.repeat(32) })}\n`)
  const journal = keyedJournal(file, { collection: 'collection', ...terms }, MINT_KIND)
  const session = {
    wallet: { derive: async (seed: Uint8Array) => ({ address: Buffer.from(seed).toString('hex'), secretKey: [] }) },
    clock: { now: () => 1 },
    ui: { progress: () => () => undefined, clear: () => undefined },
    client: { accounts: { batchFetch: async () => ({ data: { accounts: [null] } }) } },
  } as unknown as Session
  const listed = [{ name: '#1', uri: 'https://example.com/1.json', owner: 'payer', line: 2 }]
  const contentOf = ({ name, uri, owner }: (typeof listed)[number]) => [name, uri, owner]
  const planned = await planKeyedRows(session, {
    kind: MINT_KIND,
    journal,
    contentOf,
    listed,
    demand: async () => ({ calls: [], inOrder: false, guarded: null, payer: 'payer', says: '' }),
  })
  expect(planned.map(({ account }) => account)).toEqual([
    '719453f1e97e63a679e49efa8b204f344f65918c07136333144733cd3c369d0a',
  ])
})

it.each([['seed'], ['now']])('The journal of a list of locks is refused without its %s', (field) => {
  const file = newFile()
  const open = () => keyedJournal(file, { ...lockTerms, ...terms }, LOCK_KIND, headOf(1n))
  const { head } = open()
  expect(head.now).toBe('1')
  writeFileSync(file, `${JSON.stringify({ ...head, [field]: undefined })}\n`)
  expect(open).toThrow(`${file}:1 is not a journal of \`svc locks create --from\``)
})

it('What an earlier run left in the state folder is refused if others could have written it', () => {
  const file = newFile()
  expect(readStateFile(file)).toBeUndefined()
  writeStateFile(file, { journal: 'a' })
  expect(readStateFile(file)).toEqual({ journal: 'a' })
  chmodSync(file, 0o666)
  expect(() => readStateFile(file)).toThrow('can be written by others (mode 666)')
  symlinkSync(file, `${file}.link`)
  expect(() => readStateFile(`${file}.link`)).toThrow('is a symbolic link')
})

describe('a transaction that a journal names', () => {
  const sent = () => {
    const [payer, other] = [Keypair.generate(), Keypair.generate()]
    const transaction = new VersionedTransaction(
      new TransactionMessage({
        payerKey: payer.publicKey,
        recentBlockhash: GOLDEN_BLOCKHASH,
        instructions: [SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: other.publicKey, lamports: 1 })],
      }).compileToV0Message(),
    )
    transaction.sign([payer])
    const base64 = () => Buffer.from(transaction.serialize()).toString('base64')
    return { transaction, signature: base58.encode(transaction.signatures[0] ?? new Uint8Array()), base64 }
  }
  /** The doubt about `signature` if the API answers with these bytes for it. */
  const doubt = async (signature: string, bytes: string) => {
    const session = {
      clock: { sleep: async () => undefined },
      wallet: { describe: async () => ({ instructions: [] }) },
      client: {
        transactions: {
          batchFetch: async () => ({
            data: { transactions: [{ signature, slot: 1, failed: false, transaction: bytes }] },
          }),
        },
      },
    } as unknown as Session
    const demand = async () => ({ calls: [] })
    return (await doubtsAbout(session, [{ id: 'row', signatures: [signature], demand }])).get('row')
  }

  it('counts by its own bytes and its payer’s signature, whatever the API says of it', async () => {
    const [real, other] = [sent(), sent()]
    const missing = `no RPC node has ${real.signature}: --trust-journal counts it as done`
    expect(await doubt(real.signature, other.base64())).toBe(missing)
    expect(await doubt(real.signature, 'AA==')).toBe(missing)
    other.transaction.signatures[0] = base58.decode(real.signature)
    expect(await doubt(real.signature, other.base64())).toBe(missing)
    expect(await doubt(real.signature, real.base64())).not.toBe(missing)
  })
})

describe('the request of a launch', () => {
  const body = { symbol: 'MTK' } as unknown as CreateBody
  /** Requests it of an API that answers with this error; returns what was kept, and under which key it was asked. */
  const request = async (code: ErrorCode, begun: LaunchRequest | null) => {
    const kept: (LaunchRequest | null)[] = []
    const keys: (string | undefined)[] = []
    const create = async (_: unknown, { idempotencyKey }: { idempotencyKey?: string }) => {
      keys.push(idempotencyKey)
      throw new ApiError(code, 'no')
    }
    const session = { clock: { now: () => 1_000, sleep: async () => undefined }, client: { pools: { create } } }
    const asked = requestLaunch(session as unknown as Session, body, begun, (each) => kept.push(each))
    await expect(asked).rejects.toThrow('no')
    return { kept, keys: [...new Set(keys)] }
  }

  it('that an earlier run has sent keeps its key when the API refuses before it looks at it', async () => {
    const { kept } = await request('internal_error', null)
    const begun = kept[0]!
    expect(kept).toEqual([begun])
    for (const code of ['rate_limited', 'unauthorized', 'forbidden', 'conflict', 'internal_error'] as const)
      expect(await request(code, begun), code).toEqual({ kept: [], keys: [begun.key] })
    expect(await request('bad_request', begun)).toEqual({ kept: [null], keys: [begun.key] })
    expect((await request('rate_limited', null)).kept).toEqual([expect.anything(), null])
  })
})
