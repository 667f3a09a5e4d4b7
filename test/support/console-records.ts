/** Records that the pages of the console show: a pool that trades, and an act that waits for two approvers. */
import { Keypair } from '@solana/web3.js'
import { expect } from 'vitest'
import { approversOf, NOTHING_WAITS } from './approvers.ts'
import { HOSTILE } from './console.ts'
import { IMAGE, keysIn, landOn, settlePools } from './launches.ts'
import type { Service } from './service.ts'
import { addressOf, SOL } from './wallets.ts'

/** Launches on the tiny curve with a first buy of 0.1 SOL; `buy` buys more. */
export async function launchPool(service: Service, symbol = 'MTK') {
  const chain = await service.services.chain.local()
  const creator = Keypair.generate()
  chain.airdrop(addressOf(creator), 100n * SOL)
  const post = async (path: string, body: object) => {
    const { json, text } = await service.request('POST', path, { body })
    expect(json.data, text).toBeDefined()
    return json.data
  }
  const texts = { name: 'My Token', symbol, image: IMAGE }
  const { pool, ...built } = await post('/v2/pools', { creator: addressOf(creator), ...texts, buy_amount: 0.1 })
  for (const each of built.transactions) landOn(chain, each, [creator, ...keysIn(built.required_signers)])
  await settlePools(service)
  return {
    address: pool.address as string,
    async buy(lamports: bigint) {
      const swap = { payer: addressOf(creator), side: 'buy', amount: String(lamports) }
      landOn(chain, (await post(`/v2/pools/${pool.address}/swaps`, swap)).tx.transaction, [creator])
      await settlePools(service)
    },
  }
}

/** A memo of the platform wallet whose fee a policy without limits lets wait; its text is hostile. */
export async function waitingProposal(service: Service) {
  const rules = { ...NOTHING_WAITS, lamports_per_transaction: '1000000', lamports_per_day: '1000000' }
  const approvers = await approversOf(service, 2, rules, { expires_in: 3600 })
  const { json, text } = await service.request('POST', '/v2/signer/tests', { body: { submit: true, memo: HOSTILE } })
  expect(json.data?.proposal, text).toBeDefined()
  return { proposal: json.data.proposal, approvers }
}
