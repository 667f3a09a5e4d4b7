/** An airdrop on the real distributor whose wallets have no SOL, and a platform wallet that sponsors their claims. */
import { Keypair, VersionedTransaction } from '@solana/web3.js'
import { expect } from 'vitest'
import { addressOf, airdropsOn, createBody, DAY_S, entriesFor } from './airdrops.ts'
import { addSignatures } from './local-chain-transactions.ts'
import { GENEROUS, type Limits, type PlatformService, startPlatform } from './platform-wallet.ts'
import { CLAIM_STATUS_RENT, TOKEN_ACCOUNT_RENT } from './rent.ts'
import type { ServiceOptions } from './service.ts'

/** Two signatures, and no priority fee. */
export const SPONSORED_FEE = 10_000n
export const SPONSORED_COST = SPONSORED_FEE + CLAIM_STATUS_RENT + TOKEN_ACCOUNT_RENT
export const ENOUGH = String(SPONSORED_COST * 1_000n)
export const ABSENT = Buffer.concat([Buffer.alloc(32, 5), Buffer.alloc(2)]).toString('base64url')

export const sponsorshipOf = (id: string) => `/v2/airdrops/${id}/sponsorship`
export const buildsOf = (id: string) => `/v2/airdrops/${id}/sponsored-claims`

export interface BuiltSponsoredClaim {
  id: string
  transaction: string
  lamports: string
  fee_payer: string
  requiredSigners: string[]
}

/** An airdrop on chain whose listed wallets have no SOL, with a sponsorship of `budget` lamports. */
export async function openSponsoredAirdrop({
  wallets = 3,
  budget = ENOUGH,
  limits = GENEROUS as Limits,
  settings = {} as NonNullable<ServiceOptions['settings']>,
  /** Vests for each wallet within a week from ten minutes on. */
  locked = 0n,
  /** One that other tests use too, with limits and settings of its own. */
  service = undefined as PlatformService | undefined,
} = {}) {
  service ??= await startPlatform(limits, { settings })
  const all = await airdropsOn(service)
  const claimers = Array.from({ length: wallets }, () => Keypair.generate())
  const maker = all.wallet()
  const mint = all.mintFor(maker, 10_000_000n)
  const vesting = locked === 0n ? {} : { amount_locked: String(locked) }
  const tree = await all.storeTree(
    mint,
    entriesFor(claimers).map((entry) => ({ ...entry, ...vesting })),
  )
  const start = all.chain.unixTimestamp() + 600
  const isoOf = (seconds: number) => new Date(seconds * 1000).toISOString()
  const times = locked === 0n ? {} : { starts_at: isoOf(start), ends_at: isoOf(start + 7 * DAY_S) }
  await all.submit(await all.ok('POST', '/v2/airdrops', createBody(maker, mint, tree.root, times)), maker)
  const id = tree.id as string
  if (budget !== '') await all.ok('PATCH', sponsorshipOf(id), { budget })
  const lamportsOf = (key: Keypair | string) =>
    all.chain.account(typeof key === 'string' ? key : addressOf(key))?.lamports ?? 0n
  const build = (claimer: Keypair): Promise<BuiltSponsoredClaim> =>
    all.ok('POST', buildsOf(id), { claimer: addressOf(claimer) })
  const signedBy = ({ transaction }: Pick<BuiltSponsoredClaim, 'transaction'>, claimer: Keypair) => {
    const decoded = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'))
    addSignatures(decoded, [claimer])
    return Buffer.from(decoded.serialize()).toString('base64')
  }
  const submission = (built: BuiltSponsoredClaim) => `${buildsOf(id)}/${built.id}/submissions`
  const submitted = (built: BuiltSponsoredClaim, claimer: Keypair) =>
    all.request('POST', submission(built), { body: { transaction: signedBy(built, claimer) } })
  return {
    ...all,
    claimers,
    first: claimers[0]!,
    start,
    id,
    mint,
    platform: service.wallet,
    lamportsOf,
    build,
    signedBy,
    submission,
    submitted,
    async claimBy(claimer: Keypair) {
      const answer = await submitted(await build(claimer), claimer)
      expect([answer.status, answer.json.error]).toEqual([200, undefined])
      return answer.json.data as { signature: string; lamports: string }
    },
    sponsorship: () => all.ok('GET', sponsorshipOf(id)),
  }
}
