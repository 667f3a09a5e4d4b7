/** Checks locally, whatever the API says, that a transaction claims for its claimer at the cost of its sponsor, and nothing else. */
import type { Simulation } from '../../src/api/transactions.ts'
import { decodeInstruction } from '../../src/solana/instructions/index.ts'
import {
  type DistributorClaimInstruction,
  decodeDistributorClaim,
} from '../../src/solana/instructions/merkle-distributor.ts'
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from '../../src/solana/program-ids.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import type { ClaimAddresses, TransactionContent } from '../signing/wallet.ts'
import { failure } from '../ui/problem.ts'
import { bytesFromHex } from './expected-build.ts'

/** The claim that the user agreed to; its accounts were derived here. */
export interface AgreedClaim extends ClaimAddresses {
  airdrop: string
  mint: string
  claimer: string
  /** The platform wallet. */
  sponsor: string
}

type ContentInstruction = TransactionContent['instructions'][number]

/** Throws a failure that names the difference. */
export function requireSponsoredClaim(
  { fee_payer, signers, instructions }: TransactionContent,
  agreed: AgreedClaim,
): void {
  const { sponsor, claimer } = agreed
  if (fee_payer !== sponsor || fee_payer === claimer) throw unexpectedClaim(`${fee_payer} would pay its fee`)
  if (signers.length !== 2) throw unexpectedClaim(`it has ${signers.length} signers`)
  const seen = new Set<string>()
  for (const each of instructions) {
    if (each.program === COMPUTE_BUDGET_PROGRAM) continue
    const part = partOf(each, agreed)
    if (seen.has(part)) throw unexpectedClaim(`it has more than one ${part}`)
    seen.add(part)
  }
  // With vesting, what is paid at once and what has vested are claimed by an instruction each.
  if (!seen.has('newClaim') && !seen.has('claimLocked')) throw unexpectedClaim('it makes 0 claims')
}

/**
 * Throws a failure where the run takes lamports from the claimer. The rent of its claim record is all that a checked
 * claim can take, and the chain says how much of it was lacking: its rate differs, and anybody can have sent some.
 */
export function requireFreeOfCost({ balance_changes }: Pick<Simulation, 'balance_changes'>, claimer: string): void {
  const own = balance_changes.find(({ address, mint }) => address === claimer && mint === null)
  if (own === undefined || BigInt(own.change) >= 0n) return
  throw unexpectedClaim(`${claimer} would pay ${-BigInt(own.change)} lamports of it`)
}

function partOf(instruction: ContentInstruction, agreed: AgreedClaim): string {
  const { program, data } = instruction
  const { sponsor, claimer } = agreed
  const addresses = instruction.accounts.map(({ address }) => address)
  const bytes = bytesFromHex(data)
  if (program === PROGRAMS.distributor.id) {
    const claim = decodeDistributorClaim(addresses, bytes)
    if (claim === null) throw unexpectedClaim('it calls the distributor for something else than a claim')
    requireOwn(claim, instruction, agreed)
    return claim.type
  }
  const decoded = decodeInstruction(program, addresses, bytes)?.instruction
  if (program === SYSTEM_PROGRAM) {
    const isLoan = decoded?.type === 'transfer' && 'lamports' in decoded
    if (isLoan && decoded.source === sponsor && decoded.destination === claimer) return 'loan'
    throw unexpectedClaim('it transfers otherwise than from its sponsor to its claimer')
  }
  if (program !== ASSOCIATED_TOKEN_PROGRAM) throw unexpectedClaim(`it calls ${program}`)
  const isOpening =
    decoded?.type === 'createIdempotent' &&
    decoded.source === sponsor &&
    decoded.account === agreed.tokenAccount &&
    decoded.wallet === claimer &&
    decoded.mint === agreed.mint &&
    decoded.tokenProgram === TOKEN_PROGRAM
  if (!isOpening)
    throw unexpectedClaim("it opens another token account than the claimer's, or not at the sponsor's cost")
  return 'token account'
}

function requireOwn(claim: DistributorClaimInstruction, { accounts }: ContentInstruction, agreed: AgreedClaim): void {
  const { airdrop, claimer, distributor, claimStatus, vault, tokenAccount } = agreed
  if (claim.distributor !== distributor) throw unexpectedClaim(`it claims from another airdrop than ${airdrop}`)
  const isSigned = accounts.some(({ address, signer }) => signer && address === claimer)
  if (claim.claimant !== claimer || !isSigned) throw unexpectedClaim('it claims for another wallet')
  if (claim.tokenAccount !== tokenAccount) throw unexpectedClaim(`it pays another account than ${tokenAccount}`)
  const isDerived = claim.claimStatus === claimStatus && claim.vault === vault && claim.tokenProgram === TOKEN_PROGRAM
  if (!isDerived) throw unexpectedClaim('its claim record, vault or token program is another')
}

const unexpectedClaim = (difference: string) =>
  failure(`the API built another transaction than a sponsored claim: ${difference}; nothing was signed`, {
    next: 'check which API answers: `svc config list`',
  })
