/** The embedded chain under load, killed without warning again and again: nothing answered is lost, nothing runs twice. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EmbeddedChain } from '../../src/localnet/local-chain.ts'
import { openParts } from '../../src/localnet/opening.ts'

const KILLS = 20

let dataDir: string
beforeAll(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'svc-chain-kill-'))
})
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

/** Everything the chain holds, added up, and its whole history in order. */
async function inspect() {
  const parts = await openParts({ dataDir, programsDir: '/nonexistent' })
  const chain = new EmbeddedChain(parts)
  try {
    expect(chain.status().warnings).toEqual([])
    const supply = [...parts.index.addresses()].reduce(
      (sum, address) => sum + (parts.runtime.get(address)?.lamports ?? 0n),
      0n,
    )
    const slots = chain.slotsWithTransactions(0, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)
    const history = slots.flatMap((slot) => chain.transactionsInSlot(slot))
    const balances = new Map(
      [...parts.index.addresses()].map((address) => [address, parts.index.get(address)!.lamports]),
    )
    return { supply, history, balances, count: chain.transactionCount() }
  } finally {
    chain.close()
  }
}

/** Works the chain and kills the process after some answers; returns what it said. */
async function workAndKill(round: number, answers: number, again: readonly string[]) {
  const child = spawn('node', ['--import', 'tsx', 'test/soak/localnet-child.ts', dataDir, String(round), ...again], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = new Promise<NodeJS.Signals | null>((resolve) => child.once('exit', (_, signal) => resolve(signal)))
  const done: string[] = []
  const tried: string[] = []
  const refused: string[] = []
  for await (const line of createInterface(child.stdout)) {
    const [what, ...rest] = line.split(' ')
    if (what === 'try') tried.push(rest[0]!)
    else if (what === 'refused') refused.push(rest.join(' '))
    else done.push(...rest)
    // What the process still says until it is dead is read as well: those are answers, too.
    if (done.length >= answers) child.kill('SIGKILL')
  }
  expect(await exited).toBe('SIGKILL')
  return { done, refused, lastTried: tried.slice(-3) }
}

describe('the embedded chain', () => {
  it(`keeps every answered transaction through ${KILLS} kills, once, and to the lamport`, async () => {
    const start = await inspect()
    const answered = new Set<string>()
    let again: string[] = []
    let repeated = 0
    for (let round = 0; round < KILLS; round++) {
      const { done, refused, lastTried } = await workAndKill(round, 40 + ((round * 137) % 700), again)
      for (const signature of done) answered.add(signature)
      // Sent again after the kill: what had landed must be refused by its signature, whether it was answered or not.
      expect(refused.every((reason) => reason === 'AlreadyProcessed' || reason === 'BlockhashNotFound')).toBe(true)
      repeated += refused.filter((reason) => reason === 'AlreadyProcessed').length
      again = lastTried

      const { supply, history, balances, count } = await inspect()
      const landed = new Set(history.map(({ signature }) => signature))
      expect([...answered].filter((signature) => !landed.has(signature))).toEqual([])
      expect([landed.size, count]).toEqual([history.length, history.length])
      const fees = history.reduce((sum, { fee }) => sum + fee, 0n)
      expect(start.supply - supply).toBe(fees)

      // Each transaction starts where the one before it ended: nothing ran in between, nothing ran twice.
      const known = new Map(start.balances)
      for (const { accountKeys, preBalances, postBalances, err, fee } of history) {
        for (const [i, key] of accountKeys.entries()) expect(preBalances[i]).toBe(known.get(key) ?? 0n)
        for (const [i, key] of accountKeys.entries()) known.set(key, postBalances[i]!)
        if (err !== null) expect(preBalances[0]! - postBalances[0]!).toBe(fee)
      }
      for (const [address, lamports] of balances) expect(lamports).toBe(known.get(address))
    }
    expect(answered.size).toBeGreaterThan(KILLS * 100)
    expect(repeated).toBeGreaterThan(KILLS)
  })
})
