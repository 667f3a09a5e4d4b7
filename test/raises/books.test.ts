/** The ledger of raises on the real programs, to the lamport: creation, deposits, refunds, claims, settlements. */
import * as spl from '@solana/spl-token'
import { type Keypair, SystemProgram } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import type { LedgerEntry } from '../../src/api/ledger.ts'
import {
  claimInstruction,
  depositInstruction,
  escrowInstruction,
  feeOnTop,
  raiseEscrowAddress,
  raiseStateAt,
  refundInstruction,
} from '../../src/chain/programs/presale/index.ts'
import { writeLedger } from '../../src/operations/ledger/write-ledger.ts'
import { followRaises } from '../../src/operations/raises/follow-raises.ts'
import { followTransactions } from '../../src/operations/transactions/follow-transactions.ts'
import { HAS_DAMM_V2 } from '../support/damm-v2.ts'
import { type Mint, tokenAccountOf } from '../support/gold.ts'
import { signed } from '../support/local-chain.ts'
import { FIRST_COME, FIXED, HOUR, isoOf, lacksPresale, PRO_RATA, raisesOn } from '../support/new-raises.ts'
import { startPlatform } from '../support/platform-wallet.ts'
import { sdk } from '../support/raises.ts'
import { randomOf } from '../support/random.ts'
import { POOL, settlementsOn } from '../support/settled-raises.ts'
import { addressOf, SOL } from '../support/wallets.ts'

const lacks = lacksPresale || (HAS_DAMM_V2 ? '' : 'needs Meteora DAMM v2 in the program cache')
const WSOL = { mint: spl.NATIVE_MINT, program: spl.TOKEN_PROGRAM_ID } as Mint
const GENEROUS = { lamports_per_transaction: String(50n * SOL), lamports_per_day: String(900n * SOL) }
const sumOf = (entries: readonly LedgerEntry[]) => entries.reduce((sum, { amount }) => sum + BigInt(amount), 0n)

/** A platform wallet that sells, buyers that buy through this service, and its ledger. */
async function opened() {
  const service = await startPlatform(GENEROUS)
  const { wallet } = service
  const on = await raisesOn(service)
  const raises = await settlementsOn({ ...on, seller: wallet })
  await (await settlementsOn(on)).give(wallet, BigInt(on.units(on.seller)))
  const { status, text } = await service.request('PATCH', '/v2/signer/policy', {
    body: { tokens: [{ mint: on.mint, per_transaction: '10000000000000', per_day: '90000000000000' }] },
  })
  expect(status, text).toBe(200)
  const round = async (seconds = 30) => {
    service.clock.advance(seconds * 1_000)
    on.chain.advance(40)
    await followTransactions(service.services)
    await followRaises(service.services)
    on.chain.advance(40)
    await followTransactions(service.services)
    while ((await writeLedger(service.services)) > 0);
  }
  const create = async (more: object) => {
    const times = { ends_at: isoOf(on.now() + HOUR) }
    const body = { payer: addressOf(wallet), mint: on.mint, mode: 'signed', settle: true, ...times, ...more }
    const { status, json, text } = await on.ask('POST', '/v2/raises', body)
    expect(status, text).toBe(200)
    await round(1)
    return json.data
  }
  /** A transaction of a buyer, by builders alone, that is submitted here. */
  const act = async (id: string, verb: 'deposit' | 'claim' | 'refund', key: Keypair, amount = 0n) => {
    const raise = raises.read(id)
    const owner = addressOf(key)
    const place = { escrow: raiseEscrowAddress(id, owner, 0), owner, payer: owner }
    const account = (of: Mint) => tokenAccountOf(of, key.publicKey)
    const open = (of: Mint) =>
      spl.createAssociatedTokenAccountIdempotentInstruction(
        key.publicKey,
        account(of),
        key.publicKey,
        of.mint,
        of.program,
      )
    const [wrapped, tokens] = [account(WSOL).toBase58(), account(on.tokenAccount).toBase58()]
    const lamports = amount + feeOnTop(amount, raise.rounds[0]?.feeBps ?? 0)
    const unwrap = spl.createCloseAccountInstruction(account(WSOL), key.publicKey, key.publicKey)
    const instructions = {
      deposit: () => [
        open(WSOL),
        SystemProgram.transfer({ fromPubkey: key.publicKey, toPubkey: account(WSOL), lamports }),
        spl.createSyncNativeInstruction(account(WSOL)),
        sdk(escrowInstruction(id, place)),
        sdk(depositInstruction(raise, { ...place, from: wrapped, amount })),
        unwrap,
      ],
      claim: () => [open(on.tokenAccount), sdk(claimInstruction(raise, { ...place, to: tokens }))],
      refund: () => [open(WSOL), sdk(refundInstruction(raise, { ...place, to: wrapped })), unwrap],
    }[verb]()
    const raw = signed(instructions, [key], { blockhash: on.chain.latestBlockhash().blockhash })
    const body = { transaction: Buffer.from(raw).toString('base64') }
    const { status, json, text } = await service.request('POST', '/v2/transactions', { body })
    expect(status, text).toBe(200)
    await round(1)
    return json.data.signature as string
  }
  const entries = async (query = ''): Promise<LedgerEntry[]> => {
    const found: LedgerEntry[] = []
    for (let cursor = ''; ; ) {
      const { json } = await service.request('GET', `/v2/ledger?limit=100${query}${cursor}`)
      found.push(...json.data)
      if (!json.meta.next_cursor) return found
      cursor = `&cursor=${json.meta.next_cursor}`
    }
  }
  const faults = async () => {
    const found: object[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { json } = await service.request('GET', `/v2/ledger/verification${cursor && `?cursor=${cursor}`}`)
      found.push(...json.data.faults, ...json.data.unread)
      cursor = json.data.next_cursor
    }
    return found
  }
  const eventFaults = async () => {
    const found: object[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const from = `since=0&until=99999999999${cursor && `&cursor=${encodeURIComponent(cursor)}`}`
      const { status, json, text } = await service.request('GET', `/v2/event-verification?${from}`)
      expect(status, text).toBe(200)
      found.push(...json.data.missing, ...json.data.extra, ...json.data.unread)
      cursor = json.data.next_cursor
    }
    return found
  }
  const balanced = (own: readonly LedgerEntry[]) => {
    for (const at of new Set(own.map(({ signature, token }) => `${signature} ${token}`))) {
      expect(sumOf(own.filter(({ signature, token }) => `${signature} ${token}` === at)), at).toBe(0n)
    }
  }
  return { ...raises, service, wallet, round, create, act, entries, faults, eventFaults, balanced }
}

/** Amounts of an owner in the entries of raises, by detail. */
function raiseSums(entries: readonly LedgerEntry[], owner: string): Record<string, bigint> {
  const sums: Record<string, bigint> = {}
  for (const { detail, amount } of entries.filter((each) => each.owner === owner && each.kind === 'raise')) {
    sums[detail ?? ''] = (sums[detail ?? ''] ?? 0n) + BigInt(amount)
  }
  return sums
}

describe.skipIf(lacks !== '')(`the ledger of raises ${lacks}`, () => {
  it('has what was sold, deposited, raised and put into the pool', async () => {
    const on = await opened()
    const creator = addressOf(on.wallet)
    const { id, deposit } = await on.create({ ...FIXED, deposit_fee_bps: 100, pool: POOL })
    expect(raiseSums(await on.entries(), creator)).toEqual({ funding: -BigInt(deposit) })
    const key = on.buyer()
    const fee = feeOnTop(2n * SOL, 100)
    const bought = await on.entries(`&signature=${await on.act(id, 'deposit', key, 2n * SOL)}`)
    expect(raiseSums(bought, addressOf(key))).toEqual({ deposit: -2n * SOL, deposit_fee: -fee })
    expect(bought.filter(({ kind }) => kind === 'raise').map(({ party }) => party)).toEqual(
      expect.arrayContaining(['raise', 'trader']),
    )
    expect(bought.find(({ kind, party }) => kind === 'raise' && party === 'trader')?.counterparty).toBe(id)
    on.end(id)
    for (let i = 0; i < 8; i++) await on.round(60)
    const all = await on.entries()
    expect(raiseSums(all, creator)).toMatchObject({ creator_withdrawal: 2n * SOL, deposit_fee: fee })
    const launched = all.filter(({ kind, party, token }) => kind === 'launch' && party === 'pool' && token === 'SOL')
    expect(sumOf(launched)).toBe(SOL)
    on.at(Number(on.read(id).vestingEndsAt) + 1)
    const claimed = await on.entries(`&signature=${await on.act(id, 'claim', key)}`)
    expect(raiseSums(claimed, addressOf(key))).toEqual({ claim: 1_999_999_999_999n })
    on.balanced(all)
    expect(await on.faults()).toEqual([])
  })

  it('agrees with the chain after a random mix', async () => {
    const on = await opened()
    const { between } = randomOf(46)
    for (const terms of [FIXED, PRO_RATA, FIRST_COME]) {
      const { id } = await on.create({ ...terms, deposit_fee_bps: between(1, 300) })
      const keys = Array.from({ length: 3 }, () => on.buyer())
      const fails = terms === FIRST_COME
      for (const key of keys) {
        const amount = fails ? between(1_000, 300_000_000) : between(400_000_000, 1_200_000_000)
        await on.act(id, 'deposit', key, BigInt(amount))
      }
      on.buy(id, 1_000_000n)
      on.end(id)
      for (let i = 0; i < 5; i++) await on.round(60)
      expect(raiseStateAt(on.read(id), BigInt(on.now()))).toBe(fails ? 'failed' : 'completed')
      for (const key of keys) await on.act(id, fails ? 'refund' : 'claim', key)
      expect(raiseSums(await on.entries(), addressOf(on.wallet)).creator_withdrawal).toBeGreaterThan(0n)
    }
    on.balanced(await on.entries())
    expect(await on.faults()).toEqual([])
    expect(await on.eventFaults()).toEqual([])
  })
})
