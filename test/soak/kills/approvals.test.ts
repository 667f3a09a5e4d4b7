/** Daemons that are killed around approvals: what is proposed, approved and executed happens once, and nothing is lost. */
import { PublicKey } from '@solana/web3.js'
import { expect, vi } from 'vitest'
import { approversOf, type Decided, type Person, textOf } from '../../support/approvers.ts'
import { randomOf } from '../../support/random.ts'
import { allPages, killTest, momentsOf, requestsOf, seedOr } from './harness.ts'
import { killAmidWave, openSigningPlatform, type PlatformPoint, trapsOf } from './platform.ts'

const SOL = 1_000_000_000
const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make)

/** The n-th act is a memo of its own, which two people approve; every fifth that is cut off is given up. */
async function approvedActs() {
  const { next: random, below } = randomOf(seedOr(11))
  const writers = 3
  const platform = await openSigningPlatform()
  await platform.chain.requestAirdrop(new PublicKey(platform.vault.key.address), SOL)
  await platform.start()
  const genesis = await platform.chain.getGenesisHash()
  const rules = { lamports_per_transaction: '1000000', lamports_per_day: '1000000000' }
  const people = (await approversOf(platform.daemon, 2, rules)) as [Person, Person]
  const proposals = new Map<number, string>()
  const post = (path: string, body: object, key: string) =>
    platform.daemon.request('POST', path, { body, headers: { 'idempotency-key': key } })
  const requests = requestsOf<number>({
    async send(n) {
      const asked = await post('/v2/signer/tests', { submit: true, memo: `act ${n}.` }, `act-${n}`)
      if (asked.status !== 202) return asked
      const { proposal } = asked.json.data as { proposal: Decided }
      const known = proposals.get(n)
      expect([n, known ?? proposal.id]).toEqual([n, proposal.id])
      proposals.set(n, proposal.id)
      let last = asked
      for (const [i, who] of people.entries()) {
        const body = { approver: who.address, signature: who.sign(textOf(proposal, 'approved', genesis)) }
        last = await post(`/v2/proposals/${proposal.id}/approvals`, body, `act-${n}-${i}`)
        if (last.status !== 200) return last
      }
      return last
    },
    check: (n, { status, text }) => expect([n, status], text).toEqual([n, 200]),
    isGivenUp: (n) => n % 5 === 0,
  })
  const { vault, node } = trapsOf(platform, () => 1 + below(writers))
  let count = 0
  return {
    platform,
    requests,
    proposals,
    count: () => count,
    wave: () => times(writers, () => requests.ask(count++)),
    all: () => allPages(platform.daemon.request, '/v2/proposals?'),
    /** The memos of what the platform wallet has sent. */
    async landed(): Promise<string[]> {
      const wallet = new PublicKey(platform.vault.key.address)
      const found = await platform.chain.getSignaturesForAddress(wallet, { limit: 1000 })
      return found.flatMap(({ memo, err }) => (memo === null || err !== null ? [] : [memo]))
    },
    points: [
      ...times(3, () => vault('asked')),
      ...times(3, () => vault('answered')),
      ...momentsOf(3, random).map((moment) => vault('delivered', moment * 6)),
      node('simulateTransaction', 'asked'),
      ...times(2, () => node('simulateTransaction', 'answered')),
      node('sendTransaction', 'asked'),
      node('sendTransaction', 'answered'),
      ...momentsOf(6, random).map((moment) => moment * 500),
    ] as PlatformPoint[],
  }
}

killTest({
  title: `acts that two people approve, with a daemon that is killed around it (SOAK_SEED=${seedOr(11)}):`,
  start: approvedActs,
  points: ({ points }) => points,
  kill: (world, point) => killAmidWave(world, point, 60_000),
  // A worker executes what a killed daemon left approved.
  settle: ({ all }) =>
    vi.waitFor(
      async () =>
        expect((await all()).filter(({ status, fault }) => status === 'approved' && fault === null)).toEqual([]),
      { timeout: 150_000, interval: 1_000 },
    ),
  end: ({ platform }) => platform.end(),
  holds: {
    async 'every act with two approvals is executed, and none without'({ all, requests, count, points }) {
      const found = await all()
      const executed = found.filter(({ status }) => status === 'executed')
      process.stdout.write(
        `  ${points.length} kills: ${count()} acts, ${found.length} proposals, ${executed.length} executed, ${requests.abandoned.length} abandoned\n`,
      )
      for (const { id, status, decisions, fault } of found) {
        expect([id, status, fault]).toEqual([id, decisions.length === 2 ? 'executed' : 'active', null])
      }
      expect(executed.length).toBeGreaterThanOrEqual(requests.done.size)
    },
    async 'the chain has each executed transaction once'({ all, platform }) {
      const known = (await all()).flatMap(({ signature }) => (signature === null ? [] : [signature as string]))
      expect(new Set(known).size).toBe(known.length)
      const absent = async () => {
        const { value } = await platform.chain.getSignatureStatuses(known, { searchTransactionHistory: true })
        return value.filter((status) => status === null)
      }
      await expect.poll(absent, { timeout: 30_000 }).toEqual([])
    },
    async 'each act has one proposal, and is on the chain at most once'({ all, proposals, landed, requests }) {
      const ids = (await all()).map(({ id }) => id)
      expect(new Set(ids).size).toBe(ids.length)
      expect(new Set(proposals.values()).size).toBe(proposals.size)
      // A message that was signed and never sent may be replaced once its blockhash has ended.
      const timesOf = (memos: readonly string[], n: number) => memos.filter((memo) => memo.includes(`act ${n}.`)).length
      // The history of a wallet has only what is final.
      const missing = async () => {
        const memos = await landed()
        return [...requests.done.keys()].filter((n) => timesOf(memos, n) === 0)
      }
      await expect.poll(missing, { timeout: 30_000 }).toEqual([])
      const memos = await landed()
      for (const n of [...requests.done.keys(), ...requests.abandoned])
        expect([n, timesOf(memos, n) <= 1]).toEqual([n, true])
    },
    async 'the audit log is whole, with each decision and each execution once'({ all, platform }) {
      const { request } = platform.daemon
      expect((await request('GET', '/v2/audit-verification')).json.data).toMatchObject({ intact: true })
      const found = await all()
      const entries = await allPages(request, '/v2/audit-entries?')
      const count = (action: string) => entries.filter((entry) => entry.action === action).length
      expect(count('proposal.created')).toBe(found.length)
      expect(count('proposal.executed')).toBe(found.filter(({ status }) => status === 'executed').length)
      expect(count('proposal.approved')).toBe(found.reduce((sum, { decisions }) => sum + decisions.length, 0))
    },
  },
})
