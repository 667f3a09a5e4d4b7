/** Decides whether a build gets guards, of which wallets, and what to do if it cannot have them. */
import { type Guarding, requireGuarded, type UnguardedReason, unguarded } from '../chain/sending/guard-report.ts'
import { guardedTransaction } from '../chain/sending/guarding.ts'
import { lateGuarded } from '../chain/sending/late-guards.ts'
import type { UnsignedTransaction } from '../chain/sending/unsigned.ts'
import type { Context, Services } from '../context.ts'
import type { Slack } from '../policy/movement/guards.ts'
import { addressOf } from '../solana/addresses.ts'
import { decodeWireTransaction } from '../solana/messages.ts'
import { PROGRAMS } from '../solana/programs.ts'
import { SEED_BYTES } from '../solana/signatures.ts'
import { failsInTrial } from './programs/refuse-failing.ts'

/** What the request says of guards. */
interface Choice {
  guard?: Context['guard'] | undefined
  vaultActing?: Context['vaultActing'] | undefined
}
type ClusterServices = Pick<Services, 'chain' | 'programs'>
type GuardedBuild = Pick<UnsignedTransaction, 'transaction'> & { guarding: Guarding }

/** Why the request wants no guards on what it builds; null if it wants them. */
const reasonOfRequest = ({ guard, vaultActing }: Choice): UnguardedReason | null =>
  guard === 'off' ? 'off' : vaultActing !== undefined ? 'vault' : null

/** Why nothing can be guarded on this cluster; null if it can. */
async function reasonOfCluster({ chain, programs }: ClusterServices): Promise<UnguardedReason | null> {
  const { lighthouse } = PROGRAMS
  if (!(await chain.hasProgram(lighthouse.id))) return 'program_missing'
  return (await failsInTrial({ programs }, lighthouse)) ? 'program_changed' : null
}

/** Why a build gets no guards, before anything is built; null if it gets them. `follows`: it cannot be simulated. */
export const reasonAgainst = async (
  services: ClusterServices & Choice,
  { follows }: { follows: boolean },
): Promise<UnguardedReason | null> =>
  reasonOfRequest(services) ?? (follows ? 'not_simulated' : await reasonOfCluster(services))

/** Whether what is built now gets guards, so that a list takes fewer rows. */
export const addsGuards = async (services: ClusterServices & Choice): Promise<boolean> =>
  (await reasonAgainst(services, { follows: false })) === null

/** What holds of transactions that cannot be simulated. Throws bad_request if guards are required. */
export function unguardedSequence(choice: Choice): Guarding {
  const guarding = unguarded(reasonOfRequest(choice) ?? 'not_simulated')
  refuseUnguarded(choice, guarding)
  return guarding
}

/** Guards of a vault are added when its proposal is executed, so an act of it is not refused. */
function refuseUnguarded({ guard }: Pick<Choice, 'guard'>, guarding: Guarding): void {
  if (guard === 'required' && guarding.reason !== 'vault') requireGuarded(guarding)
}

interface ToGuard {
  /** Why it gets no guards; null if it does. */
  against: UnguardedReason | null
  /** Wallets that sign or whose vault acts. */
  wallets: readonly string[]
  /** Keys that the build made: what they sign for is not guarded. */
  secretKeys?: readonly Uint8Array[] | undefined
  slack?: readonly Slack[] | undefined
}

/** Adds the guards of the wallets. Throws bad_request if guards are required and cannot be added. */
export async function guardBuild(
  { chain, guard }: Pick<Services, 'chain'> & Choice,
  transaction: Uint8Array,
  { against, wallets, secretKeys = [], slack }: ToGuard,
): Promise<GuardedBuild> {
  const guarded =
    against === null
      ? await guardedTransaction(chain, transaction, walletsIn(wallets, secretKeys), slack)
      : { transaction, guarding: unguarded(against) }
  refuseUnguarded({ guard }, guarded.guarding)
  return guarded
}

/** Guards a transaction that follows one that has landed. One with instructions of Lighthouse stays as it is. */
export async function guardLate(
  { guard, ...services }: ClusterServices & Pick<Services, 'config'> & Pick<Choice, 'guard'>,
  transaction: Uint8Array,
  secretKeys: readonly Uint8Array[],
): Promise<Pick<GuardedBuild, 'transaction'> & Partial<GuardedBuild>> {
  if (guard === 'off') return { transaction, guarding: unguarded('off') }
  const { keys, signers, instructions } = decodeWireTransaction(transaction).message
  if (instructions.some(({ programIdIndex }) => keys[programIdIndex] === PROGRAMS.lighthouse.id)) return { transaction }
  const against = await reasonOfCluster(services)
  const guarded =
    against === null
      ? await lateGuarded(services, transaction, walletsIn(keys.slice(0, signers), secretKeys))
      : { transaction, guarding: unguarded(against) }
  refuseUnguarded({ guard }, guarded.guarding)
  return guarded
}

/** Each address once, without those of the keys. */
function walletsIn(addresses: readonly string[], secretKeys: readonly Uint8Array[]): string[] {
  const made = secretKeys.filter(({ length }) => length > 0).map((key) => addressOf(key.subarray(SEED_BYTES)))
  return [...new Set(addresses)].filter((address) => !made.includes(address))
}
