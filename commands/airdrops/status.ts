/** `svc airdrops status`: the progress of an airdrop on chain, in figures and sentences. */
import type { AirdropStats } from '../../src/api/airdrop-claims.ts'
import type { Airdrop } from '../../src/api/airdrops.ts'
import { paths } from '../../src/api/paths.ts'
import { tokensText } from '../cli/amounts.ts'
import { required, text, verb } from '../cli/command.ts'
import { mintDecimals } from '../signing/token-state.ts'
import { drawingLines, drawingSvg, writePicture } from '../ui/drawing.ts'
import { SVG } from '../ui/drawing-flags.ts'
import { fieldLines } from '../ui/field-lines.ts'
import { nullIfNotFound } from '../ui/problem.ts'
import { printable } from '../ui/render.ts'
import { timeText } from '../ui/times.ts'
import { counted } from '../ui/words.ts'
import { claimDrawing, claimFields } from './figures.ts'

const NO_CLAIMS = ['Nobody has claimed yet: there is nothing to draw.']

export const airdropStatusVerb = verb({
  about: 'Show the progress of an airdrop: funded, claimed, what is left and when it can be withdrawn',
  details: 'With the figures of its claims, which `svc airdrops watch` follows.',
  calls: [paths.airdrops.get, paths.airdrops.stats, paths.accounts.get],
  args: { id: required(text('Id of the airdrop')) },
  flags: { svg: SVG },
  examples: [
    'svc airdrops status 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw',
    'svc airdrops status 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw -o json',
    'svc airdrops status 6nIRS-UFiZrgOo53MuCh_SuhvOpJGjeLAr25kQ6lUhlfrw --svg claims.svg',
  ],
  async run({ id, svg }, session) {
    const { data } = await session.client.airdrops.get({ id })
    const stats = (await nullIfNotFound(session.client.airdrops.stats({ id })))?.data ?? null
    const decimals = await mintDecimals(session, data.mint)
    const drawing = stats === null ? null : claimDrawing(stats)
    return {
      data: { ...data, stats },
      text: fieldLines(statusFields(data, stats, decimals)).join('\n'),
      ...(drawing === null ? {} : { drawing: drawingLines(drawing) }),
      notes: svg === undefined ? [] : drawing === null ? NO_CLAIMS : writePicture(svg, drawingSvg(drawing)),
    }
  },
})

function statusFields(
  airdrop: Airdrop,
  stats: AirdropStats | null,
  decimals: number | null,
): [name: string, value: string][] {
  const { status, total, claimed_amount, claimed_count, leaf_count, vault_balance, clawback_at } = airdrop
  const note = stats?.note ?? airdrop.note
  const amount = (raw: string | null) => tokensText(raw, decimals)
  // Claims from the distributor of another list do not count for the stored list.
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
    [
      'CLAIMED BY',
      claimed_count === null ? '-' : `${counted(claimed_count, 'wallet')}${share(claimed_count, leaf_count)}`,
    ],
    ['CLAIMED', `${amount(claimed_amount)}${share(claimed_amount, total)}`],
    ['LEFT', stats === null ? '-' : `${amount(stats.left_amount)}${leftWallets(stats)}`],
    ...(stats === null ? [] : claimFields(stats, decimals)),
    ['IN THE VAULT', amount(vault_balance)],
    ['LEFT OVER FROM', clawback_at === null ? '-' : timeText(clawback_at)],
    ['GOES TO', airdrop.clawback_receiver ?? '-'],
    ...(note === null ? [] : ([['NOTE', printable(note)]] as [string, string][])),
  ]
}

const leftWallets = ({ left_count }: AirdropStats) =>
  left_count === null ? '' : ` for ${counted(left_count, 'wallet')}`

/** A percentage, rounded down so that 100 % means all. */
function percent(part: bigint, whole: bigint): string {
  const tenths = (part * 1000n) / whole
  return `${tenths / 10n}.${tenths % 10n} %`
}
