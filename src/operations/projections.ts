/** Lists every projection, in the order in which the events of a transaction are written. A new resource adds its own here. */
import type { Projection } from '../following/projection.ts'
import { airdropProjection } from './airdrops/projection.ts'
import { assetProjection } from './assets/projection.ts'
import { goldLockProjection } from './gold-locks/projection.ts'
import { ledgerProjection } from './ledger/projection.ts'
import { poolProjection } from './pools/projection.ts'
import { raiseProjection } from './raises/projection.ts'
import { tokenProjection } from './tokens/projection.ts'

export const PROJECTIONS: readonly Projection[] = [
  tokenProjection,
  poolProjection,
  airdropProjection,
  assetProjection,
  goldLockProjection,
  raiseProjection,
  ledgerProjection,
]
