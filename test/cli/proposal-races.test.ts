/** Commands with --squads whose number another member takes between their build and their sending. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { PublicKey, SystemProgram, TransactionMessage } from '@solana/web3.js'
import { instructions } from '@sqds/multisig'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LocalChain } from '../../src/localnet/types.ts'
import { compileTransaction } from '../../src/solana/compiling.ts'
import { transactionBufferAddress } from '../../src/solana/squads/index.ts'
import { V1_CONFIG } from '../support/local-chain.ts'
import { signed } from '../support/local-chain-transactions.ts'
import { mapped } from '../support/mapped.ts'
import { itInSoak, runs } from '../support/runs.ts'
import { keyOf } from '../support/squads.ts'
import { lacksTreasury } from '../support/treasury.ts'
import { commandLine, PROGRAM } from './command-line.ts'
import { type Served, serveHere } from './served.ts'
import { carryOutBy } from './vault.ts'

const cli = commandLine()
const LAMPORTS = 1_000_000
const ROUNDS = runs(2, 13)

describe.skipIf(lacksTreasury)(`A number of a multisig${lacksTreasury}`, () => {
  const [ada, ben, cy] = mapped(['ada', 'ben', 'cy'], (name) => cli.keypair(`${name}.json`))
  let daemon: Served
  let chain: LocalChain
  let proxy: Server
  let [multisig, vault] = ['', '']
  /**
   * Called before each submission that reaches the daemon, with the count of those before it in the test. What it
   * answers is lost: the request, or the daemon's answer to it.
   */
  let beforeSubmission: (count: number, body: string) => unknown = () => undefined
  let submissions = 0
  /** Called once, before the next trial of what puts a proposal on the chain. */
  let beforeForecast: (() => unknown) | null = null

  beforeAll(async () => {
    daemon = await serveHere(cli.dataDir, { SVC_PRIORITY_FEE: 'none' })
    chain = await daemon.local()
    for (const { address } of [ada, ben, cy]) await cli.json(['localnet', 'airdrop', address, '100'])
    const members = [ada, ben, cy].map(({ address }) => address).join(',')
    const made = await cli.json(['multisig', 'create', '--member', members, '--threshold', '2', '-k', ada.file])
    ;({ multisig, vault } = made)
    await cli.json(['localnet', 'airdrop', vault, '50'])
    proxy = createServer(async (request, response) => {
      const body = await text(request)
      if (request.url === '/v2/transaction-forecasts' && beforeForecast !== null) {
        const act = beforeForecast
        beforeForecast = null
        await act()
      }
      const isSubmission = request.method === 'POST' && request.url === '/v2/transactions'
      const lost = isSubmission ? await beforeSubmission(submissions++, body) : undefined
      if (lost === 'request') return response.destroy()
      const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers as Record<string, string>
      const init = { method: request.method ?? 'GET', headers, ...(body === '' ? {} : { body }) }
      const answer = await fetch(`${daemon.url}${request.url}`, init)
      const said = await answer.text()
      if (lost === 'answer') return response.destroy()
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(said)
    }).listen(0, '127.0.0.1')
    await once(proxy, 'listening')
  })
  afterAll(async () => {
    proxy?.close()
    await daemon?.stop()
  })

  /** Runs a command of ada that meets `before` at each of its submissions. */
  async function racing(args: string[], before: (count: number, body: string) => unknown, to = ['--squads', multisig]) {
    submissions = 0
    beforeSubmission = before
    const api = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const by = [...to, '-k', ada.file, '--yes', '--json', '--api', api]
    const ran = await cli.svc([...args, ...by], { env: { SVC_API_KEY: daemon.operator } })
    beforeSubmission = () => undefined
    return { ...ran, answer: ran.exitCode === 0 ? JSON.parse(ran.stdout) : null }
  }

  /** Runs a command of ada in a process of its own, and kills it at the submission. */
  async function killedAt(args: string[], isAt: (count: number) => boolean) {
    submissions = 0
    const api = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const by = ['--squads', multisig, '-k', ada.file, '--yes', '--json', '--api', api]
    const env = { ...cli.env, SVC_API_KEY: daemon.operator }
    const child = spawn(process.execPath, [PROGRAM, ...args, ...by], { cwd: cli.home, env, stdio: 'ignore' })
    const ended = once(child, 'exit')
    beforeSubmission = async (count) => {
      if (!isAt(count)) return
      child.kill('SIGKILL')
      await ended
      return 'request'
    }
    expect(await ended).toEqual([null, 'SIGKILL'])
    beforeSubmission = () => undefined
  }

  const numbers = async () => Number((await cli.json(['multisig', 'show', multisig])).transaction_index)

  /** Ben proposes a payment to himself, or another one, with Squads' own client. */
  async function take(_?: number, __?: string, to = ben.address, lamports = 7): Promise<void> {
    const at = {
      multisigPda: keyOf(multisig),
      transactionIndex: BigInt((await numbers()) + 1),
      creator: ben.keypair.publicKey,
    }
    const [fromPubkey, toPubkey] = [keyOf(vault), keyOf(to)]
    const transactionMessage = new TransactionMessage({
      payerKey: fromPubkey,
      recentBlockhash: PublicKey.default.toBase58(),
      instructions: [SystemProgram.transfer({ fromPubkey, toPubkey, lamports })],
    })
    const terms = { vaultIndex: 0, ephemeralSigners: 0, transactionMessage }
    const list = [instructions.vaultTransactionCreate({ ...at, ...terms }), instructions.proposalCreate(at)]
    const raw = signed(list, [ben.keypair], { blockhash: chain.latestBlockhash().blockhash })
    const { err, logs } = chain.send(raw)
    expect(err, logs.join('\n')).toBeNull()
  }

  const carryOut = (id: string) => carryOutBy(cli, daemon, id, [ben, cy])
  /** The proposals of the multisig that are on the chain and were made by ada. */
  const ownProposals = async () => {
    const all = await cli.json(['proposals', 'list', '--multisig', multisig, '--status', 'active'])
    return all.map(({ id }: { id: string }) => id)
  }

  it('that is taken once is followed by the next, with the address that follows from it', async () => {
    const before = await numbers()
    const token = ['--name', 'Vault Token', '--symbol', 'VLT', '--uri', 'https://example.com/v.json', '--supply', '10']
    const { exitCode, stderr, answer } = await racing(['tokens', 'create', ...token], (count) => count === 0 && take())
    expect(exitCode, stderr).toBe(0)
    expect(answer).toMatchObject({ proposal_status: 'active', transaction_index: String(before + 2) })
    expect(await numbers()).toBe(before + 2)
    expect(await ownProposals()).toEqual([answer.proposal])
    await carryOut(answer.proposal)
    expect((await cli.json(['tokens', 'get', answer.mint])).raw).toMatchObject({ mint_authority: vault })
  })

  itInSoak('that another member takes between the build and the trial is followed by the next', async () => {
    const before = await numbers()
    const to = cli.keypair('any.json').address
    beforeForecast = () => take()
    const { exitCode, stderr, answer } = await racing(['wallet', 'send', to, '0.25'], () => undefined)
    expect(exitCode, stderr).toBe(0)
    expect(answer).toMatchObject({ proposal_status: 'active', transaction_index: String(before + 2) })
    await carryOut(answer.proposal)
    expect(chain.account(to)?.lamports).toBe(250_000_000n)
  })

  itInSoak('that is taken three times ends the command, and nothing of it is proposed', async () => {
    const before = await numbers()
    const send = ['wallet', 'send', cy.address, '0.5']
    const { exitCode, stderr } = await racing(send, take)
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('took the next number of')])
    expect(JSON.parse(stderr).meta.notes).toEqual([
      expect.stringMatching(/^Number \d+ was taken by another proposal: it is built again$/),
      expect.stringMatching(/^Number \d+ was taken by another proposal: it is built again$/),
    ])
    expect(await numbers()).toBe(before + 3)
    expect(await ownProposals()).toEqual([])
    const again = await racing(send, () => undefined)
    expect(again.answer).toMatchObject({ proposal_status: 'active', transaction_index: String(before + 4) })
    expect(await ownProposals()).toEqual([again.answer.proposal])
    await carryOut(again.answer.proposal)
  })

  itInSoak(
    'of a proposal that is made anew is taken at the trial and at the sending, and the next one follows',
    async () => {
      const to = cli.keypair('any.json').address
      const first = await racing(['wallet', 'send', to, '0.25'], () => undefined)
      for (const by of [ben, cy]) await cli.json(['proposals', 'reject', first.answer.proposal, '-k', by.file])
      const before = await numbers()
      beforeForecast = () => take()
      const { exitCode, stderr, answer } = await racing(
        ['proposals', 'renew', first.answer.proposal],
        (count) => count === 0 && take(),
        [],
      )
      expect(exitCode, stderr).toBe(0)
      expect(answer).toMatchObject({
        renews: first.answer.proposal,
        proposal_status: 'active',
        transaction_index: String(before + 3),
      })
      await carryOut(answer.proposal)
      expect(chain.account(to)?.lamports).toBe(250_000_000n)
    },
  )

  itInSoak('that is taken while a buffer is filled is followed by the next, and the act is done once', async () => {
    const before = await numbers()
    const recipients = Array.from({ length: 24 }, () => cli.keypair('any.json').keypair.publicKey)
    const payer = keyOf(vault)
    const { transaction } = compileTransaction({
      payer,
      recentBlockhash: PublicKey.default.toBase58(),
      instructions: recipients.map((toPubkey) =>
        SystemProgram.transfer({ fromPubkey: payer, toPubkey, lamports: LAMPORTS }),
      ),
      config: V1_CONFIG,
      bytesOf: (key: PublicKey) => key.toBytes(),
    })
    const create = ['proposals', 'create', Buffer.from(transaction).toString('base64')]
    const { exitCode, stderr, answer } = await racing(create, (count) => count === 1 && take())
    expect(exitCode, stderr).toBe(0)
    expect(answer.signatures.length).toBeGreaterThan(1)
    expect(answer).toMatchObject({ proposal_status: 'active', transaction_index: String(before + 2) })
    expect(await ownProposals()).toEqual([answer.proposal])
    await carryOut(answer.proposal)
    expect(recipients.map((key) => chain.account(key.toBase58())?.lamports)).toEqual(
      recipients.map(() => BigInt(LAMPORTS)),
    )
    // The buffer of the first try is left.
    expect(stderr).toContain(`get its rent back: svc proposals reclaim ${answer.proposal}`)
    const reclaimed = await cli.json(['proposals', 'reclaim', answer.proposal, '-k', ada.file])
    expect(reclaimed).toMatchObject({ buffers_closed: 1 })
    expect(chain.account(transactionBufferAddress(multisig, ada.address, 0))).toBeNull()
  })

  itInSoak('whose command was killed between two parts of a buffer leaves its rent to be reclaimed', async () => {
    const recipients = Array.from({ length: 24 }, () => cli.keypair('any.json').keypair.publicKey)
    const payer = keyOf(vault)
    const { transaction } = compileTransaction({
      payer,
      recentBlockhash: PublicKey.default.toBase58(),
      instructions: recipients.map((toPubkey) =>
        SystemProgram.transfer({ fromPubkey: payer, toPubkey, lamports: LAMPORTS }),
      ),
      config: V1_CONFIG,
      bytesOf: (key: PublicKey) => key.toBytes(),
    })
    const create = ['proposals', 'create', Buffer.from(transaction).toString('base64')]
    const buffer = transactionBufferAddress(multisig, ada.address, 0)
    const held = () => chain.account(buffer)?.lamports ?? 0n
    const reclaim = (id: string, ...more: string[]) => ['proposals', 'reclaim', id, '-k', ada.file, '--yes', ...more]

    await killedAt(create, (count) => count === 1)
    const rent = held()
    expect(rent).toBeGreaterThan(0n)
    const [{ id: begun }] = await cli.json(['proposals', 'list', '--multisig', multisig, '--status', 'planned'])
    await cli.refused(reclaim(begun), `is filled for the proposal ${begun}`, 2)
    // Another installation does not know the plan, but this machine has signed it.
    const elsewhere = { env: { SVC_DATA_DIR: join(cli.home, 'elsewhere'), SVC_RPC_URLS: daemon.rpcUrl } }
    const known = await cli.json(['proposals', 'import', multisig, '1'], elsewhere)
    await cli.refused(
      reclaim(known.id),
      `is filled by a command that was interrupted, for the proposal ${begun}`,
      1,
      elsewhere,
    )

    await cli.json(['localnet', 'advance', '300'])
    const again = await racing(create, () => undefined)
    expect(again.exitCode, again.stderr).toBe(0)
    const id = again.answer.proposal
    expect(again.stderr).toContain(`get its rent back: svc proposals reclaim ${id}`)
    expect(held()).toBe(rent)
    const dry = await cli.svc(reclaim(id, '--dry-run'))
    expect([dry.exitCode, dry.stderr + dry.stdout]).toEqual([0, expect.stringMatching(/buffers +0\.0\d+ SOL to you/)])
    expect(held()).toBe(rent)
    const before = chain.account(ada.address)?.lamports ?? 0n
    expect(await cli.json(reclaim(id))).toMatchObject({ buffers_closed: 1, buffer_lamports: String(rent) })
    expect([held(), (chain.account(ada.address)?.lamports ?? 0n) - before]).toEqual([0n, rent - 5_000n])
    await cli.refused(reclaim(id), 'its rent returns once it is finished', 2)
    await carryOut(id)
    expect(recipients.map((key) => chain.account(key.toBase58())?.lamports)).toEqual(
      recipients.map(() => BigInt(LAMPORTS)),
    )
  })

  const someone = () => cli.keypair('any.json').address
  const send = (to: string) => ['wallet', 'send', to, '0.5']

  it('that the same act has taken is its number: of another member, or of a submission whose answer was lost', async () => {
    const before = await numbers()
    const takers = [
      (to: string) => (count: number) => count === 0 && take(0, '', to, 500_000_000),
      () => (count: number, body: string) => {
        if (count > 0) return
        chain.send(Buffer.from(JSON.parse(body).transaction, 'base64'))
        chain.advance(1)
      },
    ]
    for (const [i, taker] of takers.entries()) {
      const to = someone()
      const { exitCode, stderr, answer } = await racing(send(to), taker(to))
      expect(exitCode, stderr).toBe(0)
      expect(answer).toMatchObject({ proposal_status: 'active', transaction_index: String(before + 1 + i) })
      expect(await ownProposals()).toEqual([answer.proposal])
      await carryOut(answer.proposal)
      expect(await numbers()).toBe(before + 1 + i)
    }
  })

  it.each([
    ['request', 'proposed anew once it has expired'],
    ['answer', 'found, and nothing is proposed twice'],
  ])('of a command whose %s was lost is %s', async (lost) => {
    const before = await numbers()
    const to = someone()
    const { exitCode, stderr } = await racing(send(to), () => lost)
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('it is unknown whether')])
    expect(await numbers()).toBe(before + (lost === 'answer' ? 1 : 0))
    await cli.json(['localnet', 'advance', '300'])
    const { answer, ...again } = await racing(send(to), () => undefined)
    expect(again.exitCode, again.stderr).toBe(0)
    expect(answer).toMatchObject({ proposal_status: 'active', transaction_index: String(before + 1) })
    expect(await numbers()).toBe(before + 1)
    await carryOut(answer.proposal)
    expect(chain.account(to)?.lamports).toBe(500_000_000n)
  })

  it('that two members take at the same time is one for each', { timeout: 300_000, tags: 'sampled' }, async () => {
    const before = await numbers()
    const env = { SVC_API_KEY: daemon.operator }
    const api = ['--api', daemon.url, '--squads', multisig, '--yes', '--json']
    for (let i = 0; i < ROUNDS; i++) {
      const ran = await Promise.all(
        [ada, ben].map((by, n) => {
          const to = cli.keypair('any.json').address
          return cli.svc(['wallet', 'send', to, `0.00${2 + n}`, ...api, '-k', by.file], { env })
        }),
      )
      expect(ran.map(({ exitCode, stderr }) => [exitCode, exitCode === 0 ? '' : stderr])).toEqual([
        [0, ''],
        [0, ''],
      ])
    }
    expect(await numbers()).toBe(before + 2 * ROUNDS)
  })
})
