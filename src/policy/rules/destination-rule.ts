/** The rule about destinations: every receiver must be on the policy's list, if there is one. */
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../solana/program-ids.ts'
import type { Destination, Movement } from '../movement/movement.ts'
import type { SigningPolicy, Spent } from '../policy.ts'
import type { PolicyCheckOptions, Violation } from './violation.ts'

/** A key can empty accounts of these programs, so lamports in them are somebody's gain. */
const KEY_PROGRAMS: ReadonlySet<string> = new Set([SYSTEM_PROGRAM, TOKEN_PROGRAM, TOKEN_2022_PROGRAM])
/** Rent of an account in lamports for each byte of its data and of its 128 bytes of overhead (solana-rent). */
const RENT_PER_BYTE = 6_960n
const OVERHEAD_BYTES = 128n
/** Most lamports that Metaplex's programs keep in a new account in addition to its rent. */
const METAPLEX_FEE = 10_000_000n

export function checkDestinations(
  { destinations, fee_payer }: Movement,
  policy: SigningPolicy,
  _: Spent,
  { role, sponsored }: PolicyCheckOptions,
): Violation | null {
  if (policy.destinations === null) return null
  const list = new Set(policy.destinations)
  // A policy that lists a distributor permits its claims. The rule about sponsorships limits what a claimer gets.
  if (sponsored !== undefined && list.has(sponsored.distributor)) {
    for (const address of [sponsored.claimer, sponsored.account, sponsored.status]) list.add(address)
  }
  // The payer gets back the rent of closed accounts. If the wallet only cosigns, none of it belongs to the wallet.
  if (role === 'cosigns') list.add(fee_payer)
  const stranger = destinations.find((each) => !isListed(each, list) && !isRent(each, policy.programs))
  if (stranger === undefined) return null
  const { address, owner, mint, amount } = stranger
  const ofOwner = owner === null ? '' : ` (token account of ${owner})`
  const what = mint === null ? `${amount} lamports` : `${amount} units of ${mint}`
  const message = `${address}${ofOwner} would receive ${what} but is not among the destinations. Add it with \`svc signer policy --destinations\``
  return { message, details: { address, owner, mint, amount: String(amount) } }
}

/** A token account counts for its owner only if every other address that could empty it is listed too. */
function isListed({ address, owner, others }: Destination, list: ReadonlySet<string>): boolean {
  return list.has(address) || (owner !== null && list.has(owner) && others.every((other) => list.has(other)))
}

/** Nobody gains the rent of a new account of an allowed program. It still counts as spent lamports. */
function isRent({ program, mint, amount, created, space }: Destination, programs: readonly string[]): boolean {
  const rent = (BigInt(space) + OVERHEAD_BYTES) * RENT_PER_BYTE
  const isOfProgram = created && mint === null && !KEY_PROGRAMS.has(program) && programs.includes(program)
  return isOfProgram && amount <= rent + METAPLEX_FEE
}
