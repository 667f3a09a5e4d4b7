/** Whether a transaction is what the person has agreed to: this airdrop, this sum, and nothing else. Read here, not believed. */
import type { MerkleTree as TreeRecord } from '../../src/api/merkle-trees.ts'
import { ASSOCIATED_TOKEN_PROGRAM, COMPUTE_BUDGET_PROGRAM, TOKEN_PROGRAM } from '../../src/solana/program-ids.ts'
import { PROGRAMS } from '../../src/solana/programs.ts'
import type { TransactionContent } from '../signing/wallet.ts'
import { failure } from '../ui/problem.ts'

type Instruction = TransactionContent['instructions'][number]

/** new_distributor, hex. */
const CREATE = '208b70ab0002e19b'
const TRANSFER_CHECKED = '0c'
/** Of the priority fee. */
const MOST_LAMPORTS = 100_000_000n

/**
 * The distributor of this count, root and caps, whose rest goes back to the account that the deposit comes from, and one
 * deposit of the total into its vault. The programs hold the rest. Throws a failure that says what is not so.
 */
export function requireExpected(
  { fee_payer, signers, instructions }: TransactionContent,
  payer: string,
  record: Pick<TreeRecord, 'airdrop_count' | 'root' | 'total' | 'leaf_count' | 'mint'>,
): void {
  const of = (program: string) => instructions.filter((each) => each.program === program)
  const [creation, transfer] = [of(PROGRAMS.distributor.id)[0], of(TOKEN_PROGRAM)[0]]
  const known = [COMPUTE_BUDGET_PROGRAM, ASSOCIATED_TOKEN_PROGRAM, PROGRAMS.distributor.id, TOKEN_PROGRAM]
  const strange = instructions.find(({ program }) => !known.includes(program))
  if (strange !== undefined) throw unexpected(`it calls ${strange.program}`)
  if (fee_payer !== payer || signers.length !== 1) throw unexpected(`${payer} would not be its only signer`)
  if (of(PROGRAMS.distributor.id).length !== 1 || creation === undefined)
    throw unexpected('it does not make one distributor')
  if (!creation.data.startsWith(creationData(record))) throw unexpected('its count, root or caps are others')
  if (of(ASSOCIATED_TOKEN_PROGRAM).length > 1) throw unexpected('it opens more than one token account')
  if (priorityFee(of(COMPUTE_BUDGET_PROGRAM)) > MOST_LAMPORTS) throw unexpected('its priority fee is more than 0.1 SOL')
  const deposits = BigInt(record.total) > 0n ? 1 : 0
  if (of(TOKEN_PROGRAM).length !== deposits) throw unexpected('it does not make one deposit')
  if (transfer !== undefined) requireDeposit(transfer, creation, payer, record)
}

function requireDeposit(
  { data, accounts }: Instruction,
  creation: Instruction,
  payer: string,
  { total, mint }: Pick<TreeRecord, 'total' | 'mint'>,
): void {
  const [source, of, vault, authority] = accounts.map(({ address }) => address)
  const [, receiver, ofAirdrop, ownVault] = creation.accounts.map(({ address }) => address)
  if (!data.startsWith(TRANSFER_CHECKED + u64(BigInt(total)))) throw unexpected(`it does not deposit ${total}`)
  if (of !== mint || ofAirdrop !== mint) throw unexpected('it is about another token')
  if (authority !== payer || vault !== ownVault) throw unexpected('its deposit does not go from you into its vault')
  // The token program lets only the owner send from an account: what is left comes back to the same one.
  if (receiver !== source) throw unexpected('what is left would go to another account than the deposit comes from')
}

const creationData = ({ airdrop_count, root, total, leaf_count }: Parameters<typeof requireExpected>[2]) =>
  CREATE + u64(BigInt(airdrop_count)) + root + u64(BigInt(total)) + u64(BigInt(leaf_count))

/** Little-endian, hex. */
function u64(value: bigint): string {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes.toString('hex')
}

/** Lamports: the price, in millionths for each unit, of the whole limit. */
function priorityFee(budget: readonly Instruction[]): bigint {
  const read = (kind: string, bytes: number) => {
    const data = budget.find((each) => each.data.startsWith(kind))?.data.slice(2)
    return data === undefined
      ? 0n
      : Buffer.from(data.padEnd(16, '0'), 'hex').readBigUInt64LE() & (2n ** BigInt(bytes * 8) - 1n)
  }
  return (read('02', 4) * read('03', 8)) / 1_000_000n
}

const unexpected = (what: string) =>
  failure(`the API built another transaction than was agreed to: ${what}; nothing was signed`, {
    next: 'check which API answers: `svc config list`',
  })
