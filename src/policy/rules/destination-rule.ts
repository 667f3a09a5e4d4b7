/** The rule about destinations: who receives anything is on the policy's list, where it has one. */
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../solana/program-ids.ts'
import type { Destination, Movement } from '../movement/movement.ts'
import type { SigningPolicy, Spent } from '../policy.ts'
import type { PolicyCheckOptions, Violation } from './violation.ts'

/** Their accounts are emptied by a key, so that lamports there are somebody's gain. */
const KEY_PROGRAMS: ReadonlySet<string> = new Set([SYSTEM_PROGRAM, TOKEN_PROGRAM, TOKEN_2022_PROGRAM])
/** Rent of an account in lamports: so much for each byte of its data and of its 128 bytes of overhead (solana-rent). */
const RENT_PER_BYTE = 6_960n
const OVERHEAD_BYTES = 128n
/** Lamports that Metaplex's programs keep in a new account beside its rent, at most. */
const METAPLEX_FEE = 10_000_000n

export function checkDestinations(
  { destinations, fee_payer }: Movement,
  policy: SigningPolicy,
  _: Spent,
  { role }: PolicyCheckOptions,
): Violation | null {
  if (policy.destinations === null) return null
  const list = new Set(policy.destinations)
  // Who pays gets back the rent of what ends; where the wallet only cosigns, nothing of it is the wallet's.
  if (role === 'cosigns') list.add(fee_payer)
  const stranger = destinations.find((each) => !isListed(each, list) && !isRent(each, policy.programs))
  if (stranger === undefined) return null
  const { address, owner, mint, amount } = stranger
  const whose = owner === null ? '' : ` (token account of ${owner})`
  const what = mint === null ? `${amount} lamports` : `${amount} units of ${mint}`
  const message = `${address}${whose} would receive ${what}, and is not among the destinations. Add it with \`svc signer policy --destinations\``
  return { message, details: { address, owner, mint, amount: String(amount) } }
}

/** A token account is its owner's, unless somebody else could empty it too. */
function isListed({ address, owner, others }: Destination, list: ReadonlySet<string>): boolean {
  return list.has(address) || (owner !== null && list.has(owner) && others.every((other) => list.has(other)))
}

/** What a new account of an allowed program needs to exist is nobody's gain; it counts among the lamports all the same. */
function isRent({ program, mint, amount, created, space }: Destination, programs: readonly string[]): boolean {
  const rent = (BigInt(space) + OVERHEAD_BYTES) * RENT_PER_BYTE
  const isOfProgram = created && mint === null && !KEY_PROGRAMS.has(program) && programs.includes(program)
  return isOfProgram && amount <= rent + METAPLEX_FEE
}
