/** What a vault does with Meteora's launch curves: a launch with a first buy, and claims with many shares, as proposals. */
import type { PublicKey } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import {
  buildCurve,
  buildDbcSwap,
  buildTradingFeeClaim,
  buildWholeDbcLaunch,
  dbcPoolAddress,
  readDbcPool,
} from '../../src/chain/programs/dbc/index.ts'
import { readProposal, rehearseExecution } from '../../src/chain/programs/squads/index.ts'
import { decodeWireTransaction } from '../../src/solana/messages.ts'
import { innerMessageOf, storedMessageDifference } from '../../src/solana/squads/index.ts'
import { DBC_PROGRAMS, lacksDbc, presetWith } from '../support/dbc.ts'
import { PROGRAMS_DIR, SOL, someone, V1_CONFIG } from '../support/local-chain.ts'
import { lacksSquads, landOn, openSquads, type SquadsChain } from '../support/squads.ts'

const lacking = lacksSquads || (lacksDbc ? `needs ${DBC_PROGRAMS.map(({ name }) => name).join(', ')}` : '')

/** Builders make version 1 for a vault, because it has more room. */
const inVault = ({ vault, envelope }: SquadsChain) => ({
  payer: vault,
  recentBlockhash: envelope().recentBlockhash,
  messageConfig: V1_CONFIG,
})

/** The pool of a launch by the vault, whose mint and config are ephemeral signers. */
async function launched(squads: SquadsChain) {
  const { node, multisig, vault, chain } = squads
  const index = await squads.nextIndex()
  const [mint = '', config = ''] = squads.ephemeral(index, 2)
  const { transaction } = await buildWholeDbcLaunch({
    ...inVault(squads),
    ...{ mint, config, creator: vault, feeClaimer: vault, leftoverReceiver: vault },
    curve: await buildCurve(presetWith({ creator_fee_percentage: 50 })),
    ...{ name: 'Vault Coin', symbol: 'VLT', uri: 'https://example.com/vault.json', buyLamports: SOL },
  })
  const inner = innerMessageOf(decodeWireTransaction(transaction), { vault, ephemeral: [mint, config] })
  const { transactions } = await squads.propose(inner, { ephemeralSigners: 2 })
  const { transaction: stored } = await readProposal(node, multisig, index)
  expect(storedMessageDifference(inner, stored!.message)).toBeNull()
  const forecast = await rehearseExecution(node, PROGRAMS_DIR, stored!)
  expect(forecast.err, forecast.logs.join('\n')).toBeNull()
  await squads.approved(index)
  const before = chain.account(vault)!.lamports
  const execution = await squads.execution(index)
  const { err, logs } = squads.land(execution, squads.svc)
  expect(err, logs.join('\n')).toBeNull()
  const paid = before - chain.account(vault)!.lamports
  const change = forecast.balance_changes.find(({ address, mint: of }) => address === vault && of === null)
  expect([forecast.exact, change!.change]).toEqual([true, `-${paid}`])
  const address = await dbcPoolAddress({ mint, config })
  return { address, sizes: [...transactions, execution].map(({ transaction: raw }) => raw.length), forecast }
}

describe.skipIf(lacking)(`a vault of Squads ${lacking}`, () => {
  it('launches a token with a first buy, for exactly what the forecast says', async () => {
    const squads = await openSquads()
    const { address, sizes, forecast } = await launched(squads)
    const pool = (await readDbcPool(squads.node, address))!
    expect(pool).toMatchObject({ creator: squads.vault, address })
    expect(pool.quoteReserve).toBeGreaterThan((SOL * 9n) / 10n)
    // Two parts of a buffer, the proposal, and the execution with the limit of its compute units.
    expect(sizes).toEqual([1232, 309, 424, 888])
    expect(Math.max(...sizes)).toBeLessThanOrEqual(1232)
    const bought = forecast.balance_changes.find(({ mint, owner }) => mint === pool.baseMint && owner === squads.vault)
    expect(BigInt(bought!.change)).toBeGreaterThan(0n)
  })

  it('claims its fees and pays six or twelve shares in one proposal', async () => {
    const squads = await openSquads()
    const { node, vault, chain, multisig, test } = squads
    const { address } = await launched(squads)
    const trader = test.wallet()
    const buy = async () => {
      const pool = (await readDbcPool(node, address))!
      const terms = { pool, side: 'buy' as const, amount: 2n * SOL, minimumOut: 0n }
      const built = await buildDbcSwap({ ...squads.envelope(trader), ...terms })
      const { err, logs } = landOn(test, built, [trader])
      expect(err, logs.join('\n')).toBeNull()
    }
    const counts: number[] = []
    for (const shares of [6, 12]) {
      await buy()
      const pool = (await readDbcPool(node, address))!
      const amount = pool.partnerQuoteFee
      expect(amount).toBeGreaterThan(0n)
      const recipients = Array.from({ length: shares }, (): PublicKey => someone())
      for (const recipient of recipients) chain.airdrop(recipient.toBase58(), SOL)
      const part = amount / BigInt(shares + 1)
      const { transaction } = await buildTradingFeeClaim({
        ...inVault(squads),
        ...{ pool, beneficiary: 'partner', claimer: vault, amount },
        splits: recipients.map((recipient) => ({ recipient: recipient.toBase58(), amount: part })),
      })
      const inner = innerMessageOf(decodeWireTransaction(transaction), { vault })
      const { index, transactions } = await squads.propose(inner)
      counts.push(transactions.length)
      const { transaction: stored } = await readProposal(node, multisig, index)
      const forecast = await rehearseExecution(node, PROGRAMS_DIR, stored!)
      expect(forecast.err, forecast.logs.join('\n')).toBeNull()
      await squads.approved(index)
      const { err, logs } = await squads.execute(index)
      expect(err, logs.join('\n')).toBeNull()
      for (const recipient of recipients) expect(chain.account(recipient.toBase58())!.lamports).toBe(SOL + part)
      expect((await readDbcPool(node, address))!.partnerQuoteFee).toBe(0n)
    }
    expect(counts).toEqual([2, 3])
  })
})
