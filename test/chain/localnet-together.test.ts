/** Transactions that arrive together: one durable write for all, and the same outcomes as one after another. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ed25519Program, Keypair } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openChain } from '../../src/chain/connection.ts'
import { createRpc } from '../../src/localnet/rpc/index.ts'
import { loadConfig } from '../../src/settings/config.ts'
import { CLOCK_SYSVAR } from '../../src/solana/program-ids.ts'
import { everything, openTestChain, refusal, SOL, type TestChain, transfer } from '../support/local-chain.ts'
import { runs } from '../support/runs.ts'

const base64 = (raw: Uint8Array) => Buffer.from(raw).toString('base64')

/** Sends by JSON-RPC, and returns the signature or the error. */
function sender(test: TestChain) {
  const rpc = createRpc(test.chain)
  return async (raw: Uint8Array, skipPreflight = false) => {
    const params = [base64(raw), { encoding: 'base64', skipPreflight }]
    const answer = await rpc.handle(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'sendTransaction', params }))
    return JSON.parse(answer ?? '') as { result?: string; error?: { code: number; message: string } }
  }
}

/** Counts the durable writes from now on. */
function countCommits({ parts }: TestChain): () => number {
  const { commit } = parts.journal
  let commits = 0
  parts.journal.commit = (work) => {
    commits++
    return commit(work)
  }
  return () => commits
}

/** Every account, with the sysvars of the current slot, which are only set for a run. */
function accountsOf(test: TestChain) {
  test.chain.account(CLOCK_SYSVAR)
  return everything(test)
}

const isLanded = (test: TestChain, signature: string | undefined) => test.chain.transaction(signature ?? '') !== null

describe('transactions that arrive in one turn', () => {
  it('share one write, and are durable and reported to listeners when answered', async () => {
    const test = await openTestChain()
    const [payer, to] = [test.wallet(), Keypair.generate().publicKey]
    const raws = Array.from({ length: 10 }, (_, i) => test.sign([transfer(payer, to, SOL + BigInt(i))], [payer]))
    const told: string[] = []
    test.chain.subscribe({ landed: ({ signature }) => void told.push(signature) })
    const commits = countCommits(test)
    const send = sender(test)
    const answers = await Promise.all(raws.map((raw) => send(raw)))
    expect(commits()).toBe(1)
    expect(answers.map(({ result }) => result)).toEqual(told)
    expect(told.length).toBe(10)
    const before = accountsOf(test)
    await test.reopen()
    expect(accountsOf(test)).toEqual(before)
    expect(told.every((signature) => isLanded(test, signature))).toBe(true)
  })

  it('have the same results as one after another', { tags: 'sampled' }, async () => {
    const one = await openTestChain()
    const other = await openTestChain()
    const kinds = fc.constantFrom('new', 'again', 'too much', 'spent', 'stale', 'forged')
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(kinds, fc.boolean()), { maxLength: 12 }), async (works) => {
        const outcomes = async (test: TestChain, together: boolean) => {
          const [payer, poor] = [test.wallet(), Keypair.generate()]
          let last = test.sign([transfer(payer, poor.publicKey, SOL)], [payer])
          const raws = works.map(([kind], i) => {
            if (kind === 'again') return last
            if (kind === 'too much')
              last = test.sign([transfer(payer, poor.publicKey, 1_000n * SOL + BigInt(i))], [payer])
            // What it spends may come from a transaction before it.
            else if (kind === 'spent') last = test.sign([transfer(poor, payer.publicKey, 1_000 + i)], [poor])
            else {
              const blockhash = kind === 'stale' ? { blockhash: Keypair.generate().publicKey.toBase58() } : {}
              last = test.sign([transfer(payer, poor.publicKey, SOL + BigInt(i))], [payer], blockhash)
            }
            if (kind === 'forged') last[1] = (last[1] ?? 0) ^ 1
            return last
          })
          const send = sender(test)
          const jobs = works.map(
            ([, skip], i) =>
              () =>
                send(raws[i] ?? new Uint8Array(), skip),
          )
          const answers = []
          if (together) answers.push(...(await Promise.all(jobs.map((job) => job()))))
          else for (const job of jobs) answers.push(await job())
          const balances = [payer, poor].map(({ publicKey }) => test.chain.account(publicKey.toBase58())?.lamports)
          const landed = answers.map(({ result }) => result !== undefined && isLanded(test, result))
          return [answers.map(({ error }) => error?.message ?? 'sent'), landed, balances]
        }
        expect(await outcomes(one, true)).toEqual(await outcomes(other, false))
      }),
      { numRuns: runs(4, 15) },
    )
  })

  it('are all refused, and none lands, if their write fails', async () => {
    const test = await openTestChain()
    const [payer, to] = [test.wallet(), Keypair.generate().publicKey]
    const before = accountsOf(test)
    const { commit } = test.parts.journal
    test.parts.journal.commit = (work) =>
      commit(() => {
        work()
        throw new Error('database or disk is full')
      })
    const raws = [1n, 2n].map((more) => test.sign([transfer(payer, to, SOL + more)], [payer]))
    const outcomes = await Promise.allSettled(raws.map((raw) => test.chain.together(() => test.chain.send(raw))))
    for (const outcome of outcomes) {
      expect(outcome.status === 'rejected' && String(outcome.reason)).toMatch(
        /stopped: its journal could not be written/,
      )
    }
    test.parts.journal.commit = commit
    await test.reopen()
    expect(accountsOf(test)).toEqual(before)
  })

  it('stop the whole chain if one of them cannot be recorded', async () => {
    const test = await openTestChain()
    const [payer, to] = [test.wallet(), Keypair.generate().publicKey]
    const before = accountsOf(test)
    const { record } = test.parts.journal
    let recorded = 0
    test.parts.journal.record = (entry) => {
      if (++recorded === 2) throw new Error('disk I/O error')
      record(entry)
    }
    const raws = [1n, 2n, 3n].map((more) => test.sign([transfer(payer, to, SOL + more)], [payer]))
    const outcomes = await Promise.allSettled(raws.map((raw) => test.chain.together(() => test.chain.send(raw))))
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    expect(() => test.chain.latestBlockhash()).toThrow(/could not be written \(disk I\/O error\); open it again/)
    await test.reopen()
    expect(accountsOf(test)).toEqual(before)
  })

  it('land and are answered even if the chain is closed in between', async () => {
    const test = await openTestChain()
    const payer = test.wallet()
    const raw = test.sign([transfer(payer, Keypair.generate().publicKey, SOL)], [payer])
    const answer = sender(test)(raw)
    await Promise.resolve()
    await test.reopen()
    expect(isLanded(test, (await answer).result)).toBe(true)
  })
})

describe('signatures that a simulation has checked', () => {
  it('are not treated as checked by a simulation that did not check them', async () => {
    const test = await openTestChain()
    const payer = test.wallet()
    const raw = test.sign([transfer(payer, Keypair.generate().publicKey, SOL)], [payer])
    raw[1] = (raw[1] ?? 0) ^ 1
    expect(test.chain.simulate(raw, { sigVerify: false }).err).toBeNull()
    expect(refusal(() => test.chain.simulate(raw, { sigVerify: true }))).toBe('SignatureFailure')
    expect(refusal(() => test.chain.send(raw))).toBe('SignatureFailure')
  })

  it('do not change the result of a send', async () => {
    const outcome = async (simulated: boolean) => {
      const test = await openTestChain()
      const [payer, signer] = [test.wallet(), Keypair.fromSeed(new Uint8Array(32).fill(7))]
      const forged = Ed25519Program.createInstructionWithPrivateKey({
        privateKey: signer.secretKey,
        message: Buffer.of(1),
      })
      forged.data[forged.data.length - 1] = 2
      const to = signer.publicKey
      const works = [[transfer(payer, to, SOL)], [transfer(payer, to, 1_000n * SOL)], [forged]]
      return works.map((instructions) => {
        const raw = test.sign(instructions, [payer])
        if (simulated) {
          const { err } = test.chain.simulate(raw, { sigVerify: true })
          const { err: again } = test.chain.simulate(raw, { sigVerify: true })
          expect(again).toEqual(err)
        }
        const { err, logs, fee, unitsConsumed, postBalances } = test.chain.send(raw)
        return { err, logs, fee, unitsConsumed, postBalances }
      })
    }
    expect(await outcome(true)).toEqual(await outcome(false))
  })
})

describe('a call to the embedded chain of this process', () => {
  it('has the same answer as over fetch', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'svc-calls-'))
    onTestFinished(() => rmSync(dataDir, { recursive: true }))
    const config = loadConfig({ flags: { 'data-dir': dataDir, 'programs-dir': '/nonexistent' }, env: {}, cwd: dataDir })
    const calls: [string, unknown[]][] = [
      ['getGenesisHash', []],
      ['getBalance', ['11111111111111111111111111111111', { commitment: 'processed', minContextSlot: undefined }]],
      ['getSignatureStatuses', [['1'.repeat(64)], { searchTransactionHistory: true }]],
      ['sendTransaction', ['not base64', { encoding: 'base64' }]],
      ['simulateTransaction', [12]],
      ['noSuchMethod', [2 ** 60]],
    ]
    const answersOf = async (options: Parameters<typeof openChain>[1]) => {
      const chain = openChain(config, options)
      try {
        const answers = []
        for (const [method, params] of calls) {
          const answer = await chain
            .call(method, params)
            .catch(({ name, code, message, data }) => [name, code, message, data])
          answers.push(JSON.parse(JSON.stringify(answer).replace(/"slot":\d+/, '"slot":0')))
        }
        return answers
      } finally {
        await chain.close()
      }
    }
    const plain = await answersOf({})
    expect(plain).toEqual(await answersOf({ around: (send) => send }))
    expect(plain[5]).toEqual(['NodeRefusal', -32601, 'Method not found', null])
  })

  it('is refused once the process ends', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'svc-calls-'))
    onTestFinished(() => rmSync(dataDir, { recursive: true }))
    const config = loadConfig({ flags: { 'data-dir': dataDir, 'programs-dir': '/nonexistent' }, env: {}, cwd: dataDir })
    const ending = new AbortController()
    const chain = openChain(config, { ending: ending.signal })
    onTestFinished(() => chain.close())
    await chain.call('getSlot', [])
    ending.abort()
    await expect(chain.call('getSlot', [])).rejects.toThrow('the service is shutting down')
  })
})
