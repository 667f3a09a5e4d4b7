/** The liquidity of a report: positions in burn addresses and locks, and what many pools or a bad node may cost. */
import * as cpAmm from '@meteora-ag/cp-amm-sdk'
import * as spl from '@solana/spl-token'
import { Keypair, PublicKey, type TransactionInstruction, VersionedTransaction } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import type { TokenReport } from '../src/api/token-report.ts'
import { NodeRefusal } from '../src/chain/nodes/node-call.ts'
import type { Context } from '../src/context.ts'
import { localFetch } from '../src/localnet/fetch.ts'
import { createRpc } from '../src/localnet/rpc/index.ts'
import { REPORT_BUDGETS, type ReportBudgets } from '../src/operations/tokens/report/budget.ts'
import { getTokenReport } from '../src/operations/tokens/report/get-token-report.ts'
import { proveFacts } from '../src/passport-page/chain-facts.ts'
import { PASSPORT_FORMAT, readPassport } from '../src/passport-page/passport-file.ts'
import { INCINERATOR, SYSTEM_PROGRAM } from '../src/solana/program-ids.ts'
import { PROGRAMS } from '../src/solana/programs.ts'
import { HAS_DAMM_V2, openStrangersPool } from './support/damm-v2.ts'
import { addressOf, run } from './support/gold.ts'
import type { TestChain } from './support/local-chain.ts'
import { buildLock } from './support/lock-builds.ts'
import { hasProgram } from './support/programs.ts'
import { sharedService } from './support/service.ts'
import { SOL } from './support/wallets.ts'

const program = spl.TOKEN_2022_PROGRAM_ID
const shared = sharedService()

async function pooled() {
  const { services } = await shared()
  const chain = await services.chain.local()
  const [wallet, mint, positionNft] = [Keypair.generate(), Keypair.generate(), Keypair.generate()]
  chain.airdrop(addressOf(wallet), 1_000n * SOL)
  const send = (instructions: TransactionInstruction[], signers: Keypair[]) => run(chain, instructions, signers)
  const pool = await openStrangersPool({ chain, send } as unknown as TestChain, { creator: wallet, mint, positionNft })
  const nft = positionNft.publicKey
  const land = (instructions: TransactionInstruction[], signers = [wallet]) => {
    const landed = send(instructions, signers)
    expect(landed.err, landed.logs.join('\n')).toBeNull()
  }
  /** Every call goes through `around`, which may count, refuse or delay it. */
  const report = (around?: (method: string, params: readonly unknown[]) => Promise<void>, budgets?: ReportBudgets) => {
    chain.advance(40)
    const node = services.chain
    const asked: Pick<typeof node, 'call' | 'callLarge'> = {
      call: async (method, params) => {
        await around?.(method, params)
        return node.call(method, params)
      },
      callLarge: async (call, onItem) => {
        await around?.(call.method, call.params)
        return node.callLarge(call, onItem)
      },
    }
    const context = { ...services, chain: { ...node, ...asked } } as unknown as Context
    return getTokenReport(context, { mint: addressOf(mint), holder_limit: 10 }, budgets)
  }
  const rpc = localFetch(createRpc(chain, { onError: () => undefined })) as typeof fetch
  const facts = async (read: TokenReport, change: (pool: TokenReport['pools']) => void = () => {}) => {
    const shown = structuredClone(read)
    change(shown.pools)
    const passport = readPassport(JSON.stringify({ format: PASSPORT_FORMAT, cluster: {}, rpc: [], report: shown }))
    const call = async (method: string, params: readonly unknown[]) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
      const headers = { 'content-type': 'application/json' }
      const answer = await rpc('http://embedded.test', { method: 'POST', headers, body })
      return ((await answer.json()) as { result: unknown }).result
    }
    return (await proveFacts(call, passport)).facts.find(({ name }) => name === `Pool ${pool}`)!
  }
  return { chain, wallet, mint: mint.publicKey, nft, pool, land, report, facts }
}

const liquidity = ({ risks }: TokenReport) => risks.find(({ risk }) => risk === 'unlocked_liquidity')!
const partsOf = ({ pools }: TokenReport) => {
  const { locked_bps, vesting_bps, unlocked_bps } = pools!.pools[0]!
  return [locked_bps, vesting_bps, unlocked_bps]
}
const nftAccount = (nft: PublicKey) => cpAmm.derivePositionNftAccount(nft)

/** Moves the NFT of a position from the account it was minted into to another wallet. */
function handOver(nft: PublicKey, from: PublicKey, to: PublicKey): TransactionInstruction[] {
  const held = spl.getAssociatedTokenAddressSync(nft, to, true, program)
  return [
    spl.createAssociatedTokenAccountIdempotentInstruction(from, held, to, nft, program),
    spl.createTransferCheckedInstruction(nftAccount(nft), nft, held, from, 1, 0, [], program),
  ]
}

describe.skipIf(!HAS_DAMM_V2)('a position whose NFT', () => {
  it.each([
    ['the incinerator', INCINERATOR],
    ['the address of the System program', SYSTEM_PROGRAM],
  ])('is in %s counts as locked for good, and the passport proves it', async (_, burn) => {
    const { wallet, nft, land, report, facts, chain } = await pooled()
    const before = await report()
    expect([partsOf(before), liquidity(before).level]).toEqual([[0, 0, 10_000], 'danger'])
    expect(await facts(before)).toMatchObject({ state: 'proven', value: '0 % of the liquidity can never be withdrawn' })
    land(handOver(nft, wallet.publicKey, new PublicKey(burn)))
    const after = await report()
    const held = spl.getAssociatedTokenAddressSync(nft, new PublicKey(burn), true, program)
    expect(partsOf(after)).toEqual([10_000, 0, 0])
    expect(liquidity(after)).toMatchObject({
      level: 'ok',
      finding: expect.stringContaining('elsewhere is not counted'),
    })
    const burnt = {
      address: cpAmm.derivePositionAddress(nft).toBase58(),
      nft_mint: nft.toBase58(),
      nft_account: held.toBase58(),
    }
    expect(after.pools!.pools[0]!.burned_positions).toEqual([burnt])
    const all = '100 % of the liquidity can never be withdrawn'
    expect(await facts(after)).toMatchObject({ state: 'proven', value: all })
    // Whoever writes the file can neither name a position twice nor one that nobody burnt.
    const none = (pools: TokenReport['pools']) => {
      pools!.pools[0]!.burned_positions = []
    }
    expect(await facts(after, none)).toMatchObject({ state: 'changed', value: expect.stringMatching(/^0 %/) })
    const claim = (pools: TokenReport['pools']) => {
      Object.assign(pools!.pools[0]!, { locked_bps: 10_000, burned_positions: [burnt, burnt] })
    }
    const account = chain.account(held.toBase58())!
    const data = Buffer.from(account.data)
    data.writeUInt32LE(1, 72)
    chain.setAccount(held.toBase58(), { ...account, data })
    expect(await facts(before, claim)).toMatchObject({ state: 'changed', value: expect.stringMatching(/^0 %/) })
    expect(partsOf(await report())).toEqual([0, 0, 10_000])
  })

  it.skipIf(!hasProgram(PROGRAMS.lock.id))(
    'is in a lock that nobody can cancel is free later, and else now',
    async () => {
      for (const cancelMode of [0, 1]) {
        const { chain, wallet, nft, land, report } = await pooled()
        land(handOver(nft, wallet.publicKey, wallet.publicKey))
        const base = Keypair.generate()
        const cliffTime = BigInt(Math.floor(Date.parse((await report()).at!) / 1_000)) + 1_000n
        const { transaction } = await buildLock({
          ...{ payer: addressOf(wallet), recentBlockhash: chain.latestBlockhash().blockhash, base: addressOf(base) },
          ...{ recipient: addressOf(wallet), mint: nft.toBase58(), tokenProgram: 'token2022', texts: undefined },
          terms: {
            ...{ startTime: cliffTime, cliffTime, frequency: 1n, cliffAmount: 1n, amountPerPeriod: 0n },
            ...{ periods: 0n, updateRecipientMode: 0, cancelMode },
          },
        })
        const signed = VersionedTransaction.deserialize(transaction)
        signed.sign([wallet, base])
        const landed = chain.send(signed.serialize())
        expect(landed.err, landed.logs.join('\n')).toBeNull()
        expect(partsOf(await report())).toEqual(cancelMode === 0 ? [0, 10_000, 0] : [0, 0, 10_000])
        chain.advance(3_000)
        expect(partsOf(await report())).toEqual([0, 0, 10_000])
      }
    },
  )
})

describe.skipIf(!HAS_DAMM_V2)('a report of a token with many pools', () => {
  /** Copies of the pool with vested positions; of equal amounts, the smaller address is read first, so the pool is last. */
  async function crowded(pools: number, positions: number) {
    const made = await pooled()
    const { chain, nft, pool } = made
    const own = chain.account(pool)!
    const position = chain.account(cpAmm.derivePositionAddress(nft).toBase58())!
    const vaultOf = (data: Uint8Array, at: number) => new PublicKey(data.slice(at, at + 32)).toBase58()
    for (let i = 0; i < pools; i++) {
      let key = Keypair.generate().publicKey
      while (key.toBase58() > pool) key = Keypair.generate().publicKey
      const data = Buffer.from(own.data)
      for (const at of [232, 264]) {
        const vault = chain.account(vaultOf(own.data, at))!
        const copy = Keypair.generate().publicKey
        chain.setAccount(copy.toBase58(), vault)
        copy.toBuffer().copy(data, at)
      }
      chain.setAccount(key.toBase58(), { ...own, data })
      for (let n = 0; n < positions; n++) {
        const state = Buffer.from(position.data)
        key.toBuffer().copy(state, 8)
        Keypair.generate().publicKey.toBuffer().copy(state, 40)
        // A part of what was free is vested by a schedule that was added later.
        const free = state.readBigUInt64LE(160) / BigInt(positions)
        state.fill(0, 152, 184)
        state.writeBigUInt64LE(free, 176)
        chain.setAccount(Keypair.generate().publicKey.toBase58(), { ...position, data: state })
      }
    }
    return made
  }

  it('makes a limited number of calls, names what it did not read, and calls nothing fine', async () => {
    const { report } = await crowded(30, 8)
    const calls: string[] = []
    const facts = await report(async (method) => void calls.push(method))
    const most = Object.values(REPORT_BUDGETS).reduce((sum, { calls }) => sum + calls, 1)
    expect(most).toBeLessThanOrEqual(200)
    expect(calls.length).toBeLessThanOrEqual(most)
    expect(calls.length).toBeGreaterThan(60)
    expect(facts.pools).toMatchObject({ found: 31 })
    const unread = facts.pools!.pools.filter(
      ({ unlocked_bps, vesting_bps }) => unlocked_bps === null && vesting_bps === null,
    )
    expect(unread.length).toBeGreaterThan(10)
    const { reason } = facts.gaps.find(({ part }) => part === 'pools')!
    expect(reason).toBe(
      `Who can withdraw the liquidity of ${unread.length} of the pools was not read: The pools would take more than the 64 calls to the node of a report`,
    )
    expect(liquidity(facts).level).toBe('danger')
    const short = await report(undefined, { ...REPORT_BUDGETS, pools: { calls: 12, milliseconds: 25_000 } })
    expect(liquidity(short)).toMatchObject({
      level: 'unknown',
      remedy: expect.stringContaining('Read the report again'),
    })
  })

  it('takes few calls for one pool, and reads no position of a pool that is locked as a whole', async () => {
    const { report, chain, pool } = await pooled()
    const calls: string[] = []
    await report(async (method) => void calls.push(method))
    expect(calls.length).toBeLessThan(24)
    const account = chain.account(pool)!
    const data = Buffer.from(account.data)
    data.copy(data, 552, 360, 376)
    chain.setAccount(pool, { ...account, data })
    const searches: string[] = []
    const facts = await report(async (method, params) => {
      if (JSON.stringify(params).includes('"offset":8,')) searches.push(method)
    })
    expect([partsOf(facts), searches]).toEqual([[10_000, 0, 0], []])
  })

  it('from a slow node ends in time, with the parts that came', async () => {
    const { report } = await pooled()
    const never = new Promise<void>(() => {})
    const short = { calls: 100, milliseconds: 1_500 }
    const slow = (method: string) => (method === 'getProgramAccounts' ? never : Promise.resolve())
    const facts = await report(slow, { holders: short, locks: short, pools: short })
    expect(facts).toMatchObject({ decimals: 6, holders: null, locks: null, pools: null })
    expect(facts.gaps).toEqual(
      [
        ['holders', 'The holders'],
        ['locks', 'The locks'],
        ['pools', 'The pools'],
      ].map(([part, what]) => ({ part, reason: `${what} could not be read within the 1.5 s of a report` })),
    )
    expect(facts.risks.filter(({ level }) => level === 'unknown').map(({ risk }) => risk)).toEqual([
      'unlocked_liquidity',
      'large_holder',
    ])
  })

  it('from a node that does not list positions shows the pools, and that the verdict is unknown', async () => {
    const { report, pool } = await pooled()
    const facts = await report(async (_, params) => {
      if (JSON.stringify(params).includes(`"offset":8,"bytes":"${pool}"`))
        throw new NodeRefusal(-32010, 'excluded from account secondary indexes', null)
    })
    expect(partsOf(facts)).toEqual([0, null, null])
    expect(facts.gaps).toEqual([
      {
        part: 'pools',
        reason: expect.stringMatching(/^Who can withdraw the liquidity of 1 of the pools was not read: /),
      },
    ])
    expect(liquidity(facts)).toMatchObject({ level: 'unknown', finding: expect.stringContaining(pool) })
  })
})
