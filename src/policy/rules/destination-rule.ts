/** The rule about destinations: every receiver must be on the policy's list, if there is one. */

import { solText } from '../../solana/amounts.ts'
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../solana/program-ids.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import type { Destination, Movement } from '../movement/movement.ts'
import type { SigningPolicy, Spent } from '../policy.ts'
import type { PolicyCheckOptions, Violation } from './violation.ts'

/** A key can empty accounts of these programs, so lamports in them count as received. */
const KEY_PROGRAMS: ReadonlySet<string> = new Set([SYSTEM_PROGRAM, TOKEN_PROGRAM, TOKEN_2022_PROGRAM])
/** Most lamports that Metaplex's programs keep in a new account in addition to its rent. */
const METAPLEX_FEE = 10_000_000n

export function checkDestinations(
  { destinations, fee_payer, programs }: Movement,
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
  const multisig = programs.find(({ program, first }) => isSquads(program) && !list.has(first ?? ''))?.first ?? null
  const stranger = destinations.find(
    (each) => !isListed(each, list) && !isRent(each, policy.programs, multisig === null),
  )
  if (stranger === undefined) return null
  const { address, owner, mint, amount } = stranger
  if (isSquads(stranger.program) && multisig !== null) {
    const message = `${address} would receive ${solText(amount)} of rent, which goes to whom the multisig ${multisig} names once it is closed, and the multisig is not among the destinations. Add it with \`svc signer policy --destinations\``
    return { message, details: { address, owner, mint, amount: String(amount), multisig } }
  }
  const ofOwner = owner === null ? '' : ` (token account of ${owner})`
  const what = mint === null ? solText(amount) : `${amount} units of ${mint}`
  const message = `${address}${ofOwner} would receive ${what} but is not among the destinations. Add it with \`svc signer policy --destinations\``
  return { message, details: { address, owner, mint, amount: String(amount) } }
}

/** A token account counts for its owner only if every other address that could empty it is listed too. */
function isListed({ address, owner, others }: Destination, list: ReadonlySet<string>): boolean {
  return list.has(address) || (owner !== null && list.has(owner) && others.every((other) => list.has(other)))
}

const isSquads = (program: string): boolean => program === PROGRAMS.squads.id

/**
 * The rent of a new account of an allowed program is not received by anyone. It still counts as spent lamports. The
 * rule about programs allows proposals without the list, but the members of a multisig decide who gets their rent, and
 * anybody can make the wallet a member: so the multisig itself must be a destination.
 */
function isRent(
  { program, mint, amount, created, minimum }: Destination,
  programs: readonly string[],
  areMultisigsListed: boolean,
): boolean {
  const isAllowed = isSquads(program) ? areMultisigsListed : programs.includes(program)
  const isOfProgram = created && mint === null && !KEY_PROGRAMS.has(program) && isAllowed
  return isOfProgram && amount <= minimum + METAPLEX_FEE
}
