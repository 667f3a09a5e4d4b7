/** What the maker of an airdrop can do about its vault: fund it, or take back what nobody has claimed. */
import type { Airdrop } from '../../src/api/airdrops.ts'
import { decimalOf } from '../cli/amounts.ts'
import { timeText } from '../ui/times.ts'

/** How to send missing raw units to a vault, which belongs to its distributor. */
export const fundingWords = (mint: string, distributor: string, missing: string): string =>
  `Fund it: \`svc wallet send ${distributor} ${missing} --mint ${mint} --allow-programs\``

/** When and how the tokens of an airdrop come back; null if nothing is left to come back. */
export function wayBack(
  { id, clawback_at, clawback_receiver, clawed_back, status, vault_balance }: Airdrop,
  now: number,
): string | null {
  const isEmpty = vault_balance === null || vault_balance === '0'
  if (clawback_at === null || clawed_back === true || status === 'vault_drained' || isEmpty) return null
  const isDue = Date.parse(clawback_at) <= now
  return `A wrong list? What is unclaimed returns to the token account ${clawback_receiver} by \`svc airdrops withdraw ${id}\` ${isDue ? 'now' : `from ${timeText(clawback_at)}; nothing returns before`}.`
}

/** The notes of an airdrop that is read. */
export function vaultNotes(airdrop: Airdrop, decimals: number | null, now: number): string[] {
  const { mint, distributor, vault_lacks, clawed_back } = airdrop
  const lacks = BigInt(vault_lacks ?? 0)
  const isFundable = lacks > 0n && distributor !== null && decimals !== null && clawed_back !== true
  const back = wayBack(airdrop, now)
  return [
    ...(isFundable ? [`Nobody but you funds it. ${fundingWords(mint, distributor, decimalOf(lacks, decimals))}`] : []),
    ...(airdrop.status === 'tree_built' && distributor !== null && airdrop.on_chain_root === null
      ? [`Not on chain yet, and nobody puts it there by itself: \`svc airdrops init ${airdrop.id}\``]
      : []),
    ...(back === null ? [] : [back]),
  ]
}
