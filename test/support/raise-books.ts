/** A service whose platform wallet sells and buys in raises, what its workers do, and what its ledger has. */
import type { Keypair } from '@solana/web3.js'
import { expect, onTestFinished } from 'vitest'
import type { LedgerEntry, LedgerVerification } from '../../src/api/ledger.ts'
import { writeLedger } from '../../src/operations/ledger/write-ledger.ts'
import { followRaises } from '../../src/operations/raises/follow-raises.ts'
import { followTransactions } from '../../src/operations/transactions/follow-transactions.ts'
import { reconcileRecords } from '../../src/operations/transactions/reconcile-records.ts'
import { SOL_TOKEN, watchAccounts } from './books/balances.ts'
import { changesOf, holdEntries } from './books/ledger.ts'
import { HAS_DAMM_V2 } from './damm-v2.ts'
import { HOUR, isoOf, lacksPresale, raisesOn } from './new-raises.ts'
import { startPlatform } from './platform-wallet.ts'
import { settlementsOn } from './settled-raises.ts'
import { addressOf, SOL, signWith } from './wallets.ts'

/** Part of titles: what is lacking to run raises with their pools. */
export const lacksRaisePools = lacksPresale || (HAS_DAMM_V2 ? '' : 'needs Meteora DAMM v2 in the program cache')

const LIMITS = { lamports_per_transaction: String(50n * SOL), lamports_per_day: String(900n * SOL) }
/** Everything is final after so many rounds of so many seconds, and every account that is followed was looked at. */
const [ROUNDS, ROUND_SECONDS] = [6, 120]

export type RaiseBooks = Awaited<ReturnType<typeof raiseBooks>>

export async function raiseBooks() {
  const service = await startPlatform(LIMITS)
  const { wallet, services } = service
  const chain = await services.chain.local()
  const creator = addressOf(wallet)
  chain.airdrop(creator, 400n * SOL)
  const earlier = new Set(chain.signaturesFor(creator, { limit: 10 }).map(({ signature }) => signature))
  const touched = watchAccounts(chain)
  onTestFinished(touched.stop)
  const mints: string[] = []
  const submitted = new Set<string>()

  /** Answers what a request gives, which must succeed. */
  const ok = async (method: string, path: string, body?: object) => {
    const { status, json, text } = await service.request(method, path, body === undefined ? {} : { body })
    expect(status, text).toBeLessThan(300)
    return json.data
  }
  /** What the workers do, so many seconds later. */
  const round = async (seconds = 1) => {
    service.clock.advance(seconds * 1_000)
    chain.advance(seconds)
    await followTransactions(services)
    await followRaises(services)
    await reconcileRecords(services)
    while ((await writeLedger(services)) > 0);
  }
  /** A new token of a seller and the platform wallet, and raises of it by either of them. */
  const token = async () => {
    const on = await raisesOn(service)
    const ofSeller = await settlementsOn(on)
    ofSeller.give(wallet, BigInt(on.units(on.seller)) / 2n)
    mints.push(on.mint)
    const most = { per_transaction: '10000000000000', per_day: '90000000000000' }
    await ok('PATCH', '/v2/signer/policy', { tokens: mints.map((mint) => ({ mint, ...most })) })
    return { ...ofSeller, mint: on.mint }
  }
  return {
    ...{ service, chain, wallet, touched, ok, round, token },
    /** A raise of the platform wallet, which signs by its policy. */
    async create(mint: string, more: object) {
      const ends_at = isoOf(chain.unixTimestamp() + HOUR)
      const body = { payer: creator, mint, mode: 'signed', settle: true, ends_at }
      const made = await ok('POST', '/v2/raises', { ...body, ...more })
      await round()
      return made
    },
    /** Sends a transaction through this service, which follows it, or past it. Answers its signature. */
    async land(transaction: string, keys: readonly Keypair[], isPast = false): Promise<string> {
      const whole = signWith(transaction, keys)
      const signature = isPast
        ? chain.send(Buffer.from(whole, 'base64')).signature
        : (await ok('POST', '/v2/transactions', { transaction: whole })).signature
      if (!isPast) submitted.add(signature)
      const landed = chain.transaction(signature)
      expect(landed?.err, landed?.logs.join('\n')).toBeNull()
      await round()
      return signature
    },
    async finish() {
      for (let i = 0; i < ROUNDS; i++) await round(ROUND_SECONDS)
    },
    async entries(query = ''): Promise<LedgerEntry[]> {
      const found: LedgerEntry[] = []
      for (let cursor = ''; ; ) {
        const { json } = await service.request('GET', `/v2/ledger?limit=100${query}${cursor}`)
        found.push(...json.data)
        if (!json.meta.next_cursor) return found
        cursor = `&cursor=${json.meta.next_cursor}`
      }
    },
    /** Everything that `svc ledger verify` finds. */
    async ledgerFaults(): Promise<object[]> {
      const found: object[] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const step: LedgerVerification = await ok('GET', `/v2/ledger/verification${cursor && `?cursor=${cursor}`}`)
        found.push(...step.faults, ...step.unread)
        cursor = step.next_cursor
        if (cursor === null) expect(step.waiting).toBe(0)
      }
      return found
    },
    /** Everything that `svc events verify` finds. */
    async eventFaults(): Promise<object[]> {
      const found: object[] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const from = `since=0&until=99999999999${cursor && `&cursor=${encodeURIComponent(cursor)}`}`
        const data = await ok('GET', `/v2/event-verification?${from}`)
        found.push(...data.missing, ...data.extra, ...data.unread)
        cursor = data.next_cursor
      }
      return found
    },
    /**
     * Holds the ledger against the chain: all that was sent through this service and all that changed what the platform
     * wallet has is in it, to the unit, and so are the balances now of all accounts that it knows every change of.
     */
    holdBalances(all: readonly LedgerEntry[]): { accounts: number; past: number } {
      const entries = all.filter(({ signature }) => !earlier.has(signature))
      const bySignature = holdEntries(entries, touched.landed)
      const isOwn = (account: string) => ownerOf(account) === creator
      const ownerOf = (account: string) => (touched.heldNow(account).token ?? touched.opening(account)?.token)?.owner
      const changes = touched.landed.map((each) => {
        const keys = Object.keys(changesOf(each))
        const isOfWallet = keys.some((key) => key === `${creator} ${SOL_TOKEN}` || isOwn(key.split(' ')[0]!))
        return { signature: each.signature, keys, isOfWallet }
      })
      const due = changes.filter(({ signature, isOfWallet }) => isOfWallet || submitted.has(signature))
      expect(due.filter(({ signature }) => !bySignature.has(signature))).toEqual([])
      const unseen = new Set(changes.filter(({ signature }) => !bySignature.has(signature)).flatMap(({ keys }) => keys))
      const sums = new Map<string, bigint>()
      for (const { account, token, amount } of entries) {
        const key = `${account} ${token}`
        if (account === 'network' || account === token || unseen.has(key)) continue
        sums.set(key, (sums.get(key) ?? 0n) + BigInt(amount))
      }
      for (const [key, sum] of sums) {
        const [account = '', token = ''] = key.split(' ')
        const [before, now] = [touched.opening(account), touched.heldNow(account)]
        const change =
          token === SOL_TOKEN
            ? now.lamports - (before?.lamports ?? 0n)
            : (now.token?.amount ?? 0n) - (before?.token?.amount ?? 0n)
        expect([key, sum]).toEqual([key, change])
      }
      expect(sums.has(`${creator} ${SOL_TOKEN}`)).toBe(true)
      const past = due.filter(({ signature }) => !submitted.has(signature)).length
      return { accounts: sums.size, past }
    },
  }
}

/** Amounts of entries of raises, by detail, of those that `isOne` chooses. */
export function raiseSums(
  entries: readonly LedgerEntry[],
  isOne: (entry: LedgerEntry) => boolean,
): Record<string, bigint> {
  const sums: Record<string, bigint> = {}
  for (const { detail, amount } of entries.filter((each) => each.kind === 'raise' && isOne(each))) {
    sums[detail ?? ''] = (sums[detail ?? ''] ?? 0n) + BigInt(amount)
  }
  return sums
}
