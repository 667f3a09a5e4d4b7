/** `svc pools positions`: liquidity of DAMM v2 pools that a wallet holds in positions. */
import type { Verb } from '../../cli/command.ts'
import { addVerb, openVerb } from './add.ts'
import { claimVerb } from './claim.ts'
import { closeVerb } from './close.ts'
import { positionListVerb } from './list.ts'
import { lockVerb } from './lock.ts'
import { removeVerb } from './remove.ts'
import { transferVerb } from './transfer.ts'
import { vestVerb } from './vest.ts'

export const positionVerbs: Record<string, Verb> = {
  'positions list': positionListVerb,
  'positions open': openVerb,
  'positions add': addVerb,
  'positions remove': removeVerb,
  'positions lock': lockVerb,
  'positions vest': vestVerb,
  'positions claim': claimVerb,
  'positions transfer': transferVerb,
  'positions close': closeVerb,
}
