/** Holds the ledger of a whole launch against the chain: every transaction's entries, every party's sums. */
import { expect } from 'vitest'
import { BENEFICIARIES_OF, FEE_CLAIM_KINDS } from '../../../src/api/fee-claims.ts'
import type { LedgerEntry, LedgerVerification } from '../../../src/api/ledger.ts'
import type { LandedTransaction } from '../../../src/localnet/types.ts'
import { WRAPPED_SOL } from '../../../src/solana/program-ids.ts'
import { SOL_TOKEN } from './balances.ts'
import type { World } from './world.ts'

/** Everything is final after this, and every account that is followed was looked at. */
const [ROUNDS, ROUND_SECONDS] = [8, 300]

/** Sums of entries by account and token, in one text each, so that a difference is readable. */
type Changes = Record<string, bigint>

export async function holdLedger(world: World): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    world.pass(ROUND_SECONDS)
    await world.follow()
  }
  const entries = await entriesOf(world)
  const faults: LedgerVerification['faults'] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const step: LedgerVerification = await world.ok('GET', `/v2/ledger/verification${cursor && `?cursor=${cursor}`}`)
    faults.push(...step.faults)
    expect(step.unread).toEqual([])
    if (step.next_cursor === null) expect(step.waiting).toBe(0)
    cursor = step.next_cursor
  }
  expect(faults).toEqual([])

  const bySignature = holdEntries(entries, world.touched.landed)
  const wallet = world.walletOf('partner')
  const ofPlatform = world.touched.landed
    .slice(world.landedBefore)
    .filter((transaction) => transaction.accountKeys.indexOf(wallet) >= 0 && paysOrGets(transaction, wallet))
    .map(({ signature }) => signature)
  const missing = [...world.submitted, ...ofPlatform].filter((signature) => !bySignature.has(signature))
  expect(missing, 'what is not in the ledger').toEqual([])
  holdParties(world, entries)
}

/** Holds that the entries of each transaction sum to zero and to what it changed; answers them by signature. */
export function holdEntries(
  entries: readonly LedgerEntry[],
  all: readonly LandedTransaction[],
): Map<string, LedgerEntry[]> {
  const landed = new Map(all.map((transaction) => [transaction.signature, transaction]))
  const bySignature = new Map<string, LedgerEntry[]>()
  for (const entry of entries) bySignature.set(entry.signature, [...(bySignature.get(entry.signature) ?? []), entry])
  for (const [signature, own] of bySignature) {
    const transaction = landed.get(signature)
    expect(transaction, `${signature} is of this test`).toBeDefined()
    const sums: Changes = {}
    const changes: Changes = {}
    for (const { account, token, amount } of own) {
      sums[token] = (sums[token] ?? 0n) + BigInt(amount)
      // The network and a token's supply are accounts of the ledger alone.
      if (account === 'network' || account === token) continue
      const key = `${account} ${token}`
      changes[key] = (changes[key] ?? 0n) + BigInt(amount)
    }
    expect(
      Object.values(sums).filter((sum) => sum !== 0n),
      `entries of ${signature}`,
    ).toEqual([])
    expect(withoutZeros(changes), `entries of ${signature}`).toEqual(changesOf(transaction!))
  }
  return bySignature
}

/** What each party had of each kind of claim, and what recipients of splits had, as the test counted it. */
function holdParties(world: World, entries: readonly LedgerEntry[]): void {
  const { quoteMint, baseMint } = world.state()
  const tokens = { quote: quoteMint === WRAPPED_SOL ? SOL_TOKEN : quoteMint, base: baseMint }
  const sum = (own: readonly LedgerEntry[], of: string) =>
    own.reduce((all, { token, amount }) => (token === of ? all + BigInt(amount) : all), 0n)
  const wallets = {
    partner: [world.walletOf('partner')],
    // Both wallets have been the creator where the role was handed over.
    creator: [world.walletOf('creator'), world.walletOf('new creator')],
  }
  for (const kind of FEE_CLAIM_KINDS) {
    const quote = kind === 'pool_creation_fee' ? SOL_TOKEN : tokens.quote
    for (const as of BENEFICIARIES_OF[kind]) {
      const own = entries.filter(
        (each) => each.kind === 'claim' && each.detail === kind && wallets[as].includes(each.owner),
      )
      const had = { quote: sum(own, quote), base: sum(own, tokens.base) }
      const paid = world.paid(kind, as)
      // A creator's wallet is not followed, so that what it claims with another client may stay unseen.
      const unseen = as === 'creator' ? world.paidPast(kind) : { quote: 0n, base: 0n }
      for (const side of ['quote', 'base'] as const) {
        const what = `${kind} of the ${as}, ${side}: ${had[side]} of ${paid[side]}`
        expect(had[side] <= paid[side] && had[side] >= paid[side] - unseen[side], what).toBe(true)
      }
    }
  }
  const shares = entries.filter(
    ({ kind, owner }) => kind === 'split_share' && world.partyOf.get(owner)?.startsWith('recipient'),
  )
  expect(sum(shares, tokens.quote), 'shares of splits').toBe(world.split.partner + world.split.creator)
}

async function entriesOf(world: World): Promise<LedgerEntry[]> {
  const entries: LedgerEntry[] = []
  for (let cursor = ''; ; ) {
    const { status, json } = await world.ask('GET', `/v2/ledger?limit=100${cursor}`)
    expect([status, json.error]).toEqual([200, undefined])
    entries.push(...json.data)
    if (!json.meta.next_cursor) return entries
    cursor = `&cursor=${json.meta.next_cursor}`
  }
}

const paysOrGets = ({ accountKeys, preBalances, postBalances }: LandedTransaction, wallet: string): boolean => {
  const place = accountKeys.indexOf(wallet)
  return preBalances[place] !== postBalances[place]
}

/** What a transaction changed, by account and token; the lamports of wrapped SOL are SOL. */
export function changesOf(transaction: LandedTransaction): Changes {
  const changes: Changes = {}
  transaction.accountKeys.forEach((account, i) => {
    changes[`${account} ${SOL_TOKEN}`] = transaction.postBalances[i]! - transaction.preBalances[i]!
  })
  const add = (balances: LandedTransaction['preTokenBalances'], sign: bigint) => {
    for (const { accountIndex, mint, amount } of balances) {
      if (mint === WRAPPED_SOL) continue
      const key = `${transaction.accountKeys[accountIndex]} ${mint}`
      changes[key] = (changes[key] ?? 0n) + sign * BigInt(amount)
    }
  }
  add(transaction.preTokenBalances, -1n)
  add(transaction.postTokenBalances, 1n)
  return withoutZeros(changes)
}

const withoutZeros = (changes: Changes): Changes =>
  Object.fromEntries(Object.entries(changes).filter(([, amount]) => amount !== 0n))
