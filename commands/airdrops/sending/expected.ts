/** Checks locally, whatever the API says, that a transaction makes exactly the transfers that the list has, and nothing else. */
import { decodeInstruction } from '../../../src/solana/instructions/index.ts'
import { ASSOCIATED_TOKEN_PROGRAM, COMPUTE_BUDGET_PROGRAM } from '../../../src/solana/program-ids.ts'
import type { TransactionContent } from '../../signing/wallet.ts'
import { budgetFeeOf, bytesFromHex, MAX_PRIORITY_FEE, unexpectedBuild } from '../expected-build.ts'

export interface AgreedTransfers {
  payer: string
  mint: string
  /** Address of the token program. */
  tokenProgram: string
  /** The payer's token account. */
  source: string
  /** In the order of the list; the token accounts were derived here. */
  recipients: readonly { wallet: string; tokenAccount: string; amount: bigint }[]
}

/** Throws a failure that names the difference. */
export function requireTransfers(content: TransactionContent, agreed: AgreedTransfers): void {
  const { fee_payer, signers, instructions, config } = content
  const { payer, tokenProgram, recipients } = agreed
  const of = (program: string) => instructions.filter((each) => each.program === program)
  const allowed = [COMPUTE_BUDGET_PROGRAM, ASSOCIATED_TOKEN_PROGRAM, tokenProgram]
  const unexpected = instructions.find(({ program }) => !allowed.includes(program))
  if (unexpected !== undefined) throw unexpectedBuild(`it calls ${unexpected.program}`)
  if (fee_payer !== payer || signers.length !== 1) throw unexpectedBuild(`${payer} would not be its only signer`)
  const priority = config === null ? budgetFeeOf(of(COMPUTE_BUDGET_PROGRAM)) : BigInt(config.priority_fee ?? 0)
  if (priority > MAX_PRIORITY_FEE) throw unexpectedBuild('its priority fee is more than 0.1 SOL')
  const openings = of(ASSOCIATED_TOKEN_PROGRAM)
  if (openings.some((each) => !isOpening(each, agreed))) throw unexpectedBuild('it opens another token account')
  const transfers = of(tokenProgram)
  if (transfers.length !== recipients.length) {
    throw unexpectedBuild(`it makes ${transfers.length} transfers, not ${recipients.length}`)
  }
  for (const [i, recipient] of recipients.entries()) {
    const transfer = transfers[i]
    if (transfer === undefined || !isTransfer(transfer, agreed, recipient)) {
      throw unexpectedBuild(`its transfer to ${recipient.wallet} is another`)
    }
  }
}

type ContentInstruction = TransactionContent['instructions'][number]

const decodedOf = ({ program, accounts, data }: ContentInstruction) =>
  decodeInstruction(
    program,
    accounts.map(({ address }) => address),
    bytesFromHex(data),
  )?.instruction

function isOpening(
  instruction: ContentInstruction,
  { payer, mint, tokenProgram, recipients }: AgreedTransfers,
): boolean {
  const opening = decodedOf(instruction)
  if (opening?.type !== 'createIdempotent') return false
  const recipient = recipients.find(({ wallet }) => wallet === opening.wallet)
  return (
    recipient?.tokenAccount === opening.account &&
    opening.source === payer &&
    opening.mint === mint &&
    opening.tokenProgram === tokenProgram
  )
}

function isTransfer(
  instruction: ContentInstruction,
  { payer, mint, source }: AgreedTransfers,
  { tokenAccount, amount }: AgreedTransfers['recipients'][number],
): boolean {
  const transfer = decodedOf(instruction)
  return (
    transfer?.type === 'transferChecked' &&
    transfer.source === source &&
    transfer.destination === tokenAccount &&
    transfer.authority === payer &&
    transfer.mint === mint &&
    transfer.amount === amount
  )
}
