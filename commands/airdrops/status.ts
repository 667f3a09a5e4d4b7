/** `svc airdrops status`: the progress of an airdrop on chain, in figures and sentences. */
import type { Airdrop } from '../../src/api/airdrops.ts'
import { paths } from '../../src/api/paths.ts'
import { decimalOf } from '../amounts.ts'
import { required, text, verb } from '../command.ts'
import { mintDecimals } from '../token-state.ts'
import { fieldLines } from '../ui/field-lines.ts'
import { printable } from '../ui/render.ts'
import { zonedTime } from '../ui/times.ts'

export const airdropStatusVerb = verb({
  about: 'How far an airdrop has come: funded, claimed, what is left and when it can be withdrawn',
  calls: [paths.airdrops.get, paths.accounts.get],
  args: { id: required(text('Id of the airdrop')) },
  examples: ['svc airdrops status <id>', 'svc airdrops status <id> -o json'],
  async run({ id }, session) {
    const { data } = await session.client.airdrops.get({ id })
    const decimals = await mintDecimals(session, data.mint)
    return { data, text: fieldLines(statusFields(data, decimals)).join('\n') }
  },
})

function statusFields(airdrop: Airdrop, decimals: number | null): [name: string, value: string][] {
  const { status, total, claimed_amount, claimed_count, leaf_count, vault_balance, clawback_at, note } = airdrop
  const amount = (raw: string | null) =>
    raw === null ? '-' : decimals === null ? `${raw} raw units` : decimalOf(BigInt(raw), decimals)
  // Claims from the distributor of another list are no share of the stored list.
  const isOther = airdrop.on_chain_root !== airdrop.root
  const share = (part: string | number | null, whole: string | number | null) =>
    isOther || part === null || whole === null || BigInt(whole) === 0n
      ? ''
      : ` (${percent(BigInt(part), BigInt(whole))})`
  return [
    ['STATUS', status],
    ['MINT', airdrop.mint],
    ['AIRDROP COUNT', String(airdrop.airdrop_count)],
    ['ROOT', airdrop.root],
    ['DISTRIBUTOR', airdrop.distributor ?? '-'],
    ['WALLETS', String(leaf_count)],
    ['TOTAL', amount(total)],
    ['CLAIMED BY', claimed_count === null ? '-' : `${claimed_count} wallets${share(claimed_count, leaf_count)}`],
    ['CLAIMED', `${amount(claimed_amount)}${share(claimed_amount, total)}`],
    ['IN THE VAULT', amount(vault_balance)],
    ['LEFT OVER FROM', clawback_at === null ? '-' : zonedTime(clawback_at)],
    ['GOES TO', airdrop.clawback_receiver ?? '-'],
    ...(note === null ? [] : ([['NOTE', printable(note)]] as [string, string][])),
  ]
}

/** A percentage, rounded down so that 100 % means all. */
function percent(part: bigint, whole: bigint): string {
  const tenths = (part * 1000n) / whole
  return `${tenths / 10n}.${tenths % 10n} %`
}
