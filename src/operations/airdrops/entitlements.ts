/** Reads what wallets can claim from stored airdrops: leaves come from the store, everything else from the chain in one call. */
import type { AirdropEntitlement } from '../../api/index.ts'
import {
  claimStatusAddress,
  decodeClaimStatus,
  decodeDistributor,
  distributorAddress,
  tokenAccountAddress,
} from '../../chain/programs/merkle-distributor/index.ts'
import { decodeTokenAccount } from '../../chain/sending/balance-changes.ts'
import { accountsAt } from '../../chain/sending/runs.ts'
import type { Context } from '../../context.ts'
import { CLOCK_SYSVAR } from '../../solana/program-ids.ts'
import { vestedAt } from '../../solana/unlock-schedule.ts'
import type { Row } from '../../store/schema.ts'
import { trySigner } from '../signing/require-signer.ts'
import { claimFaultInTokens } from './claim-faults.ts'
import { claimPayment } from './claim-payment.ts'
import { chainNow, currentStatus, isoOfUnixTime, reasonsNotToFund } from './on-chain.ts'

/** A wallet's leaf of a stored tree, with amounts in raw units. */
export interface Entitled {
  row: Row<'merkle_trees'>
  amount: bigint
  locked: bigint
}

/** Accounts of one airdrop: distributor, vault, claim status and token account. */
const ACCOUNTS_PER_AIRDROP = 4

export async function readEntitlements(
  context: Pick<Context, 'chain' | 'signer' | 'log'>,
  wallet: string,
  entitled: readonly Entitled[],
): Promise<AirdropEntitlement[]> {
  if (entitled.length === 0) return []
  const { chain } = context
  const platform = (await trySigner(context))?.address ?? null
  const placed = await Promise.all(
    entitled.map(async (each) => ({ ...each, addresses: await findAirdropAddresses(each.row, wallet) })),
  )
  const [genesis, [clock = null, ...accounts]] = await Promise.all([
    chain.genesisHash(),
    accountsAt(chain, [CLOCK_SYSVAR, ...placed.flatMap(({ addresses }) => addresses)]),
  ])
  const now = await chainNow(clock)
  const entitlement = async (
    { row, amount, locked, addresses: [address, vaultAddress] }: (typeof placed)[number],
    i: number,
  ): Promise<AirdropEntitlement> => {
    const own = accounts.slice(i * ACCOUNTS_PER_AIRDROP, (i + 1) * ACCOUNTS_PER_AIRDROP)
    const [vault, held] = [own[1] ?? null, own[3] ?? null]
    const distributor = decodeDistributor(own[0] ?? null)
    const status = decodeClaimStatus(own[2] ?? null)
    const payment = claimPayment({ amount, locked }, distributor, status, now)
    const fault = await claimFaultInTokens(chain, row.mint, {
      id: row.id,
      claimer: wallet,
      platform,
      payment,
      vests: row.total_locked !== '0',
      root: row.root,
      address,
      distributor,
      vaultAddress,
      vault: vault === null ? null : decodeTokenAccount(vault),
      reasonsNotToFund: distributor === null ? [] : await reasonsNotToFund(row.mint, distributor, row),
      status,
      account: held === null ? null : decodeTokenAccount(held),
      now,
    })
    // The distributor of another airdrop shows nothing about this wallet.
    const isOther = fault?.reason === 'other_root'
    const claimed = isOther ? null : status
    const schedule = isOther || locked === 0n ? null : distributor
    return {
      id: row.id,
      mint: row.mint,
      airdrop_count: row.airdrop_count,
      amount: String(amount),
      amount_locked: String(locked),
      status: currentStatus(row, distributor, genesis),
      claimed: claimed !== null,
      claimed_amount: String(claimed === null ? 0n : claimed.unlocked + claimed.lockedWithdrawn),
      claimable_amount: String(fault === null ? payment.unlocked + payment.vested : 0n),
      vested: String(schedule === null ? 0n : vestedAt(schedule, locked, now)),
      next_vesting_at:
        schedule === null || payment.nextVestingAt === null ? null : isoOfUnixTime(payment.nextVestingAt),
      starts_at: schedule === null ? null : isoOfUnixTime(schedule.startsAt),
      ends_at: schedule === null ? null : isoOfUnixTime(schedule.endsAt),
      clawback_at: distributor === null || isOther ? null : isoOfUnixTime(distributor.clawbackAt),
      claimable: fault === null,
      reason: fault?.reason ?? null,
      note: fault?.message ?? null,
    }
  }
  return Promise.all(placed.map(entitlement))
}

async function findAirdropAddresses(
  { mint, airdrop_count: airdropCount, distributor: known }: Row<'merkle_trees'>,
  wallet: string,
): Promise<[distributor: string, vault: string, status: string, account: string]> {
  const distributor = known ?? (await distributorAddress({ mint, airdropCount }))
  return [
    distributor,
    ...(await Promise.all([
      tokenAccountAddress(mint, distributor),
      claimStatusAddress(distributor, wallet),
      tokenAccountAddress(mint, wallet),
    ])),
  ]
}
