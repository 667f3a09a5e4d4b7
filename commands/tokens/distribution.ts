/** The parts of a supply as a terminal and a picture show them: the largest holders, and vaults by what they are for. */
import type { TokenReport, TokenReportHolders } from '../../src/api/token-report.ts'

type Kind = TokenReportHolders['parts'][number]['kind']

interface SupplyPart {
  name: string
  /** Hundredths of a percent of the supply. */
  bps: number
}

/** What an address of a kind is to people; null for holders, who are shown one by one. */
const NAMES: Readonly<Record<Kind, string | null>> = {
  wallet: null,
  pda: null,
  program: null,
  dbc_vault: 'launch curve',
  damm_v2_vault: 'pools of DAMM v2',
  distributor_vault: 'airdrops',
  lock_escrow: 'locks',
  burn: 'burned',
  raise_vault: 'raises',
}

/** The largest holders, the other holders together, and the rest by kind. The parts of nothing are left out. */
export function partsOfSupply({ holders }: Pick<TokenReport, 'holders'>): SupplyPart[] {
  if (holders === null) return []
  const ofHolders = holders.parts.filter(({ kind }) => isHolding(kind))
  const held = ofHolders.reduce((sum, { amount }) => sum + BigInt(amount), 0n)
  const top = holders.top.reduce((sum, { amount }) => sum + BigInt(amount), 0n)
  const others = holders.holders - holders.top.length
  const supply = BigInt(holders.supply)
  return [
    ...holders.top.map(({ wallet, share_bps }) => ({ name: wallet, bps: share_bps })),
    { name: `${others} other holder${others === 1 ? '' : 's'}`, bps: bpsOf(held - top, supply) },
    ...holders.parts.flatMap(({ kind, share_bps }) =>
      isHolding(kind) ? [] : [{ name: NAMES[kind] ?? String(kind), bps: share_bps }],
    ),
    { name: 'withheld fees', bps: bpsOf(BigInt(holders.withheld), supply) },
    { name: 'confidential', bps: bpsOf(BigInt(holders.confidential), supply) },
  ].filter(({ bps }) => bps > 0)
}

const isHolding = (kind: Kind): boolean => NAMES[kind] === null

const bpsOf = (part: bigint, whole: bigint): number =>
  whole <= 0n || part <= 0n ? 0 : Math.min(10_000, Number((part * 10_000n) / whole))

export const percent = (bps: number): string => `${(bps / 100).toFixed(2)} %`
