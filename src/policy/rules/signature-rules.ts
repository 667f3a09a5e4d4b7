/** Rules about signatures: which other accounts sign, and which programs get the wallet's signature. */
import { ASSOCIATED_TOKEN_PROGRAM, MEMO_PROGRAM, SYSTEM_PROGRAM } from '../../solana/program-ids.ts'
import { SQUADS } from '../../solana/programs/squads.ts'
import { PROGRAMS } from '../../solana/programs.ts'
import type { InvokedProgram, Movement } from '../movement/movement.ts'
import type { SigningPolicy, Spent } from '../policy.ts'
import type { PolicyCheckOptions, Violation } from './violation.ts'

/** Programs that may use the signature of a wallet that cosigns. A token program or a pool could pay out with it. */
const COSIGNED_PROGRAMS: ReadonlySet<string> = new Set([
  PROGRAMS.core.id,
  SYSTEM_PROGRAM,
  ASSOCIATED_TOKEN_PROGRAM,
  MEMO_PROGRAM,
])

export function checkSigners(
  { wallet, signers, fee_payer }: Movement,
  _: SigningPolicy,
  __: Spent,
  { role, cosigners = [] }: PolicyCheckOptions,
): Violation | null {
  const details = { fee_payer, signers }
  if (!signers.includes(wallet)) {
    return { message: `the platform wallet ${wallet} is not among its signers`, details }
  }
  if (role === 'cosigns') {
    if (fee_payer !== wallet) return null
    return {
      message: 'the platform wallet only cosigns it and must not pay its fee; use another payer',
      details,
    }
  }
  if (fee_payer !== wallet) {
    return { message: `${fee_payer} pays its fee instead of the platform wallet ${wallet}`, details }
  }
  const strangers = signers.filter((signer) => signer !== wallet && !cosigners.includes(signer))
  if (strangers.length === 0) return null
  return {
    message: `it also needs unexpected signatures of ${strangers.join(', ')}`,
    details: { ...details, strangers },
  }
}

/**
 * Instructions of Squads v4 with which a member proposes, and takes back its own proposals' rent: they decide nothing.
 * Approving and executing needs the program on the policy's list.
 */
const PROPOSING: ReadonlySet<string | null> = new Set(
  SQUADS.prefixesOf(
    'vault_transaction_create',
    'vault_transaction_create_from_buffer',
    'vault_transaction_accounts_close',
    'proposal_create',
    'transaction_buffer_create',
    'transaction_buffer_extend',
    'transaction_buffer_close',
  ),
)

/** Whether it only proposes to a multisig. An inner instruction is not shown, so it is not known to. */
const proposes = ({ program, call }: InvokedProgram): boolean => program === PROGRAMS.squads.id && PROPOSING.has(call)

/** Instructions of Lighthouse that the message itself names can only make it fail, or lend rent to its payer's memory. */
const guards = ({ program, depth }: InvokedProgram): boolean => program === PROGRAMS.lighthouse.id && depth === 1

export function checkPrograms(
  { programs }: Movement,
  policy: SigningPolicy,
  _: Spent,
  { role }: PolicyCheckOptions,
): Violation | null {
  const stranger = programs.find((each) => !policy.programs.includes(each.program) && !proposes(each) && !guards(each))
  if (stranger !== undefined) {
    const { program, where } = stranger
    if (program === PROGRAMS.squads.id) {
      const message = `${where} does more in ${PROGRAMS.squads.name} than propose, for example approve or execute. Let the other members do that, or allow it with \`svc signer policy --programs\` if the platform wallet may decide for the vault`
      return { message, details: { program, where } }
    }
    const message = `${where} is of the program ${program}, which is not allowed. Allow it with \`svc signer policy --programs\` if it may act for the platform`
    return { message, details: { program, where } }
  }
  if (role === 'pays') return null
  const user = programs.find(
    (each) => each.depth === 1 && each.wallet && !COSIGNED_PROGRAMS.has(each.program) && !guards(each),
  )
  if (user === undefined) return null
  const { program, where } = user
  const message = `${where} would use the signature of the platform wallet in ${program}, for which it does not cosign; leave the wallet out of that instruction`
  return { message, details: { program, where } }
}
