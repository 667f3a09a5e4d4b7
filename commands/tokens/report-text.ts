/** The report of a token as a terminal shows it: facts, who holds it, and the verdicts. */
import type { TokenReport, TokenReportPools, TokenRisk } from '../../src/api/token-report.ts'
import { WRAPPED_SOL } from '../../src/solana/program-ids.ts'
import { programName } from '../../src/solana/programs.ts'
import { groupedDecimalOf, solOf } from '../cli/amounts.ts'
import { showsBraille } from '../ui/plot.ts'
import { timeText } from '../ui/times.ts'
import { counted } from '../ui/words.ts'
import { partsOfSupply, percent } from './distribution.ts'

const NAMES = 13
const LEVELS = 9
const RISKS = 20
/** Columns of the longest bar beside an address and its share, within 80. */
const BAR_COLUMNS = 20
const ADDRESS_COLUMNS = 44
const INDENT = '  '
const ELSEWHERE = 'liquidity elsewhere is not counted'

/** Lines of at most 80 columns, unless a sentence has an address; the terminal breaks those. */
export function reportText(report: TokenReport): string {
  return [...factLines(report), '', ...distributionLines(report), ...report.risks.flatMap(verdictLines)].join('\n')
}

/** What is fine takes one line; a risk is explained below its name. */
function verdictLines({ risk, level, finding, remedy }: TokenRisk): string[] {
  const name = `${level.padEnd(LEVELS)}${risk.replaceAll('_', ' ')}`
  if (level === 'ok') return [`${name.padEnd(LEVELS + RISKS)}${finding}`]
  return [name, ...[finding, remedy ?? []].flat().map((line) => `${' '.repeat(LEVELS)}${line}`)]
}

function factLines(report: TokenReport): string[] {
  const { mint, metadata, decimals, supply, token_program, status, extensions, transfer_fee: fee } = report
  const label = [metadata?.symbol ?? [], metadata?.name ?? []].flat().join(', ')
  const program = token_program === 'spl' ? 'SPL Token' : 'Token-2022'
  return [
    fact('mint', mint),
    ...(label === '' ? [] : [fact('name', label)]),
    fact('supply', `${groupedDecimalOf(BigInt(supply), decimals)}, ${counted(decimals, 'decimal')}, ${program}`),
    fact('status', status.replaceAll('_', ' ')),
    ...report.authorities.map(({ type, holder }, i) =>
      fact(i === 0 ? 'authorities' : '', `${type.replaceAll('_', ' ')}: ${holder ?? 'given up'}`),
    ),
    ...extensions.map(({ name }, i) => fact(i === 0 ? 'extensions' : '', name)),
    ...(fee === null ? [] : [fact('transfer fee', `${percent(fee.basis_points)} of each transfer`)]),
    ...holderLines(report),
    ...lockLines(report),
    ...poolLines(report),
  ]
}

function holderLines({ holders }: TokenReport): string[] {
  if (holders === null) return [fact('holders', 'unknown')]
  const { source, slot, top, top_share_bps: share } = holders
  const where = source === 'chain' ? `at slot ${slot}` : `by the snapshot of slot ${slot}`
  const largest = top.length === 0 ? '' : `; the ${top.length} largest have ${percent(share)}`
  return [
    fact('holders', `${counted(holders.holders, 'holder')} ${where}${largest}`),
    ...top.flatMap(({ wallet, program }) =>
      program === null
        ? []
        : [fact('', wallet), fact('', `${INDENT}held by the program ${programName(program) ?? program}`)],
    ),
  ]
}

function lockLines({ locks, decimals }: TokenReport): string[] {
  if (locks === null) return [fact('locks', 'unknown')]
  if (locks.locks === 0) return [fact('locks', 'none')]
  const of = (raw: string) => groupedDecimalOf(BigInt(raw), decimals)
  return [
    fact('locks', `${counted(locks.locks, 'lock')}: ${of(locks.locked)} locked, ${of(locks.vesting)} vesting`),
    fact(
      '',
      `${of(locks.claimable)} claimable now${locks.cancellable === '0' ? '' : `, ${of(locks.cancellable)} can be cancelled`}`,
    ),
    ...(locks.next_at === null ? [] : [fact('', `next ${timeText(locks.next_at)}`)]),
    ...(locks.last_at === null ? [] : [fact('', `last ${timeText(locks.last_at)}`)]),
  ]
}

function poolLines({ pools, decimals }: TokenReport): string[] {
  if (pools === null) return [fact('pools', 'unknown')]
  if (pools.found === 0) return [fact('pools', `none on Meteora; ${ELSEWHERE}`)]
  const sol = pools.sol_amount === '0' ? '' : ` and ${solOf(BigInt(pools.sol_amount))} SOL`
  return [
    fact(
      'pools',
      `${counted(pools.found, 'pool')} with ${groupedDecimalOf(BigInt(pools.base_amount), decimals)}${sol}`,
    ),
    fact('', ELSEWHERE),
    ...pools.pools.flatMap((pool) => {
      const quote = groupedDecimalOf(BigInt(pool.quote_amount), pool.quote_decimals)
      const unit = pool.quote_mint === WRAPPED_SOL ? 'SOL' : `of ${pool.quote_mint.slice(0, 4)}…`
      return [
        fact('', `${pool.address} ${pool.type === 'dbc' ? 'launch curve' : 'DAMM v2'}`),
        fact('', `${INDENT}${quote} ${unit}, ${percent(pool.locked_bps)} locked, ${freePart(pool)}`),
      ]
    }),
  ]
}

const freePart = ({ unlocked_bps: free }: TokenReportPools['pools'][number]): string =>
  free === null ? 'the rest was not read' : `${percent(free)} free`

function distributionLines(report: TokenReport): string[] {
  const parts = partsOfSupply(report)
  if (parts.length === 0) return []
  const block = showsBraille() ? '█' : '#'
  const largest = Math.max(...parts.map(({ bps }) => bps))
  return [
    ...parts.map(({ name, bps }) => {
      const bar = block.repeat(Math.max(1, Math.round((BAR_COLUMNS * bps) / largest)))
      return `${name.padEnd(ADDRESS_COLUMNS)} ${percent(bps).padStart(9)}  ${bar}`
    }),
    '',
  ]
}

const fact = (name: string, value: string): string => `${name.padEnd(NAMES)}${value}`
